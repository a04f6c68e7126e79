"""custom array protocols"""

import numpy as np

R = []


class Q:
    def __array__(self, dtype=None, copy=None):
        return np.asarray([1.0, 2.0]) if dtype is None else np.asarray([1.0, 2.0], dtype)


class L:
    def __len__(self):
        return 2

    def __getitem__(self, i):
        return [5, 6][i]


class U:
    __array_priority__ = 1000

    def __radd__(self, o):
        return "radd"

    __array_ufunc__ = None


print(
    np.asarray(Q()).sum(),
    np.array(L()),
    np.ones(2) + U(),
    np.sin(Q()),
    np.ones(2) * Q(),
    np.add(Q(), 1),
)


class D:
    def __init__(s, v):
        s.v = v

    def __array_ufunc__(s, u, m, *i, **k):
        return D(getattr(u, m)(*[x.v if isinstance(x, D) else x for x in i], **k))

    def __array_function__(s, f, t, a, k):
        return "fn " + f.__name__


print((np.ones(2) + D(np.arange(2))).v, np.concatenate([D(1)]), np.multiply(D(np.arange(2)), 3).v)
