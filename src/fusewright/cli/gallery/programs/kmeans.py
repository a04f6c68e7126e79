"""k-means: a million points find the nearest of eight centres, and the centres follow."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
y, x = np.mgrid[0:n, 0:n] / n
height = np.sin(6 * x) * np.cos(5 * y) + 0.3 * np.sin(17 * x * y)
centres = np.stack([np.linspace(0.1, 0.9, 8), np.linspace(0.9, 0.1, 8), np.linspace(-1, 1, 8)])
for _ in range(10):
    best, nearest = np.full((n, n), np.inf), np.zeros((n, n))
    for k in range(8):
        cx, cy, ch = (float(value) for value in centres[:, k])
        distance = (x - cx) ** 2 + (y - cy) ** 2 + 0.3 * (height - ch) ** 2
        nearest = np.where(distance < best, float(k), nearest)
        best = np.minimum(best, distance)
    for k in range(8):
        mine = nearest == k
        count = max(float(mine.sum()), 1.0)
        sums = [float((values * mine).sum()) for values in (x, y, height)]
        centres[:, k] = [total / count for total in sums]
image = nearest
__results__ = ["centres"]
