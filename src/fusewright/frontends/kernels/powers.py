"""Powers of floats by literals: products and roots, with what rounding loses added back.

`x ** 3` is a sum of two floats, `high + low`, until the end (Dekker's products with `fma`), and
then rounded once: within 0.51 units in the last place, nearer than the C library's `pow`, which is
what CPython and NumPy call, and the same bits but in rare cases.  Powers of float32 are products of
float64.
"""

from __future__ import annotations

from fusewright.ir.dtypes import FLOAT16, FLOAT32, FLOAT64, DType
from fusewright.ir.expr import Expr, cast, const, op, typed_op

MOST = 64
"""Whole exponents, at most: above, `pow` is as fast."""
Pair = tuple[Expr, Expr]


def is_easy(exponent: object) -> bool:
    """Whether an exponent has products and roots."""
    if isinstance(exponent, bool) or not isinstance(exponent, int | float):
        return False
    whole = abs(exponent) <= MOST and exponent == int(exponent)
    return (whole and abs(exponent) > 2) or exponent in (-2, -1, 0.5, 1.5)


def power(x: Expr, exponent: float, dtype: DType) -> Expr:
    """`x ** exponent` of such an exponent, in x's type."""
    if dtype in (FLOAT16, FLOAT32):
        return cast(_rounded(_pair(cast(x, FLOAT64), exponent)), dtype)
    return _rounded(_pair(x, exponent))


def _pair(x: Expr, exponent: float) -> Pair:
    whole = int(abs(exponent))
    if abs(exponent) != whole:  # `pow(-0.0, 0.5)` is 0.0, and that of minus infinity is infinity
        infinity = const(float("inf"), FLOAT64)
        x = op("where", op("equal", x, const(-float("inf"), FLOAT64)), infinity, x)
        x = op("add", x, const(0.0, FLOAT64))
    found = _whole(x, whole) if whole else None
    if abs(exponent) != whole:
        root = _root(x)
        found = root if found is None else _times(found, root)
    assert found is not None
    return _inverse(found) if exponent < 0 else found


def _whole(x: Expr, exponent: int) -> Pair:
    result: Pair | None = None
    square: Pair = (x, const(0.0, FLOAT64))
    while exponent:
        if exponent & 1:
            result = square if result is None else _times(result, square)
        exponent >>= 1
        if exponent:
            square = _times(square, square)
    assert result is not None
    return result


def _fma(a: Expr, b: Expr, c: Expr) -> Expr:
    return typed_op("fma", FLOAT64, a, b, c)


def _times(a: Pair, b: Pair) -> Pair:
    high = op("multiply", a[0], b[0])
    low = _fma(a[0], b[0], op("negative", high))
    zero = const(0.0, FLOAT64)
    for x, y in ((a[0], b[1]), (b[0], a[1])):
        if y is not zero:
            low = _fma(x, y, low)
    return high, low


def _root(x: Expr) -> Pair:
    high = op("sqrt", x)
    rest = _fma(op("negative", high), high, x)
    return high, op("divide", rest, op("add", high, high))


def _inverse(a: Pair) -> Pair:
    high = op("divide", const(1.0, FLOAT64), a[0])
    rest = _fma(op("negative", high), a[0], const(1.0, FLOAT64))
    rest = _fma(op("negative", high), a[1], rest)
    return high, op("multiply", high, rest)


def _rounded(pair: Pair) -> Expr:
    """The sum; a zero (which has a sign), and what is beyond the range, has nothing to add."""
    high, low = pair
    finite = op("less", op("absolute", low), const(float("inf"), FLOAT64))
    some = op("not_equal", high, const(0.0, FLOAT64))
    return op("where", op("logical_and", finite, some), op("add", high, low), high)
