"""ufunc at"""

import numpy as np

R = []
a = np.zeros(5)
np.add.at(a, [0, 0, 1, 3, 3, 3], 1)
print(a)
b = np.arange(6)
np.subtract.at(b, [1, 1, 1], 2)
print(b)
np.negative.at(b, [0, 1])
print(b)
np.maximum.at(a, [1, 2], [5, 7])
print(a)
c = np.ones((3, 3))
np.add.at(c, ([0, 0], [1, 1]), [10, 20])
print(c)
np.multiply.at(c, (slice(None), 1), 2)
print(c)
