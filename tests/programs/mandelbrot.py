"""Escape times with a mask that shrinks: boolean indexing, complex numbers, integer counts."""

import numpy as np

__results__ = ["counts", "total", "inside"]
y, x = np.mgrid[-1.25:1.25:90j, -2.0:0.5:90j]
c = x + 1j * y
z = np.zeros_like(c)
counts = np.zeros(c.shape, dtype=np.int64)
alive = np.ones(c.shape, dtype=bool)
for _ in range(30):
    z[alive] = z[alive] ** 2 + c[alive]
    alive &= z.real**2 + z.imag**2 < 4.0
    counts += alive
total = counts.sum()
inside = int(np.count_nonzero(alive))
print(total, inside)
