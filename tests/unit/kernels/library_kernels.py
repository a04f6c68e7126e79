"""Kernels that call NumPy's functions of whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

import fusewright as fw


@fw.kernel
def joined(a: Any, b: Any) -> Any:
    flat = np.concatenate((a, b))
    both = np.stack((a, a), 1), np.vstack((a, a * 2)), np.column_stack((a, -a)), np.hstack((a, b))
    return flat, both, np.append(a, 3.0), np.append(b, [3, 4]), np.concatenate((a, [1.0, 2.0]))


@fw.kernel
def joined_matrices(a: Any) -> Any:
    rows = np.concatenate((a, a[:1])), np.vstack((a, a[0])), np.stack((a, a)), np.hstack((a, a))
    return rows, np.concatenate((a, a), axis=1), np.stack((a, a), -1), np.concatenate((a, a), None)


@fw.kernel
def moved(a: Any, k: Any) -> Any:
    rolled = np.roll(a, 3), np.roll(a, k, axis=0), np.roll(a, -7, axis=1), np.roll(a[0], k)
    spread = np.repeat(a, 3), np.repeat(a, 2, axis=0), np.tile(a, 2), np.tile(a[0], (2, k))
    apart = np.diff(a), np.diff(a, axis=0), np.diff(a, 2), np.diff(a[0], n=3)
    return rolled, spread, apart, np.take(a, [0, 3, 1]), np.take(a, 1, axis=1)


@fw.kernel
def matrices(v: Any, a: Any, k: Any) -> Any:
    made = np.eye(3), np.eye(3, 4, 1), np.eye(k, k=-1, dtype=np.int32), np.identity(2), np.diag(v)
    taken = np.diag(a), np.diag(a, 1), np.diag(v, -2), np.tril(a), np.triu(a, k - 3), np.trace(a)
    m = np.eye(3)
    m[0, 1] = 5
    return made, taken, np.outer(v, v), m


@fw.kernel
def products(a: Any, b: Any, v: Any) -> Any:
    square = np.dot(a, b) + a @ b + np.matmul(a, b)
    return square, a @ v, v @ b, v @ v, a.dot(v), np.dot(a, 2), (a - 1) @ (b + 2), a.T @ a


@fw.kernel
def stacks(a: Any, b: Any, v: Any) -> Any:
    return a @ b, a @ b[0], a @ v


@fw.kernel
def along(a: Any) -> Any:
    sums = np.cumsum(a), np.cumsum(a, axis=0), a.cumsum(1), np.cumprod(a[0]), a.cumprod(0)
    places = np.argsort(a, 0, "stable")
    order = np.sort(a), np.sort(a, axis=0), np.argsort(a, axis=-1, kind="stable"), places
    b = a.copy()
    b.sort(axis=0)
    return sums, order, b, np.median(a), np.unique(a > 0), np.sort(a, None)


@fw.kernel
def searched(a: Any, v: Any) -> Any:
    left, right = np.searchsorted(a, v), np.searchsorted(a, v, side="right")
    return left, right, a.searchsorted(v[:3]), np.searchsorted(a, 0.3), left - 1


@fw.kernel
def binned(a: Any, v: Any) -> Any:
    return np.digitize(v, a), np.digitize(v, a, right=True), np.digitize(v, a[::-1])


@fw.kernel
def shares(a: Any, q: Any) -> Any:
    some = np.percentile(a, 50), np.percentile(a, [0, 2.5, 97.5, 100]), np.quantile(a, 0.3)
    return some, np.quantile(a, q), np.percentile(a, q * 100)


@fw.kernel
def interpolated(x: Any, xp: Any, fp: Any) -> Any:
    ends = np.interp(x, xp, fp, left=-1.0, right=2)
    return np.interp(x, xp, fp), ends, np.interp(0.1, xp, fp), np.interp(x, xp[:1], fp[:1])


@fw.kernel
def counted(k: Any, w: Any) -> Any:
    return np.bincount(k), np.bincount(k, minlength=20), np.bincount(k, weights=w)


@fw.kernel
def rounded(v: Any) -> Any:
    near = np.round(v, 2), np.round(v), v.round(1), np.around(v, -1), np.round(2.567, 1)
    cut = np.clip(v, -0.1, 0.2), v.clip(0, None), np.clip(v, a_min=0, a_max=v * 2), np.clip(7, 1, 3)
    return near, cut


@fw.kernel
def compared(z: Any) -> Any:
    close = np.isclose(z, z + 1e-9), np.isclose(z, 2.5), np.allclose(z, 1.0), np.allclose(z, z)
    return close, np.nan_to_num(z), np.array_equal(z, z), np.array_equal(z[2:], z[2:])


@fw.kernel
def ranges(start: Any, stop: Any) -> Any:
    some = np.arange(0, 1, 0.1), np.arange(3.0), np.arange(2.5, -1.0, -0.25), np.arange(1, 10, 3)
    return some, np.arange(start, stop, 7.3), np.arange(start, stop)


@fw.kernel
def of_tuples(a: Any) -> Any:
    return np.sum((1, 2, 3)), np.mean([1.0, 4.0]), np.max((a[0], a[1])), np.sort(np.array([3, 1]))


@fw.kernel
def unlike(a: Any, b: Any) -> Any:
    return np.concatenate((a, b))


@fw.kernel
def number_at_number(a: Any, x: Any) -> Any:
    return a @ x


@fw.kernel
def misfit(a: Any, b: Any) -> Any:
    return a @ b


@fw.kernel
def digits(a: Any, n: Any) -> Any:
    return np.round(a, n * 1.0)


@fw.kernel
def negative_counts(k: Any) -> Any:
    return np.bincount(k)


@fw.kernel
def share(a: Any, q: Any) -> Any:
    return np.percentile(a, q)
