"""The gamma function and the logarithm of its magnitude, for float32 (in float64) and float64.

Both rest on Stirling's series with all its terms in one polynomial, from 2 up, in two words:
log(gamma(z)) = (z - 1/2) (log z - 1) + c + Q(1 / z**2) / z.  Below 2 two steps of the recurrence
lead there; below 0 the reflection gamma(-a) = -pi / (a sin(pi a) gamma(a)).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from fusewright.ir.dtypes import FLOAT32, FLOAT64
from fusewright.rules.decompose import exponential, roots, trigonometric
from fusewright.rules.decompose.special_coefficients import LGAMMA_NEAR, STIRLING
from fusewright.rules.decompose.terms import (
    Term,
    fma,
    is_nan,
    paired,
    two_product,
    two_sum,
    where,
)

_CONSTANT = (0.4189385332046727, 2.978201955280145e-17)  # (log(2 pi) - 1) / 2, in two words
_PI = (3.141592653589793, 1.2246467991473532e-16)
_SMALL = 2.0**-60  # gamma(x) is 1 / x below, its logarithm -log |x|
_MOST = 190.0  # gamma(x) overflows from 172 up, and rounds to 0 from -184 down
_LOW, _HIGH = 0.6, 2.5  # the logarithm is (x - 1) (x - 2) P between them
_CENTRE = 1.25
_LARGE = 2.0**60  # log(gamma(x)) is x (log x - 1) from here up

Words = tuple[Term, Term]


def _through_float64(function: Callable[[Term], Term]) -> Callable[[Term], Term]:
    def computed(x: Term) -> Term:
        if x.dtype is FLOAT32:
            return function(x.cast(FLOAT64)).cast(FLOAT32)
        return function(x)

    computed.__doc__ = function.__doc__
    return computed


def _stirling(z: Term, low: Term | None = None) -> tuple[Term, Term, Term]:
    """log(gamma(z + low)) for z >= 2 as the sum of a leading term, a small one and what was lost;
    |low| <= ulp(z).
    """
    log_high, log_low = roots.log_in_two_words(z)
    less, less_low = two_sum(log_high, z.of(-1.0))
    half_off = z - 0.5
    product, lost = two_product(half_off, less)
    rest = fma(half_off, less_low + log_low, lost)
    inverse = 1.0 / z
    if low is not None:  # the derivative is about log z - 1 / (2 z)
        rest = fma(low, fma(inverse, -0.5, log_high), rest)
    leading, error = two_sum(product, z.of(_CONSTANT[0]))
    series = paired(inverse * inverse, STIRLING[FLOAT64]) * inverse
    return leading, series, rest + (error + _CONSTANT[1])


def _sine_of_turns(size: Term) -> Words:
    """sin(pi size) in magnitude; and its sign, as a bit in place."""
    part = fma((size * 0.5).mapped("floor"), -2.0, size)
    magic = 1.5 * 2.0**52
    shifted = fma(part, 2.0, magic)
    r = fma(shifted - magic, -0.5, part)
    high, low = two_product(r, r.of(_PI[0]))
    value, sign = trigonometric.choose((high, fma(r, _PI[1], low), shifted.bits), 0)
    return abs(value), (value.bits ^ sign) & (1 << 63)


@_through_float64
def gamma(x: Term) -> Term:
    """C's tgamma, at most 4 ulp: NaN at the negative integers, infinities at the zeros."""
    size = abs(x)
    capped = where(size.of(_MOST) < size, _MOST, size)
    small = capped < 2.0
    more, lost = two_sum(capped, x.of(2.0))
    z, low = where(small, more, capped), where(small, lost, 0.0)
    leading, series, rest = _stirling(z, low)
    high, error = two_sum(leading, series)
    positive = x > 0.0
    rising = fma(capped, capped, capped)  # gamma(a) = gamma(a + 2) / (a (a + 1))
    sine, sign = _sine_of_turns(size)
    above = where(small, 1.0 / rising, 1.0)
    below = x.of(_PI[0]) / (where(small, 1.0 / (capped + 1.0), capped) * sine)
    factor = where(positive, above, below)
    rest = error + rest
    high, rest = where(positive, high, -high), where(positive, rest, -rest)
    value = exponential.scaled_exp(high, rest, factor, x.of(0.0))
    turned = (value.bits ^ sign ^ (1 << 63)).as_type(FLOAT64)
    value = where(positive, value, turned)
    pole = (x < 0.0) & sine.equal(0.0)
    value = where(pole | is_nan(x), math.nan, value)
    value = where(size < _SMALL, 1.0 / x, value)
    return where(x.equal(math.inf), math.inf, value)


@_through_float64
def lgamma(x: Term) -> Term:
    """log |gamma(x)|: at most 4 ulp for x > 0; below, of the greater of the result and 1.

    Near the zeros 1 and 2 (x - 1) (x - 2) P; from `_HIGH` up Stirling's series.
    """
    size = abs(x)
    low = size < _LOW
    far = size >= _HIGH
    sine, _ = _sine_of_turns(size)
    reflected = where(low, sine, size * sine) * (1.0 / math.pi)
    inner = where((x > 0.0) | (size < _SMALL), size, reflected)
    logged, logged_low = roots.log_in_two_words(inner)
    near = _lgamma_near(where(far, _HIGH, size), low)
    leading, series, rest = _stirling(where(far, size, _HIGH))
    value = where(far, leading, near)
    more = where(far & (size < _LARGE), series + rest, 0.0)
    above = where(low, value - logged, value + more)
    total, lost = two_sum(-logged, -value)  # at -9.99999 they nearly cancel
    below = total + (lost - (logged_low + more))
    value = where(x > 0.0, above, where(inner.equal(0.0), math.inf, below))
    return where(is_nan(x), x, where(size.equal(math.inf), math.inf, value))


def _lgamma_near(x: Term, low: Term) -> Term:
    """(x - 1) (x - 2) P, of x + 1 where x is low."""
    moved = where(low, x + 1.0, x)
    t = (moved - _CENTRE) / (moved + _CENTRE)
    first, second = where(low, x, x - 1.0), where(low, x - 1.0, x - 2.0)
    return fma(first, second * paired(t, LGAMMA_NEAR[FLOAT64]), 0.0)  # 0 at 1, not -0
