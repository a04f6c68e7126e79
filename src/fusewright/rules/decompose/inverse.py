"""Inverse trigonometric and hyperbolic functions for float32 and float64, at most 2 ulp each.

Each has an odd polynomial near 0; elsewhere an argument is formed in two words (value and rounding
error) and handed to the square-root form of arcsin, to arctan of a smaller argument, or to the
logarithm.
"""

from __future__ import annotations

import math

from fusewright.ir.dtypes import FLOAT32, FLOAT64
from fusewright.rules.decompose.coefficients import ARCSIN, ARCSINH, ARCTAN, ARCTANH
from fusewright.rules.decompose.logarithm import guard, log_words
from fusewright.rules.decompose.terms import (
    Term,
    constant,
    copysign,
    fma,
    is_nan,
    paired,
    quick_two_sum,
    sqrt,
    two_product,
    two_sum,
    where,
)

_QUARTER_PI = {
    FLOAT64: (0.7853981633974483, 3.061616997868383e-17),
    FLOAT32: (0.7853981852531433, -2.1855694143368964e-08),
}
_BEND = 0.5  # from here to its inverse arctan is taken around pi / 4
# Keeps a quotient by 0 finite, and is lost in rounding elsewhere.
_TINY = {FLOAT64: 2.0**-1000, FLOAT32: 2.0**-120}
# From here up x**2 + 1 is x**2 as far as the logarithm sees.
_LARGE = {FLOAT64: 2.0**28, FLOAT32: 2.0**13}
_NEAR_OVERFLOW = {FLOAT64: 2.0**1000, FLOAT32: 2.0**120}


def _eighths(count: Term, angle: Term) -> Term:
    """count * pi / 4 + angle, pi / 4 in two words."""
    high, low = _QUARTER_PI[count.dtype]
    base, lost = two_product(count, count.of(high))
    return base + (angle + fma(count, low, lost))


def _arctan_small(t: Term) -> Term:
    """arctan(t) for |t| <= 1 / 2."""
    square = t * t
    return fma(t * square, paired(square, ARCTAN[t.dtype]), t)


def arctan(x: Term) -> Term:
    """Around pi / 4 by (x - 1) / (x + 1), around pi / 2 by 1 / x: one division either way."""
    size = abs(x)
    large, medium = size > 1.0 / _BEND, size > _BEND
    top = where(large, -1.0, where(medium, size - 1.0, size))
    bottom = where(large, size, where(medium, size + 1.0, 1.0))
    count = where(large, x.of(2.0), where(medium, x.of(1.0), 0.0))
    return copysign(_eighths(count, _arctan_small(top / bottom)), x)


def arctan2(y: Term, x: Term) -> Term:
    """The angle of the smaller over the greater, reflected at the diagonal and the y axis."""
    zero = x.of(0.0)
    rise, run = abs(y), abs(x)
    steep = rise > run
    least, most = where(steep, run, rise), where(steep, rise, run)
    infinite = most.equal(math.inf)
    least = where(infinite, where(least.equal(math.inf), x.of(1.0), 0.0), least)
    most = where(infinite, 1.0, where(most.equal(0.0), 1.0, most))
    scale = where(most > _NEAR_OVERFLOW[x.dtype], x.of(0.25), 1.0)
    low, high = least * scale, most * scale
    diagonal = low > high * _BEND
    t = where(diagonal, low - high, least) / where(diagonal, low + high, most)
    angle, count = _arctan_small(t), where(diagonal, x.of(1.0), zero)
    angle, count = where(steep, -angle, angle), where(steep, 2.0 - count, count)
    back = copysign(1.0, x) < 0.0
    angle, count = where(back, -angle, angle), where(back, 4.0 - count, count)
    value = copysign(_eighths(count, angle), y)
    return where(is_nan(x) | is_nan(y), x + y, value)


def _half_chord(size: Term) -> tuple[Term, Term, Term]:
    """z = (1 - size) / 2, and sqrt(z) in two words."""
    z = fma(size, -0.5, 0.5)
    root = sqrt(z)
    error = fma(-root, root, z) / (root + root + _TINY[size.dtype])
    return z, root, error


def _arcsin_parts(x: Term) -> tuple[Term, Term, Term, Term]:
    """Whether |x| <= 1/2; then t = |x|, else t = sqrt((1 - |x|) / 2) and its error; and arcsin(t) -
    t.
    """
    size = abs(x)
    near = size <= 0.5
    z, root, error = _half_chord(size)
    t = where(near, size, root)
    square = where(near, size * size, z)
    rest = t * square * paired(square, ARCSIN[x.dtype])
    return near, t, where(near, 0.0, error), rest


def arcsin(x: Term) -> Term:
    """From 1/2 up pi / 2 less twice that of sqrt((1 - |x|) / 2); NaN outside [-1, 1]."""
    near, t, error, rest = _arcsin_parts(x)
    high, low = (2.0 * word for word in _QUARTER_PI[x.dtype])
    total, lost = quick_two_sum(x.of(high), t * -2.0)
    far = total + (lost + fma(rest + error, -2.0, low))
    return copysign(where(near, t + rest, far), x)


def arccos(x: Term) -> Term:
    """Near 0 pi / 2 less arcsin, from 1/2 up twice that of sqrt((1 - x) / 2), pi less it below."""
    near, t, error, rest = _arcsin_parts(x)
    negative = x < 0.0
    factor = where(near, where(negative, x.of(1.0), -1.0), where(negative, x.of(-2.0), 2.0))
    count = where(near, x.of(2.0), where(negative, x.of(4.0), 0.0))
    high, low = _QUARTER_PI[x.dtype]
    base, lost = two_product(count, count.of(high))
    total, carried = two_sum(base, t * factor)
    return total + (carried + fma(rest + error, factor, fma(count, low, lost)))


def arcsinh(x: Term) -> Term:
    """log(|x| + sqrt(x**2 + 1)) from 1/2 up, the sum in two words."""
    size = abs(x)
    square, lost = two_product(size, size)
    near = fma(size * square, paired(square, ARCSINH[x.dtype]), size)
    total, carried = two_sum(square, x.of(1.0))
    root = sqrt(total)
    error = (fma(-root, root, total) + (carried + lost)) / (root + root)
    high, low = quick_two_sum(root, size)
    far = _log_of(size, high, low + error)
    return copysign(where(size < 0.5, near, far), x)


def arccosh(x: Term) -> Term:
    """log(x + sqrt((x - 1) (x + 1))), everything in two words; NaN below 1."""
    more, more_low = two_sum(x, x.of(1.0))
    less, less_low = two_sum(x, x.of(-1.0))
    square, lost = two_product(less, more)
    lost = lost + fma(less, more_low, less_low * more)
    root = sqrt(square)
    error = (fma(-root, root, square) + lost) / (root + root + _TINY[x.dtype])
    high, low = quick_two_sum(x, root)
    value = _log_of(x, high, low + error)
    return where(x < 1.0, math.nan, value)


def _log_of(size: Term, high: Term, low: Term) -> Term:
    """log(high + low), or log(2 size) where size is so large that high may have overflowed."""
    large = size > _LARGE[size.dtype]
    high, low = where(large, size, high), where(large, 0.0, low)
    return guard(high, log_words(high, low, where(large, size.of(1.0), 0.0)))


def arctanh(x: Term) -> Term:
    """log((1 + |x|) / (1 - |x|)) / 2 from 1/2 up, the quotient in two words."""
    size = abs(x)
    square = size * size
    near = fma(size * square, paired(square, ARCTANH[x.dtype]), size)
    top, top_low = quick_two_sum(constant(1.0, x.dtype), size)
    bottom = 1.0 - size
    quotient = top / bottom
    error = (fma(-quotient, bottom, top) + top_low) / bottom
    far = guard(quotient, log_words(quotient, error)) * 0.5
    return copysign(where(size < 0.5, near, far), x)
