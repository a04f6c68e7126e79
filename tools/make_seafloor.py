"""Writes the demo's input: the depth of a made-up ocean basin in whole metres, as a survey has it.

A shelf along the west coast, an abyssal plain with a ridge, a trench, three islands, and the relief
that measured sea floors have at every scale (spectrum falling with the square of the wave number).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SIZE = 256
SPACING = 6000.0
TARGET = Path(__file__).resolve().parent.parent / "src/fusewright/cli/demo/seafloor.npz"
ISLANDS = ((0.30, 0.62, 0.030), (0.52, 0.70, 0.022), (0.74, 0.58, 0.036))


def depth() -> NDArray[np.float64]:
    """Depth below the sea in metres, negative on land; row 0 in the south, column 0 in the west."""
    y, x = np.meshgrid(np.linspace(0, 1, SIZE), np.linspace(0, 1, SIZE), indexing="ij")
    coast = 0.10 + 0.03 * np.sin(7 * y) + 0.015 * np.sin(19 * y + 1)
    plain = 4600 * (1 - np.exp(-np.maximum(x - coast, 0) / 0.07)) - 60 * (x < coast)
    plain -= 1900 * np.exp(-(((x - 0.55 - 0.1 * np.sin(3 * y)) / 0.045) ** 2))
    plain += 2200 * np.exp(-(((x - 0.24 - 0.05 * y) / 0.018) ** 2))
    for row, column, radius in ISLANDS:
        plain -= 5200 * np.exp(-(((y - row) ** 2 + (x - column) ** 2) / radius**2))
    rng = np.random.default_rng(20111103)
    waves = np.hypot(*np.meshgrid(*[np.fft.fftfreq(SIZE)] * 2, indexing="ij"))
    spectrum = np.where(waves > 0, np.maximum(waves, 1 / SIZE) ** -1.8, 0)
    relief = np.fft.ifft2(np.fft.fft2(rng.standard_normal((SIZE, SIZE))) * spectrum).real
    sea: NDArray[np.float64] = plain + 130 * relief / relief.std()
    return np.where(plain > 0, sea, plain)


if __name__ == "__main__":
    np.savez_compressed(TARGET, depth=np.round(depth()).astype(np.int16), spacing=SPACING)
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")
