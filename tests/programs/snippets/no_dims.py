"""zero d and empty"""

import numpy as np

R = []
z = np.array(5.0)
print(z + 1, z.shape, z.ndim, z.item(), z[()], float(z), z * np.ones(2))
z += 2
print(z)
z[...] = 9
print(z, z[None], z.reshape(1), z.sum(), z.T)
z[()] = 1
print(z)
e = np.zeros((0, 3))
print(
    e.sum(),
    e.sum(0),
    e.sum(1),
    e.prod(),
    e.shape,
    e + 1,
    e.T,
    np.concatenate([e, e]),
    e.any(),
    e.all(),
    e.size,
    np.sort(e, 0),
    np.cumsum(e, 0),
    e.reshape(-1),
    e[e > 1],
    e @ np.ones((3, 2)),
    np.zeros((2, 0)) @ np.zeros((0, 2)),
    e.max(1),
    np.argmax(e, axis=1),
)
print(np.float64(3).shape, np.array(2) * np.array(3))
