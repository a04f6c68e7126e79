"""Programs as a stranger writes them: solvers, distances and rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.unit.kernels.data import Numbers

import fusewright as fw

numbers = Numbers(3)
floats, ints = numbers.reals, numbers.below


@fw.kernel
def gauss_seidel(a, b, x, sweeps):
    for _ in range(sweeps):
        for i in range(len(x)):
            s = b[i]
            for j in range(len(x)):
                if j != i:
                    s -= a[i, j] * x[j]
            x[i] = s / a[i, i]


@fw.kernel
def cholesky(a):
    n = len(a)
    for j in range(n):
        a[j, j] = math.sqrt(a[j, j] - sum(a[j, k] ** 2 for k in range(j)))
        for i in range(j + 1, n):
            a[i, j] = (a[i, j] - sum(a[i, k] * a[j, k] for k in range(j))) / a[j, j]
    for i in range(n):
        a[i, i + 1 :] = 0.0


@fw.kernel
def qr_gram_schmidt(a, q, r):
    for j in range(a.shape[1]):
        q[:, j] = a[:, j]
        for k in range(j):
            r[k, j] = np.sum(q[:, k] * a[:, j])
            q[:, j] -= r[k, j] * q[:, k]
        r[j, j] = np.sqrt((q[:, j] ** 2).sum())
        q[:, j] /= r[j, j]


@fw.kernel
def heat(u, new, steps, alpha):
    for _ in range(steps):
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + alpha * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
        u[1:-1, 1:-1] = new[1:-1, 1:-1]


@fw.kernel
def wave(u, previous, c, steps):
    for _ in range(steps):
        previous[1:-1] = 2 * u[1:-1] - previous[1:-1] + c * (u[2:] - 2 * u[1:-1] + u[:-2])
        for i in range(len(u)):
            u[i], previous[i] = previous[i], u[i]


@fw.kernel
def normalise(a):
    for row in a:
        row -= row.mean()
        row /= np.sqrt((row * row).mean()) + 1e-12


@fw.kernel
def softmax(x, out):
    for i in range(len(x)):
        top = x[i].max()
        out[i, :] = 1.0 / (1.0 + (top - x[i]) ** 2)
        out[i] /= out[i].sum()


@fw.kernel
def pairwise_distance(x, d):
    for i in range(len(x)):
        for j in range(len(x)):
            d[i, j] = np.sqrt(((x[i] - x[j]) ** 2).sum())


@fw.kernel
def outer(a, b, m):
    m[:, :] = a[:, None] * b[None, :]
    m += m.shape[0] * np.abs(a[:, None] - b)


@fw.kernel
def transpose(a, b):
    b[:, :] = a.T
    b += 0.5 * a.T


@fw.kernel
def shifts(a, b):
    for i in range(len(a)):
        a[i, 1:] = a[i, :-1]
        a[i, 0] = 0
        b[i, :-1] = b[i, 1:] - b[i, :-1]
    a[1:] = a[:-1]


@dataclass
class Particles:
    x: Any
    v: Any

    def push(self, dt):
        self.x += self.v * dt
        self.v *= 0.99


@fw.kernel
def particles(p, dt):
    for _ in range(3):
        p.push(dt)
    p.x[p.x.shape[0] // 2 :] = np.clip(p.x[p.x.shape[0] // 2 :], -1.0, 1.0)


@fw.kernel
def sieve(flags):
    flags[:] = True
    flags[:2] = False
    i = 2
    while i * i < len(flags):
        if flags[i]:
            flags[i * i :] &= np.True_
            for j in range(i * i, len(flags), i):
                flags[j] = False
        i += 1
    return np.sum(flags)


@fw.kernel
def levenshtein(s, t, row, old):
    for j in range(len(t) + 1):
        old[j] = j
    for i in range(len(s)):
        row[0] = i + 1
        for j in range(len(t)):
            row[j + 1] = min(old[j] + (s[i] != t[j]), old[j + 1] + 1, row[j] + 1)
        old[:] = row
    return old[len(t)]


@fw.kernel
def moving_average(x, out, width):
    for i in range(len(out)):
        out[i] = x[i : i + width].mean()


@fw.kernel
def knapsack(weights, values, best):
    for w, v in zip(weights, values, strict=False):
        for c in range(len(best) - 1, w - 1, -1):
            best[c] = max(best[c], best[c - w] + v)


@fw.kernel
def rotate(points, angle):
    c, s = 0.8, 0.6 * angle
    m = np.array(((c, -s), (s, c)))
    for p in points:
        x = m[0, 0] * p[0] + m[0, 1] * p[1]
        y = m[1, 0] * p[0] + m[1, 1] * p[1]
        p[0], p[1] = x, y


@fw.kernel
def upwind(q, u, dt):
    flux = np.where(u[1:] > 0, q[:-1], q[1:]) * u[1:]
    q[1:-1] -= dt * (flux[3] + 0.0)


@fw.kernel
def reverse_rows(a, b):
    a[:, :] = b[::-1, ::-1]
    a[::-1, 0] += b[:, 1]
    for x in a[0, ::-2]:
        b[0, 0] += x
    b[1, :] = a[2:][::2][0]


@fw.kernel
def colour_map(image, table, out):
    for y in range(image.shape[0]):
        for x in range(image.shape[1]):
            out[y, x] = table[image[y, x]]


def normal(n):
    return floats(n, n) + n * np.eye(n)


SPD = floats(9, 9)
SPD = SPD @ SPD.T + 9 * np.eye(9)
CASES: dict[Any, tuple[Any, ...]] = {
    gauss_seidel: (normal(8), floats(8), np.zeros(8), 3),
    cholesky: (SPD,),
    qr_gram_schmidt: (floats(12, 5), np.zeros((12, 5)), np.zeros((5, 5))),
    heat: (floats(12, 13), np.zeros((12, 13)), 3, 0.1),
    wave: (floats(30), floats(30), 0.2, 4),
    normalise: (floats(4, 30),),
    softmax: (floats(5, 9), np.zeros((5, 9))),
    pairwise_distance: (floats(7, 10), np.zeros((7, 7))),
    outer: (floats(5), floats(6), floats(5, 6)),
    transpose: (floats(5, 6), floats(6, 5)),
    shifts: (floats(5, 20), floats(5, 20)),
    particles: (Particles(floats(20), floats(20)), 0.1),
    sieve: (np.zeros(100, bool),),
    levenshtein: (ints(3, 12), ints(3, 10), np.zeros(11, int), np.zeros(11, int)),
    moving_average: (floats(30), np.zeros(26), 5),
    knapsack: (ints(9, 6) + 1, ints(20, 6), np.zeros(30, int)),
    rotate: (floats(8, 2), 0.5),
    upwind: (floats(20), floats(20), 0.1),
    reverse_rows: (floats(6, 7), floats(6, 7)),
    colour_map: (ints(8, 5, 6).astype(np.uint8), floats(8, 3), np.zeros((5, 6, 3))),
}
