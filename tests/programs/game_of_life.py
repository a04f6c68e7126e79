"""Small integers: uint8 arithmetic that wraps, slices that overlap, comparison bit operations."""

import numpy as np

__results__ = ["cells", "alive", "packed", "shifted"]
rng = np.random.default_rng(23)
cells = (rng.random((64, 64)) < 0.3).astype(np.uint8)
alive = []
for _ in range(20):
    around = np.zeros_like(cells)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            if dy or dx:
                around += np.roll(cells, (dy, dx), axis=(0, 1))
    cells = ((around == 3) | ((cells == 1) & (around == 2))).astype(np.uint8)
    alive.append(int(cells.sum()))
packed = np.packbits(cells, axis=1)
shifted = (packed.astype(np.uint32) << 7) ^ (packed >> 3)
shifted[1:] += shifted[:-1]
print(alive[-5:])
