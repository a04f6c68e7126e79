"""Lengths, and comparisons of lengths and square roots with one number: all look at the square
first.

The square root is monotone, so `sqrt(s) < c` holds exactly where `s` is less than the least number
whose rounded root is not less than c; that number is found once for all elements.  The square of a
length overflows or underflows long before the length does: `hypot_far` and the `*_length_far` ops
are branches that targets take where a lane has such a square.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from fusewright.ir import expr
from fusewright.ir.dtypes import BOOL, FLOAT32, FLOAT64
from fusewright.ir.expr import Expr
from fusewright.ir.interpret import MEANING, Environment, evaluate
from fusewright.rules.decompose.terms import Term, fma, is_nan, sqrt, where

LEAST_SQUARE, MOST_SQUARE = 2.0**-900, 2.0**1000
"""Squares between them are as good as any."""
_LEAST, _MOST = 2.0**-440, 2.0**490
"""Between them a length compares as its square does, whatever has happened to the square."""
_BELOW, _STEPS = 3, 6
"""c * c is at most 2 units above and 3 below the bounds sought: their roots may differ from c by
half a unit, and c * c by half a unit of its own."""


def hypot(x: Term, y: Term) -> Term:
    """At most 1.5 ulp, without overflow or underflow on the way; infinite where either is, even
    beside NaN.
    """
    if x.dtype is FLOAT32:
        a, b = x.cast(FLOAT64), y.cast(FLOAT64)
        length = sqrt(fma(a, a, b * b)).cast(FLOAT32)
        return where(abs(x).equal(math.inf) | abs(y).equal(math.inf), math.inf, length)
    square = _square(x, y)
    return Term(expr.op("hypot_far", x.expr, y.expr, square.expr, sqrt(square).expr))


def _square(x: Term, y: Term) -> Term:
    return fma(x, x, y * y)


def _scaled(x: Term, y: Term) -> Term:
    """The length in units that suit it."""
    a, b = abs(x), abs(y)
    most, least = where(a > b, a, b), where(a > b, b, a)
    large, small = most > 2.0**500, most < 2.0**-400
    down = where(large, x.of(2.0**-600), where(small, x.of(2.0**600), 1.0))
    up = where(large, x.of(2.0**600), where(small, x.of(2.0**-600), 1.0))
    length = sqrt(_square(most * down, least * down)) * up
    return where(a.equal(math.inf) | b.equal(math.inf), math.inf, length)


def _settled(x: Term, y: Term, square: Term, near: Term) -> Term:
    ordinary = (square >= LEAST_SQUARE) & (square <= MOST_SQUARE)
    return where(ordinary, near, _scaled(x, y))


def _length(x: Term, y: Term) -> Term:
    square = _square(x, y)
    return _settled(x, y, square, sqrt(square))


# -- comparisons with one number -----------------------------------------------------------------

_ROOT_LEFT = {"less": "root_below", "less_equal": "root_at_most"}
_ROOT_RIGHT = {"less": "root_above", "less_equal": "root_at_least"}


def least_square(c: Term) -> Term:
    """The least s >= 0 with sqrt(s) >= c; NaN for NaN."""
    low = _start(c)
    for _ in range(_STEPS):
        low = low + (sqrt(low.as_type(c.dtype)) < c).cast(low.dtype)
    return where(c > 0.0, low.as_type(c.dtype), where(c <= 0.0, c.of(0.0), math.nan))


def most_square(c: Term) -> Term:
    """The greatest s with sqrt(s) <= c; greater than every negative number and less than 0 where c
    is negative; NaN for NaN.
    """
    low = _start(c)
    for _ in range(_STEPS):
        low = low + (sqrt((low + 1).as_type(c.dtype)) <= c).cast(low.dtype)
    none = -float(np.finfo(c.dtype.numpy).smallest_subnormal)
    return where(c >= 0.0, low.as_type(c.dtype), where(c < 0.0, c.of(none), math.nan))


def _start(c: Term) -> Term:
    bits = (c * c).bits
    return where(bits < _BELOW, bits.of(0), bits - _BELOW)


def compared(node: Expr) -> Expr | None:
    """A comparison of a root or a length with one number, without the root; None for any other."""
    left, right = node.args
    for value, number, form in ((left, right, _ROOT_LEFT), (right, left, _ROOT_RIGHT)):
        if value.name in ("sqrt", "hypot_far") and _is_uniform(number):
            name, c = form[node.name], Term(number)
            if value.name == "hypot_far":
                return _compared_length(name, value, c)
            if value.dtype in (FLOAT32, FLOAT64):
                return _compared_root(name, Term(value.args[0]), c)
    return None


def _is_uniform(node: Expr) -> bool:
    if node.name == "cast":
        return _is_uniform(node.args[0])
    return node.name in ("param", "const")


def _bound(name: str, c: Term) -> Term:
    return least_square(c) if name in ("root_below", "root_at_least") else most_square(c)


_TESTS: dict[str, Callable[[Term, Term], Term]] = {
    "root_below": lambda value, bound: value < bound,
    "root_at_most": lambda value, bound: value <= bound,
    "root_above": lambda value, bound: value > bound,
    "root_at_least": lambda value, bound: value >= bound,
}


def _compared_root(name: str, square: Term, c: Term) -> Expr:
    test = _TESTS[name](square, _bound(name, c))
    if name in ("root_below", "root_at_most") and not _is_positive(square.expr):
        test = test & (square >= 0.0)
    return test.expr


def _is_positive(node: Expr) -> bool:
    """Whether a value is surely not negative (NaN is not)."""
    if node.name in ("multiply", "fma") and node.args[0] is node.args[1]:
        return node.name == "multiply" or _is_positive(node.args[2])
    if node.name == "add":
        return all(map(_is_positive, node.args))
    return node.name in ("absolute", "sqrt") or (node.name == "const" and node.attr >= 0)


def _compared_length(name: str, length: Expr, c: Term) -> Expr:
    """Where the number is an ordinary one, the square tells; the bound is NaN for any other."""
    x, y, square = map(Term, length.args[:3])
    ordinary = (c >= _LEAST) & (c <= _MOST) | (c < 0.0)
    bound = where(ordinary, _bound(name, c), math.nan)
    near = _TESTS[name](square, bound)
    operands = (x, y, square, c, bound, near)
    rare = name.replace("root", "length") + "_far"
    return expr.typed_op(rare, BOOL, *(operand.expr for operand in operands))


# -- the rare branches ---------------------------------------------------------------------------


def _rare_length(x: Term, y: Term, square: Term, near: Term) -> Term:
    return _settled(x, y, square, near)


def _rare_test(name: str, x: Term, y: Term, square: Term, c: Term, bound: Term, near: Term) -> Term:
    known = ~(is_nan(bound) | is_nan(square))
    return where(known, near, _TESTS[name](_length(x, y), c))


RARE: dict[str, Callable[..., Term]] = {
    "hypot_far": _rare_length,
    **{f"{name.replace('root', 'length')}_far": partial(_rare_test, name) for name in _TESTS},
}
"""The value of each op of its operands, wherever they lie."""


@cache
def rare_value(name: str) -> Expr:
    """The same with parameters for operands."""
    return RARE[name](
        *(Term(expr.param(n, dtype)) for n, dtype in enumerate(operands_of(name)))
    ).expr


def operands_of(name: str) -> tuple[Any, ...]:
    """The operands' dtypes."""
    return (FLOAT64,) * 4 if name == "hypot_far" else (FLOAT64,) * 5 + (BOOL,)


def _meaning(name: str) -> Callable[..., Any]:
    def rare(*operands: Any) -> Any:
        return evaluate(rare_value(name), Environment(params=dict(enumerate(operands))))

    return rare


MEANING.update({name: _meaning(name) for name in RARE})
