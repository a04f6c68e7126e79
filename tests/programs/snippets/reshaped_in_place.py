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
