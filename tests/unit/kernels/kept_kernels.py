"""Kernels in which elements may live in variables for a while, with what is near enough to forbid
it.
"""

import fusewright as fw


@fw.kernel
def row_sums(a, t):
    for i in range(a.shape[0]):
        t[i] = 0.0
        for j in range(a.shape[1]):
            t[i] = t[i] + a[i, j]


@fw.kernel
def into_missing(a, t, n):
    for i in range(a.shape[0]):
        for j in range(n):
            t[i] += a[i, j]


@fw.kernel
def solved(a, x, b):
    for i in range(a.shape[0]):
        x[i] = b[i]
        for j in range(i):
            x[i] -= a[i, j] * x[j]
        x[i] = x[i] / (a[i, i] + 4.0)


@fw.kernel
def decomposed(a):
    n = a.shape[0]
    for i in range(n):
        a[i, i] += 20.0
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[k, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            for k in range(i):
                a[i, j] -= a[i, k] * a[k, j]


@fw.kernel
def met_on_the_way(a, x):
    for i in range(a.shape[0]):
        for j in range(x.shape[0]):
            x[i] = x[i] + a[i, j] * x[j]


@fw.kernel
def backwards(a, x):
    n = a.shape[0]
    for i in range(n - 1, -1, -1):
        for j in range(n - 1, i, -1):
            x[i] = x[i] - a[i, j] * x[j]


@fw.kernel
def best(a, t, seen):
    for i in range(a.shape[0]):
        t[i] = a[i, 0]
        for j in range(a.shape[1]):
            t[i] = max(t[i], a[i, j])
            if a[i, j] > 0.5:
                seen[i] = True
                t[i] = t[i] + 0.25


@fw.kernel
def sometimes(a, t):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 1.5:
                t[i] = t[i] + a[i, j]


@fw.kernel
def through_a_view(a, t, u):
    for j in range(1, a.shape[1]):
        t[0] = t[0] + a[0, j] * u[j]


@fw.kernel
def along_columns(a, t):
    for j in range(a.shape[1]):
        for i in range(a.shape[0]):
            t[j] = t[j] * 0.5 + a[i, j]


@fw.kernel
def until_it_is_large(a, t):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            t[i] = t[i] + abs(a[i, j])
            if t[i] > 2.0:
                break


@fw.kernel
def counted(a, counts):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            counts[i % 3] += 1 if a[i, j] > 0 else 0


@fw.kernel
def either(a, b, c):
    for i in range(a.shape[0]):
        if a[i] > 0:
            b[i] = a[i] * 2.0
        elif a[i] < -1:
            b[i] = 1.0
        else:
            b[i] = -a[i]
    for i in range(1, a.shape[0]):
        c[i] = b[i] if b[i] > 1.0 else a[i]


@fw.kernel
def only_if(a, b, c):
    for i in range(a.shape[0]):
        if a[i] > 0:
            b[i] = a[i] * 2.0
    for i in range(a.shape[0]):
        c[i] = b[i] + a[i]
    for i in range(a.shape[0]):
        if c[i] > b[i]:
            c[i] = b[i]
    for i in range(2, a.shape[0]):
        a[i] = b[i] * c[i]


@fw.kernel
def if_it_exists(a, b, c):
    for i in range(a.shape[0]):
        if i < b.shape[0]:
            b[i] = a[i]
        if i < b.shape[0]:
            c[i] = b[i] + 1.0


@fw.kernel
def other_element(a, b):
    for i in range(a.shape[0] - 1):
        k = i
        if a[i] > 0:
            k = i + 1
            b[k] = a[i]
        else:
            b[k] = -a[i]


@fw.kernel
def recurrence(x, b):
    for i in range(1, x.shape[0]):
        x[i] = x[i - 1] * 0.5 + b[i]


@fw.kernel
def both_ways(x, b):
    n = x.shape[0]
    for i in range(1, n):
        x[i] = b[i] - 0.3 * x[i - 1] / (2.0 + b[i - 1])
    for i in range(n - 2, -1, -1):
        x[i] = x[i] - 0.2 * x[i + 1]
        b[i] = x[i] + x[i + 1]


@fw.kernel
def along_rows(p, q):
    for i in range(p.shape[0]):
        for j in range(1, p.shape[1]):
            p[i, j] = 0.3 / (1.6 - p[i, j - 1])
            q[i, j] = q[i, j - 1] * p[i, j - 1] + p[i, j]


@fw.kernel
def every_other(x, b):
    for i in range(1, x.shape[0], 2):
        x[i] = x[i - 1] * 0.5 + b[i]


@fw.kernel
def read_sometimes(x, b):
    for i in range(1, x.shape[0]):
        x[i] = x[i - 1] + 1.0 if b[i] > 0 else b[i]


@fw.kernel
def written_sometimes(x, b):
    for i in range(1, x.shape[0]):
        b[i] = x[i - 1] + b[i]
        if b[i] > 0:
            x[i] = b[i]


@fw.kernel
def two_back(x, b):
    for i in range(2, x.shape[0]):
        x[i] = x[i - 1] + x[i - 2] * b[i]


@fw.kernel
def overlapping(x, b):
    for i in range(1, x.shape[0]):
        x[i] = x[i - 1] * 0.5
        b[i] = x[i]


@fw.kernel
def from_row_to_row(a):
    for i in range(1, a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] = (a[i - 1, j] + a[i, j - 1] + a[i, j]) / 3.0


@fw.kernel
def maybe_nothing(x, low, high):
    for i in range(low, high):
        x[i] = x[i - 1] + 1.0
