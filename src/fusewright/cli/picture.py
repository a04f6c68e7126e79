"""Pictures of arrays as PNG files, without a library for them."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SHADES = np.array(
    [(8, 12, 40), (32, 58, 120), (30, 120, 150), (90, 180, 130), (240, 210, 100), (255, 250, 230)]
)
"""Colours (red, green, blue) from the least value to the greatest; brightness grows throughout."""

_LEVELS = 64
"""Colours in a picture: more cannot be told apart, and fewer make smaller files."""

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_INDEXED = 3
"""PNG's colour type of a picture whose pixels are places in a palette (PNG 1.2, section 4.1.1)."""


def save_png(path: Path, image: NDArray[Any]) -> None:
    """Write a 2-d array as a picture: the least value is dark, the greatest bright, NaN dark."""
    path.write_bytes(drawn(image))


def drawn(image: NDArray[Any]) -> bytes:
    """The same as the bytes of a PNG file."""
    return png(levels(image), palette())


def levels(image: NDArray[Any]) -> NDArray[np.uint8]:
    """The values as numbers of colours, from 0 (the least) to `_LEVELS` - 1 (the greatest)."""
    values = np.asarray(image, dtype=np.float64)
    values = np.where(np.isnan(values), -np.inf, values)
    finite = values[np.isfinite(values)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    scaled = (np.clip(values, low, high) - low) / (high - low if high > low else 1.0)
    found: NDArray[np.uint8] = np.rint(scaled * (_LEVELS - 1)).astype(np.uint8)
    return found


def palette() -> NDArray[np.uint8]:
    """The colours, as an array of `_LEVELS` rows of three bytes."""
    at = np.linspace(0.0, len(_SHADES) - 1.0, _LEVELS)
    parts = [np.interp(at, np.arange(len(_SHADES)), _SHADES[:, part]) for part in range(3)]
    found: NDArray[np.uint8] = np.rint(np.stack(parts, axis=1)).astype(np.uint8)
    return found


def png(pixels: NDArray[np.uint8], colours: NDArray[np.uint8]) -> bytes:
    """A PNG file of a 2-d array of places in a palette (PNG 1.2: signature and four chunks)."""
    height, width = pixels.shape
    header = struct.pack(">IIBBBBB", width, height, 8, _INDEXED, 0, 0, 0)
    # Each row begins with the number of its filter: 0, none.
    rows = np.concatenate([np.zeros((height, 1), np.uint8), pixels], axis=1)
    chunks = (
        (b"IHDR", header),
        (b"PLTE", colours.tobytes()),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    return _SIGNATURE + b"".join(_chunk(kind, body) for kind, body in chunks)


def _chunk(kind: bytes, body: bytes) -> bytes:
    """The length, the kind, the body, and the check sum of the last two."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
