"""Kernels of several loops, with what must become of them."""

import fusewright as fw


@fw.kernel
def chain(a, b, c, d):
    for i in range(a.shape[0]):
        b[i] = a[i] * 2
    for i in range(a.shape[0]):
        c[i] = b[i] + 1
    for i in range(a.shape[0]):
        d[i] = c[i] * b[i]


@fw.kernel
def other_bounds(a, b, c):
    for i in range(a.shape[0]):
        b[i] = a[i] * 2
    for i in range(2, c.shape[0]):
        c[i] = b[i] + 1


@fw.kernel
def stencils(a, b, c, d):
    n = a.shape[0]
    for i in range(1, n - 1):
        b[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1]
    for i in range(2, n - 2):
        c[i] = 0.25 * b[i - 1] + 0.5 * b[i] + 0.25 * b[i + 1]
    for i in range(3, n - 3):
        d[i] = 0.25 * c[i - 1] + 0.5 * c[i] + 0.25 * c[i + 1]


@fw.kernel
def in_place(a, b):
    for i in range(1, a.shape[0] - 1):
        b[i] = a[i - 1] + a[i + 1]
    for i in range(1, a.shape[0] - 1):
        a[i] = b[i] * 0.5


@fw.kernel
def rows(a, b, c):
    n, m = a.shape
    for i, j in fw.ndrange((1, n - 1), (1, m - 1)):
        b[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]
    for i, j in fw.ndrange((2, n - 2), (2, m - 2)):
        c[i, j] = b[i - 1, j] + b[i + 1, j] + b[i, j - 1] + b[i, j + 1]


@fw.kernel
def past_a_sum(a, b, c, d):
    for i in range(a.shape[0]):
        b[i] = a[i]
    s = 0.0
    for i in range(c.shape[0]):
        s += c[i]
    for i in range(a.shape[0]):
        d[i] = b[i] * 2
    return s


@fw.kernel
def with_locals(a, b):
    for i in range(a.shape[0]):
        v = fw.vector(a[i], 2 * a[i], 1.0)
        b[i] = v[0] + v[1] * v[2]
    for i in range(a.shape[0]):
        w = fw.local((4,))
        for k in range(4):
            w[k] = b[i] * k
        a[i] = w[3] - w[1]


@fw.kernel
def along_a_diagonal(m, n, a):
    """Columns carry nothing in a row, but from row to row: strips of them depend on each other."""
    for i, j in fw.ndrange((1, 5), (1, 20)):
        n[i + 1, j] = n[i, j - 1] * 0.5 + m[i + 1, j]
    for j in range(n.shape[1]):
        w = 0.0
        for i in range(n.shape[0]):
            w += n[i, j]
        a[j] = w


@fw.kernel
def other_columns(m, n):
    """The same rows, not the same columns: some columns have one of the loops only."""
    for i, j in fw.ndrange((1, m.shape[0] - 1), (1, m.shape[1] - 1)):
        m[i + 1, j] += n[i, j] * 0.5 + n[i, j - 1]
    for i, j in fw.ndrange((1, m.shape[0] - 1), (3, 20)):
        m[i + 1, j] += n[i + 1, j] * 0.5 + n[i, j]


@fw.kernel
def fenced(a, b, c):
    for i in range(a.shape[0]):
        b[i] = a[i]
    fw.nofuse()
    for i in range(a.shape[0]):
        c[i] = b[i]


@fw.kernel
def in_time(a, b, n):
    for _ in range(n):
        for i in range(a.shape[0]):
            b[i] = a[i] * 0.5
        for i in range(a.shape[0]):
            a[i] = b[i] + 1.0


@fw.kernel
def scattered(pos, out, x, table):
    fw.assume_unique(table)
    for i in range(table.shape[0]):
        pos[table[i]] = x[i]
    for i in range(table.shape[0]):
        out[i] = pos[table[i]] * 2


@fw.kernel
def moved(out, x, rows, columns):
    for i in range(rows.shape[0]):
        out[rows[i]] = x[columns[i]]


@fw.kernel
def halved_table(out, x, rows):
    fw.assume_unique(rows)
    for i in range(rows.shape[0]):
        rows[i] //= 2
    for i in range(rows.shape[0]):
        out[rows[i]] = x[i]


@fw.kernel
def half_precision(a, h, k, o):
    for i in range(a.shape[0]):
        h[i] = a[i] * 1000.1
    for i in range(a.shape[0]):
        k[i] = int(h[i]) % 256
    for i in range(a.shape[0]):
        o[i] = h[i] + k[i]


@fw.kernel
def in_place_rows(a, b):
    n, m = a.shape
    for i, j in fw.ndrange((1, n - 1), (1, m - 1)):
        b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
    for i, j in fw.ndrange((1, n - 1), (1, m - 1)):
        a[i, j] = b[i, j]


@fw.kernel
def in_place_chain(a, b, c):
    """Three loops, none of which may run twice: each overwrites what another one reads."""
    n = a.shape[0]
    for i in range(2, n - 2):
        b[i] = a[i - 1] + a[i + 2]
    for i in range(1, n - 3):
        c[i] = b[i] * 0.5 + b[i + 1]
    for i in range(3, n - 2):
        a[i] = c[i - 1] + b[i - 2] * 0.25


@fw.kernel
def value_after_strips(a, b, x, r):
    last = 0.0
    for i in range(1, 18):
        x[i] = r
        b[i] /= 3 + a[18 - i] ** 2
    for i in range(18, -1, -2):
        for _ in range(len(b)):
            for _ in range(19):
                x[18 - i] = r + 1
            last = r * 2
    return last


@fw.kernel
def columns(a, b, c):
    n, m = a.shape
    for i, j in fw.ndrange(n, m):
        b[i, j] = a[i, j] * 2.0
    for j in range(m):
        s = 0.0
        for i in range(n):
            s += b[i, j]
        c[j] = s


@fw.kernel
def scaled_rows(a, x, y, z):
    n, m = a.shape
    for i in range(n):
        s = 0.0
        for j in range(m):
            s += a[i, j] * x[j]
        y[i] = s
    for i, j in fw.ndrange(n, m):
        z[i, j] = a[i, j] * y[i]
