"""Shallow water on a staggered grid, stepped in place with overlapping views."""

import numpy as np

__results__ = ["h", "u", "v", "mass"]

n, g, dt, dx = 40, 9.81, 0.02, 1.0
h = np.ones((n, n))
h[15:25, 15:25] += 0.5 * np.outer(np.hanning(10), np.hanning(10))
u = np.zeros((n + 1, n))
v = np.zeros((n, n + 1))
mass = [h.sum()]
for _ in range(30):
    u[1:-1, :] -= g * dt / dx * (h[1:, :] - h[:-1, :])
    v[:, 1:-1] -= g * dt / dx * (h[:, 1:] - h[:, :-1])
    h -= dt / dx * (np.diff(u, axis=0) + np.diff(v, axis=1))
    u[[0, -1], :] = 0
    v[:, [0, -1]] = 0
    mass.append(h.sum())
u[1:] += 0.01 * u[:-1]
mass = np.asarray(mass)
