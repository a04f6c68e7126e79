"""Kernels that make arrays, return them, sort and search; what each means CPython says."""

from __future__ import annotations

import math

import numpy as np

import fusewright as fw


@fw.kernel
def of_an_argument(n):
    out = np.zeros(n)
    for i in range(n):
        out[i] = i * 0.5
    return out


@fw.kernel
def of_shapes(a):
    n, m = a.shape[0], len(a) * 2 - 1
    out = np.empty((n, m), dtype=np.float32)
    for i in range(n):
        for j in range(m):
            out[i, j] = a[i] * j
    return out


@fw.kernel
def like(a):
    b, c = np.zeros_like(a), np.ones(len(a), dtype=np.int32)
    d, e = np.full(a.shape, 2.5), np.full_like(a, 7, dtype=np.int64)
    for i in range(1, len(a)):
        b[i] = b[i - 1] + a[i]
        c[i] = i
        d[i] += c[i]
    return b, c, len(a), d, e


@fw.kernel
def work_array(a, n):
    """Nobody sees it: it may become registers, or a strip."""
    work, more = np.zeros(n), np.empty(len(a))
    for i in range(len(a)):
        more[i] = a[i] * 2
    for i in range(len(a)):
        work[i % n] += more[i] + 1
    total = 0.0
    for i in range(n):
        total += work[i]
    return total


@fw.kernel
def computed_sizes(duration, step):
    count = int(duration / step)
    half = (count * 3 + 7) // 2 - count % 5 + max(count, 2) - min(3, count)
    x, y = np.zeros(count + 1), np.ones(half)
    for i in range(count):
        x[i + 1] = x[i] + step
    return x, y


@fw.kernel
def expression(a, b):
    return a * 2 + b, np.sqrt(np.abs(a)) > 0.5


@fw.kernel
def part(a):
    k = 0
    out = np.empty(len(a))
    for i in range(len(a)):
        if a[i] > 0:
            out[k] = a[i]
            k += 1
    return out[:k]


@fw.kernel
def part_after_a_check(a, low):
    if low < 0:
        raise ValueError("low")
    k, out = 0, np.empty(len(a))
    for i in range(len(a)):
        if a[i] > low:
            out[k] = a[i]
            k += 1
    return out[:k]


@fw.kernel
def turned_part(a):
    out = np.empty((len(a), 3))
    for i in range(len(a)):
        for j in range(3):
            out[i, j] = a[i] + j
    return out[::-1, 1], out[2], out[1:4, :2]


@fw.kernel
def written_after(a):
    """What has been computed is written: it gets memory."""
    y = a * 2
    y[0] = 7
    z = a + 1
    a[0] = 5
    for i in range(1, len(y)):
        y[i] += y[i - 1] + z[i]
    return y


@fw.kernel
def copied_before(a):
    old = a.copy()
    for i in range(len(a)):
        a[i] = 0
    return old


@fw.kernel
def own_argument(a, b):
    a[0] = 3
    return a, b, a[1:], 4


@fw.kernel
def either(a):
    if a[0] > 0:
        return np.zeros(len(a))
    out = np.empty_like(a)
    for i in range(len(a)):
        out[i] = i
    return out


@fw.kernel
def small():
    r = np.zeros(3)
    r[0] = 1
    return r, np.array((1, 2)), np.array([[1.5, 2.0], [3.0, 4.0]])


@fw.kernel
def in_a_loop(a):
    total = 0.0
    for i in range(3):
        row = np.zeros(len(a))
        for j in range(i, len(a)):
            row[j] += a[j] * i
        total += row[-1] + row[0]
    return total


def scaled(x, factor):
    out = np.empty(len(x))
    for i in range(len(x)):
        out[i] = x[i] * factor
    return out


@fw.kernel
def from_functions(a):
    b = scaled(scaled(a, 2.0), 0.25)
    c = scaled(a, 3.0)
    return b, c


@fw.kernel
def sieve(n):
    marks = np.ones(n + 1, dtype=np.bool_)
    marks[0] = marks[1] = False
    for i in range(2, n + 1):
        if marks[i]:
            for j in range(i * i, n + 1, i):
                marks[j] = False
    return marks


@fw.kernel
def raising(n):
    total = 0
    for i in range(n):
        total += i
        if total > 1000:
            raise ValueError("too much")
    if total == 3:
        raise RuntimeError
    return total


@fw.kernel
def sorting(a, v):
    b, c = np.sort(a), a.copy()
    c.sort()
    places = np.argsort(a)
    a.sort()
    return b, c, places, np.searchsorted(a, v), np.searchsorted(a, v, side="right")


@fw.kernel
def spread(a):
    return np.std(a), np.var(a), a[1:].std()


@fw.kernel
def picked(i):
    days = [31, 28, 31, 30]
    halves = (0.5, 1.5, 2.5)
    return days[i % 4], halves[i % 3], days[-1]


@fw.kernel
def whole_powers(n, a):
    for i in range(n):
        a[i] = 3**i + i**2
    return math.floor(2.5)
