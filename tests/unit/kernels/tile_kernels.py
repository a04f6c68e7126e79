"""Kernels of nests that add up: products in all orders of their loops, and what is like them."""

from __future__ import annotations

import numpy as np

import fusewright as fw


@fw.kernel
def ijk(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@fw.kernel
def ikj(a, b, c):
    for i in range(c.shape[0]):
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@fw.kernel
def jik(a, b, c):
    for j in range(c.shape[1]):
        for i in range(c.shape[0]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@fw.kernel
def jki(a, b, c):
    for j in range(c.shape[1]):
        for k in range(a.shape[1]):
            for i in range(c.shape[0]):
                c[i, j] += a[i, k] * b[k, j]


@fw.kernel
def kij(a, b, c):
    for k in range(a.shape[1]):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@fw.kernel
def kji(a, b, c):
    for k in range(a.shape[1]):
        for j in range(c.shape[1]):
            for i in range(c.shape[0]):
                c[i, j] += a[i, k] * b[k, j]


@fw.kernel
def in_a_variable(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            s = 0.5
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = 2 * s


@fw.kernel
def cleared(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = 0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@fw.kernel
def scaled(a, b, c, alpha, beta):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] *= beta
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += alpha * a[i, k] * b[k, j]


@fw.kernel
def of_a_transposed(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] -= a[i, k] * b[j, k]


@fw.kernel
def distances(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            s = 0.0
            for k in range(a.shape[1]):
                d = a[i, k] - b[j, k]
                s += d * d
            c[i, j] = np.sqrt(s)


@fw.kernel
def largest(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            s = a[i, 0]
            t = 1.0
            for k in range(1, a.shape[1]):
                x = a[i, k] * b[k, j]
                if x > s:
                    s = x
                t = t * 0.5 + x
            c[i, j] = s + t


@fw.kernel
def stack(a, b, c):
    for n in range(c.shape[0]):
        for i in range(c.shape[1]):
            for j in range(c.shape[2]):
                for k in range(a.shape[2]):
                    c[n, i, j] += a[n, i, k] * b[n, k, j]


@fw.kernel
def windows(a, w, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for p in range(w.shape[0]):
                for q in range(w.shape[1]):
                    c[i, j] += a[i + p, j + q] * w[p, q]


@fw.kernel
def middle(a, b, c, low, high):
    for i in range(low, high):
        for k in range(low, a.shape[1]):
            for j in range(1, c.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@fw.kernel
def steps(a, b, c, count):
    for _ in range(count):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                for k in range(a.shape[1]):
                    c[i, j] = c[i, j] * 0.5 + a[i, k] * b[k, j]


@fw.kernel
def beside_another(a, b, c, d):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            d[i, j] = max(c[i, j], 0)


@fw.kernel
def into_itself(a, c):
    for i in range(c.shape[0]):
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += a[i, k] * c[k, j]


ORDERS = (ijk, ikj, jik, jki, kij, kji)
LIKE_THEM = (in_a_variable, cleared, largest)
