"""Proofs that a position is not negative, from the bounds of the loops around it.

A loop index stands for its least or greatest value, as its sign asks; what is left must be a sum of
things that are never negative.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const

Ranges = Mapping[int, tuple[Expr, Expr]]
"""By loop index, outer loops first: the half-open range it runs over."""


def is_natural(expr: Expr, ranges: Ranges, naturals: Collection[Expr]) -> bool:
    """Whether a position is at least 0 wherever the loops are; `naturals` (extents) always are."""
    total = linear.terms(expr)
    for number in reversed(list(ranges)):
        low, high = ranges[number]
        term = next((t for t in total if t.name == "index" and t.attr == number), None)
        if term is None:
            continue
        count = total[term]
        extreme = low if count > 0 else linear.minus(high, 1)
        rest = linear.build({t: c for t, c in total.items() if t is not term})
        total = linear.terms(linear.plus(rest, linear.times(extreme, count)))
    one = const(1, INT64)
    return all(
        count >= 0 and (term is one or _is_natural_term(term, ranges, naturals))
        for term, count in total.items()
    )


def _is_natural_term(term: Expr, ranges: Ranges, naturals: Collection[Expr]) -> bool:
    if term in naturals:
        return True
    if term.name == "cast":
        return term.args[0].dtype.kind in "ub"
    if term.name == "multiply":
        return all(is_natural(arg, ranges, naturals) for arg in term.args)
    if term.name in ("floor_divide", "remainder"):
        divisor = linear.constant(term.args[1])
        if divisor is None or divisor <= 0:
            return False
        return term.name == "remainder" or is_natural(term.args[0], ranges, naturals)
    if term.name in ("right_shift", "bitwise_and"):
        return any(is_natural(arg, ranges, naturals) for arg in term.args[: _DECIDING[term.name]])
    if term.name == "maximum" or _is_greater(term):
        return any(is_natural(arg, ranges, naturals) for arg in term.args[-2:])
    if term.name == "where":
        return all(is_natural(arg, ranges, naturals) for arg in term.args[1:])
    return False


def _is_greater(term: Expr) -> bool:
    """Whether it is the greater of two numbers, as `max(a, b)` is translated."""
    if term.name != "where":
        return False
    test, chosen, other = term.args
    return test.name in ("greater", "greater_equal") and test.args == (chosen, other)


_DECIDING = {"right_shift": 1, "bitwise_and": 2}
"""How many operands one natural among them suffices for."""
