"""Planets attract each other: pairwise forces by broadcasting, leapfrog in place."""

import numpy as np

__results__ = ["position", "velocity", "energies"]

rng = np.random.default_rng(42)
N = 24
mass = 20.0 * np.ones((N, 1)) / N
position = rng.standard_normal((N, 3))
velocity = rng.standard_normal((N, 3))
velocity -= np.mean(mass * velocity, axis=0) / np.mean(mass)


def acceleration(position):
    x, y, z = position[:, 0:1], position[:, 1:2], position[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inverse = dx**2 + dy**2 + dz**2 + 0.1**2
    inverse[inverse > 0] = inverse[inverse > 0] ** (-1.5)
    return np.hstack([(d * inverse) @ mass for d in (dx, dy, dz)])


def energy(position, velocity):
    kinetic = 0.5 * np.sum(mass * velocity**2)
    gap = position[:, None, :] - position[None, :, :]
    distance = np.sqrt((gap**2).sum(-1))
    inverse = np.zeros_like(distance)
    near = distance > 0
    inverse[near] = 1.0 / distance[near]
    potential = np.sum(np.triu(-(mass * mass.T) * inverse, 1))
    return float(kinetic), float(potential)


force = acceleration(position)
energies = [energy(position, velocity)]
for step in range(20):
    velocity += force * 0.005
    position += velocity * 0.01
    force = acceleration(position)
    velocity += force * 0.005
    if step % 5 == 4:
        energies.append(energy(position, velocity))
energies = np.array(energies)
