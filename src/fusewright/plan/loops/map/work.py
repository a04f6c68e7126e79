"""What an iteration of a loop costs, roughly: whether threads are worth waking is decided when the
extents are known.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from math import prod

from fusewright.base.values import dataclass
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, op, postorder
from fusewright.ir.linear import at_least, at_most
from fusewright.ir.loops.statements import (
    Dim,
    For,
    Statement,
    Store,
    While,
    blocks,
    expressions,
    walk,
)
from fusewright.machine import record as machine
from fusewright.plan.loops.legality.live_in import assigned

SHORT = 4
"""Iterations, at most, of a loop that runs one by one."""
UNKNOWN_TRIPS = 8
"""Iterations of a loop whose bounds are only known inside."""
_PICKS = (
    ("high", "imin", at_most), ("low", "imax", at_most),
    ("high", "imax", at_least), ("low", "imin", at_least),
)  # fmt: skip
"""What a bound may be chosen from, and what that means for the number of iterations."""


def picoseconds(nanoseconds: float) -> Expr:
    """A time of the machine's record, in the unit of estimates."""
    return const(int(1000.0 * nanoseconds), INT64)


def iteration(loop: For, vectors: frozenset[int]) -> Expr:
    """Picoseconds of one iteration of the loop's first dim."""
    inside = frozenset(dim.index for s in walk((loop,)) if isinstance(s, For) for dim in s.dims)
    return _Estimate(vectors, inside, assigned(loop.body)).one(loop)


def most_trips(dim: Dim) -> int | None:
    """How many iterations a dim has at most, whatever the parameters are; None: unknown."""
    found = (
        linear.distance(high, low)
        for low in _alternatives(dim.low, "imax")
        for high in _alternatives(dim.high, "imin")
    )
    return min((max(trips, 0) for trips in found if trips is not None), default=None)


def is_short(loop: For) -> bool:
    """Whether a loop is over before threads or vectors are set up for it: the ends that loops of
    different bounds run alone are.
    """
    trips = [most_trips(dim) for dim in loop.dims]
    short = None not in trips and prod(t or 0 for t in trips) <= SHORT
    return short and not any(isinstance(s, For | While) for s in walk(loop.body))


@dataclass(frozen=True, slots=True)
class _Estimate:
    """Adds up costs; `indices` and `variables` get their values in the loop only."""

    vectors: frozenset[int]
    indices: frozenset[int]
    variables: frozenset[int]

    def one(self, loop: For) -> Expr:
        """One iteration of the first dim."""
        wide = self._in_vectors(loop)
        return self._times(self._body(loop.body, wide), loop.dims[1:])

    def _body(self, body: Iterable[Statement], wide: bool) -> Expr:
        total = const(0, INT64)
        here = machine.current()
        each = here.in_vectors if wide else here.one_by_one
        for statement in body:
            count = 1 + sum(1 for _ in postorder(expressions(statement)))
            total = op("add", total, const(count * each, INT64))
            for inner in blocks(statement):
                cost = self._body(inner, wide or self._in_vectors(statement))
                if isinstance(statement, For):
                    cost = self._times(cost, statement.dims)
                elif isinstance(statement, While):
                    cost = op("multiply", cost, const(UNKNOWN_TRIPS, INT64))
                total = op("add", total, cost)
        return total

    def _in_vectors(self, statement: Statement) -> bool:
        return isinstance(statement, For) and any(d.index in self.vectors for d in statement.dims)

    def _times(self, cost: Expr, dims: Iterable[Dim]) -> Expr:
        for dim in dims:
            cost = op("multiply", cost, self._trips(dim))
        return cost

    def _trips(self, dim: Dim) -> Expr:
        """Iterations of a loop, at most: of a strip, or of the loop it is cut from."""
        found = self._between(dim.low, dim.high)
        return const(UNKNOWN_TRIPS, INT64) if found is None else found

    def _between(self, low: Expr, high: Expr) -> Expr | None:
        """How far one bound is behind the other, by what is known of them."""
        for bound, name, pick in _PICKS:
            end = high if bound == "high" else low
            if end.name == name:
                found = [
                    self._between(low, each) if bound == "high" else self._between(each, high)
                    for each in end.args
                ]
                known = [each for each in found if each is not None]
                return reduce(pick, known) if known else None
        trips = linear.minus(high, low)
        return trips if self._is_known(trips) else None

    def _is_known(self, expr: Expr) -> bool:
        """Whether it has a value before the loop begins."""
        return not any(
            node.name == "load"
            or (node.name == "index" and node.attr in self.indices)
            or (node.name == "local" and node.attr in self.variables)
            for node in postorder([expr])
        )


def _alternatives(bound: Expr, name: str) -> tuple[Expr, ...]:
    """What a bound is the least or the greatest of."""
    if bound.name != name:
        return (bound,)
    return tuple(each for arg in bound.args for each in _alternatives(arg, name))


def accesses(body: Iterable[Statement]) -> list[tuple[int, tuple[Expr, ...]]]:
    """Every load and store, by buffer and indices."""
    found = []
    for statement in walk(tuple(body)):
        found += [(n.attr, n.args) for n in postorder(expressions(statement)) if n.name == "load"]
        if isinstance(statement, Store):
            found.append((statement.buffer, statement.indices))
    return found


def uniform(loop: For, own: set[int], changing: set[int]) -> bool:
    """Whether the bounds are the same for all iterations of the dims `own`."""
    bounds = [bound for dim in loop.dims for bound in (dim.low, dim.high)]
    return not any(
        node.name == "load"
        or (node.name == "index" and node.attr in own)
        or (node.name == "local" and node.attr in changing)
        for node in postorder(bounds)
    )
