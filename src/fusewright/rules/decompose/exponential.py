"""exp and its family for float32 and float64: one range reduction, x = n ln 2 + r with |r| <= ln 2
/ 2.

The reduction subtracts n ln 2 in two steps with fma (Cody and Waite); the first is exact.  n comes
from adding a large constant, which leaves n in the low bits of a float, so no conversion is needed.
The polynomials are those of `tools/fit.py`; the bounds are asserted by the tests against mpmath.
"""

from __future__ import annotations

from typing import NamedTuple

from fusewright.ir.dtypes import FLOAT32, FLOAT64, DType
from fusewright.rules.decompose.coefficients import COSH, EXP, EXP2, SINH, TANH
from fusewright.rules.decompose.terms import (
    BIAS,
    MANTISSA,
    Term,
    constant,
    copysign,
    fma,
    ldexp,
    paired,
    power_of_two,
    quick_two_sum,
    where,
)


class _Numbers(NamedTuple):
    """The constants of one precision."""

    ln2_high: float
    ln2_low: float
    least: float  # exp rounds to 0 from here down
    most: float  # exp overflows from here up
    most_half: float  # sinh and cosh overflow from here up
    flat: float  # tanh is 1 from here up


_NUMBERS = {
    FLOAT64: _Numbers(0.6931471805599453, 2.3190468138462996e-17, -746.0, 710.0, 710.6, 20.0),
    FLOAT32: _Numbers(0.6931471824645996, -1.9046542121259336e-09, -104.0, 89.0, 89.5, 10.0),
}
_LOG2E = 1.4426950408889634
_TANH_HALF = 0.5493061443340549  # tanh is 1/2 here


def _clamp(x: Term, low: float, high: float) -> Term:
    """x between the bounds; NaN stays (the comparisons are written for one min and one max
    instruction).
    """
    x = where(x.of(low) > x, low, x)
    return where(x.of(high) < x, high, x)


def _magic(dtype: DType) -> float:
    """Added to a number it leaves the nearest integer, plus 2 * BIAS, in the low bits."""
    return 1.5 * 2.0 ** MANTISSA[dtype] + 2 * BIAS[dtype]


def _whole(x: Term, factor: float) -> tuple[Term, Term]:
    """n = rint(x * factor), and an unsigned integer whose low bits are n + 2 * BIAS."""
    shifted = fma(x, factor, _magic(x.dtype))
    return shifted - _magic(x.dtype), shifted.bits


def _reduce(x: Term, n: Term, low: Term | None = None) -> tuple[Term, Term]:
    """x - n ln 2 (+ low) as a rounded value and its error."""
    numbers = _NUMBERS[x.dtype]
    exact = fma(n, -numbers.ln2_high, x)
    rest = fma(n, -numbers.ln2_low, exact)
    error = fma(n, -numbers.ln2_low, exact - rest)
    if low is None:
        return rest, error
    rest, lost = quick_two_sum(rest, low)
    return rest, error + lost


def _above(x: Term, low: float, high: float) -> tuple[Term, Term]:
    """Whether x is below the bounds (the result is 0 there), and x between them, or 0 if below.

    So a result of 0 is no product that underflows, which takes some processors a hundred cycles:
    attention asks for many powers of -inf.
    """
    below = x < low
    x = where(below, 0.0, x)
    return below, where(x.of(high) < x, high, x)


def exp(x: Term, low: Term | None = None) -> Term:
    """e**x, at most 1 ulp.  With `low` (|low| small against 1), e**(x + low).

    Overflow and gradual underflow happen once, in the last step.
    """
    below, x = _above(x, _NUMBERS[x.dtype].least, _NUMBERS[x.dtype].most)
    n, _ = _whole(x, _LOG2E)
    rest, error = _reduce(x, n, low)
    q = rest + fma(rest * rest, paired(rest, EXP[x.dtype]), error)
    return where(below, 0.0, ldexp(q + 1.0, n))


def exp_of_negative(x: Term) -> Term:
    """e**x for x <= 0, without the guards; below the least exponent of a normal number it is not to
    be used.
    """
    n, biased = _whole(x, _LOG2E)
    rest, _ = _reduce(x, n)
    q = fma(rest * rest, paired(rest, EXP[x.dtype]), rest) + 1.0
    return q * power_of_two(biased - BIAS[x.dtype], x.dtype)


def scaled_exp(x: Term, low: Term, factor: Term, factor_low: Term) -> Term:
    """(factor + factor_low) * e**(x + low), rounded about once; |factor| is at least 1 where e**x
    overflows.
    """
    x = _clamp(x, _NUMBERS[x.dtype].least - 40.0, _NUMBERS[x.dtype].most)
    n, _ = _whole(x, _LOG2E)
    rest, error = _reduce(x, n, low)
    q = rest + fma(rest * rest, paired(rest, EXP[x.dtype]), error)
    return ldexp(factor + fma(factor, q, factor_low), n)


def exp2(x: Term, low: Term | None = None) -> Term:
    """Two to the x, or to x + low: at most 2 ulp, exact for whole x (as x - rint(x) is)."""
    least, most = (-1076.0, 1025.0) if x.dtype is FLOAT64 else (-151.0, 129.0)
    below, x = _above(x, least, most)
    n, _ = _whole(x, 1.0)
    rest = x - n if low is None else (x - n) + low
    return where(below, 0.0, ldexp(fma(rest, paired(rest, EXP2[x.dtype]), 1.0), n))


def expm1(x: Term) -> Term:
    """e**x - 1, at most 2 ulp, as 2 * ((s - 1/2) + s q) with s = 2**(n - 1) and q = e**r - 1."""
    small = abs(x) < 2.0 ** -(MANTISSA[x.dtype] + 2)
    clamped = _clamp(x, -40.0, _NUMBERS[x.dtype].most)
    n, biased = _whole(clamped, _LOG2E)
    rest, error = _reduce(clamped, n)
    q = rest + fma(rest * rest, paired(rest, EXP[x.dtype]), error)
    half = power_of_two(biased - (BIAS[x.dtype] + 1), x.dtype)
    return where(small, x, fma(half, q, half - 0.5) * 2.0)


def _hyperbolic(x: Term) -> tuple[Term, Term, Term, Term]:
    """cosh(r) - 1, sinh(r), (2**n + 2**-n) / 4 and (2**n - 2**-n) / 4 for |x| = n ln 2 + r."""
    dtype = x.dtype
    size = _clamp(abs(x), 0.0, _NUMBERS[dtype].most_half)
    n, biased = _whole(size, _LOG2E)
    rest, error = _reduce(size, n)
    square = rest * rest
    cosh_r = square * paired(square, COSH[dtype])
    sinh_r = rest + fma(rest * square, paired(square, SINH[dtype]), error)
    up = power_of_two(biased - (BIAS[dtype] + 2), dtype)
    # 2**-n matters only while n is small; from n = 2 * MANTISSA up it may as well stand still.
    capped = _clamp(n, 0.0, 2.0 * MANTISSA[dtype]) + _magic(dtype)
    down = power_of_two(constant(3 * BIAS[dtype] - 2, biased.dtype) - capped.bits, dtype)
    return cosh_r, sinh_r, up + down, up - down


def sinh(x: Term) -> Term:
    """At most 2 ulp, by the addition theorem for n ln 2 + r, which cancels nowhere."""
    cosh_r, sinh_r, plus, minus = _hyperbolic(x)
    size = (minus + fma(cosh_r, minus, sinh_r * plus)) * 2.0
    small = abs(x) < 2.0 ** -(MANTISSA[x.dtype] // 2 + 1)
    return where(small, x, copysign(size, x))


def cosh(x: Term) -> Term:
    """At most 2 ulp; see `sinh`."""
    cosh_r, sinh_r, plus, minus = _hyperbolic(x)
    return (plus + fma(cosh_r, plus, sinh_r * minus)) * 2.0


def tanh(x: Term) -> Term:
    """At most 1 ulp: an odd polynomial up to (ln 3) / 2, then 1 - 2 / (e**(2 |x|) + 1), the sum in
    two words.
    """
    dtype = x.dtype
    size = abs(x)
    square = size * size
    near = fma(size * square, paired(square, TANH[dtype]), size)
    capped = _clamp(size, 0.0, _NUMBERS[dtype].flat)
    double = capped + capped
    n, biased = _whole(double, _LOG2E)
    rest, error = _reduce(double, n)
    q, q_low = quick_two_sum(rest, fma(rest * rest, paired(rest, EXP[dtype]), error))
    scale = power_of_two(biased - BIAS[dtype], dtype)
    high, low = quick_two_sum(scale + 1.0, scale * q)
    low = fma(scale, q_low, low)
    share = constant(2.0, dtype) / high
    # 1 - share, its rounding error, and what the quotient still lacks.
    far, error = quick_two_sum(size.of(1.0), -share)
    lacking = fma(-share, low, fma(-share, high, 2.0))
    far = far + fma(share * -0.5, lacking, error)
    return copysign(where(size < _TANH_HALF, near, far), x)
