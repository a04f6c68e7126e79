"""sin, cos and tan for float32 and float64: |x| = n pi / 2 + r, then both polynomials and a choice
by n.

The reduction subtracts n pi / 2 in three words with fma (the first step is exact), and keeps r in
two words, so that results near the zeros stay accurate.  That holds up to `FAR`; what lies beyond
goes to the primitives `sin_far`, `cos_far` and `tan_far`, which targets spell as a rarely taken
branch: `reduce_exactly` (Payne and Hanek: the bits of 2 / pi that matter are multiplied out in
integers) followed by the same polynomials (`far_kernel`).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from functools import cache

import numpy as np

from fusewright.ir import expr
from fusewright.ir.dtypes import FLOAT32, FLOAT64, UINT64, from_numpy
from fusewright.ir.expr import Expr
from fusewright.ir.interpret import MEANING, Array, Environment, evaluate
from fusewright.rules.decompose.coefficients import COS, SIN
from fusewright.rules.decompose.terms import (
    MANTISSA,
    Term,
    fma,
    paired,
    quick_two_sum,
    two_product,
    where,
)

FAR = {FLOAT64: 2.0**40, FLOAT32: 2.0**16}
"""The least magnitude that the three-word reduction does not take."""

_HALF_PI = {
    FLOAT64: (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
    FLOAT32: (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
}
_TWO_OVER_PI = 0.6366197723675814

TABLE_WORDS = 21
"""Words of 2 / pi that the exponents of float64 can reach."""

Reduced = tuple[Term, Term, Term]
"""r in two words, and the quadrant n in the low bits of an unsigned integer."""


def _reduce(size: Term) -> Reduced:
    """size = n pi / 2 + r for 0 <= size < FAR."""
    dtype = size.dtype
    magic = 1.5 * 2.0 ** MANTISSA[dtype]
    shifted = fma(size, _TWO_OVER_PI, magic)
    n = -(shifted - magic)
    first, second, third = _HALF_PI[dtype]
    exact = fma(n, first, size)
    # Two words of exact + n * second: near a zero they cancel, and all bits of the product count.
    product, lost = two_product(n, n.of(second))
    high, error = quick_two_sum(exact, product)
    return high, fma(n, third, error + lost), shifted.bits


def _sine(high: Term, low: Term, square: Term, half: Term) -> Term:
    """sin(high + low) - high."""
    return fma(high * square, paired(square, SIN[high.dtype]), fma(-half, low, low))


def _cosine(high: Term, low: Term, square: Term, half: Term) -> tuple[Term, Term]:
    """cos(high + low) as a rounded 1 - half and the rest."""
    near = 1.0 - half
    error = (1.0 - near) - half
    rest = fma(square * square, paired(square, COS[high.dtype]), fma(-high, low, error))
    return near, rest


def choose(reduced: Reduced, turn: int) -> tuple[Term, Term]:
    """The sine of n + turn quarter turns and r, without its sign; the sign as a bit in place."""
    high, low, quadrant = reduced
    square = high * high
    half = square * 0.5
    sine = high + _sine(high, low, square, half)
    near, rest = _cosine(high, low, square, half)
    odd = (quadrant & 1).differs(turn & 1)
    if turn:
        quadrant = quadrant + turn
    sign = (quadrant >> 1) << (high.dtype.bits - 1)
    return where(odd, near + rest, sine), sign


def _sin_of(reduced: Reduced, x: Term) -> Term:
    value, sign = choose(reduced, 0)
    negative = x.bits & (1 << (x.dtype.bits - 1))
    return (value.bits ^ sign ^ negative).as_type(x.dtype)


def _cos_of(reduced: Reduced, x: Term) -> Term:
    value, sign = choose(reduced, 1)
    return (value.bits ^ sign).as_type(x.dtype)


def _tan_of(reduced: Reduced, x: Term) -> Term:
    """sin / cos, or -cos / sin in the odd quadrants: both in two words, and one division corrected
    by its remainder.
    """
    high, low, quadrant = reduced
    square = high * high
    half = square * 0.5
    sine = quick_two_sum(high, _sine(high, low, square, half))
    near, rest = _cosine(high, low, square, half)
    cosine = quick_two_sum(near, fma(fma(high, high, -square), -0.5, rest))
    odd = (quadrant & 1).equal(1)
    top, top_low = (where(odd, c, s) for s, c in zip(sine, cosine, strict=True))
    bottom, bottom_low = (where(odd, s, c) for s, c in zip(sine, cosine, strict=True))
    inverse = 1.0 / bottom
    ratio = top * inverse
    remainder = fma(-ratio, bottom, top) + fma(-ratio, bottom_low, top_low)
    value = fma(remainder, inverse, ratio)
    sign = (quadrant << (x.dtype.bits - 1)) ^ (x.bits & (1 << (x.dtype.bits - 1)))
    return where(x.equal(0.0), x, (value.bits ^ sign).as_type(x.dtype))


_KERNELS: dict[str, Callable[[Reduced, Term], Term]] = {
    "sin": _sin_of, "cos": _cos_of, "tan": _tan_of,
}  # fmt: skip


def _periodic(name: str) -> Callable[[Term], Term]:
    def decomposed(x: Term) -> Term:
        near = _KERNELS[name](_reduce(abs(x)), x)
        return Term(expr.op(f"{name}_far", x.expr, near.expr))

    decomposed.__doc__ = f"{name}(x), at most 1 ulp for every x."
    return decomposed


sin, cos, tan = (_periodic(name) for name in ("sin", "cos", "tan"))


@cache
def far_kernel(name: str) -> Expr:
    """What follows the exact reduction, in float64: parameters 0 and 1 are the two words of
    `reduce_exactly`, 2 the quadrant (uint64), 3 the argument.
    """
    high, low, quadrant, x = (
        Term(expr.param(number, UINT64 if number == 2 else FLOAT64)) for number in range(4)
    )
    first, second, _ = _HALF_PI[FLOAT64]
    r, error = two_product(high, high.of(first))
    error = error + fma(high, second, low * first)
    return _KERNELS[name]((r, error, quadrant), x).expr


def reduce_exactly(x: float) -> tuple[float, float, int]:
    """|x| in quarter turns: the rest t up to 1/2 as 53 bits and the next 64 (rounded), n modulo 4.

    |x| = m 2**e with a 53-bit m; a window of 192 bits of 2 / pi, from the bit that e moves to
    weight 2 on, times m, gives all that matters modulo 4.  Targets do the same integer steps, so
    their bits are these.

    >>> reduce_exactly(2.0**60)
    (-0.3759390420461155, -2.970423598854399e-17, 3)
    """
    bits = struct.unpack("<Q", struct.pack("<d", abs(x)))[0]
    m = bits & ((1 << 52) - 1) | 1 << 52
    position = (bits >> 52) - 1075 + 62
    window = two_over_pi() >> (64 * TABLE_WORDS - 192 - position) & ((1 << 192) - 1)
    turns = (m * window >> 64) & ((1 << 128) - 1)
    part = (turns & ((1 << 126) - 1)) - ((turns >> 125 & 1) << 126)
    n = (turns - part) >> 126
    leading = 128 - abs(part).bit_length()
    size = abs(part) << leading
    sign = math.copysign(1.0, part)
    high = math.ldexp(float(size >> 75), 11 - 62 - leading)
    low = math.ldexp(float(size >> 11 & ((1 << 64) - 1)), -115 - leading)
    return sign * high, sign * low, n & 3


@cache
def two_over_pi() -> int:
    """2 / pi in `TABLE_WORDS` words of 64 bits, the first of them 0 (the bits before the point).

    By Machin's formula for pi, in integers.
    """
    position = 64 * (TABLE_WORDS - 1)
    one = 1 << (position + 64)

    def inverse_arctan(k: int) -> int:
        total = term = one // k
        for number in range(3, position, 2):
            term //= -k * k
            total += term // number
        return total

    pi = 4 * (4 * inverse_arctan(5) - inverse_arctan(239))
    return (2 << (2 * position + 64)) // pi


def _meaning(name: str) -> Callable[[Array, Array], Array]:
    """A far op for the interpreter."""

    def far(x: Array, near: Array) -> Array:
        x, near = np.broadcast_arrays(x, near)
        value = near.copy()
        limit = FAR[from_numpy(x.dtype) or FLOAT64]
        for place in zip(*np.nonzero(np.abs(x) >= limit), strict=True):
            argument = float(x[place])
            value[place] = math.nan
            if math.isfinite(argument):
                params = dict(enumerate((*reduce_exactly(argument), argument)))
                value[place] = evaluate(far_kernel(name), Environment(params=params))
        return value

    return far


MEANING.update({f"{name}_far": _meaning(name) for name in _KERNELS})
