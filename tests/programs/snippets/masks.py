"""masked updates"""

import numpy as np

R = []
x = np.linspace(-1, 1, 11)
m = x < 0
x[m] *= -1
x[m & (x > 0.5)] = 0.5
x[~m] += 1
np.putmask(x, x > 1.5, 0)
np.place(x, x == 0, [7, 8])
np.copyto(x, -1, where=m)
print(x)
y = np.where(m, x, np.nan)
y[np.isnan(y)] = 0
print(
    y,
    np.nan_to_num(y),
    np.select([x < 0, x > 1], [0, 1], 2),
    np.piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: v * 2]),
    np.clip(x, 0, 1, out=x),
)
i = np.argwhere(x > 0.5)
print(i.T)
x[np.nonzero(x)] = 9
print(x, x[np.flatnonzero(x)[:2]])
x[x.argmax()] = 0
print(x)
x[[1, 2]], x[[3, 4]] = x[[3, 4]], x[[1, 2]]
a, b = x[:2]
print(a, b)
x[0], x[1] = x[1], x[0]
print(x)
c = np.arange(12).reshape(3, 4)
c[c % 2 == 0] = c[c % 2 == 0] // 2
c[:, 1][c[:, 1] > 3] = 0
c[1:][:, ::2] = -1
c[c.argmax(0), np.arange(4)] = 100
print(c)
r = c[1]
r[:] = 5
c.T[0] = 6
c.flat[::5] = 0
c.ravel()[3] = 77
c.reshape(2, 6)[1] = 1
print(c)
d = c.diagonal()
print(d)
np.fill_diagonal(c, 8)
print(c)
