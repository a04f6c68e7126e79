"""Clusters by Lloyd's method: distances, argmin, fancy indexing, np.add.at, a loop that tests."""

import numpy as np

__results__ = ["centres", "labels", "inertia", "sizes"]
rng = np.random.default_rng(29)
points = np.concatenate([rng.normal(m, 0.5, (150, 2)) for m in ((0, 0), (3, 3), (0, 4))])
centres = points[[0, 160, 310]].copy()
for _ in range(50):
    distances = np.sqrt(((points[:, None] - centres[None]) ** 2).sum(-1))
    labels = distances.argmin(axis=1)
    sums = np.zeros_like(centres)
    np.add.at(sums, labels, points)
    sizes = np.bincount(labels, minlength=3)
    moved = sums / sizes[:, None]
    if np.allclose(moved, centres, rtol=0, atol=1e-12):
        break
    centres[...] = moved
inertia = float((distances.min(axis=1) ** 2).sum())
assert isinstance(centres, np.ndarray)
print(sizes.tolist(), f"{inertia:.6f}")
