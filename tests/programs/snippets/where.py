"""where forms"""

import numpy as np

R = []
x = np.arange(12).reshape(3, 4)
R += [
    np.where(x > 5),
    np.where(x > 5, x, -x),
    np.where([True, False], [1, 2], [3, 4]),
    np.where(x % 2 == 0, 1.5, x),
]
print(np.where(x > 5))
print(np.where(x > 100))
