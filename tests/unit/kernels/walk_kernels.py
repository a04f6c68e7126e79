"""Kernels that loop over what is no range, and that write parts of arrays; numbers that
are more than numbers.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

import fusewright as fw
import fusewright.numpy as fnp

# -- what a loop runs over ------------------------------------------------------------------------


@fw.kernel
def side_by_side(a, b, c):
    for i, (x, y) in enumerate(zip(a, b, strict=False), start=3):
        c[i] = x * y
    for x, k in zip(a[::2], range(5, 100, 3), strict=False):
        c[k % len(c)] += x
    for k, v in enumerate(reversed(a)):
        c[k] -= v


@fw.kernel
def backwards(a, step):
    for i in reversed(range(2, len(a) - 2, step)):
        a[i] = a[i + 1] + 1
    for i in reversed(range(step)):
        a[i] += i
    for v in reversed(a):
        a[0] += v
    for i in reversed(range(5, 2)):
        a[i] = 77


@fw.kernel
def over_rows(m, v, out):
    for i, row in enumerate(m):
        total = 0.0
        for x, y in zip(row, v, strict=False):
            total += x * y
        out[i] = total
    for row, w in zip(reversed(m), out, strict=False):
        for j in range(len(row)):
            row[j] *= w


@fw.kernel
def changed_meanwhile(a):
    for i, v in enumerate(a):
        if i + 1 < len(a):
            a[i + 1] = v + 1
        a[0] = v
    n = 10
    for i, v in enumerate(a[:n]):
        n = 3
        a[n + i] = v


@fw.kernel
def written_out(a, b):
    weights = [(-1, 2), (1, 3)]
    for i in range(1, len(a) - 1):
        total = 0
        for d, w in weights:
            total += a[i + d] * w
        for d in [1, 2]:
            total -= d
        for k, (d, w) in enumerate(weights):
            total += k * d * w
        for x, y in zip((1, 2, 3), [4, 5, 6], strict=False):
            total += x * y
        for x in reversed((1, 5)):
            total = total * 3 - x
        b[i] = total


@fw.kernel
def until_found(a, b):
    for i in range(len(a)):
        for k in range(2, 10):
            if a[i] % k == 0:
                break
        else:
            k = -1
        b[i] = k
        for p in (3, 2, 5):
            if a[i] == p:
                r = p * 10
                break
        else:
            r = 1
        b[i] += r
    i = 0
    while i < len(a):
        if a[i] == -8:
            break
        i += 1
    else:
        b[0] = 100
    b[1] = i


@fw.kernel
def out_of_two_loops(m, b):
    for i in range(m.shape[0]):
        for j, v in enumerate(m[i]):
            if v == 7:
                break
            b[0] += j
        else:
            b[1] += i
            continue
        b[2] = j
        break
    else:
        b[2] = -1


@fw.kernel
def leaves_in_else(a, b, wanted):
    for i in range(len(a)):
        if a[i] == wanted:
            break
    else:
        b[0] = 1
        return 5
    return i


@fw.kernel
def among(a, b):
    for i, v in enumerate(a):
        b[i] = v in (1, 2, 3) or v not in (4, 5, -6, i)


@fw.kernel
def truths(a, b):
    for i in range(len(a)):
        b[i] = 1 if (a[i] and i) or not (a[i] and b[i]) else 2
        while a[i] and b[i]:
            b[i] -= 1
        if not (a[i] or i):
            b[i] = 3
        b[i] += (a[i] and b[i]) or i


# -- parts and arrays of a kernel's own ------------------------------------------------------------


@fw.kernel
def fills(a, b, c):
    a[1:-1, 2] = 3
    a[4] = a[5, 0]
    b[:, ::2] = -1.5
    for i in range(len(a)):
        b[i] *= a[i, 0]
        b[i, 1:4] += b[i, 1]
        a[i, i:] -= 2
        a[-1 - i][2:5] = i
    a[2].fill(7.0)
    a[..., 0] = b[0, ...][1]
    b[...] += 1
    c[:] = 2.9
    c[1:5] //= 2
    c[:3] += True
    a[:] /= 3


@fw.kernel
def fills_read_first(a, n):
    a[5:2] = 7
    a[100:] = 3
    a[: n - 100] = 9
    a[:] = a[0] + 1
    a[1:] += a[0]
    a[:] *= a[1]


@fw.kernel
def made_inside(a):
    t = fnp.zeros(10)
    u = np.ones((3, 3), dtype=fnp.float32)
    w = np.full(4, 2)
    z = np.array([1.0, 2.0, a[3]])
    m = fnp.array([[1, 2], [3, 4]], dtype=np.float64)
    e = np.empty(200, np.int32)
    for i in range(200):
        e[i] = i
    for i in range(10):
        t[i] = a[i] * 2 + u[i % 3, 1] + w[i % 4]
    for i in range(10):
        a[i] = t[9 - i] + z[i % 3] * m[i % 2, 1] + e[i * 10]
    t.fill(3)
    for v in t:
        a[0] += v
    for row in m:
        for v in row:
            a[1] += v


class Mode(IntEnum):
    FIRST = 0
    SECOND = 1


@fw.kernel
def enumerated(a, mode, scale):
    for i in range(len(a)):
        if mode == Mode.SECOND:
            a[i] = np.clip(a[i], 0.2, 0.5) * scale
        elif mode in (Mode.FIRST, 7):
            a[i] = mode + i


class Point(NamedTuple):
    x: float
    values: Any


@fw.kernel
def named_tuple(a, point):
    scale, values = point
    for i in range(len(a)):
        a[i] = point.x * i + point[0] + values[i] * scale + point[-1][0]
