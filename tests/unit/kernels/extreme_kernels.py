"""Greatest and least floats of arrays, as users write them."""

import numpy as np

import fusewright as fw


@fw.kernel
def greatest(a, start):
    m = start
    for i in range(a.shape[0]):
        m = max(m, a[i])
    return m


@fw.kernel
def least(a, start):
    m = start
    for i in range(a.shape[0]):
        m = min(m, a[i])
    return m


@fw.kernel
def both(a, start):
    low = start
    high = start
    for i in range(a.shape[0]):
        x = a[i] * 1.0
        if x < low:
            low = x
        if x > high:
            high = x
    return low, high


@fw.kernel
def numpy_greatest(a, start):
    m = start
    for i in range(a.shape[0]):
        m = np.maximum(m, a[i])
    return m


@fw.kernel
def numpy_least(a, start):
    m = start
    for i in range(a.shape[0]):
        m = np.minimum(a[i], m)
    return m


@fw.kernel
def swapped(a, start):
    """The other order: of two zeros the later one, and a number that is none goes through."""
    m = start
    for i in range(a.shape[0]):
        m = fw.max(a[i], m)
    return m


@fw.kernel
def with_place(a, start):
    m = start
    k = -1
    for i in range(a.shape[0]):
        if a[i] > m:
            m = a[i]
            k = i
    return m, k


@fw.kernel
def of_a_matrix(a, start):
    m = start
    for i, j in fw.ndrange(a.shape[0] // 7, 7):
        m = max(m, abs(a[7 * i + j]))
    return m
