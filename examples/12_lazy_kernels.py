"""Kernels on lazy arrays: calls are recorded, and fuse with each other and with array statements.

With arrays of this package a call runs nothing.  Loops that are array statements are recorded as
such; what is never read is never stored.
"""

import numpy

import fusewright as fw
import fusewright.numpy as np


@fw.kernel
def add(a: fw.Array, b: fw.Array, out: fw.Array) -> None:
    for i in range(a.shape[0]):
        out[i] = a[i] + b[i]


@fw.kernel
def smooth(a: fw.Array, out: fw.Array) -> None:
    for i in range(1, a.shape[0] - 1):
        out[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1]


n = 1000
x, y = np.arange(n) * 0.5, np.ones(n)
t, out = np.empty(n), np.zeros(n)


def program() -> None:
    add(x, y, t)  # a temporary: it is overwritten in the next round
    u = t * t - 1  # an array statement in between
    smooth(u, out)
    fw.evaluate(out)


# Three statements, one loop; the temporaries are in registers.
program()
print(fw.explain(program))
print(add.stats)

# `t` was not stored, and is there when somebody looks.
assert t[10] == 6.0


# A loop that carries a value runs in order, as a kernel of its own: later, and only if needed.
@fw.kernel
def energy(a: fw.Array, b: fw.Array) -> float:
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * b[i]
    return s


@fw.kernel
def scale(a: fw.Array, factor: float) -> None:
    for i in range(a.shape[0]):
        a[i] = a[i] * factor


e = energy(out, out)  # a lazy number
scale(out, 1 / e**0.5)  # an argument like any other: nothing has run
print(f"norm {energy(out, out):.6f}")
print(energy.explain())

# NumPy's own arrays are complete when a call returns, except inside `fw.lazy()`.
a, b, c = numpy.arange(5.0), numpy.ones(5), numpy.zeros(5)
with fw.lazy():
    add(a, b, c)
    add(c, c, a)
print(a, c)
