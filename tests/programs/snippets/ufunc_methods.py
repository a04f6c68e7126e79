"""ufunc methods"""

import numpy as np

R = []
x = np.arange(1, 13).reshape(3, 4)
R += [
    np.add.reduce(x),
    np.add.reduce(x, 1),
    np.add.reduce(x, axis=(0, 1)),
    np.multiply.accumulate(x, 1),
    np.subtract.accumulate(x, 0),
    np.add.outer([1, 2], [3, 4, 5]),
    np.subtract.outer(x[0], x[1]),
    np.add.reduceat(np.arange(8), [0, 4, 1, 5]),
    np.maximum.reduce(x, axis=1, initial=6),
    np.add.reduce(x, where=x > 3, axis=1),
    np.logical_or.reduce(x > 5),
    np.logaddexp.reduce([1.0, 2.0, 3.0]),
    np.divide.reduce([8.0, 2.0, 2.0]),
    np.bitwise_xor.reduce(x, axis=0),
    np.hypot.accumulate([3.0, 4.0, 12.0]),
    np.minimum.accumulate([3, 1, 2]),
    np.power.outer([2.0, 3.0], [1.0, 2.0]),
]
