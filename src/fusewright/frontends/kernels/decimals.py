"""Rounding to decimal digits: `round(x, 2)` of Python's numbers, `np.round(a, 2)`.

CPython rounds the exact decimal value of a float, halves to even, and gives the float nearest to
what comes out.  Up to 22 digits this takes a few operations: 10**22 and smaller powers of ten are
floats, `fma` gives what a product leaves out, and below 2**53 a whole number has a float of its
own.  At and above 2**53 units of the last digit the nearest float is x.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusewright.base.errors import KernelTypeError
from fusewright.base.source import Span
from fusewright.frontends.kernels import elements, types
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.operators import apply
from fusewright.frontends.kernels.values import Number, Value, described
from fusewright.ir.dtypes import BOOL, FLOAT64, INT64, DType
from fusewright.ir.expr import Expr, cast, const, op, typed_op

MOST = 22
"""10.0 ** 22 is exact, 10.0 ** 23 is not."""
MOST_OF_INTEGERS = 18
"""10 ** 18 is an int64, 10 ** 19 is not."""


def number_of_digits(t: Translation, value: Value, span: Span) -> Number:
    """An integer of Python's or NumPy's, computed once."""
    digits = elements.as_number(t, value, span)
    if not (digits.dtype.is_integer or digits.dtype is BOOL):
        raise KernelTypeError(
            f"a number of digits that is {described(digits)}", span, help="write int(...)"
        )
    if digits.literal is not None:
        return types.literal(int(digits.literal), span)
    return t.fixed(Number(types.converted(digits, INT64, span), "python", span))


def scaled(t: Translation, x: Number, digits: Number, span: Span) -> Number:
    """Multiplied by a power of ten, rounded and divided again, as NumPy's `round` does."""
    x = Number(x.expr, "numpy", span)
    if digits.literal == 0:
        return apply(t, "rint", [x], span)
    ways = ("multiply", "divide"), ("divide", "multiply")

    def rounded(there: str, back: str) -> Expr:
        scale = Number(_power_of_ten(t, digits, FLOAT64, span), "python", span)
        whole = apply(t, "rint", [apply(t, there, [x, scale], span)], span)
        return apply(t, back, [whole, scale], span).expr

    return Number(_by_sign(digits, *(rounded(*way) for way in ways)), "numpy", span)


def exact(t: Translation, x: Number, digits: Number, span: Span) -> Number:
    """`round(x, digits)` of a Python number, with CPython's bits."""
    if not x.dtype.is_float:
        whole = types.converted(x, INT64, span)
        return Number(_of_integer(t, whole, digits, span), "python", span)
    power = _power_of_ten(t, digits, FLOAT64, span)
    found = _by_sign(digits, _to_fractions(x.expr, power), _to_tens(x.expr, power))
    return Number(found, "python", span)


def _by_sign(digits: Number, fractions: Expr, tens: Expr) -> Expr:
    if digits.literal is not None:
        return fractions if digits.literal >= 0 else tens
    return op("where", op("less", digits.expr, const(0, INT64)), tens, fractions)


def _power_of_ten(t: Translation, digits: Number, dtype: DType, span: Span) -> Expr:
    """10 to the number of digits without its sign, of which there are few enough."""
    most = MOST if dtype is FLOAT64 else MOST_OF_INTEGERS
    count = op("absolute", digits.expr)
    if digits.literal is not None:
        if abs(digits.literal) > most:
            raise KernelTypeError(f"round to {digits.literal} digits", span, why=f"at most {most}")
        return const(dtype.numpy.type(10) ** abs(digits.literal), dtype)
    few = op("less_equal", count, const(most, INT64))
    t.check(few, "raised", f"ValueError:round to more than {most} digits", (), span)
    found = const(1, dtype)
    for bit in (1, 2, 4, 8, 16):
        has = op("not_equal", op("bitwise_and", count, const(bit, INT64)), const(0, INT64))
        factor = op("where", has, const(dtype.numpy.type(10) ** bit, dtype), const(1, dtype))
        found = op("multiply", found, factor)
    return found


def _to_fractions(x: Expr, power: Expr) -> Expr:
    """x * power is `scaled + left_out` exactly, of which the whole number `near` is one of the two
    nearest or the nearest.
    """
    scaled = op("multiply", x, power)
    left_out = typed_op("fma", FLOAT64, x, power, op("negative", scaled))
    near = op("rint", scaled)
    rest, minus = op("subtract", scaled, near), op("negative", left_out)
    above = op("subtract", rest, const(0.5, FLOAT64)), minus
    below = op("add", rest, const(0.5, FLOAT64)), minus
    return _signed(x, scaled, op("divide", _nearest(near, above, below), power))


def _to_tens(x: Expr, power: Expr) -> Expr:
    """What is left of x beside a whole number of tens is a float."""
    scaled = op("divide", x, power)
    near = op("rint", scaled)
    rest = typed_op("fma", FLOAT64, op("negative", near), power, x)
    half = op("multiply", power, const(0.5, FLOAT64))
    found = _nearest(near, (rest, half), (rest, op("negative", half)))
    return _signed(x, scaled, op("multiply", found, power))


def _nearest(near: Expr, above: Sequence[Expr], below: Sequence[Expr]) -> Expr:
    """The next whole number where the rest is above a half, or is one half and `near` is odd."""
    half = op("multiply", near, const(0.5, FLOAT64))
    odd = op("not_equal", half, op("floor", half))
    for (rest, limit), beyond, step in ((above, "greater", 1.0), (below, "less", -1.0)):
        tie = op("logical_and", op("equal", rest, limit), odd)
        moves = op("logical_or", op(beyond, rest, limit), tie)
        moved = op("add", near, const(step, FLOAT64))
        near = op("where", moves, moved, near)
    return near


def _signed(x: Expr, scaled: Expr, found: Expr) -> Expr:
    """A rounded number with the sign of x; x itself where it has no digits to lose."""
    small = op("less", op("absolute", scaled), const(2.0**53, FLOAT64))
    return op("where", small, typed_op("copysign", FLOAT64, found, x), x)


def _of_integer(t: Translation, x: Expr, digits: Number, span: Span) -> Expr:
    """To tens, halves to even; an int has no digits after the point."""
    if digits.literal is not None and digits.literal >= 0:
        return x
    power = _power_of_ten(t, digits, INT64, span)
    whole = typed_op("floor_divide", INT64, x, power)
    twice = op("multiply", op("remainder", x, power), const(2, INT64))
    odd = op("not_equal", op("bitwise_and", whole, const(1, INT64)), const(0, INT64))
    tie = op("logical_and", op("equal", twice, power), odd)
    up = op("logical_or", op("greater", twice, power), tie)
    found = op("multiply", op("add", whole, cast(up, INT64)), power)
    return _by_sign(digits, x, found)
