"""What an iteration of a loop costs, roughly: whether threads are worth waking is decided when the
extents are known.
"""

from __future__ import annotations

from collections.abc import Iterable

from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, op, postorder
from fusewright.ir.loops.statements import Dim, For, Statement, While, blocks, expressions

IN_VECTORS, ALONE = 60, 400
"""Picoseconds of an operation on one element, in vectors and one by one."""
UNKNOWN_TRIPS = 8
"""Iterations of a loop whose bounds are only known inside."""


def iteration(loop: For, vectors: frozenset[int]) -> Expr:
    """Picoseconds of one iteration of the loop's first dim."""
    wide = any(dim.index in vectors for dim in loop.dims)
    return _times(_body(loop.body, vectors, wide), loop, 1)


def _body(body: Iterable[Statement], vectors: frozenset[int], wide: bool) -> Expr:
    total = const(0, INT64)
    each = IN_VECTORS if wide else ALONE
    for statement in body:
        count = 1 + sum(1 for _ in postorder(expressions(statement)))
        total = op("add", total, const(count * each, INT64))
        for inner in blocks(statement):
            cost = _body(inner, vectors, wide or _in_vectors(statement, vectors))
            if isinstance(statement, For):
                cost = _times(cost, statement, 0)
            elif isinstance(statement, While):
                cost = op("multiply", cost, const(UNKNOWN_TRIPS, INT64))
            total = op("add", total, cost)
    return total


def _in_vectors(statement: Statement, vectors: frozenset[int]) -> bool:
    return isinstance(statement, For) and any(dim.index in vectors for dim in statement.dims)


def _times(cost: Expr, loop: For, first: int) -> Expr:
    """The cost of all iterations of the dims from `first` on."""
    for dim in loop.dims[first:]:
        cost = op("multiply", cost, _trips(dim))
    return cost


def _trips(dim: Dim) -> Expr:
    """Iterations of a loop; in a strip, those of a whole one."""
    for low in (dim.low, *_alternatives(dim.low)):
        for high in (dim.high, *_alternatives(dim.high)):
            trips = linear.minus(high, low)
            if _known(trips):
                return trips
    return const(UNKNOWN_TRIPS, INT64)


def _alternatives(bound: Expr) -> tuple[Expr, ...]:
    return bound.args if bound.name in ("imin", "imax") else ()


def _known(expr: Expr) -> bool:
    return all(n.name not in ("index", "local", "load") for n in postorder([expr]))
