"""A field of density and colour over points of rays: waves of the position, a network with a skip
connection, and the sum along each ray.
"""

import numpy as np

__results__ = ["pixels", "depth"]
rng = np.random.default_rng(4)
rays, samples, octaves, width = 96, 48, 6, 64


def layer(k, n):
    return rng.standard_normal((k, n)) * np.sqrt(2 / k), rng.standard_normal(n) * 0.1


origin = rng.standard_normal((rays, 1, 3)) * 0.1
way = rng.standard_normal((rays, 1, 3))
way = way / np.sqrt((way**2).sum(axis=-1, keepdims=True))
t = np.linspace(0.5, 3.0, samples)
points = (origin + way * t[:, None]).reshape(-1, 3)
angles = (points[:, :, None] * 2.0 ** np.arange(octaves)).reshape(len(points), -1)
waves = np.concatenate([points, np.sin(angles), np.cos(angles)], axis=1)
(w1, b1), (w2, b2) = layer(waves.shape[1], width), layer(width, width)
(w3, b3), (v3, _), (w4, b4) = layer(width, width), layer(waves.shape[1], width), layer(width, 4)

h = np.maximum(waves @ w1 + b1, 0)
h = np.maximum(h @ w2 + b2, 0)
h = np.maximum(h @ w3 + waves @ v3 + b3, 0)
out = (h @ w4 + b4).reshape(rays, samples, 4)
density = np.maximum(out[..., 3], 0)
colour = 1 / (1 + np.exp(-out[..., :3]))
passed = np.exp(-np.cumsum(density, axis=1) * (t[1] - t[0]))
weight = np.concatenate([np.ones((rays, 1)), passed[:, :-1]], axis=1) - passed
pixels = (weight[..., None] * colour).sum(axis=1)
depth = (weight * t).sum(axis=1)
print(pixels.mean(axis=0).round(6).tolist(), f"{depth.mean():.6f}")
