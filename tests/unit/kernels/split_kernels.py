"""Kernels whose loops have different bounds: literal ones, parameters, two dims, chains."""

import fusewright as fw


@fw.kernel
def three(a, b, c, d, n, m):
    for i in range(n):
        b[i] = a[i] * 2
    for i in range(n - 1):
        c[i] = b[i] + 1
    for i in range(1, n - 1):
        d[i] = c[i] + b[i]


@fw.kernel
def by_parameters(a, b, c, d, n, m):
    for i in range(n):
        b[i] = a[i] * 2
    for i in range(m):
        c[i] = b[i] + 1
    for i in range(3, n + m - 40):
        d[i] = c[i] + b[i]
    for i in range(7, m):
        a[i] = d[i] * 0.5


@fw.kernel
def in_time(a, b, c, d, n, m):
    for _ in range(3):
        for i in range(1, n):
            b[i] = a[i] + c[i]
        for i in range(m - 2):
            c[i] = b[i] * 0.5
        for i in range(2, n - 2):
            a[i] = c[i] - d[i]


@fw.kernel
def rows_and_columns(a, b, c, d, n, m):
    for i, j in fw.ndrange(n, m):
        b[i, j] = a[i, j] * 2
    for i, j in fw.ndrange(n - 1, (2, m)):
        c[i, j] = b[i, j] + 1
    for i, j in fw.ndrange((1, n - 1), (1, m - 1)):
        d[i, j] = c[i, j] + b[i, j]


@fw.kernel
def triangles(a, b, c, d, n, m):
    for i in range(n):
        for j in range(i, m):
            b[i, j] = a[i, j] * 2
    for i in range(1, n):
        for j in range(i, m - 1):
            c[i, j] = b[i, j] + 1
    for i in range(n - 1):
        for j in range(m):
            d[i, j] = c[i, j] + b[i, j]
