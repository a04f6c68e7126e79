"""Two clusters of stars meet: forces between all pairs, and the paths on a photograph."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
rng = np.random.default_rng(2)
x, y = rng.normal(size=n) * 0.25, rng.normal(size=n) * 0.25
side = np.where(np.arange(n) % 2 == 0, -1.0, 1.0)
x, y = x + side, y + side * 0.3
vx, vy = -0.45 * side, 0.0 * side
photograph = np.zeros((192, 192))
for _ in range(40):
    dx, dy = x[None, :] - x[:, None], y[None, :] - y[:, None]
    near = 1.0 / (dx * dx + dy * dy + 0.02)
    pull = near * np.sqrt(near) / n
    vx, vy = vx + 0.05 * (dx * pull).sum(axis=1), vy + 0.05 * (dy * pull).sum(axis=1)
    x, y = x + 0.05 * vx, y + 0.05 * vy
    row = np.clip((y + 1.5) * 64, 0, 191).astype(int)
    column = np.clip((x + 1.5) * 64, 0, 191).astype(int)
    photograph[row, column] += 1.0
image = np.sqrt(photograph)
__results__ = ["x", "y"]
