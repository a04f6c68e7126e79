"""views alias"""

import numpy as np

R = []
a = np.arange(10.0)
v = a[2:8]
w = v[::2]
w[:] = 0
a[2] = 5
print(a, v, w, np.shares_memory(a, w), v.base is a, w.base is a, a.base is None)
b = a
b += 1
print(a is b, a)
c = a.reshape(2, 5)
c[0] = 0
print(a)
d = a[[1, 2]]
d[:] = 99
print(a)
e = a.copy()
e[:] = 1
print(a[0])
s = a[::-1]
s[0] = -1
print(a)
a[:] = range(10)
print(c, s[:2])
t = c.T
t += t
print(a)
x, y = np.split(a, 2)
x[:] = 3
print(a)
np.asarray(a)[0] = 7
print(a)
q = np.asarray(a)
print(q is a, np.array(a) is a, np.asanyarray(a) is a, np.ascontiguousarray(a) is a)
r = a.view("i8")
r[0] = 0
print(a[0])
z = np.zeros(3)
z2 = np.atleast_2d(z)
z2[0, 0] = 1
print(z)
k = z[None]
k[...] = 4
print(z)
z[..., None][1] = 8
print(z)
m = np.swapaxes(np.zeros((2, 3)), 0, 1)
m[0] = 1
print(m.base is not None, m)
n = np.squeeze(np.zeros((1, 2)))
n[0] = 1
print(n)
o = np.broadcast_to(z, (2, 3))
z[0] = 55
print(o)
w = np.real(np.ones(2, complex))
print(w)
u = np.moveaxis(np.arange(6).reshape(1, 2, 3), 0, -1)
print(u.shape)
i = np.hsplit(np.eye(4), 2)[1]
i += 1
print(i)
g = a.flat
g[2] = 42
print(a[2])
