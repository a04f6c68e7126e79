"""Names that a loop or a branch gives another array."""

from __future__ import annotations

from typing import Any

import numpy as np

import fusewright as fw


@fw.kernel
def products(m: Any, n: Any) -> Any:
    r = np.eye(m.shape[0])
    for _ in range(n):
        r = r @ m
    return r


@fw.kernel
def power(m: Any, n: Any) -> Any:
    r, b = np.eye(m.shape[0]), m * 1.0
    while n > 0:
        if n & 1:
            r = r @ b
        b = b @ b
        n >>= 1
    return r


@fw.kernel
def sorted_or_not(a: Any, flag: Any) -> Any:
    x = a * 2
    if flag:
        x = np.sort(x)
    x[0] = 7
    if len(a) > 5:
        y = np.cumsum(a)
    else:
        y = a + 1
    return x, y


@fw.kernel
def rolled(a: Any, n: Any) -> Any:
    x = np.concatenate((a, a))
    for i in range(n):
        half = x * 0.5
        x = np.roll(x, 1) + half
        if i == 1:
            x = np.sort(x)
    return x


@fw.kernel
def parameter(a: Any, n: Any) -> Any:
    a = a.copy()
    for _ in range(n):
        b = np.zeros_like(a)
        for i in range(1, len(a) - 1):
            b[i] = (a[i - 1] + a[i + 1]) / 2
        a = b
    return a


@fw.kernel
def normalised(a: Any, n: Any) -> Any:
    v = np.ones(len(a))
    for _ in range(n):
        v = v + a
        v = v / np.linalg.norm(v)
    return v


@fw.kernel
def small_and_large(a: Any, flag: Any) -> Any:
    s = np.zeros(3)
    for i in range(0, len(a) - 3, 3):
        s = s + a[i : i + 3]
        if s[0] > 1:
            s = s[::-1] * 0.5
    x = np.ones(3)
    if flag:
        x = a[:3] * 2
    x[0] = 9
    return s, x


@fw.kernel
def other_size(a: Any, b: Any, flag: Any) -> Any:
    x = a * 2
    if flag:
        x = b * 3
    return x


@fw.kernel
def in_a_tuple(a: Any, n: Any) -> Any:
    x, s = np.ones(3), 0.0
    for i in range(n):
        t = (x, i)
        x = x + 1.0
        s += t[0][0]
    return s


@fw.kernel
def in_a_view(a: Any, n: Any) -> Any:
    x, s = np.ones(3), 0.0
    for _ in range(n):
        v = x[1:]
        x = x + a[:3]
        s += v[0]
    return s


@fw.kernel
def in_a_view_before(a: Any, n: Any) -> Any:
    x, s = np.ones(3), a[0]
    for _ in range(n):
        v = x[1:]
        s += v[0]
        x = x + a[:3]
    return s


@fw.kernel
def by_a_condition(a: Any, n: Any) -> Any:
    x, s = np.ones(3), 0.0
    for _ in range(n):
        z = x if x.ndim == 1 else a
        x = x + 1.0
        s += z[0]
    return s


@fw.kernel
def an_argument(a: Any, n: Any) -> Any:
    for _ in range(n):
        a = a * 2
    return a
