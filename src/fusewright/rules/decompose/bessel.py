"""The Bessel functions J0 and J1 for float32 (in float64) and float64: polynomials in x**2 up to 8,
then sqrt(2 / (pi x)) (P cos y - Q / x sin y), y = x - (2 n + 1) pi / 4.

The errors are absolute, in units of what the function can be there: min(1, sqrt(2 / (pi x))).
"""

from __future__ import annotations

import math

from fusewright.ir.dtypes import FLOAT32, FLOAT64
from fusewright.rules.decompose import special_coefficients as tables
from fusewright.rules.decompose import trigonometric
from fusewright.rules.decompose.terms import Term, copysign, is_nan, paired, sqrt, where

_FAR = 8.0
_MIDDLE = 16.0  # the square where the first polynomial ends


def _near(size: Term, n: int) -> Term:
    """J0(x), or J1(x) / x, up to `_FAR`."""
    square = size * size
    low = square < _MIDDLE
    near = paired(
        where(low, square, _MIDDLE) * 0.125 - 1.0, (tables.J0_NEAR, tables.J1_NEAR)[n][FLOAT64]
    )
    t = (where(low | (square.of(_FAR * _FAR) < square), _MIDDLE, square) - 40.0) * (1.0 / 24.0)
    return where(low, near, paired(t, (tables.J0_MIDDLE, tables.J1_MIDDLE)[n][FLOAT64]))


def _far(size: Term, plain: Term, turned: Term, n: int) -> Term:
    """P times the cosine less Q / x times the sine, both sqrt(2) too large."""
    inverse = 1.0 / size
    u = (inverse * inverse) * (_FAR * _FAR)
    cosine = (tables.J0_FAR, tables.J1_FAR)[n][FLOAT64]
    sine = (tables.J0_FAR_TURNED, tables.J1_FAR_TURNED)[n][FLOAT64]
    wave = plain * paired(u, cosine) - turned * (paired(u, sine) * inverse)
    return wave * sqrt(inverse) * math.sqrt(1.0 / math.pi)


def j0(x: Term) -> Term:
    """At most 3 units of 2**-53."""
    if x.dtype is FLOAT32:
        return j0(x.cast(FLOAT64)).cast(FLOAT32)
    size = abs(x)
    sin, cos = trigonometric.sin(size), trigonometric.cos(size)
    far = _far(size, cos + sin, sin - cos, 0)
    value = where(size < _FAR, _near(size, 0), far)
    return where(size.equal(math.inf), 0.0, where(is_nan(x), x, value))


def j1(x: Term) -> Term:
    """Likewise."""
    if x.dtype is FLOAT32:
        return j1(x.cast(FLOAT64)).cast(FLOAT32)
    size = abs(x)
    sin, cos = trigonometric.sin(size), trigonometric.cos(size)
    far = _far(size, sin - cos, -(sin + cos), 1)
    value = where(size < _FAR, size * _near(size, 1), far)
    negative = x.bits & (1 << 63)
    value = (value.bits ^ negative).as_type(FLOAT64)
    return where(size.equal(math.inf), copysign(0.0, x), where(is_nan(x), x, value))
