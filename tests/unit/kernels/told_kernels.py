"""Kernels as people write them for Numba: searches, sums, tables, helper functions, early ends."""

from __future__ import annotations

from typing import Any

import numpy as np

import fusewright as fw


@fw.kernel
def bisect(values, target):
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < target:
            low = middle + 1
        else:
            high = middle
    return low


@fw.kernel
def first_above(x, limit):
    for i in range(x.shape[0]):
        if x[i] > limit:
            return i
    return -1


@fw.kernel
def moments(x):
    total = 0.0
    squares = 0.0
    for v in x:
        total += v
        squares += v * v
    mean = total / len(x)
    return mean, squares / len(x) - mean * mean


def distance(a, b, i, j):
    d = 0.0
    for k in range(a.shape[1]):
        d += (a[i, k] - b[j, k]) ** 2
    return np.sqrt(d)


@fw.kernel
def pairs(a, b, out):
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            out[i, j] = distance(a, b, i, j)


@fw.kernel
def histogram(data, edges, counts):
    for i in range(len(data)):
        for b in range(len(edges) - 1):
            if edges[b] <= data[i] < edges[b + 1]:
                counts[b] += 1
                break


@fw.kernel
def smooth_twice(a, b, c):
    n = len(a)
    for i in range(1, n - 1):
        b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0
    for i in range(2, n - 2):
        c[i] = (b[i - 1] + b[i] + b[i + 1]) / 3.0


@fw.kernel
def edit_distance(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), np.int64)
    for i in range(len(a) + 1):
        table[i, 0] = i
    for j in range(len(b) + 1):
        table[0, j] = j
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + cost)
    return table[len(a), len(b)]


@fw.kernel
def softmax(x, out):
    for i in range(x.shape[0]):
        row = np.exp(x[i] - x[i].max())
        out[i] = row / row.sum()


@fw.kernel
def centred(points):
    centre = points.mean(axis=0)
    for i, p in enumerate(points):
        for k in range(len(p)):
            points[i, k] = p[k] - centre[k]
    return np.sum(points)


@fw.kernel
def sorted_sum(x, weights):
    y = np.sort(x)
    total = 0.0
    for i in range(len(y)):
        total += y[i] * weights[i]
    return np.cumsum(y), total


X = np.linspace(-3.0, 3.0, 5000)
CALLS: dict[str, tuple[Any, ...]] = {
    "bisect": (bisect, X, 0.5),
    "first_above": (first_above, X, 2.5),
    "moments": (moments, X),
    "pairs": (pairs, np.ones((20, 3)), np.ones((30, 3)), np.zeros((20, 30))),
    "histogram": (histogram, X, np.linspace(-4, 4, 21), np.zeros(20, np.int64)),
    "smooth_twice": (smooth_twice, X, np.zeros(5000), np.zeros(5000)),
    "edit_distance": (edit_distance, np.arange(30) % 4, np.arange(28) % 3),
    "softmax": (softmax, np.ones((10, 200)), np.zeros((10, 200))),
    "centred": (centred, np.ones((50, 4))),
    "sorted_sum": (sorted_sum, X, X),
}
