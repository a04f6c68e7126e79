"""Kernels whose loops may fuse for some parameters, or some arrays, only."""

import fusewright as fw


@fw.kernel
def offset(a, b, k):
    for i in range(b.shape[0]):
        a[i] = b[i] * 2
    for i in range(b.shape[0]):
        b[i] = a[i + k]


@fw.kernel
def mirrored(a, b, m):
    for i in range(b.shape[0]):
        a[i] = b[i] * 2
    for i in range(b.shape[0]):
        b[i] += a[m - 1 - i]


@fw.kernel
def two_offsets(a, b, k, n):
    for i in range(n):
        a[i] = b[i] * 2
    for i in range(n):
        b[i] = a[i + k]
    for i in range(n):
        a[i + k + n] = b[i] + 1


@fw.kernel
def in_time(a, b, k):
    """The test is made once, before the loop outside."""
    for _ in range(2):
        s = 0.0
        for i in range(b.shape[0]):
            a[i] = b[i] + 1
        for i in range(b.shape[0]):
            b[i] = a[i + k]
        for i in range(b.shape[0]):
            s += b[i]
        a[0] = s


@fw.kernel
def every_fourth(a, b, k):
    for i in range(b.shape[0]):
        a[4 * i] = b[i] * 2
    for i in range(b.shape[0]):
        b[i] = a[4 * ((3 * i) % 64) + (k & 3)]


@fw.kernel
def by_table(a, b, t):
    for i in range(t.shape[0]):
        a[t[i]] = b[i]
    for i in range(t.shape[0]):
        b[i] = a[i]


@fw.kernel
def neighbours(a, b):
    for i in range(1, a.shape[0] - 1):
        a[i] = 1.5
    for i in range(1, a.shape[0] - 1):
        b[i] = a[i] * 2.0
