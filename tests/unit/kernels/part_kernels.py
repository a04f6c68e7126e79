"""Array statements inside kernels, where what is read and what is written may overlap."""

from __future__ import annotations

import numpy as np

import fusewright as fw


@fw.kernel
def copied(a, b):
    a[:] = b


@fw.kernel
def doubled(a, b):
    a[:] = b * 2


@fw.kernel
def shifted(a, b):
    a[1:] = b[:-1]


@fw.kernel
def ahead(a):
    a[:-1] = a[1:]
    a[:-2] += a[2:]


@fw.kernel
def behind(a):
    a[1:] = a[:-1] * 2
    a[3:] = a[:-3]


@fw.kernel
def diagonal(a):
    a[1:, :-1] = a[:-1, 1:] + a[:-1, :-1]
    a[:, 1:] -= a[:, :-1]


@fw.kernel
def interleaved(a):
    a[::2] = a[1::2] * 3
    a[1::2] = a[::2] + a[1::2]


@fw.kernel
def rows_of_one(a, i, j):
    a[i] = a[j] * 2
    a[i] += a[j]
    a[:, j] -= a[:, i]
    a[i], a[j] = a[j], a[i]


@fw.kernel
def bounds(a, lo, hi, b):
    a[lo:hi] = b[lo:hi]
    a[lo:hi:3] += 1
    a[hi:lo:-2] = 5.0
    a[-3:] = b[:3]
    for x in b[::-2]:
        a[0] += x
    b[:] = a[1:][::2][2]


@fw.kernel
def scalars_first(a, b):
    a[:] = a[0] + b
    b[:] = b / b[-1]
    a -= a[a.shape[0] // 2]


@fw.kernel
def chosen(a, b):
    a[:] = np.where(b > 0, b, -0.5)
    a[:] = np.maximum(a, 0.25) ** 2 + np.clip(b, -1, 1)
    a *= -b
    a[:] = np.sqrt(np.abs(a)) ** -1 + np.abs(b) ** 0.5
    a[:] = (a > 1) | (b < 0)
    a += a.astype(np.float32).astype(np.int64)


@fw.kernel
def ints(a, b):
    a[:] = b * 3
    a[1:] //= b[1:] + 100
    a[:] = a & 7 | ~b
    a[:] = -a % 5
    a <<= 2


@fw.kernel
def stretched(a, v, w):
    for i in range(len(a)):
        a[i, :] = v[i] + 1.0
    a += v[:, None]
    a[:] = a * w - v[:, None]
    a[..., 0] = v
    a[1:2] = w
    a[:] = a[1:2].T[0] if a.ndim == 1 else a * 0.5


@fw.kernel
def locals_and_rows(p, out):
    d, last = fw.local(3), np.zeros(3)
    for i in range(len(p)):
        d[:] = p[i] - p[0]
        last[:] = d
        d += p[i] * 2
        d[1:] = last[:-1]
        out[i] = d - last + fw.vector(1, 2, 3)
        out[i] += d[::-1]
        out[i] -= np.abs(d * last)


def scaled(a, s):
    return a * s


def length(d):
    square = d * d
    return np.sqrt(square.sum())


@fw.kernel
def helpers(a, b):
    b[:] = scaled(a, 2.0) + scaled(b, 3.0)
    for i in range(len(a)):
        b[i] += length(a - b[i])
    c = scaled(a, 2.0)
    b[:] = c
    a[:], b[:] = b + 1, b * 2


@fw.kernel
def under_names(a, b):
    r = a * 2
    for i in range(len(a)):
        b[i] = r[i]
    b += r
    a[:] = r + b
    q = a - b
    if b[0] > 0:
        b[:] = q


@fw.kernel
def walked(a, b, out):
    for i in range(len(a)):
        out[i] = sum(a[i] * b[i]) + max(a[i] - b[i])
    for x in a[0] * 2:
        out[0] += x
    for i, (x, y) in enumerate(zip(a[1] - 1, b[0], strict=True)):
        out[1] += x * y * i
    out[2] += sum(x * x for x in a[0] + b[1])
    out[3] = any(a[0] > 1) + len(a[0] * 2)


@fw.kernel
def totals(a, b, out):
    out[0] = a.sum()
    out[1] = (a * b).sum()
    out[2] = a[::2].mean()
    out[3] = a[::-1].sum()
    out[4] = a.min()
    out[5] = np.max(a * a)
    out[6] = np.any(a > 1)
    out[7] = np.all(a < 1)


@fw.kernel
def integer_totals(a, b, out):
    out[0] = np.dot(a[0], b[0])
    out[1] = a[1].dot(b[1])
    out[2] = a.sum()
    out[3] = np.sum(a > b)
    out[4] = a.max()
    out[5] = np.min(b)


@fw.kernel
def half_total(a, out):
    out[0] = np.sum(a)


@fw.kernel
def complex_parts(z, w):
    w[:] = z * w + 1j
    w -= z.real
    w[:] = np.conj(w) / (z + 2)
    w *= w


@fw.kernel
def first_elements(a, b, n):
    a[:n] = b[:n]


@fw.kernel
def by_shape(a, b):
    if b.shape[0] == 1:
        a[:] = b[0]
    else:
        a[:] = b


@fw.kernel
def two_passes(a, b, c):
    c[:] = a * 2 + b
    a[:] = c * c


@fw.kernel
def prefixes(a, b):
    for i in range(len(a)):
        a[i, :i] = b[i, :i]


@fw.kernel
def gathered(a, k, out):
    assert a.shape == out.shape
    assert a.shape != (7, 7)
    out[:] = a[k] * 2
    out[1:] += (a * 2)[:-1] - a[k[1:] % 3]
    for i, column in enumerate(a.T):
        out[i % len(out)] += column[0] + column[1:].sum()


@fw.kernel
def mirrored(a):
    for i in range(a.shape[0]):
        a[i, i + 1 :] = a[i + 1 :, i]
    for k in range(a.shape[0]):
        for i in range(k + 1, a.shape[0]):
            a[i, k:] -= a[i, k] * a[k, k:]
            a[i, :k] = a[k, :k]


@fw.kernel
def places_and_copies(a, k, out):
    out[0] = a.argmax() + 10 * np.argmin(a)
    out[1] = np.prod(k)
    before = a.copy()
    out[2:] = np.round(before[2:]) + np.copy(k)[2:]
    v = fw.vector(1.0, 2.0, 3.0)
    v[1:] = v[:-1] + v[1:]
    v[:] = v[::-1] * a[0]
    out[:3] += v


@fw.kernel
def shares(a, b):
    for i in range(a.shape[0]):
        row = a[i] * 2
        least = row.min()
        roots = np.sqrt(row - least)
        b[i] = roots / roots.sum()
