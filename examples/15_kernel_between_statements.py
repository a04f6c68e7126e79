"""A kernel between two array statements: three members of one group, one pass over memory.

A loop that is no array statement stays a kernel.  Statements on large arrays join it: what it
reads, and what reads its result.
"""

import numpy

import fusewright as fw
import fusewright.numpy as np


@fw.kernel
def halvings(a: fw.Array, out: fw.Array) -> None:
    for i in range(a.shape[0]):
        v = a[i]
        while v > 1.0:  # no operation of arrays
            v = v * 0.5
        out[i] = v


n = 1 << 18
x, y = np.arange(n) * 0.5, np.ones(n)


def program() -> None:
    u = np.empty(n)
    halvings(2.0 * x + y, u)
    u[1:-1] = 0.5 * (u[2:] + u[:-2])  # a region of what the kernel wrote
    d = u - x
    fw.evaluate(d)


# One step: the kernel and three statements; `2 * x + y` has no memory of its own.
with fw.options(background=False):  # do not go on without the joined kernel
    program()
    print(fw.explain(program))

# The same in NumPy, with the kernel run by CPython.
n, p = 64, numpy.arange(64) * 0.5
u, v = numpy.empty(n), np.empty(n)
halvings.__wrapped__(2.0 * p + 1.0, u)
halvings(2.0 * np.asarray(p) + 1.0, v)
assert v.tolist() == u.tolist()
