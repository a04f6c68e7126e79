"""Complex numbers as pairs of real expressions, so that nothing below this pass knows them.

A `load` of a complex buffer becomes two loads of the component type with one more index, 0 for the
real part and 1 for the imaginary part; a complex `param` number n becomes two, with `attr` (n, 0)
and (n, 1).  Values are NumPy's bit for bit, with the products fused as NumPy's vector loops fuse
them (`absolute`, `exp`, `log`, `sqrt` and `float` functions aside: those carry the bounds of their
decompositions).  What `OPAQUE_COMPLEX` names is left to NumPy by the driver.

>>> from fusewright.ir.dtypes import COMPLEX128
>>> from fusewright.ir.expr import index, load, op
>>> z = load(0, (index(0),), COMPLEX128)
>>> split(op("negative", z))
(negative(b0[i0, 0]), negative(b0[i0, 1]))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from fusewright.ir import expr, ops
from fusewright.ir.dtypes import BOOL, FLOAT64, INT64, component
from fusewright.ir.expr import Expr
from fusewright.rules.decompose.logarithm import guard, log_words
from fusewright.rules.decompose.terms import (
    Term,
    copysign,
    fma,
    quick_two_sum,
    sqrt,
    two_product,
    two_sum,
    where,
)

Pair = tuple[Term, Term]


def _add(a: Pair, b: Pair) -> Pair:
    return a[0] + b[0], a[1] + b[1]


def _subtract(a: Pair, b: Pair) -> Pair:
    return a[0] - b[0], a[1] - b[1]


def _multiply(a: Pair, b: Pair) -> Pair:
    return fma(a[0], b[0], -(a[1] * b[1])), fma(a[0], b[1], a[1] * b[0])


def _square(a: Pair) -> Pair:
    return _multiply(a, a)


def _divide(a: Pair, b: Pair) -> Pair:
    """Smith's algorithm: divide through by the greater part of the divisor."""
    wide = abs(b[0]) >= abs(b[1])
    most, least = where(wide, b[0], b[1]), where(wide, b[1], b[0])
    ratio = least / most
    scale = 1.0 / (most + least * ratio)
    real = where(wide, a[0] + a[1] * ratio, a[0] * ratio + a[1]) * scale
    imaginary = where(wide, a[1] - a[0] * ratio, a[1] * ratio - a[0]) * scale
    nothing = b[0].equal(0.0) & b[1].equal(0.0)
    zero = abs(b[0])
    return where(nothing, a[0] / zero, real), where(nothing, a[1] / zero, imaginary)


def _reciprocal(a: Pair) -> Pair:
    wide = abs(a[1]) <= abs(a[0])
    most, least = where(wide, a[0], a[1]), where(wide, a[1], a[0])
    ratio = least / most
    bottom = where(wide, a[0] + a[1] * ratio, a[0] * ratio + a[1])
    return where(wide, 1.0, ratio) / bottom, where(wide, -ratio, -1.0) / bottom


def _negative(a: Pair) -> Pair:
    return -a[0], -a[1]


def _positive(a: Pair) -> Pair:
    return a


def _conjugate(a: Pair) -> Pair:
    return a[0], -a[1]


def _unary(name: str, x: Term) -> Term:
    return Term(expr.op(name, x.expr))


def _exp(a: Pair) -> Pair:
    """e**re (cos im + i sin im); where e**re alone would overflow, e**700 is multiplied in at the
    end.
    """
    dtype = a[0].dtype
    step = 700.0 if dtype.itemsize == 8 else 80.0
    large = (a[0] > step) & (a[0] < math.inf)
    size = _unary("exp", where(large, a[0] - step, a[0]))
    factor = where(large, size.of(math.exp(step)), 1.0)
    cos, sin = (_unary(name, a[1]) * size * factor for name in ("cos", "sin"))
    finite = abs(a[1]) < math.inf
    gone = a[0].equal(-math.inf) & ~finite
    stays = a[0].equal(math.inf) & ~finite
    real = where(gone, 0.0, where(stays, math.inf, cos))
    imaginary = where(gone, 0.0, sin)
    plain = a[1].equal(0.0)
    return where(plain, size * factor, real), where(plain, a[1], imaginary)


def _log(a: Pair) -> Pair:
    """log |a| + i arg a.  The square of the length in two words, so that nothing is lost where it
    is close to 1.
    """
    dtype = a[0].dtype
    x, y = (abs(part).cast(FLOAT64) for part in a)
    most, least = where(x > y, x, y), where(x > y, y, x)
    large, small = most > 2.0**500, most < 2.0**-400
    scale = where(large, x.of(2.0**-600), where(small, x.of(2.0**600), 1.0))
    shift = where(large, x.of(1200.0), where(small, x.of(-1200.0), 0.0))
    square, first = two_product(most * scale, most * scale)
    other, second = two_product(least * scale, least * scale)
    total, rest = two_sum(square, other)
    low, lower = two_sum(first, second)
    low, lowest = two_sum(rest, low)
    total, low = quick_two_sum(total, low)
    size = guard(total, log_words(total, low + (lower + lowest), shift)) * 0.5
    endless = x.equal(math.inf) | y.equal(math.inf)
    turn = Term(expr.op("arctan2", a[1].expr, a[0].expr))
    return where(endless, math.inf, size).cast(dtype), turn


def _sqrt(a: Pair) -> Pair:
    """Half the sum of length and |real part| under a root, the other part by a quotient: no
    difference of close numbers.
    """
    x, y = abs(a[0]), abs(a[1])
    huge, tiny = (2.0**1000, 2.0**-900) if x.dtype.itemsize == 8 else (2.0**120, 2.0**-90)
    large, small = (x > huge) | (y > huge), (x < tiny) & (y < tiny)
    scale = where(large, x.of(2.0**-4), where(small, x.of(2.0**120), 1.0))
    back = where(large, x.of(2.0**2), where(small, x.of(2.0**-60), 1.0))
    length = Term(expr.op("hypot", (x * scale).expr, (y * scale).expr))
    wide = sqrt((x * scale + length) * 0.5) * back
    thin = where(wide.equal(0.0), 0.0, y / (wide * 2.0))
    right, endless = a[0] >= 0.0, y.equal(math.inf)
    real = where(endless, math.inf, where(right, wide, thin))
    return real, copysign(where(endless, y, where(right, thin, wide)), a[1])


_PAIRS: dict[str, Callable[..., Pair]] = {
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "divide": _divide,
    "square": _square,
    "reciprocal": _reciprocal,
    "negative": _negative,
    "positive": _positive,
    "conjugate": _conjugate,
    "exp": _exp,
    "log": _log,
    "sqrt": _sqrt,
}
"""Ops with a complex result, all operands complex."""


def _test(name: str, combine: str) -> Callable[[Pair], Term]:
    """A test of both parts."""

    def both(a: Pair) -> Term:
        parts = (expr.typed_op(name, BOOL, part.expr) for part in a)
        return Term(expr.typed_op(combine, BOOL, *parts))

    return both


def _equal(a: Pair, b: Pair) -> Term:
    return a[0].equal(b[0]) & a[1].equal(b[1])


def _not_equal(a: Pair, b: Pair) -> Term:
    return a[0].differs(b[0]) | a[1].differs(b[1])


def _truth(a: Pair) -> Term:
    return a[0].differs(0.0) | a[1].differs(0.0)


def _absolute(a: Pair) -> Term:
    return Term(expr.op("hypot", a[0].expr, a[1].expr))


_REALS: dict[str, Callable[..., Term]] = {
    "real": lambda a: a[0],
    "imag": lambda a: a[1],
    "absolute": _absolute,
    "equal": _equal,
    "not_equal": _not_equal,
    "isnan": _test("isnan", "bitwise_or"),
    "isinf": _test("isinf", "bitwise_or"),
    "isfinite": _test("isfinite", "bitwise_and"),
    "logical_not": lambda a: ~_truth(a),
    "logical_and": lambda a, b: _truth(a) & _truth(b),
    "logical_or": lambda a, b: _truth(a) | _truth(b),
    "logical_xor": lambda a, b: _truth(a) ^ _truth(b),
}
"""Ops with a real result of complex operands."""

OPAQUE_COMPLEX = frozenset(ops.MAP) - _PAIRS.keys() - _REALS.keys() - {"where", "cast", "complex"}
"""Ops that have no rule for complex operands: NumPy runs them, if it has them."""


def split(root: Expr) -> tuple[Expr, Expr]:
    """The real and the imaginary part of a complex expression, free of complex numbers."""
    return separate([root])[root]


NO_LOCALS: Mapping[int, int] = {}


def separate(
    roots: Iterable[Expr], imaginary: Mapping[int, int] = NO_LOCALS
) -> dict[Expr, tuple[Expr, Expr]]:
    """The parts of every root; a real one is its own first part, and its second part is itself
    again, to be ignored.

    Of a complex variable of a kernel of loops, `imaginary` names the second part's; the first has
    its own number.
    """
    roots = list(roots)
    parts: dict[Expr, tuple[Expr, Expr]] = {}
    for node in expr.postorder(roots):
        if node.dtype.is_complex:
            parts[node] = _complex_parts(node, parts, imaginary)
        else:
            real = _real_value(node, parts)
            parts[node] = (real, real)
    return {root: parts[root] for root in roots}


def _pairs(node: Expr, parts: dict[Expr, tuple[Expr, Expr]]) -> list[Pair]:
    return [(Term(parts[arg][0]), Term(parts[arg][1])) for arg in node.args]


def _complex_parts(
    node: Expr, parts: dict[Expr, tuple[Expr, Expr]], imaginary: Mapping[int, int]
) -> tuple[Expr, Expr]:
    real = component(node.dtype)
    if node.name == "const":
        return expr.const(node.attr.real, real), expr.const(node.attr.imag, real)
    if node.name == "param":
        return expr.param((node.attr, 0), real), expr.param((node.attr, 1), real)
    if node.name == "local":
        return expr.local(node.attr, real), expr.local(imaginary[node.attr], real)
    if node.name == "complex":
        return parts[node.args[0]][0], parts[node.args[1]][0]
    if node.name == "load":
        indices = tuple(parts[arg][0] for arg in node.args)
        first, second = (
            expr.load(node.attr, (*indices, expr.const(part, INT64)), real) for part in (0, 1)
        )
        return first, second
    if node.name == "cast":
        source = node.args[0]
        if not source.dtype.is_complex:
            return expr.cast(parts[source][0], real), expr.const(0.0, real)
        return expr.cast(parts[source][0], real), expr.cast(parts[source][1], real)
    if node.name == "where":
        condition, yes, no = (parts[arg] for arg in node.args)
        first, second = (expr.op("where", condition[0], yes[part], no[part]) for part in (0, 1))
        return first, second
    value = _PAIRS[node.name](*_pairs(node, parts))
    return value[0].expr, value[1].expr


def _real_value(node: Expr, parts: dict[Expr, tuple[Expr, Expr]]) -> Expr:
    if not any(arg.dtype.is_complex for arg in node.args):
        return expr.rebuild(node, tuple(parts[arg][0] for arg in node.args))
    pairs = _pairs(node, parts)
    if node.name == "cast":  # NumPy drops the imaginary part, but for a bool
        if node.dtype is BOOL:
            return _truth(pairs[0]).expr
        return expr.cast(pairs[0][0].expr, node.dtype)
    return _REALS[node.name](*pairs).expr
