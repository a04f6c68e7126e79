"""Which extents are equal, or a small constant apart, by structure alone.

A union-find with offsets: `extent(slot, dim)` is a representative plus a literal; what is one
element wide by structure (a column `x[:, 3:4]`, a piece that is one) is a literal.  Only relations
that follow from the recorded structure (equal operand shapes, slices that keep a literal margin)
are entered, so that code compiled for one shape is right for every shape with the same structure.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusewright.ir import graph
from fusewright.ir.graph import Node

Key = tuple[int, int]
NOTHING: Key = (-1, -1)
"""The representative of extents that are literals: it is as long as 0."""
MARGIN = 4
"""Starts and ends at most this far from either end of a dim are literals of the structure; others
are run-time values."""


def anchor(position: int, extent: int) -> tuple[str, int]:
    """A position in a dim as structure: `low` (literal from 0), `high` (literal from the end), or
    `free` (run time).
    """
    if 0 <= position <= MARGIN:
        return ("low", position)
    if 0 <= extent - position <= MARGIN:
        return ("high", extent - position)
    return ("free", 0)


def margin(start: int, count: int, extent: int) -> int | None:
    """`extent - count`, where a unit-step interval keeps literal margins on both sides."""
    if 0 <= start <= MARGIN and 0 <= extent - start - count <= MARGIN:
        return extent - count
    return None


class Extents:
    """Relations between the extents of the nodes of a slice."""

    def __init__(self, order: Sequence[Node]) -> None:
        self._order = order
        self._slots = {id(node): slot for slot, node in enumerate(order)}
        self._parent: dict[Key, tuple[Key, int]] = {}
        for slot, node in enumerate(order):
            _RELATE[node.kind](self, slot, node)

    def find(self, slot: int, dim: int) -> tuple[Key, int]:
        """The representative, and how much larger this extent is."""
        key, offset = (slot, dim), 0
        while key in self._parent:
            key, more = self._parent[key]
            offset += more
        return key, offset

    def _relate(self, a: Key, b: Key, offset: int = 0) -> None:
        """extent(a) = extent(b) + offset."""
        (root_a, from_a), (root_b, from_b) = self.find(*a), self.find(*b)
        if root_a == root_b:
            return
        difference = offset + from_b - from_a
        if root_a > root_b:
            self._parent[root_a] = (root_b, difference)
        else:
            self._parent[root_b] = (root_a, -difference)

    def _relate_single(self, key: Key, count: int) -> None:
        """An extent whose being 1 is part of the structure."""
        if count == 1:
            self._relate(key, NOTHING, 1)

    def _operands(self, node: Node) -> list[tuple[int, Node]]:
        return [(self._slots[id(arg)], arg) for arg in node.args]

    def _nothing(self, slot: int, node: Node) -> None:
        pass

    def _map(self, slot: int, node: Node) -> None:
        rank = len(node.shape)
        for other, arg in self._operands(node):
            lead = rank - len(arg.shape)
            for dim, extent in enumerate(arg.shape):
                if extent == node.shape[lead + dim]:
                    self._relate((slot, lead + dim), (other, dim))

    def _view(self, slot: int, node: Node) -> None:
        ((other, source),) = self._operands(node)
        for dim, (out, start, step) in enumerate(node.attr):
            if out < 0:
                continue
            count, extent = node.shape[out], source.shape[dim]
            self._relate_single((slot, out), count)
            if step == 1 and (gap := margin(start, count, extent)) is not None:
                self._relate((slot, out), (other, dim), -gap)
            elif step == -1 and count == extent == start + 1:
                self._relate((slot, out), (other, dim))

    def _reduce(self, slot: int, node: Node) -> None:
        ((other, source),) = self._operands(node)
        axes, keepdims = node.attr
        kept = [d for d in range(len(source.shape)) if d not in axes]
        for position, dim in enumerate(kept):
            self._relate((slot, dim if keepdims else position), (other, dim))

    def _scan(self, slot: int, node: Node) -> None:
        ((other, source),) = self._operands(node)
        for dim in range(len(source.shape)):
            self._relate((slot, dim), (other, dim))

    def _assemble(self, slot: int, node: Node) -> None:
        for (other, piece), region in zip(self._operands(node), node.attr, strict=True):
            for dim, (start, step) in enumerate(region):
                self._relate_single((other, dim), piece.shape[dim])
                gap = margin(start, piece.shape[dim], node.shape[dim]) if step == 1 else None
                if gap is not None:
                    self._relate((other, dim), (slot, dim), -gap)

    def _gather(self, slot: int, node: Node) -> None:
        position, dims = node.attr
        operands = self._operands(node)
        width = len(operands[1][1].shape)
        for other, _ in operands[1:]:
            for dim in range(width):
                self._relate((slot, position + dim), (other, dim))
        out = 0
        for dim, operand in enumerate(dims):
            if operand >= 0:
                continue
            if out == position:
                out += width
            self._relate((slot, out), (operands[0][0], dim))
            out += 1


_RELATE = {
    graph.LEAF: Extents._nothing,
    graph.SCALAR: Extents._nothing,
    graph.MAP: Extents._map,
    graph.VIEW: Extents._view,
    graph.REDUCE: Extents._reduce,
    graph.SCAN: Extents._scan,
    graph.ASSEMBLE: Extents._assemble,
    graph.GATHER: Extents._gather,
    graph.IOTA: Extents._nothing,
    graph.RESHAPE: Extents._nothing,
    graph.OPAQUE: Extents._nothing,
    graph.PART: Extents._nothing,
    graph.PRODUCT: Extents._nothing,
}
