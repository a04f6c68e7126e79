"""Kernels that cut arrays: slices whose steps are computed, arrays split into parts."""

from __future__ import annotations

import numpy as np

import fusewright as fw


@fw.kernel
def every(a, low, high, step):
    total = np.float64(0.0)
    for x in a[low:high:step]:
        total = total * 0.5 + x
    return total, len(a[low:high:step])


@fw.kernel
def every_from_an_end(a, step):
    return a[::step].sum(), a[2::step] * 2, a[:-3:step] + 1


@fw.kernel
def of_a_plane(a, step, other):
    part = a[::step, 1::other]
    return part.shape[0], part.shape[1], part + 1, a[1, ::step] * 2, a[::step, 0] * 2, a[::step][0]


@fw.kernel
def written(a, step):
    a[::step] = -1.0
    a[1::step] += 10.0
    part = a[2::step]
    part[0] = 99.0


@fw.kernel
def strides(a):
    for step in range(1, 5):
        a[::step] += step


@fw.kernel
def given_back(a, step):
    return a[::step]


@fw.kernel
def uneven(a):
    found = np.float64(0.0)
    for part in np.array_split(a, 4):
        found = found * 0.5 + part.sum()
    return found, np.array_split(a, 3)[1] * 2


@fw.kernel
def even(a):
    left, right = np.split(a, 2)
    left[0] = 7.0
    return left - right


@fw.kernel
def halves(a):
    left, right = np.split(a, 2)
    return left.sum() - right.sum()


@fw.kernel
def at_places(a, k):
    x, y, z = np.split(a, (1, k))
    return x.sum() + 2 * y.sum(), len(z)


@fw.kernel
def planes(a):
    top, bottom = np.vsplit(a, 2)
    first, second, third = np.hsplit(a, 3)
    left, right = np.array_split(a, 2, axis=1)
    return top + bottom, first * second - third, left * 2, right * 2


@fw.kernel
def modular(base, exponent, modulus):
    return pow(base, exponent, modulus)


@fw.kernel
def is_prime(n, out):
    for k in range(3, n):
        out[k] = pow(2, k - 1, k) == 1
