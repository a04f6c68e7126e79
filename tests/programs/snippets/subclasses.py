"""subclass"""

import numpy as np

R = []


class A(np.ndarray):
    def __new__(cls, x, u="m"):
        o = np.asarray(x).view(cls)
        o.u = u
        return o

    def __array_finalize__(self, o):
        self.u = getattr(o, "u", None)


a = A([1.0, 2.0, 3.0], "km")
b = a * 2
print(
    type(b).__name__,
    b.u,
    b[1:].u,
    np.sum(b),
    isinstance(b, np.ndarray),
    np.asarray(b) + 1,
    np.where(a > 1, a, 0),
)
