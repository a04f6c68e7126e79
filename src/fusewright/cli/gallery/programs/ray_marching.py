"""Ray marching: all rays step towards a field of spheres until they touch one."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 600
v, u = np.meshgrid(np.linspace(1.0, -1.0, n), np.linspace(-1.0, 1.0, n), indexing="ij")
length = np.sqrt(u * u + v * v + 2.25)
dx, dy, dz = u / length, v / length - 0.25, 1.5 / length


def distance(x, y, z):
    """To the nearest sphere of a lattice, or the floor."""
    a, c = x - 2.0 * np.floor(x / 2.0 + 0.5), z - 2.0 * np.floor(z / 2.0 + 0.5)
    return np.minimum(np.sqrt(a * a + y * y + c * c) - 0.6, y + 0.6)


t = np.zeros((n, n))
for _ in range(60):
    t = t + 0.9 * distance(0.5 + t * dx, 1.0 + t * dy, t * dz)
x, y, z = 0.5 + t * dx, 1.0 + t * dy, t * dz
h = 1e-3
here = distance(x, y, z)
lit = 0.6 * (distance(x - h, y, z) - here) + 0.8 * (distance(x, y + h, z) - here)
light = np.clip(lit / h, 0.0, 1.0) + 0.15
image = np.where(t < 40.0, light * np.exp(-0.06 * t), 0.0)
__results__ = ["t"]
