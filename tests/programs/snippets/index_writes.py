"""fancy writes dup"""

import numpy as np

R = []
a = np.zeros(5, int)
a[[0, 0, 1, 1]] = [1, 2, 3, 4]
a[[0, 0]] += 1
print(a)
b = np.zeros((3, 3))
b[[0, 1, 2], [2, 1, 0]] = [1, 2, 3]
b[[0, 1]] = b[[1, 0]]
print(b)
b[:, [0, 2]] = b[:, [2, 0]]
print(b)
b[np.ix_([0, 2], [0, 1])] = 9
print(b)
b[[0, -1], ...] = [[1], [2]]
print(b)
b[1, [0, 0, 0]] = [4, 5, 6]
print(b)
b[np.array([[0, 1], [1, 2]])] = b[::-1][:2]
print(b)
c = np.arange(24).reshape(2, 3, 4)
c[:, [0, 2], 1] = -1
print(c)
c[[0], :, [1, 2]] = 100
print(c)
try:
    c[[5]] = 1
except IndexError as e:
    print(e.args[0].split("\n")[0])
