"""How a loop runs in lanes: how many, where whole vectors begin, and which stores go past the
caches.

A store into a line that is not in a cache reads it first.  Into arrays that no cache can hold, and
that nothing else in the loop uses, whole lines are written to memory directly: a third to a half
less is moved.  Measured, one array of 2^26 float64 into another: 126 -> 76 ms for three loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fusewright.ir import linear
from fusewright.ir.expr import Expr, index, postorder
from fusewright.ir.loops.statements import For, Kernel, Let, Statement, Store, expressions, walk
from fusewright.ir.tree.nodes import Anchor, LaneMapping
from fusewright.plan.loops.plan import LoopPlan

ALIGNED = 6
"""Whole vectors a loop has, at least, where it begins with a part of one so that the others write
whole lines.  (Stores across the ends of lines take twice as long, and more where several arrays
are written: measured 1.1 to 2 times the loop's time within the caches.)
"""


class InnermostStores:
    """The stores that go from element to element along a loop's last dim, from a place known
    before it; `function` is all that runs with the loop.
    """

    def __init__(self, kernel: Kernel, function: Sequence[Statement], loop: For) -> None:
        self.kernel = kernel
        self.function = function
        self.own = index(loop.dims[-1].index)
        self.inside = {s.local for s in walk(loop.body) if isinstance(s, Let)}
        busy = any(isinstance(statement, For) for statement in walk(loop.body))
        found = [] if busy else [s for s in loop.body if isinstance(s, Store)]
        self.stores = [store for store in found if self._is_along(store)]

    def anchors(self) -> list[Anchor]:
        """The element of each that index 0 would write."""
        return list(map(self._anchor, self.stores))

    def past(self) -> Iterator[Anchor]:
        """The same of those into arrays that no cache holds, and that nothing else uses."""
        return (self._anchor(store) for store in self.stores if self._is_written_once(store))

    def _anchor(self, store: Store) -> Anchor:
        last = linear.minus(store.indices[-1], self.own)
        return Anchor(store.buffer, (*store.indices[:-1], last))

    def _is_along(self, store: Store) -> bool:
        if self.kernel.buffers[store.buffer].strides is not None or not store.indices:
            return False
        own = self.own
        counts = [linear.terms(place).get(own, 0) for place in store.indices]
        rest = [
            linear.minus(p, linear.times(own, c))
            for p, c in zip(store.indices, counts, strict=True)
        ]
        return (
            counts[-1] == 1
            and not any(counts[:-1])
            and not any(map(self._changes, postorder(rest)))
        )

    def _changes(self, node: Expr) -> bool:
        made = node.name == "local" and node.attr in self.inside
        return node is self.own or node.name == "load" or made

    def _is_written_once(self, store: Store) -> bool:
        if not self.kernel.buffers[store.buffer].large or store.buffer in self.kernel.scratch:
            return False
        inside = list(walk(tuple(self.function)))
        stores = sum(isinstance(s, Store) and s.buffer == store.buffer for s in inside)
        loads = any(
            node.name == "load" and node.attr == store.buffer
            for node in postorder([e for s in inside for e in expressions(s)])
        )
        return stores == 1 and not loads and not store.combine


def lanes_of_loop(
    plan: LoopPlan, loop: For, vector_bytes: int, stores: InnermostStores | None
) -> LaneMapping | None:
    """A vector of the widest type in the loop; None where that holds no two."""
    width = vector_bytes // max([1, *_sizes(plan, loop)])
    if width <= 1:
        return None
    anchors = [] if stores is None else stores.anchors()
    if stores is None or not anchors:
        return LaneMapping(width)
    return LaneMapping(width, anchors[0], ALIGNED * width, tuple(stores.past()))


def _sizes(plan: LoopPlan, loop: For) -> Iterator[int]:
    for statement in walk(loop.body):
        for node in postorder(expressions(statement)):
            if node.name == "load":
                yield node.dtype.itemsize
        if isinstance(statement, Store):
            yield statement.value.dtype.itemsize
    for dim in loop.dims:
        for number in plan.folds.get(dim.index, ()):
            yield plan.kernel.locals[number].dtype.itemsize
