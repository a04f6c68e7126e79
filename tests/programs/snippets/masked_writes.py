"""bool writes"""

import numpy as np

R = []
a = np.arange(10)
a[a > 5] = 0
a[a == 0] += 7
a[[True, False] * 5] *= 2
print(a)
b = np.arange(12.0).reshape(3, 4)
b[b > 6] = np.arange(5)
print(b)
b[:, b[0] > 2] = -1
print(b)
b[b.sum(1) < 0] = [1, 2, 3, 4]
print(b)
m = b > 1
b[m] = b[m] ** 2
b[~m] -= 1
print(b)
b[np.array([True, False, True]), 1:3] = 0
print(b)
try:
    b[b > 1] = np.arange(3)
except ValueError as e:
    print("VE")
try:
    b[np.zeros((2, 2), bool)] = 1
except IndexError as e:
    print("IE")
