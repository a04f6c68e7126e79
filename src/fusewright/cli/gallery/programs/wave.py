"""Ripples: the wave equation on a square, with a wall that has two gaps."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 700
y, x = np.mgrid[0:n, 0:n] / n
before = np.exp(-((x - 0.25) ** 2 + (y - 0.5) ** 2) * 800.0)
now = before.copy()
gap = (abs(y - 0.4) < 0.03) | (abs(y - 0.6) < 0.03)
open_cell = ~((abs(x - 0.45) < 0.006) & ~gap)
for _ in range(int(n * 0.75)):
    bent = now[2:, 1:-1] + now[:-2, 1:-1] + now[1:-1, 2:] + now[1:-1, :-2] - 4.0 * now[1:-1, 1:-1]
    after = np.zeros_like(now)
    after[1:-1, 1:-1] = 2.0 * now[1:-1, 1:-1] - before[1:-1, 1:-1] + 0.25 * bent
    before, now = now, after * open_cell
image = np.arcsinh(now * 30.0)
__results__ = ["now", "image"]
