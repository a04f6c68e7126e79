"""How many boxes an inlined value is cut into, before anything is built.

A value that is put together from pieces is read box by box, in each of which one piece is read.
What is computed from several such values is cut wherever any of them is, in every dim, so that a
chain of them (a roll of a roll of a roll) would cut without bound.  `bounded` stores a value
wherever the boxes above it would become too many:

```
u1 = roll(u, 1);  u2 = roll(u1, 1);  ...  u40 = roll(u39, 1)     41 boxes; u11, u22, ... are stored
```

So is one that is picked out of what is picked out (of ...) by tables of positions, each of which is
read to know where to read the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from fusewright.ir import graph
from fusewright.ir.graph import Node

MOST_BOXES = 25
"""Boxes that a value may be cut into; each is a loop of its own in the machine code.  (A stencil of
a stencil in two dims has 25.)"""
MOST_CUTS = graph.WIDE - 5
"""Cuts along one dim: so many near one end lie in order for every extent that is wide."""
MOST_WORK = 1000
"""Boxes times the depth of the expression in each: what building them takes, in steps of 10 us."""

MOST_TABLES = 8
"""Tables of positions read one after the other for one element."""

Cuts = tuple[frozenset[int], ...]
"""For each dim the positions at which the value is cut."""


def bounded(order: Sequence[Node], stored: set[int]) -> set[int]:
    """The stored slots, with those that keep every inlined value's boxes few."""
    return _Bounding(order, stored).run()


class _Bounding:
    def __init__(self, order: Sequence[Node], stored: set[int]) -> None:
        self.order = order
        self.stored = set(stored)
        self.slots = {id(node): slot for slot, node in enumerate(order)}
        self.cuts: list[Cuts] = []
        self.depths: list[int] = []
        self.tables: list[int] = []

    def run(self) -> set[int]:
        for slot, node in enumerate(self.order):
            self.cuts.append(())
            self.depths.append(0)
            self.tables.append(0)
            self._measure(slot, node)
            while self.tables[slot] > MOST_TABLES:
                self._store(node, max(node.args, key=self._tables_of))
                self._measure(slot, node)
            while self._is_much(slot) and self._store_below(node):
                self._measure(slot, node)
        return self.stored

    def _measure(self, slot: int, node: Node) -> None:
        below = max(map(self._tables_of, node.args), default=0)
        self.tables[slot] = below + (node.kind == graph.GATHER)
        whole: Cuts = (frozenset(),) * len(node.shape)
        follow = _CUTS.get(node.kind)
        if follow is None:
            self.cuts[slot], self.depths[slot] = whole, 0
            return
        self.cuts[slot] = follow(self, node, whole)
        self.depths[slot] = 1 + max((self._depth(arg) for arg in node.args), default=0)

    def _is_much(self, slot: int) -> bool:
        boxes = _boxes(self.cuts[slot])
        if any(len(cuts) > MOST_CUTS for cuts in self.cuts[slot]):
            return True
        return boxes > MOST_BOXES or (boxes > 1 and boxes * self.depths[slot] > MOST_WORK)

    def _of(self, arg: Node) -> Cuts:
        """Where reading an operand cuts: nowhere, if it is in memory."""
        slot = self.slots[id(arg)]
        return (frozenset(),) * len(arg.shape) if slot in self.stored else self.cuts[slot]

    def _depth(self, arg: Node) -> int:
        slot = self.slots[id(arg)]
        return 0 if slot in self.stored else self.depths[slot]

    def _tables_of(self, arg: Node) -> int:
        slot = self.slots[id(arg)]
        return 0 if slot in self.stored else self.tables[slot]

    def _store(self, node: Node, operand: Node) -> None:
        """Store what an operand of a node shows, and see the node's operands anew."""
        self.stored.add(self.slots[id(_viewed(operand))])
        for arg in node.args:
            for view in reversed(graph.seen_through(arg)[0]):
                self._measure(self.slots[id(view)], view)

    def _store_below(self, node: Node) -> bool:
        """Store the operand that is cut most; False where none is cut."""
        most = max(node.args, key=lambda arg: _boxes(self._of(_viewed(arg))), default=None)
        if most is None or _boxes(self._of(_viewed(most))) < 2:
            return False
        self._store(node, most)
        return True

    def _map(self, node: Node, whole: Cuts) -> Cuts:
        total = list(whole)
        for arg in {id(arg): arg for arg in node.args}.values():
            lead = len(node.shape) - len(arg.shape)
            for dim, cuts in enumerate(self._of(arg)):
                if cuts and arg.shape[dim] == node.shape[lead + dim]:
                    total[lead + dim] |= cuts
        return tuple(total)

    def _view(self, node: Node, whole: Cuts) -> Cuts:
        total = list(whole)
        for cuts, (out, start, step) in zip(self._of(node.args[0]), node.attr, strict=True):
            if cuts and out >= 0 and step:
                total[out] |= _inside(_seen(cuts, start, step), node.shape[out])
        return tuple(total)

    def _assemble(self, node: Node, whole: Cuts) -> Cuts:
        total = list(whole)
        for piece, region in zip(node.args, node.attr, strict=True):
            for dim, (cuts, (start, _)) in enumerate(zip(self._of(piece), region, strict=True)):
                here = {start, start + piece.shape[dim], *(start + cut for cut in cuts)}
                total[dim] |= _inside(here, node.shape[dim])
        return tuple(total)


def _seen(cuts: Iterable[int], start: int, step: int) -> set[int]:
    """The positions of a view behind which those of its source lie."""
    if step > 0:
        return {-((start - cut) // step) for cut in cuts}
    return {(start - cut) // -step + 1 for cut in cuts}


def _inside(cuts: Iterable[int], extent: int) -> frozenset[int]:
    return frozenset(cut for cut in cuts if 0 < cut < extent)


def _boxes(cuts: Cuts) -> int:
    return prod(len(each) + 1 for each in cuts)


def _viewed(node: Node) -> Node:
    """What a view shows: storing it serves every view."""
    return graph.seen_through(node)[1]


_CUTS = {graph.MAP: _Bounding._map, graph.VIEW: _Bounding._view,
         graph.ASSEMBLE: _Bounding._assemble}  # fmt: skip
"""How the cuts of a value follow from those of its operands; other kinds are stored, or not cut."""
