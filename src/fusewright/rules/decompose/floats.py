"""Float ops that are exact, or rounded once, as NumPy defines them bit for bit (the payload of a
NaN aside).
"""

from __future__ import annotations

import math

from fusewright.ir import expr
from fusewright.ir.dtypes import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, INT32, INT64, UINT16
from fusewright.rules.decompose.terms import (
    MANTISSA,
    Term,
    constant,
    copysign,
    fma,
    is_nan,
    where,
)

_QUIET = {FLOAT16: 0x7E00, BFLOAT16: 0x7FC0}
"""The bits of a NaN."""
_DEGREES32 = 57.2957763671875  # NumPy divides 180 by pi in float32


def maximum(a: Term, b: Term) -> Term:
    """NaN where either is."""
    return where(is_nan(a), a, where(a > b, a, b))


def minimum(a: Term, b: Term) -> Term:
    """NaN where either is."""
    return where(is_nan(a), a, where(a < b, a, b))


def fmax(a: Term, b: Term) -> Term:
    """NaN only where both are."""
    return where(is_nan(b), a, where(a > b, a, b))


def fmin(a: Term, b: Term) -> Term:
    """NaN only where both are."""
    return where(is_nan(b), a, where(a < b, a, b))


def maximum_half(a: Term, b: Term) -> Term:
    """float16's, where NumPy takes the first of two equal operands (zeros of either sign)."""
    return where((a >= b) | is_nan(a), a, b)


def minimum_half(a: Term, b: Term) -> Term:
    """Likewise."""
    return where((a <= b) | is_nan(a), a, b)


def sign(x: Term) -> Term:
    """-1, 0 or 1; NaN for NaN; 0 for either zero."""
    return where(x > 0.0, x.of(1.0), where(x < 0.0, -1.0, where(is_nan(x), x, 0.0)))


def square(x: Term) -> Term:
    """x * x."""
    return x * x


def reciprocal(x: Term) -> Term:
    """1 / x."""
    return 1.0 / x


def absolute(x: Term) -> Term:
    """The sign bit cleared."""
    return abs(x)


def isnan(x: Term) -> Term:
    """Whether x is NaN."""
    return is_nan(x)


def isinf(x: Term) -> Term:
    """Whether x is infinite."""
    return abs(x).equal(math.inf)


def isfinite(x: Term) -> Term:
    """Whether x is neither infinite nor NaN."""
    return abs(x) < math.inf


def signbit(x: Term) -> Term:
    """The sign bit, of NaN and zeros too."""
    return x.as_type(INT32 if x.dtype is FLOAT32 else INT64) < 0


def heaviside(x: Term, at_zero: Term) -> Term:
    """0 below zero, 1 above, `at_zero` at either zero, NaN for NaN."""
    value = where(x < 0.0, x.of(0.0), where(x.equal(0.0), at_zero, 1.0))
    return where(is_nan(x), x, value)


def deg2rad(x: Term) -> Term:
    """x * (pi / 180), the factor rounded."""
    return x * (math.pi / 180.0)


def rad2deg(x: Term) -> Term:
    """x * (180 / pi), the factor rounded."""
    return x * (180.0 / math.pi if x.dtype is FLOAT64 else _DEGREES32)


def nextafter(x: Term, towards: Term) -> Term:
    """The neighbour of x on the side of `towards`: bits one up or one down, across zero by the
    least subnormal.
    """
    value = _neighbour(x, towards, x.bits).as_type(x.dtype)
    value = where(x.equal(towards), towards, value)
    return where(is_nan(x) | is_nan(towards), x + towards, value)


def nextafter_half(x: Term, towards: Term) -> Term:
    """The same among the float16 or bfloat16 numbers."""
    value = _neighbour(x.cast(FLOAT32), towards.cast(FLOAT32), x.as_type(UINT16))
    nan = is_nan(x.cast(FLOAT32)) | is_nan(towards.cast(FLOAT32))
    return where(nan, value.of(_QUIET[x.dtype]), value).as_type(x.dtype)


def _neighbour(x: Term, towards: Term, bits: Term) -> Term:
    inward = (towards > x) ^ (x > 0.0)
    moved = where(inward, bits - 1, bits + 1)
    least = where(towards < 0.0, bits.of(1 << (bits.dtype.bits - 1) | 1), 1)
    moved = where(x.equal(0.0), least, moved)
    return where(x.equal(towards), bits, moved)


def fmod(a: Term, b: Term) -> Term:
    """The exact remainder with the sign of a.

    While |a / b| < 2**53 (2**24), one quotient cut to a whole number is right or one too large, and
    a - q b is exact with fma.  The rest (NaN here) is left to the primitive `fmod_far`.
    """
    size, modulus = abs(a), abs(b)
    quotient = size / modulus
    rest = fma(-quotient.mapped("trunc"), modulus, size)
    rest = where(rest < 0.0, rest + modulus, rest)
    plain = (quotient < 2.0 ** (MANTISSA[a.dtype] + 1)) & (modulus < math.inf)
    near = where(plain, copysign(rest, a), math.nan)
    return Term(expr.op("fmod_far", a.expr, b.expr, near.expr))


def remainder(a: Term, b: Term) -> Term:
    """The remainder with the sign of b (Python's `%`)."""
    rest = fmod(a, b)
    fixed = where((b < 0.0) ^ (rest < 0.0), rest + b, rest)
    return where(rest.equal(0.0), copysign(0.0, b), fixed)


def floor_divide(a: Term, b: Term) -> Term:
    """NumPy's: the quotient of what is left after the remainder has been taken off, made whole."""
    rest = fmod(a, b)
    quotient = (a - rest) / b
    across = rest.differs(0.0) & ((b < 0.0) ^ (rest < 0.0))
    quotient = where(across, quotient - 1.0, quotient)
    whole = quotient.mapped("floor")
    whole = where((quotient - whole) > 0.5, whole + 1.0, whole)
    value = where(quotient.equal(0.0), copysign(0.0, a / b), whole)
    return where(b.equal(0.0), a / b, value)


def zero(x: Term) -> Term:
    """The imaginary part of a real number."""
    return constant(0.0, x.dtype)
