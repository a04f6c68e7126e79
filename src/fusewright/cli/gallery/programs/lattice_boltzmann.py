"""Lattice Boltzmann (D2Q9): a stream passes a cylinder; bright where it turns."""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 128
rows, columns = n, 3 * n
steps = [(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, -1), (-1, 1)]
weights = [4 / 9] + [1 / 9] * 4 + [1 / 36] * 4
opposite = [0, 3, 4, 1, 2, 7, 8, 5, 6]
y, x = np.mgrid[0:rows, 0:columns]
solid = (x - n // 2) ** 2 + (y - n // 2 - 1) ** 2 < (n // 9) ** 2


def equilibrium(density, ux, uy):
    speed = 1.5 * (ux * ux + uy * uy)
    along = [3.0 * (dx * ux + dy * uy) for dy, dx in steps]
    return [
        w * density * (1.0 + c + 0.5 * c * c - speed) for w, c in zip(weights, along, strict=True)
    ]


ux = np.full((rows, columns), 0.1) * (1 + 0.01 * np.sin(6.3 * y / rows))
inflow = [float(f[1, 1]) for f in equilibrium(np.ones((rows, columns)), ux, ux * 0.0)]
f = equilibrium(np.ones((rows, columns)), ux, ux * 0.0)
for _ in range(4 * n):
    f = [np.roll(part, shift, (0, 1)) for part, shift in zip(f, steps, strict=True)]
    density = f[0] + f[1] + f[2] + f[3] + f[4] + f[5] + f[6] + f[7] + f[8]
    ux = (f[1] - f[3] + f[5] - f[6] - f[7] + f[8]) / density
    uy = (f[2] - f[4] + f[5] + f[6] - f[7] - f[8]) / density
    settled = equilibrium(density, ux, uy)
    f = [
        np.where(solid, f[back], part + 1.7 * (target - part))
        for back, part, target in zip(opposite, f, settled, strict=True)
    ]
    for part, value in zip(f, inflow, strict=True):
        part[:, 0] = value
turning = np.roll(uy, -1, 1) - np.roll(uy, 1, 1) - np.roll(ux, -1, 0) + np.roll(ux, 1, 0)
image = np.where(solid, 0.0, np.arctan(turning * 60))[1:-1, 1:-1]
__results__ = ["image"]
