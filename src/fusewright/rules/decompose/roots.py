"""power, cube root and the logarithm of a sum of exponentials."""

from __future__ import annotations

import math

from fusewright.ir.dtypes import FLOAT32, FLOAT64
from fusewright.rules.decompose import exponential, logarithm
from fusewright.rules.decompose.coefficients import (
    EXP2,
    INVERSE_CUBE_ROOT,
    LOG2_DIRECT,
    POWER_LOG,
)
from fusewright.rules.decompose.terms import (
    BIAS,
    Term,
    copysign,
    fma,
    is_nan,
    paired,
    polynomial,
    power_of_two,
    quick_two_sum,
    two_product,
    two_sum,
    where,
)

_TWO_THIRDS = (0.6666666666666666, 3.700743415417188e-17)
_LEAST32 = -200.0  # two to it is nothing in float32, and two to its opposite is too much
_NOTHING = {FLOAT64: 2.0**-54, FLOAT32: 2.0**-25}  # log(1 + x) is x below
_MOST_EXPONENT = 2.0**70  # times log x, unless that is 0, it overflows or underflows anyway


def log_in_two_words(x: Term) -> tuple[Term, Term]:
    """log x with about 2**-66 relative error: 2 s + s**3 (2/3 + z P(z)), s = f / (2 + f), z = s**2,
    in pairs of words.
    """
    k, f = logarithm.split(x)
    below, below_low = quick_two_sum(x.of(2.0), f)
    inverse = 1.0 / below
    s = f * inverse
    s_low = fma(-s, below_low, fma(-s, below, f)) * inverse
    z, z_low = two_product(s, s)
    z_low = fma(s + s, s_low, z_low)
    p, p_low = quick_two_sum(x.of(_TWO_THIRDS[0]), z * paired(z, POWER_LOG[FLOAT64]))
    p_low = p_low + _TWO_THIRDS[1]
    u, u_low = two_product(z, p)
    u_low = u_low + fma(z, p_low, z_low * p)
    v, v_low = two_product(s, u)
    v_low = v_low + fma(s, u_low, s_low * u)
    near, near_low = quick_two_sum(s + s, v)
    near_low = near_low + (v_low + (s_low + s_low))
    total, low = quick_two_sum(k * logarithm.LN2[64][0], near)
    return quick_two_sum(total, low + fma(k, logarithm.LN2[64][1], near_low))


def _bounded(y: Term) -> Term:
    return where(y > _MOST_EXPONENT, _MOST_EXPONENT, where(y < -_MOST_EXPONENT, -_MOST_EXPONENT, y))


def _size_of_power(x: Term, y: Term) -> Term:
    """|x|**y in float64, for |x| neither 0 nor infinite."""
    y = _bounded(y)
    log_high, log_low = log_in_two_words(x)
    product, lost = two_product(y, log_high)
    low = where(abs(product) < 800.0, fma(y, log_low, lost), 0.0)
    return exponential.exp(product, low)


def _size_of_power32(x: Term, y: Term) -> Term:
    """The same for float32 operands, where one word of float64 is enough: two to the y log2 x."""
    k, f = logarithm.split(x.cast(FLOAT64))
    exponent = _bounded(y.cast(FLOAT64)) * fma(f, paired(f, LOG2_DIRECT[FLOAT64]), k)
    exponent = where(exponent.of(_LEAST32) > exponent, _LEAST32, exponent)
    exponent = where(exponent.of(-_LEAST32) < exponent, -_LEAST32, exponent)
    shifted = exponent + (1.5 * 2.0**52 + BIAS[FLOAT64])
    rest = exponent - (shifted - (1.5 * 2.0**52 + BIAS[FLOAT64]))
    size = fma(rest, paired(rest, EXP2[FLOAT32]), 1.0)
    return (size * power_of_two(shifted.bits, FLOAT64)).cast(FLOAT32)


def power(x: Term, y: Term) -> Term:
    """x**y with the special values of C's `pow`; at most 1 ulp for float64 and for float32."""
    size = abs(x)
    value = _size_of_power32(size, y) if x.dtype is FLOAT32 else _size_of_power(size, y)
    grows = (size > 1.0) & (y > 0.0) | (size < 1.0) & (y < 0.0)
    edge = size.equal(0.0) | size.equal(math.inf)
    value = where(edge, where(grows, x.of(math.inf), 0.0), value)
    half = y * 0.5
    whole = y.mapped("trunc").equal(y)
    odd = whole & half.mapped("trunc").differs(half)
    value = where(odd, copysign(value, x), value)
    value = where((x < 0.0) & (x > -math.inf) & ~whole, math.nan, value)
    value = where(is_nan(x) | is_nan(y), x + y, value)
    return where(x.equal(1.0) | y.equal(0.0), 1.0, value)


def cbrt(x: Term) -> Term:
    """At most 1 ulp: x = 8**q t, g = t**(-1/3) by a polynomial and two steps of Halley's, then t
    g**2 with one correction.
    """
    if x.dtype is FLOAT32:
        return cbrt(x.cast(FLOAT64)).cast(FLOAT32)
    size = abs(x)
    k, f = logarithm.split(size)
    magic = 1.5 * 2.0**52 + BIAS[FLOAT64]
    shifted = fma(k, 1.0 / 3.0, magic)
    left = fma(shifted - magic, -3.0, k)
    t = (f + 1.0) * where(left > 0.5, x.of(2.0), where(left < -0.5, x.of(0.5), 1.0))
    g = polynomial(t, INVERSE_CUBE_ROOT[FLOAT64])
    for _ in range(2):
        error = fma(-t, g * g * g, 1.0)
        g = fma(g * error, fma(error, 2.0 / 9.0, 1.0 / 3.0), g)
    square = g * g
    root = t * square
    root_squared, lost = two_product(root, root)
    remainder = fma(-lost, root, fma(-root_squared, root, t))
    root = fma(remainder, square * (1.0 / 3.0), root)
    value = copysign(root * power_of_two(shifted.bits, FLOAT64), x)
    return where((size < math.inf) & (size > 0.0), value, x)


def logaddexp(a: Term, b: Term) -> Term:
    """log(e**a + e**b): the greater plus log(1 + e**-|a - b|).

    At most 2 ulp where the greater is not negative; else 3 ulp of the greater of its terms (a
    result near 0 is then a difference, as in NumPy).
    """
    most, gap, low = _gap(a, b)
    ratio = exponential.exp(gap, low)
    total, lost = two_sum(ratio.of(1.0), ratio)
    more = where(ratio < _NOTHING[a.dtype], ratio, logarithm.log_words(total, lost))
    return _joined(a, b, most + more, math.log(2.0))


def logaddexp2(a: Term, b: Term) -> Term:
    """log2(2**a + 2**b), likewise."""
    most, gap, low = _gap(a, b)
    ratio = exponential.exp2(gap, low)
    total, lost = two_sum(ratio.of(1.0), ratio)
    more = where(
        ratio < _NOTHING[a.dtype], ratio * (1.0 / math.log(2.0)), logarithm.log2_words(total, lost)
    )
    return _joined(a, b, most + more, 1.0)


def _gap(a: Term, b: Term) -> tuple[Term, Term, Term]:
    """The greater of the two, and -|a - b| in two words."""
    gap, low = two_sum(a, -b)
    below = gap < 0.0
    low = where(abs(gap) < 64.0, where(below, low, -low), 0.0)  # beyond, it is nothing
    return where(below, b, a), where(below, gap, -gap), low


def _joined(a: Term, b: Term, value: Term, double: float) -> Term:
    """The values where a - b is no number: equal infinities, and NaN."""
    value = where(a.equal(b), a + double, value)
    return where(is_nan(a) | is_nan(b), a + b, value)
