"""Programs as a stranger writes them: well-known algorithms as loops and rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tests.unit.kernels.data import Numbers

import fusewright as fw

numbers = Numbers(3)
floats, ints = numbers.reals, numbers.below


@fw.kernel
def histogram(x, bins, low, high):
    n = len(bins)
    width = (high - low) / n
    for v in x:
        if low <= v < high:
            bins[int((v - low) / width)] += 1
    bins[-1] += np.sum(x == high)


@fw.kernel
def lu_pivoted(a, perm):
    n = a.shape[0]
    for i in range(n):
        perm[i] = i
    for k in range(n):
        p = k
        best = abs(a[k, k])
        for i in range(k + 1, n):
            if abs(a[i, k]) > best:
                best, p = abs(a[i, k]), i
        if p != k:
            for j in range(n):
                a[k, j], a[p, j] = a[p, j], a[k, j]
            perm[k], perm[p] = perm[p], perm[k]
        a[k + 1 :, k] /= a[k, k]
        for i in range(k + 1, n):
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]


@fw.kernel
def floyd_warshall(d):
    n = len(d)
    for k in range(n):
        for i in range(n):
            d[i, :] = np.minimum(d[i, :], d[i, k] + d[k, :])


@fw.kernel
def smith_waterman(s, t, score, match, miss, gap):
    best = 0
    for i in range(1, len(s) + 1):
        for j in range(1, len(t) + 1):
            diag = score[i - 1, j - 1] + (match if s[i - 1] == t[j - 1] else miss)
            score[i, j] = max(0, diag, score[i - 1, j] + gap, score[i, j - 1] + gap)
            best = max(best, score[i, j])
    return best


@fw.kernel
def n_body(pos, vel, mass, dt):
    acc = fw.local(3)
    for i in range(len(pos)):
        acc[:] = 0.0
        for j in range(len(pos)):
            if i != j:
                d = pos[j] - pos[i]
                r = np.sqrt(np.sum(d * d) + 1e-9)
                acc += mass[j] * d / r**3
        vel[i] += dt * acc
    pos += dt * vel


@fw.kernel
def k_means(points, centres, label, count):
    for i, p in enumerate(points):
        best = math.inf
        for k, c in enumerate(centres):
            d = ((p - c) ** 2).sum()
            if d < best:
                best = d
                label[i] = k
    centres[:] = 0
    count[:] = 0
    for i in range(len(points)):
        k = label[i]
        centres[k] += points[i]
        count[k] += 1
    for k in range(len(centres)):
        if count[k] > 0:
            centres[k] /= count[k]


@fw.kernel
def conv2d(image, weights, out):
    kh, kw = weights.shape
    out[:, :] = 0.0
    for y in range(kh):
        for x in range(kw):
            out += weights[y, x] * image[y : y + out.shape[0], x : x + out.shape[1]]


@fw.kernel
def bilateral(image, out, radius, sigma_s, sigma_r):
    h, w = image.shape
    for y in range(h):
        for x in range(w):
            total = 0.0
            weight = 0.0
            for dy in range(-radius, radius + 1):
                for dx in range(-radius, radius + 1):
                    if 0 <= y + dy < h and 0 <= x + dx < w:
                        d = image[y + dy, x + dx] - image[y, x]
                        g = 1.0 / (1.0 + (dx * dx + dy * dy) / sigma_s + d * d / sigma_r)
                        total += g * image[y + dy, x + dx]
                        weight += g
            out[y, x] = total / weight


@fw.kernel
def csr(indptr, indices, data, x, y):
    for row in range(len(y)):
        lo, hi = indptr[row], indptr[row + 1]
        acc = 0.0
        for j, v in zip(indices[lo:hi], data[lo:hi], strict=False):
            acc += v * x[j]
        y[row] = acc


@fw.kernel
def life(a, b):
    b[:] = 0
    n = (
        a[:-2, :-2]
        + a[:-2, 1:-1]
        + a[:-2, 2:]
        + a[1:-1, :-2]
        + a[1:-1, 2:]
        + a[2:, :-2]
        + a[2:, 1:-1]
        + a[2:, 2:]
    )
    b[1:-1, 1:-1] = (n == 3) | ((n == 2) & (a[1:-1, 1:-1] == 1))


@fw.kernel
def mandelbrot(out, limit):
    h, w = out.shape
    for y, x in fw.ndrange(h, w):
        c = complex(-2.0 + 3.0 * x / w, -1.5 + 3.0 * y / h)
        z = 0j
        n = 0
        while abs(z) <= 2 and n < limit:
            z = z * z + c
            n += 1
        out[y, x] = n


@fw.kernel
def prefix(a, out):
    out[0] = a[0]
    for i in range(1, len(a)):
        out[i] = out[i - 1] + a[i]
    step = 1
    while step < len(a):
        for i in range(len(a) - 1, step - 1, -1):
            a[i] += a[i - step]
        step *= 2


@fw.kernel
def bitonic(a):
    n = len(a)
    k = 2
    while k <= n:
        j = k // 2
        while j > 0:
            for i in range(n):
                other = i ^ j
                if other > i and ((i & k) == 0) == (a[i] > a[other]):
                    a[i], a[other] = a[other], a[i]
            j //= 2
        k *= 2


@fw.kernel
def thomas(a, b, c, d, x):
    n = len(d)
    for i in range(1, n):
        w = a[i - 1] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    x[n - 1] = d[n - 1] / b[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = (d[i] - c[i] * x[i + 1]) / b[i]


@fw.kernel
def red_black(u, f, omega):
    n, m = u.shape
    for colour in range(2):
        for i in range(1, n - 1):
            for j in range(1 + (i + colour) % 2, m - 1, 2):
                r = (
                    0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j])
                    - u[i, j]
                )
                u[i, j] += omega * r


@fw.kernel
def red_black_rows(u, f, omega):
    for i in range(1, len(u) - 1):
        u[i, 1:-1:2] += omega * (u[i - 1, 1:-1:2] + u[i + 1, 1:-1:2] + u[i, :-2:2] + u[i, 2::2])


@fw.kernel
def horner(x, coefficients, out):
    out[:] = coefficients[-1]
    for k in range(len(coefficients) - 2, -1, -1):
        out[:] = out * x + coefficients[k]


COEFFS = (1.0, -0.5, 0.25, 3.0)


@fw.kernel
def horner_table(x, out):
    for i, v in enumerate(x):
        s = 0.0
        for c in reversed(COEFFS):
            s = s * v + c
        out[i] = s


def positive(n):
    return abs(floats(n, n))


CASES: dict[Any, tuple[Any, ...]] = {
    histogram: (floats(200), np.zeros(10, int), -1.0, 1.0),
    lu_pivoted: (floats(9, 9), np.zeros(9, int)),
    floyd_warshall: (positive(11),),
    smith_waterman: (ints(4, 20), ints(4, 15), np.zeros((21, 16), int), 3, -2, -1),
    n_body: (floats(6, 3), floats(6, 3), positive(6)[0], 0.01),
    k_means: (floats(40, 5), floats(3, 5), np.zeros(40, int), np.zeros(3, int)),
    conv2d: (floats(12, 13), floats(3, 4), floats(10, 10)),
    bilateral: (floats(9, 8), np.zeros((9, 8)), 2, 3.0, 0.5),
    csr: (np.array([0, 2, 2, 5]), ints(4, 5), floats(5), floats(4), np.zeros(3)),
    life: (ints(2, 12, 14).astype(np.uint8), np.zeros((12, 14), np.uint8)),
    mandelbrot: (np.zeros((9, 12), int), 30),
    prefix: (floats(17), np.zeros(17)),
    bitonic: (floats(32),),
    thomas: (floats(9), floats(10) + 9, floats(9), floats(10), np.zeros(10)),
    red_black: (floats(9, 11), floats(9, 11), 1.3),
    red_black_rows: (floats(9, 11), floats(9, 11), 0.1),
    horner: (floats(30), floats(5), np.zeros(30)),
    horner_table: (floats(30), np.zeros(30)),
}
