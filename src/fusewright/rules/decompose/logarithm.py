"""log and its family for float32 and float64: x = 2**k m with m in [3/4, 3/2), then log(1
+ f), f = m - 1.

float64: with s = f / (2 + f), log(1 + f) = f - f**2 / 2 + s (f**2 / 2 + s**2 P(s**2)) (the series
of 2 artanh s, arranged so that the leading terms are exact).  float32: f - f**2 / 2 + f**3 Q(f), no
division.
"""

from __future__ import annotations

import math

from fusewright.ir.dtypes import FLOAT64
from fusewright.rules.decompose.coefficients import LOG, LOG_DIRECT
from fusewright.rules.decompose.terms import (
    MANTISSA,
    Term,
    fma,
    ldexp,
    paired,
    quick_two_sum,
    two_sum,
    where,
)

# High words short enough that k times them is exact; high + low is the constant.
LN2 = {
    64: (0.6931471805598903, 5.497923018708371e-14),
    32: (0.693145751953125, 1.428606765330187e-06),
}
_LOG10_2 = {
    64: (0.3010299956640665, -8.532344317057107e-14),
    32: (0.301025390625, 4.605039066518657e-06),
}
_LOG2_E = {
    64: (1.4426950408889634, 2.0355273740931033e-17),
    32: (1.4426950216293335, 1.925963033500011e-08),
}
_LOG10_E = {
    64: (0.4342944819032518, 1.098319650216765e-17),
    32: (0.4342944920063019, -1.0103049952192578e-08),
}


def split(x: Term) -> tuple[Term, Term]:
    """k (a whole float) and f with x = 2**k (1 + f), for positive finite x."""
    return x.mapped("exponent"), x.mapped("fraction") - 1.0


def guard(x: Term, value: Term) -> Term:
    """The values outside (0, inf): log 0 = -inf, log inf = inf, NaN below 0 and for NaN."""
    value = where(x > 0.0, value, where(x.equal(0.0), x.of(-math.inf), math.nan))
    return where(x.equal(math.inf), x, value)


def _tail(f: Term, half: Term) -> Term:
    """log(1 + f) - f + half, half = f * f / 2."""
    if f.dtype is FLOAT64:
        s = f / (f + 2.0)
        square = s * s
        return s * fma(square, paired(square, LOG[f.dtype]), half)
    return f * f * f * paired(f, LOG_DIRECT[f.dtype])


def two_words(f: Term, low: Term | None = None) -> tuple[Term, Term]:
    """log(1 + f + low) as two words, |low| tiny."""
    half = f * f * 0.5
    # half was rounded: its error belongs to the low word.
    tail = _tail(f, half) - fma(f * 0.5, f, -half)
    if low is not None:
        tail = fma(low, fma(f, fma(f, 1.0 - f, -1.0), 1.0), tail)
    high, rest = quick_two_sum(f, -half)
    return high, rest + tail


def log(x: Term) -> Term:
    """Natural logarithm, at most 1 ulp."""
    k, f = split(x)
    high, low = LN2[x.dtype.bits]
    half = f * f * 0.5
    near = f - (half - fma(k, low, _tail(f, half)))
    return guard(x, fma(k, high, near))


def log_words(x: Term, low: Term, shift: Term | float = 0.0) -> Term:
    """log(x + low) + shift ln 2 for finite x >= 1/2 and |low| <= ulp(x); rounded twice, so within 1
    ulp.
    """
    k, f = split(x)
    high, rest = two_words(f, ldexp(low, -k))
    k = k + shift
    ln2_high, ln2_low = LN2[x.dtype.bits]
    total, error = quick_two_sum(k * ln2_high, high)
    return total + (error + fma(k, ln2_low, rest))


def log1p(x: Term) -> Term:
    """log(1 + x), at most 2 ulp: the rounding error of 1 + x is carried along."""
    one_more, low = two_sum(x.of(1.0), x)
    value = guard(one_more, log_words(one_more, low))
    return where(abs(x) < 2.0 ** -(MANTISSA[x.dtype] + 2), x, value)


def _scaled(
    x: Term, of_two: tuple[float, float], of_e: tuple[float, float], low: Term | None = None
) -> Term:
    """k * of_two + log(1 + f) * of_e, both constants in two words."""
    k, f = split(x)
    high, rest = two_words(f, None if low is None else ldexp(low, -k))
    product = high * of_e[0]
    error = fma(high, of_e[0], -product) + fma(high, of_e[1], rest * of_e[0])
    total, lost = quick_two_sum(k * of_two[0], product)
    return total + (lost + fma(k, of_two[1], error))


def log2(x: Term) -> Term:
    """At most 1 ulp; exact for powers of two."""
    return guard(x, log2_words(x))


def log2_words(x: Term, low: Term | None = None) -> Term:
    """log2(x + low) for finite positive x, |low| <= ulp(x)."""
    return _scaled(x, (1.0, 0.0), _LOG2_E[x.dtype.bits], low)


def log10(x: Term) -> Term:
    """At most 1 ulp."""
    return guard(x, _scaled(x, _LOG10_2[x.dtype.bits], _LOG10_E[x.dtype.bits]))
