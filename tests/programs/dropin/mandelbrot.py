"""The Mandelbrot set with a shrinking mask of points still moving."""

import numpy as np

__results__ = ["count", "z", "inside"]

y, x = np.ogrid[-1.2:1.2:60j, -2:0.6:80j]
c = x + 1j * y
z = np.zeros_like(c)
count = np.zeros(c.shape, dtype=int)
for _ in range(40):
    moving = np.abs(z) <= 2
    z[moving] = z[moving] ** 2 + c[moving]
    count[moving] += 1
inside = np.count_nonzero(count == 40) / count.size
z = np.where(np.abs(z) <= 2, z, 0)
