"""Kernels with angles in degrees, medians of what is there, named constants, and `*args`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import fusewright as fw


class _Directions(NamedTuple):
    up: int = 0
    down: int = 1
    scale: float = 0.5


Direction = _Directions()


@fw.kernel
def angles(a: Any, x: Any) -> Any:
    return np.radians(a), np.deg2rad(x), np.degrees(a), np.rad2deg(a[1]), np.radians(3)


@fw.kernel
def median_of_known(a: Any) -> Any:
    return np.nanmedian(a)


@fw.kernel
def directed(a: Any, d: Any) -> Any:
    del_ = Direction.up
    if d == Direction.down:
        del_ = Direction.down
    return a * Direction.scale, del_, Direction[1], len(Direction)


def scaled(x: Any, factor: Any, shift: Any) -> Any:
    return x * factor + shift


def applied(function: Any, a: Any, *args: Any) -> Any:
    out = np.empty_like(a)
    for i in range(len(a)):
        out[i] = function(a[i], *args)
    return out


def count(*args: Any) -> int:
    return len(args)


@fw.kernel
def with_more(a: Any, p: Any) -> Any:
    return applied(scaled, a, 2.0, p[0]), applied(abs_of, a), count(), count(*p, 3), scaled(1, *p)


def abs_of(x: Any, *rest: Any) -> Any:
    return abs(x) + len(rest)


@fw.kernel
def ranges(n: Any) -> Any:
    a = np.arange(1, n, dtype=np.uint32)
    b = np.arange(n, dtype=np.int64) * 2
    c = np.arange(n, step=2)
    return a, b, c, np.arange(0.5, n, 0.25, dtype=np.float64), np.arange(2, n, 3)
