"""bfloat16, the upper half of a float32: its bits as NumPy arrays, and what they stand for.

NumPy has no such type.  Memory holds two bytes for each element (`STORED`); here they are widened
to float32, which is exact, and float32 is rounded to them, to nearest and ties to even.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class BFloat16Bits(np.void):  # type: ignore[misc]  # NumPy's own subclasses do the same
    """One element: two bytes, of a number that is given."""

    def __new__(cls, value: Any = 0.0) -> Any:
        return narrowed(value)[()]


STORED: np.dtype[Any] = np.dtype((BFloat16Bits, "V2"))


def widened(stored: Any) -> Array:
    """The elements as float32."""
    bits = np.ascontiguousarray(stored).view(np.uint16).astype(np.uint32)
    return (bits << 16).view(np.float32).reshape(np.shape(stored))


def narrowed(values: Any) -> Array:
    """The nearest elements; numbers of other types are rounded to float32 before."""
    with np.errstate(all="ignore"):
        wide = np.ascontiguousarray(np.asarray(values).astype(np.float32, copy=False))
    bits = wide.view(np.uint32).astype(np.uint64)
    nearest = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    bits = np.where(np.isnan(wide), bits >> 16 | 0x40, nearest).astype(np.uint16)
    return bits.view(STORED).reshape(np.shape(values))


def rounded(value: Any) -> float:
    """One number, rounded."""
    return float(widened(narrowed(value)))


def bits_of(value: Any) -> int:
    """The two bytes of a number, as an integer."""
    return int(struct.unpack("<H", narrowed(value).tobytes())[0])
