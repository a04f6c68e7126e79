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


# -- arrays ---------------------------------------------------------------------------------------


@fw.kernel
def histogram(a, h):
    for i in range(a.shape[0]):
        h[a[i] % h.shape[0]] += 1


@fw.kernel
def atomically(a, h, low, high, some):
    for i in range(a.shape[0]):
        k = a[i] % h.shape[0]
        fw.atomic_add(h, k, a[i])
        fw.atomic_min(low, k, a[i])
        fw.atomic_max(high, k, a[i])
        fw.atomic_or(some, k, a[i])


@fw.kernel
def two_dims(m, h):
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if m[i, j] > 0:
                h[m[i, j] % 3, j % 4] -= m[i, j]


@fw.kernel
def marked(a, seen):
    for i in range(a.shape[0]):
        seen[a[i] % seen.shape[0]] |= a[i] > 10


@fw.kernel
def with_a_count(a, h):
    n = 0
    for i in range(a.shape[0]):
        h[a[i] % h.shape[0]] += 2
        n += a[i]
    for i in range(h.shape[0]):
        n += h[i] * i
    return n


@fw.kernel
def looked_at(a, h, b):
    for i in range(a.shape[0]):
        h[a[i] % h.shape[0]] += 1
        b[i] = h[0]


@fw.kernel
def old_values(a, h, b):
    for i in range(a.shape[0]):
        b[i] = fw.atomic_add(h, a[i] % h.shape[0], 1)


@fw.kernel
def floats(a, h):
    for i in range(a.shape[0]):
        h[i % h.shape[0]] += a[i]


@fw.kernel
def by_column(m, c):
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            c[j] += m[i, j]


def plus(x, y):
    return x + y


def greater(x, y):
    if x > y:
        return x
    return y


@fw.kernel
def by_a_function(a):
    s = 2
    for i in range(a.shape[0]):
        s = plus(s, a[i] * 3)
    return s


@fw.kernel
def by_names(a):
    s, last = a[0], 0
    for i in range(a.shape[0]):
        before = s
        again = before
        s = again + a[i]
        last = i
    return s, last


@fw.kernel
def exchanged(a):
    """What is copied is needed afterwards, too."""
    s, t = a[0], a[0] * 2
    for i in range(a.shape[0]):
        old = s
        s = t + a[i] % 7
        t = old
    return s, t


@fw.kernel
def left_with_copies(a):
    s, kept = a[0], a[0] * 2
    i = 0
    while i < a.shape[0]:
        kept = s
        if a[i] > 90:
            s = a[i] - 5
            break
        s = plus(kept, a[i])
        i += 1
    return s, kept


@fw.kernel
def greatest_by_a_function(a):
    m = a[0]
    for i in range(a.shape[0]):
        m = greater(a[i], m)
    return m
