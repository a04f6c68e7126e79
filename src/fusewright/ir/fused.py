"""`a * b + c` rounded once, for arrays, by float64 operations alone.

Theorem (Boldo and Melquiond, IEEE Trans. Computers 57, 462 (2008)): let `a*b = uh + ul` exactly
(Dekker), `c + ul = th + tl` and `uh + th = vh + vl` exactly (Knuth).  Then the result is
`round(vh + z)`, with `z` the sum `tl + vl` rounded to odd; no step may over- or underflow.  Where
one might, the C library's `fma` is called for the element.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_SPLIT = 2.0**27 + 1
_LEAST, _MOST = 2.0**-900, 2.0**900
"""Operands and products between these leave room for every intermediate of the theorem."""


def fma(a: Any, b: Any, c: Any) -> Array:
    """The fused multiply-add of float64 or float32 arrays that broadcast."""
    a, b, c = (np.asarray(each) for each in (a, b, c))
    if a.dtype == np.float32:
        return _single(a, b, c)
    a, b, c = np.broadcast_arrays(a, b, c)
    with np.errstate(all="ignore"):
        product = a * b
        plain = product + c
        # One rounding only: the product is exact (a zero, inf or nan), or the sum is no number.
        exact = (a == 0) | (b == 0) | ~np.isfinite(a) | ~np.isfinite(b)
        exact |= np.isfinite(product) & ~np.isfinite(c)
        inside = _inside(a) & _inside(b) & _inside(product) & (_inside(c) | (c == 0))
        result = np.where(exact, plain, _emulated(a, b, c))
    rest = ~(exact | inside)
    if rest.any():
        result[rest] = _called(a[rest], b[rest], c[rest])
    return result


LEAST_FLOAT32 = 2.0**-126
"""The least float32 that is not denormal."""


def flushed(x: Array) -> Array:
    """float32 with zeros, of the same sign, for denormal numbers."""
    return np.where(np.abs(x) < LEAST_FLOAT32, np.copysign(np.float32(0), x), x)


def fma_flushed(a: Any, b: Any, c: Any) -> Array:
    """`a * b + c` of float32 arrays that hold no denormal numbers, with zeros for those that come
    out: for what rounds, with as many bits as ever, to something below the least other number.
    """
    with np.errstate(all="ignore"):
        total = _odd_sum(a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64))
        tiny = np.abs(total) < LEAST_FLOAT32 - 2.0**-151  # in odd rounding: on the exact side
        return np.where(tiny, np.copysign(0.0, total), total).astype(np.float32)


def _inside(x: Array) -> Array:
    size = np.abs(x)
    return np.asarray((size >= _LEAST) & (size <= _MOST))


def _single(a: Array, b: Array, c: Array) -> Array:
    """A float32 product is exact in float64; rounded to odd there, the sum rounds right here."""
    with np.errstate(all="ignore"):
        product = a.astype(np.float64) * b.astype(np.float64)
        return np.asarray(_odd_sum(product, c.astype(np.float64)).astype(np.float32))


def _emulated(a: Array, b: Array, c: Array) -> Array:
    uh, ul = _two_product(a, b)
    th, tl = _two_sum(c, ul)
    vh, vl = _two_sum(uh, th)
    return np.asarray(vh + _odd_sum(tl, vl))


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _halves(x: Array) -> tuple[Array, Array]:
    scaled = _SPLIT * x
    high = scaled - (scaled - x)
    return high, x - high


def _odd_sum(a: Array, b: Array) -> Array:
    """`a + b`, rounded to the neighbour with an odd last bit where it is not exact."""
    total, error = _two_sum(a, b)
    even = (np.asarray(total).view(np.uint64) & np.uint64(1)) == 0
    inexact = np.isfinite(total) & (error != 0) & even
    towards = np.nextafter(total, np.where(error > 0, np.inf, -np.inf))
    return np.where(inexact, towards, total)


@cache
def _c_fma() -> Any:
    from ctypes.util import find_library  # slow to import, and only extreme values need it

    function = ctypes.CDLL(find_library("m")).fma
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * 3
    return function


def _called(a: Array, b: Array, c: Array) -> Array:
    rows = zip(a.tolist(), b.tolist(), c.tolist(), strict=True)
    return np.array([_c_fma()(*row) for row in rows], np.float64)
