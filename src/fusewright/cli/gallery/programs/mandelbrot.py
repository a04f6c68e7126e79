"""The Mandelbrot set: all points of a grid, step after step."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 800
cy, cx = np.meshgrid(np.linspace(-1.25, 1.25, n), np.linspace(-2.0, 0.5, n), indexing="ij")
zx, zy, steps = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
for _ in range(80):
    inside = zx * zx + zy * zy < 4.0
    steps += inside
    next_x = zx * zx - zy * zy + cx
    next_y = 2.0 * zx * zy + cy
    zx, zy = np.where(inside, next_x, zx), np.where(inside, next_y, zy)
image = np.log(steps)
