"""out overlap"""

import numpy as np

R = []
a = np.arange(10.0)
np.add(a[1:], a[:-1], out=a[1:])
print(a)
np.multiply(a, 2, out=a)
print(a)
np.add(a[::-1], a, out=a)
print(a)
b = np.arange(10.0)
b[1:] += b[:-1]
print(b)
b[:-1] = b[1:]
print(b)
b[::2] = b[1::2]
print(b)
b[:] = b[::-1]
print(b)
c = np.arange(9.0).reshape(3, 3)
c += c.T
print(c)
c[:] = c.T
c[0] = c[:, 0]
print(c)
np.cumsum(c, axis=0, out=c)
print(c)
np.matmul(c, c, out=c)
print(c)
d = np.arange(4)
o = np.empty(4)
r = np.sqrt(d, out=o)
print(r is o, o)
r = np.sqrt(d, o)
print(r is o)
np.sqrt(d, out=o, where=d > 1)
print(o)
print(np.add(d, 1, o))
q = d.sum(out=np.empty((), int))
print(q)
x, y = np.divmod(d, 2, out=(np.empty(4, int), np.empty(4, int)))
print(x, y)
