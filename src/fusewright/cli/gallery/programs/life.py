"""Conway's Game of Life on a torus; bright where cells have lived for long."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
rng = np.random.default_rng(5)
alive = (rng.random((n, n)) < 0.25).astype(np.uint8)
age = np.zeros((n, n), np.float32)
for _ in range(100):
    rows = np.roll(alive, 1, 0) + alive + np.roll(alive, -1, 0)
    around = np.roll(rows, 1, 1) + rows + np.roll(rows, -1, 1)
    alive = ((around == 3) | ((around == 4) & (alive == 1))).astype(np.uint8)
    age = np.float32(0.9) * age + alive
image = age[:192, :192]
__results__ = ["alive", "image"]
