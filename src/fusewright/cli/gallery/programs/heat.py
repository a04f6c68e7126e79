"""Heat spreads from two hot bars through a plate with cold edges."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 800
y, x = np.mgrid[0:n, 0:n] / n
hot = ((abs(x - 0.3) < 0.02) | (abs(x - 0.7) < 0.05)) & (abs(y - 0.5) < 0.3)
u = np.where(hot, 1.0, 0.0)
# The edges are never written: they stay cold.
for _ in range(200):
    spread = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    u[1:-1, 1:-1] = np.where(hot[1:-1, 1:-1], 1.0, spread)
image = np.sqrt(u)
