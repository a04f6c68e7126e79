"""Kernels that hand on a value whose updates may take any order, and use it on the way."""

from __future__ import annotations

import fusewright as fw


@fw.kernel
def sums(a, b):
    s = 3
    for i in range(a.shape[0]):
        s += a[i]
        b[i] = s
    return s


@fw.kernel
def before(a, b):
    s = 0
    for i in range(1, a.shape[0] - 1):
        b[i] = s
        s -= 2 * a[i]
    return s


@fw.kernel
def from_the_end(a, b):
    s = 0
    for i in range(a.shape[0] - 1, -1, -1):
        s = a[i] + s
        b[i] = s


@fw.kernel
def in_place(a, b):
    s = 0
    for i in range(a.shape[0]):
        s += a[i]
        a[i] = s
    return s


@fw.kernel
def extremes(a, b):
    low, high = a[0], a[0]
    for i in range(a.shape[0]):
        low = min(low, a[i])
        if a[i] > high:
            high = a[i]
        b[i] = high - low
    return low, high


@fw.kernel
def bits(a, b):
    s, t, u = 1, 0, -1
    for i in range(a.shape[0]):
        s = s ^ int(a[i])
        t |= int(a[i])
        u &= ~int(a[i])
        b[i] = (s + t + u) & 127
    return s, t, u


@fw.kernel
def counted(a, b):
    k = 0
    for i in range(a.shape[0]):
        if a[i] > 3:
            if a[i] % 2 == 0:
                k += 1
            else:
                k += 2
        b[i] = k % 100
    return k


@fw.kernel
def rows(m, b):
    s = 0
    for i in range(m.shape[0]):
        for j in range(3):
            s += m[i, j]
        b[i] = s
    return s


@fw.kernel
def compacted(a, b):
    k = 0
    for i in range(a.shape[0]):
        x = a[i] * 2
        if x > 4:
            b[k] = x
            k += 1
    return k


@fw.kernel
def compacted_after(a, b):
    k = 2
    for i in range(a.shape[0] - 3):
        if a[i] > 2:
            least = a[i]
            if least < 90:
                k += 1
                b[k] = a[i]
                if a[i] > 30:
                    b[k] = a[i] // 2
    return k


@fw.kernel
def split(a, b, c):
    left, right = 0, 0
    for i in range(a.shape[0]):
        if a[i] % 2 == 0:
            b[left] = a[i]
            left += 1
        else:
            c[right] = a[i]
            right += 1
    return left, right


@fw.kernel
def fused_with_what_it_adds_up(a, b, c):
    s = 0
    for i in range(a.shape[0]):
        c[i] = a[i] * 3 + 1
    for i in range(a.shape[0]):
        s += c[i]
        b[i] = s
    return s


# -- in order ------------------------------------------------------------------------------------


@fw.kernel
def feeds_back(a, b):
    s = 0
    for i in range(a.shape[0]):
        if s < 50:
            s += a[i]
        b[i] = s
    return s


@fw.kernel
def reads_its_own_stores(a, b):
    s = 0
    for i in range(a.shape[0]):
        if a[i] > 3:
            b[i] = a[i]
        s += b[i]
        a[i] = s
    return s


@fw.kernel
def meets_other_iterations(a, b):
    s = 0
    for i in range(1, a.shape[0]):
        s += a[i - 1]
        a[i] = s
    return s


@fw.kernel
def overwrites(a, b):
    k = -3
    for i in range(a.shape[0]):
        if a[i] > 2:
            b[k] = a[i]
            k += 1
    return k


@fw.kernel
def on_both_sides(a, b):
    k = 0
    for i in range(a.shape[0] - 1):
        if a[i] > 2:
            b[k] = a[i]
            k += 1
            b[k] = -1
    return k


@fw.kernel
def also_where_it_stands(a, b):
    k = 0
    for i in range(a.shape[0]):
        if a[i] > 2:
            k += 1
        b[k % b.shape[0]] = a[i]
    return k


@fw.kernel
def of_floats(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * 0.1
        b[i] = int(s)
    return s


@fw.kernel
def two_kinds(a, b):
    s = 1
    for i in range(a.shape[0]):
        s += a[i]
        s ^= 3
        b[i] = s
    return s
