"""Kernels whose indices are arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

import fusewright as fw


@fw.kernel
def read(a: Any, k: Any, mask: Any) -> Any:
    """Tables, masks, numbers and slices in all places."""
    rows = a[k]
    return rows, a[k, 1], a[1, k], a[:, k], a[k, 1:], a[k, k], a[k][:, k], a[mask], a[mask, 0]


@fw.kernel
def read_more(a: Any, k: Any, mask: Any) -> Any:
    return a[mask][:, k], a[a > 0], (a * 2)[k], a[[0, -1]], a[k - 1], a[..., k], a[k[:, None], k]


@fw.kernel
def placed(a: Any, mask: Any) -> Any:
    i, j = np.nonzero(a > 0)
    (rows,) = np.where(mask)
    return i, j, rows, np.flatnonzero(a > 0), a[i, j], np.argwhere(a > 0)


@fw.kernel
def three_dims(a: Any, k: Any) -> Any:
    return a[k], a[:, k], a[:, :, k], a[k, :, 1], a[k, 1], a[1:, k, 0], a[k, k], a[a > 0.5]


@fw.kernel
def write(a: Any, k: Any, mask: Any, v: Any) -> None:
    a[a < 0] = 0
    a[mask] = v
    a[k] = v * 2
    a[k, 0] = 5
    a[:, k] += 1
    a[k] += 1
    a[mask, 1] = -1
    a[mask] *= 2
    a[a > 9] -= a[0, 0]


@fw.kernel
def write_one_dim(a: Any, k: Any, mask: Any, v: Any) -> None:
    a[mask] = v[mask]
    a[k] = v[: len(k)]
    a[k] = a[k[::-1]]
    a[a > 0.5] = a[a > 0.5] * 2
    a[np.array([0, 1])] = 7, 8
    a[~mask] += v[0]


@fw.kernel
def through_a_view(a: Any) -> Any:
    a.T[a.T > 0] = 1
    a.reshape(-1)[np.arange(3)] = 5
    t = a[0] / 2
    t[t < 0.25] = 0
    return t, a


@fw.kernel
def shifted(a: Any, b: Any) -> None:
    """NumPy computes the right side before it stores any of it."""
    a[1:-1] = a[:-2] + a[2:]
    a[::-1] = a + b
    b[1:] += b[:-1] + b[1:]
    b[b > b[::-1]] = 0


@fw.kernel
def sizes(a: Any, out: Any) -> Any:
    """Arrays whose sizes are found on the way."""
    n = 0
    for x in a:
        if x > 0:
            n += 1
    found = np.zeros(n)
    place = 0
    for x in a:
        if x > 0:
            found[place] = x
            place += 1
    out[0] += 1
    table = np.ones((n, 3))
    table[:, 1] = found
    twice = found * 2
    found[:1] = 7
    return found, table, twice, np.zeros_like(a[a > 1]), len(a[a < 0])


@fw.kernel
def two_sizes(a: Any) -> Any:
    n = 0
    for x in a:
        n += int(x)
    return np.zeros((n, n))


@fw.kernel
def of_floats(a: Any) -> Any:
    return a[a]


@fw.kernel
def counts(a: Any, mask: Any, v: Any) -> None:
    a[mask] = v


@fw.kernel
def too_many(a: Any, k: Any) -> Any:
    return a[k, k]


@fw.kernel
def narrower(a: Any, k: Any) -> None:
    a[k] += 0.5
