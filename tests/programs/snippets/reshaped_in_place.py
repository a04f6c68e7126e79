"""shape set and resize"""

import numpy as np

R = []
x = np.arange(12)
x.shape = 3, 4
print(x)
y = x[:2]
z = y.view()
z.shape = (8,)
z[0] = 100
print(x, z)
x.shape = (-1,)
print(x.shape)
try:
    y.T.shape = (8,)
except (AttributeError, ValueError) as e:
    print("cannot")
try:
    x.shape = (5,)
except ValueError:
    print("VE")
w = np.resize(x, (2, 3))
print(w)
v = np.zeros(3)
v.resize(5, refcheck=False)
print(v)
x.resize((2, 2), refcheck=False)
print(x)

# Views made before see the array as it was, and share its memory all the same.
a = np.arange(12.0)
a.shape = 3, 4
row, part, flat = a[1], a[1:, ::2], a.reshape(-1)
a.shape = 4, 3
row[0] = -1
part += 100
a[0] = 7
print(row, part, flat, a)
flat.shape = 2, 6
corner = flat[:, 4:]
flat.shape = (12,)
corner[...] = 0
print(corner, flat, a, row)
