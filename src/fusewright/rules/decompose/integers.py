"""Integers and bools as NumPy computes them: division by zero gives 0, shifts may be any amount,
everything wraps.
"""

from __future__ import annotations

from fusewright.ir import expr
from fusewright.ir.dtypes import BOOL, FLOAT32, FLOAT64
from fusewright.rules.decompose.terms import Term, constant, where


def _quotient(a: Term, b: Term) -> Term:
    """a / b towards zero; any value where b is 0.

    Up to 32 bits the float quotient is exact enough: a / b is at least 1 / |b| away from the next
    whole number above it, and a conversion cuts towards zero.  (The least integer by -1 converts to
    the least integer: it wraps.)
    """
    if a.dtype.bits <= 32:
        wide = FLOAT64 if a.dtype.bits == 32 else FLOAT32
        return (a.cast(wide) / b.cast(wide)).cast(a.dtype)
    unsafe = b.equal(0)
    if a.dtype.kind == "i":
        unsafe = unsafe | b.equal(-1)
    quotient = Term(expr.op("tdiv", a.expr, where(unsafe, 1, b).expr))
    return where(b.equal(-1), -a, quotient) if a.dtype.kind == "i" else quotient


def _floored(a: Term, b: Term) -> Term:
    """a / b towards minus infinity; any value where b is 0."""
    quotient = _quotient(a, b)
    if a.dtype.kind == "u":
        return quotient
    rest = a - quotient * b
    across = rest.differs(0) & ((rest ^ b) < 0)
    return where(across, quotient - 1, quotient)


def floor_divide(a: Term, b: Term) -> Term:
    """Rounded towards minus infinity; 0 where b is 0."""
    return where(b.equal(0), 0, _floored(a, b))


def remainder(a: Term, b: Term) -> Term:
    """With the sign of b; 0 where b is 0."""
    return where(b.equal(0), 0, a - _floored(a, b) * b)


def fmod(a: Term, b: Term) -> Term:
    """With the sign of a; 0 where b is 0."""
    return where(b.equal(0), 0, a - _quotient(a, b) * b)


def power(a: Term, b: Term) -> Term:
    """By squaring, one step for each bit an exponent can have.  NumPy refuses negative exponents:
    so must the caller.
    """
    result = constant(1, a.dtype)
    steps = a.dtype.bits - (a.dtype.kind == "i")
    for step in range(steps):
        result = where(((b >> step) & 1).differs(0), result * a, result)
        a = a * a
    return result


def sign(a: Term) -> Term:
    """-1, 0 or 1."""
    positive = where(a > 0, constant(1, a.dtype), 0)
    return positive if a.dtype.kind == "u" else where(a < 0, -1, positive)


def reciprocal(a: Term) -> Term:
    """NumPy divides 1.0 by it in float64 and converts."""
    return (1.0 / a.cast(FLOAT64)).cast(a.dtype)


def maximum(a: Term, b: Term) -> Term:
    """The greater."""
    return where(a > b, a, b)


def minimum(a: Term, b: Term) -> Term:
    """The lesser."""
    return where(a < b, a, b)


def later(a: Term, b: Term) -> Term:
    """The greater of two positions."""
    return where(a < b, b, a)


def _in_range(amount: Term) -> Term:
    inside = amount < amount.dtype.bits
    return inside & (amount >= 0) if amount.dtype.kind == "i" else inside


def left_shift(a: Term, amount: Term) -> Term:
    """0 where the amount is negative or at least the number of bits."""
    return where(_in_range(amount), a << (amount & (a.dtype.bits - 1)), 0)


def right_shift(a: Term, amount: Term) -> Term:
    """The sign everywhere (0 or -1) where the amount is negative or at least the number of bits."""
    most = amount.of(a.dtype.bits - 1)
    if a.dtype.kind == "i":
        return a >> where(_in_range(amount), amount, most)
    return where(_in_range(amount), a >> (amount & (a.dtype.bits - 1)), 0)


def bitwise_count(a: Term) -> Term:
    """One bits of the magnitude."""
    return (abs(a) if a.dtype.kind == "i" else a).mapped("popcount")


def square(a: Term) -> Term:
    """a * a, wrapping."""
    return a * a


def same(a: Term) -> Term:
    """The operand itself."""
    return a


def zero(a: Term) -> Term:
    """The imaginary part of a real number."""
    return constant(0, a.dtype)


def truth(a: Term) -> Term:
    """Whether a is not 0."""
    return a if a.dtype is BOOL else a.differs(0)


def logical_and(a: Term, b: Term) -> Term:
    """Whether neither is 0."""
    return truth(a) & truth(b)


def logical_or(a: Term, b: Term) -> Term:
    """Whether one is not 0 (NaN is not)."""
    return truth(a) | truth(b)


def logical_xor(a: Term, b: Term) -> Term:
    """Whether exactly one is not 0."""
    return truth(a) ^ truth(b)


def logical_not(a: Term) -> Term:
    """Whether a is 0."""
    return ~a if a.dtype is BOOL else a.equal(0)


def greater(a: Term, b: Term) -> Term:
    """a > b, as b < a."""
    return a > b


def greater_equal(a: Term, b: Term) -> Term:
    """a >= b, as b <= a."""
    return a >= b


def never(a: Term) -> Term:
    """isnan and isinf of what cannot be."""
    return constant(False, BOOL)


def always(a: Term) -> Term:
    """`isfinite` of what can be nothing else."""
    return constant(True, BOOL)


def either(a: Term, b: Term) -> Term:
    """The sum and the greater of two bools."""
    return a | b


def both(a: Term, b: Term) -> Term:
    """The product and the lesser of two bools."""
    return a & b
