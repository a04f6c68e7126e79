"""Reaction and diffusion of two chemicals: stencils, in-place time stepping, periodic borders."""

import numpy as np

__results__ = ["u", "v", "history"]
n, steps = 96, 60
rng = np.random.default_rng(3)
u = np.ones((n, n)) - 0.02 * rng.random((n, n))
v = 0.02 * rng.random((n, n))
u[40:56, 40:56] = 0.5
v[40:56, 40:56] = 0.25


def laplacian(a):
    return np.roll(a, 1, 0) + np.roll(a, -1, 0) + np.roll(a, 1, 1) + np.roll(a, -1, 1) - 4 * a


history = []
for step in range(steps):
    reaction = u * v * v
    u += 0.16 * laplacian(u) - reaction + 0.035 * (1 - u)
    v += 0.08 * laplacian(v) + reaction - (0.035 + 0.065) * v
    if step % 20 == 0:
        history.append(float(v.mean()))
print(f"{u.mean():.6f} {v.max():.6f}")
