"""Least and greatest values of index expressions: what proves that fixed-width arithmetic does not
wrap.

>>> from fusewright.ir.dtypes import INT64, UINT8
>>> from fusewright.ir.expr import cast, const, index, op
>>> four = {0: (0, 3)}
>>> interval(op("multiply", index(0), const(64, INT64)), four, {})
(0, 192)
>>> interval(cast(index(0), UINT8), {0: (-1, 3)}, {})
(0, 255)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fusewright.analysis.unit import Dim, Facts
from fusewright.ir.dtypes import BOOL, DType
from fusewright.ir.expr import Expr

Interval = tuple[int, int]
Loops = Mapping[int, Interval]
Known = Mapping[Any, Interval]

FAR = 1 << 48
"""No index reaches this: arrays are smaller than the address space (2^47 bytes)."""


def bounds_of(dtype: DType) -> Interval:
    """The values an integer type holds."""
    if dtype is BOOL:
        return (0, 1)
    if dtype.kind == "u":
        return (0, (1 << dtype.bits) - 1)
    return (-(1 << dtype.bits - 1), (1 << dtype.bits - 1) - 1)


def loop_ranges(dims: tuple[Dim, ...], known: Known) -> dict[int, Interval]:
    """What each loop index can be; dims further in see those further out."""
    ranges: dict[int, Interval] = {}
    for dim in dims:
        low, high = interval(dim.low, ranges, known)[0], interval(dim.high, ranges, known)[1] - 1
        ranges[dim.number] = (max(low, -FAR), max(min(high, FAR), max(low, -FAR)))
    return ranges


def known_ranges(facts: Facts) -> dict[Any, Interval]:
    """The parameters' ranges, for look-up."""
    return {number: (low, high) for number, low, high in facts.ranges}


def interval(expr: Expr, loops: Loops, known: Known) -> Interval:
    """An interval that holds every value of the expression in its own type."""
    whole = bounds_of(expr.dtype) if expr.dtype.kind in "iub" else (-FAR, FAR)
    if expr.name == "param":
        return known.get(expr.attr, (max(whole[0], -FAR), min(whole[1], FAR)))
    exact = exact_interval(expr, loops, known)
    if exact is None:
        return whole
    return exact if whole[0] <= exact[0] and exact[1] <= whole[1] else whole


def exact_interval(expr: Expr, loops: Loops, known: Known) -> Interval | None:
    """The same before the result is wrapped to its type; None where nothing is known."""
    if expr.name == "const" and expr.dtype.kind in "iub":
        return (int(expr.attr), int(expr.attr))
    if expr.name == "index":
        return loops.get(expr.attr, (-FAR, FAR))
    rule = _RULES.get(expr.name)
    if rule is None or any(arg.dtype.kind not in "iub" for arg in expr.args):
        return None
    found: Interval | None = rule(*(interval(arg, loops, known) for arg in expr.args))
    return found


def _corners(a: Interval, b: Interval) -> Interval:
    products = [x * y for x in a for y in b]
    return (min(products), max(products))


def _quotient(a: Interval, b: Interval) -> Interval | None:
    if b[0] != b[1] or not b[0]:
        return None
    ends = sorted((a[0] // b[0], a[1] // b[0]))
    return (ends[0], ends[1])


def _truncated(a: Interval, b: Interval) -> Interval | None:
    return _quotient(a, b) if a[0] >= 0 and b[0] > 0 else None


def _rest(a: Interval, b: Interval) -> Interval | None:
    return _remainder(a, b) if a[0] >= 0 and b[0] > 0 else None


def _remainder(a: Interval, b: Interval) -> Interval | None:
    if b[0] != b[1] or not b[0]:
        return None
    if b[0] > 0 and a[0] // b[0] == a[1] // b[0]:
        return (a[0] % b[0], a[1] % b[0])
    return (0, b[0] - 1) if b[0] > 0 else (b[0] + 1, 0)


def _left(a: Interval, b: Interval) -> Interval | None:
    return (a[0] << b[0], a[1] << b[0]) if b[0] == b[1] and 0 <= b[0] < 64 else None


def _right(a: Interval, b: Interval) -> Interval | None:
    return (a[0] >> b[0], a[1] >> b[0]) if b[0] == b[1] and 0 <= b[0] < 64 else None


def _and(a: Interval, b: Interval) -> Interval | None:
    ceilings = [part[1] for part in (a, b) if part[0] >= 0]
    return (0, min(ceilings)) if ceilings else None


def _or(a: Interval, b: Interval) -> Interval | None:
    if a[0] < 0 or b[0] < 0:
        return None
    return (0, (1 << max(a[1], b[1]).bit_length()) - 1)


def _absolute(a: Interval) -> Interval:
    return (0 if a[0] <= 0 <= a[1] else min(map(abs, a)), max(map(abs, a)))


def _least(a: Interval, b: Interval) -> Interval:
    return (min(a[0], b[0]), min(a[1], b[1]))


def _greatest(a: Interval, b: Interval) -> Interval:
    return (max(a[0], b[0]), max(a[1], b[1]))


_RULES: dict[str, Any] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "subtract": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "multiply": _corners,
    "negative": lambda a: (-a[1], -a[0]),
    "positive": lambda a: a,
    "absolute": _absolute,
    "floor_divide": _quotient,
    "remainder": _remainder,
    "tdiv": _truncated,
    "trem": _rest,
    "left_shift": _left,
    "shl": _left,
    "right_shift": _right,
    "shr": _right,
    "bitwise_and": _and,
    "bitwise_or": _or,
    "bitwise_xor": _or,
    "minimum": _least,
    "imin": _least,
    "maximum": _greatest,
    "imax": _greatest,
    "where": lambda c, a, b: (min(a[0], b[0]), max(a[1], b[1])),
    "cast": lambda a: a,
}
