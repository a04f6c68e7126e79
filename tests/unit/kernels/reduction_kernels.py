"""Kernels that reduce arrays along some of their dims."""

from __future__ import annotations

from typing import Any

import numpy as np

import fusewright as fw


@fw.kernel
def all_of_it(a: Any) -> Any:
    return np.sum(a), a.mean(), np.prod(a), a.max(), np.var(a), a.std(), np.ptp(a)


@fw.kernel
def first(a: Any) -> Any:
    return np.sum(a, 0), a.mean(axis=0), np.prod(a, axis=0), a.max(0), np.var(a, axis=0), a.any(0)


@fw.kernel
def last(a: Any) -> Any:
    high = np.max(a, axis=-1, keepdims=True)
    e = a - high
    return e / np.sum(e, axis=-1, keepdims=True), a.std(-1), np.prod(a, axis=-1), np.all(a, -1)


@fw.kernel
def middle(a: Any) -> Any:
    return np.sum(a, axis=1), np.mean(a, 1, keepdims=True), np.sum(a, axis=(0, 1)), a.min((1, 2))


@fw.kernel
def places(a: Any) -> Any:
    first = np.argmin(a), a.argmax(), np.argmax(a, axis=0), a.argmin(axis=1)
    return first, a.T.argmin(), np.argmax(a.T, axis=0)


@fw.kernel
def turned(a: Any) -> Any:
    return a.T.sum(axis=0), np.sum(a.T, axis=1), a.T.sum(), a.T.mean(axis=0, keepdims=True)


@fw.kernel
def parts(a: Any) -> Any:
    inside = a[1:, 1:]
    return inside.sum(), inside.sum(0), np.sum(inside, 1), a[:, :1].sum(), a[::2].sum(), np.sum(-a)


@fw.kernel
def without_nan(a: Any) -> Any:
    return np.nansum(a), np.nansum(a, 0), np.nanmean(a, axis=1), np.nanmax(a), np.nanmin(a, 0)


@fw.kernel
def counted(a: Any, ddof: Any) -> Any:
    return np.count_nonzero(a > 0), np.count_nonzero(a > 0, axis=1), np.var(a, ddof=ddof)


@fw.kernel
def of_a_number(x: Any) -> Any:
    return np.sum(x), np.max(x), np.mean(x), np.linalg.norm(x)


@fw.kernel
def in_a_loop(a: Any, out: Any) -> None:
    for i in range(len(a)):
        out[i] = a[: i + 1].sum(axis=0).max()


@fw.kernel
def unknown_layout(a: Any) -> Any:
    return a.sum()


@fw.kernel
def apart(a: Any) -> Any:
    return np.sum(a, axis=(0, 2))


@fw.kernel
def too_far(a: Any) -> Any:
    return np.sum(a, axis=2)


@fw.kernel
def twice(a: Any) -> Any:
    return np.sum(a, axis=(0, -2))


@fw.kernel
def other_argument(a: Any) -> Any:
    return np.sum(a, initial=3.0)


@fw.kernel
def softmax(x: Any, axis: Any = -1, keepdims: Any = True) -> Any:
    if axis == -1:
        axis = x.ndim - 1
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True), np.sum(x, axis, keepdims=keepdims)
