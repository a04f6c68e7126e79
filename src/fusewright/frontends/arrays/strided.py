"""Views with steps of any size, so that an element may be seen in several places: sliding windows,
`as_strided` (decision 0027).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fusewright.frontends.arrays import sharing, trace
from fusewright.frontends.arrays.views import Places, Shape, Slice
from fusewright.ir.dtypes import INT64
from fusewright.ir.graph import (
    GATHER,
    IOTA,
    LEAF,
    MAP,
    OPAQUE,
    RESHAPE,
    VIEW,
    Node,
    leaf,
    scalar,
)

Write = Callable[..., None]
"""(what is written to, a value in memory; the operands as ndarrays)"""


class Strided(NamedTuple):
    """Steps of any size, so that views may show an element in several places (sliding windows): a
    dim of the view moves along one dim of the base or several, one of the base with several dims of
    the view.

    The position in base dim `d` is `starts[d]` and, for each dim of the view, its index times the
    step of the pair `(d, step)` among its `moves`.  The base is computed first: each of its
    elements is read many times, so it would be stored in any case.
    """

    starts: Shape
    shape: Shape
    moves: tuple[tuple[tuple[int, int], ...], ...]

    @property
    def writes_through(self) -> bool:
        return True

    def get(self, base: Node) -> Node:
        if base.kind != LEAF and trace.is_held():
            return self._gathered(base)
        if base.kind != LEAF:
            trace.evaluate(*_down_to_memory(base))
        memory, offset, strides = base.value
        for start, stride in zip(self.starts, strides, strict=True):
            offset += start * stride
        start = 0 if 0 in self.shape else offset
        return leaf(memory, base.dtype, self.shape, start, self.strides(strides))

    def put(self, base: Node, value: Node) -> Node:
        return self.written(base, (value,), write_all)

    def written(self, base: Node, operands: tuple[Node, ...], write: Write) -> Node:
        """The base's new value when NumPy writes into the view."""

        def replace(before: Any, *others: Any) -> Any:
            fresh = np.array(before, order="C")
            write(self.get(sharing.adopted(fresh)), *others)
            return fresh

        args = (base, *operands)
        return trace.record(Node(OPAQUE, "setitem", args, base.dtype, base.shape, (), replace))

    def then(self, link: Any) -> Any:
        """As of a slice."""
        if not isinstance(link, Slice):
            return None
        starts = list(self.starts)
        moves: list[Counter[int]] = [Counter() for _ in link.shape]
        for (dim, start, step), mine in zip(link.places, self.moves, strict=True):
            for where, pace in mine:
                starts[where] += pace * start
                if dim >= 0:
                    moves[dim][where] += pace * step
        return Strided(tuple(starts), link.shape, tuple(tuple(m.items()) for m in moves))

    def over(self, outer: Slice) -> Strided:
        """The same view of what a slice is taken of."""
        starts = tuple(
            start + step * self.starts[dim] if dim >= 0 else start
            for dim, start, step in outer.places
        )
        moves = tuple(
            tuple(
                (where, step * pace)
                for dim, pace in mine
                for where, (out, _, step) in enumerate(outer.places)
                if out == dim
            )
            for mine in self.moves
        )
        return Strided(starts, self.shape, moves)

    def strides(self, base: Shape) -> Shape:
        return tuple(sum(step * base[dim] for dim, step in mine) for mine in self.moves)

    def _gathered(self, base: Node) -> Node:
        """While a function is recorded for replay: tables of positions, which are not stored."""
        tables = tuple(self._positions(dim) for dim in range(len(base.shape)))
        attr = (0, tuple(range(1, len(tables) + 1)))
        return trace.record(Node(GATHER, "", (base, *tables), base.dtype, self.shape, attr))

    def _positions(self, where: int) -> Node:
        table = _spread(scalar(self.starts[where], INT64), (), self.shape)
        for dim, mine in enumerate(self.moves):
            for step in (step for at, step in mine if at == where):
                ends = scalar(0, INT64), scalar(step, INT64)
                line = trace.record(Node(IOTA, "", ends, INT64, (self.shape[dim],)))
                line = _spread(line, ((dim, 0, 1),), self.shape)
                table = trace.record(Node(MAP, "add", (table, line), INT64, self.shape))
        return table


def write_all(target: Node, value: Any) -> None:
    """Each element in NumPy's order: where several stand for one, the last stays."""
    sharing.window(target)[...] = value


def write_where(target: Node, value: Any, mask: Any) -> None:
    """The elements where a mask holds."""
    np.copyto(sharing.window(target), value, where=mask)


def _spread(node: Node, places: Places, shape: Shape) -> Node:
    return trace.record(Node(VIEW, "", (node,), node.dtype, shape, places))


def _down_to_memory(node: Node) -> list[Node]:
    """A value and those that it is but another arrangement of: they share its memory then."""
    found = [node]
    while node.kind == RESHAPE:
        (node,) = node.args
        found.append(node)
    return found
