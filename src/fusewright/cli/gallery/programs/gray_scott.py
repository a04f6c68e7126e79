"""Gray-Scott: two chemicals that react and diffuse grow spots."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 384
feed, kill = np.float32(0.037), np.float32(0.060)
rng = np.random.default_rng(3)
u, v = np.ones((n, n), np.float32), np.zeros((n, n), np.float32)
for row, column in rng.integers(8, n - 16, (n // 6, 2)):
    u[row : row + 8, column : column + 8] = 0.5
    v[row : row + 8, column : column + 8] = 0.25


def spread(a):
    inside = a[1:-1, 1:-1]
    return a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:] + a[1:-1, :-2] - 4 * inside


for _ in range(1500):
    a, b = u[1:-1, 1:-1], v[1:-1, 1:-1]
    reaction = a * b * b
    new_a = a + (np.float32(0.16) * spread(u) - reaction + feed * (1 - a))
    new_b = b + (np.float32(0.08) * spread(v) + reaction - (feed + kill) * b)
    u[1:-1, 1:-1], v[1:-1, 1:-1] = new_a, new_b
image = v
__results__ = ["image"]
