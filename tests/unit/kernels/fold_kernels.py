"""Kernels that collect integers: sums, products, bits, minima and maxima over loops."""

from __future__ import annotations

import fusewright as fw


@fw.kernel
def total(a):
    s = 0
    for i in range(a.shape[0]):
        s += a[i]
    return s


@fw.kernel
def backwards(a):
    s = 5
    for i in range(a.shape[0]):
        s = a[i] * 3 - i + s
    return s


@fw.kernel
def taken_away(a):
    s = 7
    for i in range(a.shape[0]):
        s -= a[i]
    return s


@fw.kernel
def counted(a, low):
    inside, above = 0, 0
    for i in range(a.shape[0]):
        if a[i] > low:
            inside += 1
            if a[i] > 2 * low:
                above += 2
        else:
            above -= 1
    return inside, above


@fw.kernel
def product(a):
    p = a[0]
    for i in range(1, a.shape[0]):
        p *= a[i]
    return p


@fw.kernel
def bits(a):
    every, some, odd = a[0], a[0], a[0]
    for i in range(a.shape[0]):
        every &= a[i]
        some |= a[i]
        odd ^= a[i]
    return every, some, odd


@fw.kernel
def extremes(a):
    low, high = a[0], a[0]
    for i in range(a.shape[0]):
        low = min(low, a[i])
        if a[i] >= high:
            high = a[i]
    return low, high


@fw.kernel
def extremes_by_comparison(a):
    low, high = a[0], a[0]
    for i in range(a.shape[0]):
        t = a[i]
        low = t if t < low else low
        high = high if high > t else t
    return low, high


@fw.kernel
def flags(a):
    some, every = False, True
    for i in range(a.shape[0]):
        some |= a[i] > 5
        every &= a[i] > -50
    return some, every


@fw.kernel
def rows(m, r):
    for i in range(m.shape[0]):
        s = 0
        for j in range(m.shape[1]):
            s += m[i, j]
        r[i] = s


@fw.kernel
def plane(m):
    s = 0
    for i, j in fw.ndrange(m.shape[0], m.shape[1]):
        s += m[i, j] * (i - j)
    return s


@fw.kernel
def triangle(m):
    s, most = 0, 0
    for i in range(m.shape[0]):
        for j in range(i):
            s += m[i, j]
        most = max(most, i)
    return s, most


@fw.kernel
def beside_stores(a, b):
    s = 0
    for i in range(a.shape[0]):
        b[i] = a[i] * 2
        s += b[i]
    for i in range(a.shape[0]):
        b[i] += 1
        s += 1
    return s


@fw.kernel
def in_rounds(a, rounds):
    s = 0
    k = 0
    while k < rounds:
        for i in range(a.shape[0]):
            s += a[i] + k
        k += 1
    return s


@fw.kernel
def used_inside(a, b):
    s = 0
    for i in range(a.shape[0]):
        s += a[i]
        b[i] = s
    return s


@fw.kernel
def left_early(a, stop):
    s = 0
    for i in range(a.shape[0]):
        if a[i] == stop:
            break
        s += a[i]
    return s


@fw.kernel
def two_operations(a):
    s = 1
    for i in range(a.shape[0]):
        s += a[i]
        s *= 3
    return s


@fw.kernel
def of_columns(m):
    s = 0
    for j in range(m.shape[1]):
        for i in range(m.shape[0]):
            if m[i, j] % 2 == 0:
                continue
            s += m[i, j]
    return s


@fw.kernel
def stencil_and_sum(a, b, c):
    s = 0
    for i in range(1, a.shape[0] - 1):
        b[i] = a[i - 1] + a[i + 1]
    for i in range(2, a.shape[0] - 2):
        c[i] = b[i - 1] - b[i + 1]
        s += c[i]
    return s


@fw.kernel
def to_the_last(a):
    last = -1
    n = 0
    for i in range(a.shape[0]):
        if a[i] > 0:
            last = i
            n += 1
    return last, n


@fw.kernel
def where_first(a):
    """The first of the greatest, as programs look for it."""
    best, at = a[0], 0
    for i in range(1, a.shape[0]):
        if a[i] > best:
            best = a[i]
            at = i
    return best, at


@fw.kernel
def highest(a):
    m = a[0]
    for i in range(a.shape[0]):
        m = max(m, a[i])
    return m
