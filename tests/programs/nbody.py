"""Gravity between particles: broadcasting to (n, n, 3), einsum, a leapfrog in place."""

import numpy as np

__results__ = ["position", "velocity", "energies"]
n, steps, dt, soft = 48, 25, 0.01, 0.1
rng = np.random.default_rng(17)
mass = rng.uniform(0.5, 1.5, n)
position = rng.standard_normal((n, 3))
velocity = rng.standard_normal((n, 3)) * 0.1
velocity -= (mass[:, None] * velocity).sum(0) / mass.sum()


def acceleration(position):
    apart = position[None, :, :] - position[:, None, :]
    inverse = ((apart**2).sum(-1) + soft**2) ** -1.5
    return np.einsum("ij,j,ijk->ik", inverse, mass, apart)


energies = []
force = acceleration(position)
for _ in range(steps):
    velocity += 0.5 * dt * force
    position += dt * velocity
    force = acceleration(position)
    velocity += 0.5 * dt * force
    energies.append(0.5 * (mass * (velocity**2).sum(1)).sum().item())
print(f"{energies[0]:.9f} {energies[-1]:.9f}")
