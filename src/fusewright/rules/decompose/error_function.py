"""erf and erfc for float32 and float64, at most 2 ulp."""

from __future__ import annotations

from fusewright.ir.dtypes import FLOAT32, FLOAT64
from fusewright.rules.decompose import exponential
from fusewright.rules.decompose.coefficients import ERF, ERF_TAIL, ERFC
from fusewright.rules.decompose.terms import (
    Term,
    copysign,
    fma,
    paired,
    quick_two_sum,
    two_product,
    two_sum,
    where,
)

_FLAT = {FLOAT64: 6.0, FLOAT32: 4.0}  # erf rounds to 1 from here up
_TWO_OVER_ROOT_PI = {
    FLOAT64: (1.1283791670955126, 1.533545961316588e-17),
    FLOAT32: (1.128379225730896, -5.8635382771399236e-08),
}
_AT_FOUR = (1.2329951186255526, -4.625318921008717e-17)  # 9 exp(16) erfc(4), in two words
_GONE = 28.0  # erfc rounds to 0 from here up


def _near(x: Term) -> tuple[float, Term]:
    """erf(x) = factor x + rest for |x| <= 1: factor is 2 / sqrt(pi), rest x**3 P(x**2)."""
    square = x * x
    high, low = _TWO_OVER_ROOT_PI[x.dtype]
    return high, x * fma(square, paired(square, ERF[x.dtype]), low)


def erf(x: Term) -> Term:
    """A polynomial up to 1, then 1 - exp(-P(|x| - 1)): what falls needs fewer and fewer bits."""
    size = abs(x)
    factor, rest = _near(size)
    near = fma(size, factor, rest)
    flat = _FLAT[x.dtype]
    capped = where(size.of(flat) < size, flat, size)
    exponent = paired(capped - 1.0, ERF_TAIL[x.dtype])
    far = 1.0 - exponential.exp_of_negative(-exponent)
    return copysign(where(size < 1.0, near, far), x)


def erfc(x: Term) -> Term:
    """1 - erf(x) up to 3/4; exp(-x**2) (c + t P(t)) / (1 + 2 x), t = (x - 4) / (x + 4), above, x**2
    and the quotient in two words.
    """
    if x.dtype is FLOAT32:
        return _erfc(x.cast(FLOAT64), FLOAT32).cast(FLOAT32)
    return _erfc(x, FLOAT64)


def _erfc(x: Term, precision: object) -> Term:
    size = abs(x)
    table = ERFC[FLOAT32] if precision is FLOAT32 else ERFC[FLOAT64]
    factor, rest = _near(x)
    product, lost = two_product(x, x.of(factor))
    near, error = two_sum(x.of(1.0), -product)
    near = near + (error - (lost + rest))
    capped = where(size.of(_GONE) < size, _GONE, size)
    four_more = capped + 4.0
    one_more, one_low = two_sum(capped + capped, x.of(1.0))
    inverse = 1.0 / (four_more * one_more)
    t = (capped - 4.0) * one_more * inverse
    top, top_low = quick_two_sum(x.of(_AT_FOUR[0]), fma(t, paired(t, table), _AT_FOUR[1]))
    scale = four_more * inverse
    quotient = top * scale
    remainder = fma(-quotient, one_more, top) + fma(-quotient, one_low, top_low)
    square, square_low = two_product(capped, capped)
    far = exponential.scaled_exp(-square, -square_low, quotient, remainder * scale)
    far = where(x < 0.0, 2.0 - far, far)
    return where(size < 0.75, near, far)
