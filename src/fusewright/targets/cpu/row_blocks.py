"""Blocks of rows: where the values of a segment of products lie, as a whole and for each block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from math import prod
from typing import Any, NamedTuple

import numpy as np

from fusewright.base.figures import LINE
from fusewright.base.values import dataclass
from fusewright.codegen.products.sizes import rounded_up
from fusewright.ir import graph
from fusewright.ir.graph import Node, contiguous_strides
from fusewright.plan.chains import Segment
from fusewright.targets.cpu.direct import viewed
from fusewright.targets.cpu.product_calls import Address, BoundCalls

Array = np.ndarray[Any, Any]


class Place(NamedTuple):
    """Where the first block of rows begins: an address, or bytes of scratch; the column of the
    offsets between items; bytes from block to block.
    """

    base: Address | int
    column: int = 0
    step: int = 0

    def further(self, nbytes: int) -> Place:
        """So many bytes behind it."""
        if isinstance(self.base, Address):
            return self._replace(base=self.base.further(nbytes))
        return self._replace(base=self.base + nbytes)


class Window(NamedTuple):
    """A block of rows: its place, shape and byte strides."""

    place: Place
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(slots=True)
class RowBlocks:
    """The values of a segment, by slot; `bound` says where those outside of it are."""

    nodes: dict[int, Node]
    segment: Segment
    bound: BoundCalls = field(init=False)
    places: dict[int, Place] = field(default_factory=dict)
    columns: list[Array] = field(default_factory=list)
    room: int = 0
    """Bytes of scratch for values, so far."""

    def __post_init__(self) -> None:
        self.bound = BoundCalls(self.nodes)
        self.columns = [np.zeros(self.items, np.int64)]

    @property
    def items(self) -> int:
        return prod(self.segment.region.batch)

    @property
    def rows(self) -> int:
        """Rows of a block that is not the last."""
        return min(self.segment.rows, self.segment.region.rows)

    def row_bytes(self, slot: int) -> int:
        node = self.nodes[slot]
        trail = node.shape[self.segment.region.dims[slot] + 1 :]
        return prod(trail) * node.dtype.itemsize

    def stored(self) -> None:
        """Places for the outputs."""
        for slot in sorted(self.segment.outputs):
            size = self.row_bytes(slot)
            whole = size * self.segment.region.rows
            column = self.column(np.arange(self.items, dtype=np.int64) * whole)
            self.places[slot] = Place(self.bound.result(slot), column, self.rows * size)

    def local(self) -> None:
        """Scratch for what steps exchange: a layer's values take what earlier ones have left."""
        last = self.last_layers()
        free: list[tuple[int, int]] = []
        held: list[tuple[int, int, int]] = []
        for number, layer in enumerate(self.segment.layers):
            free += [(size, start) for end, size, start in held if end < number]
            held = [each for each in held if each[0] >= number]
            for slot in (*layer.products, *layer.others):
                if slot not in self.segment.kept:
                    continue
                size = rounded_up(self.rows * self.row_bytes(slot), LINE)
                fitting = min((each for each in free if each[0] >= size), default=None)
                if fitting is None:
                    fitting = size, self.more(size)
                else:
                    free.remove(fitting)
                held.append((last.get(slot, number), *fitting))
                self.places[slot] = Place(fitting[1])

    def last_layers(self) -> dict[int, int]:
        """The last layer that reads each value."""
        return {
            self.base(arg): number
            for number, layer in enumerate(self.segment.layers)
            for slot in layer.members
            for arg in self.nodes[slot].args
        }

    def more(self, size: int) -> int:
        """Where so many bytes of scratch begin that nothing else uses."""
        start = self.room
        self.room += rounded_up(size, LINE)
        return start

    def column(self, offsets: Array) -> int:
        """The number of a column of offsets between items."""
        if not offsets.any():
            return 0
        self.columns.append(offsets)
        return len(self.columns) - 1

    def base(self, node: Node) -> int:
        """The slot of what a view of a member shows; -1 of what this segment does not know."""
        dims = self.segment.region.dims
        while node.kind == graph.VIEW and self.bound.slots.get(id(node), -1) in dims:
            node = node.args[0]
        return self.bound.slots.get(id(node), -1)

    def window(self, node: Node, dim: int, rows: int) -> Window:
        """A block of an operand from outside, whose rows are counted by `dim` (none: negative)."""
        region = self.segment.region
        whole, address = self.bound.operand(node)
        if dim < 0:
            return Window(Place(address), whole.shape, whole.strides)
        lead = len(region.batch)
        whole = np.broadcast_to(whole, (*region.batch, *whole.shape[dim:]))
        shape, strides = whole.shape[lead:], whole.strides[lead:]
        place = Place(address, self.column(offsets_of(whole, lead)))
        if shape[0] != region.rows or region.rows == 1:
            return Window(place, shape, strides)
        return Window(place._replace(step=self.rows * strides[0]), (rows, *shape[1:]), strides)

    def block(self, node: Node, dim: int, rows: int) -> Window:
        """A block of a value: of a member that is stored or kept, or from outside."""
        if self.base(node) not in self.places:
            return self.window(node, dim, rows)
        views, node = graph.seen_through(node)
        slot = self.bound.slots[id(node)]
        dim = self.segment.region.dims[slot]
        shape = (rows, *node.shape[dim + 1 :])
        place = self.places[slot]
        if not views:
            return Window(place, shape, contiguous_strides(shape, node.dtype.itemsize))
        memory = np.empty(shape, node.dtype.numpy)  # never touched: where a view of it would be
        seen: Array = memory
        for view in reversed(views):
            seen = viewed(self.clone(view, dim, rows, (view.args[0],)), seen)
        offset = seen.ctypes.data - memory.ctypes.data
        return Window(place.further(offset), seen.shape, seen.strides)

    def clone(self, node: Node, dim: int, rows: int, args: tuple[Node, ...]) -> Node:
        """The same operation on a block of rows."""
        attr = _SHIFTED[node.kind](node.attr, dim)
        shape = (rows, *node.shape[dim + 1 :])
        return Node(node.kind, node.op, args, node.dtype, shape, attr, node.value)


def offsets_of(values: Array, lead: int) -> Array:
    """Bytes from the first item to each."""
    total = np.zeros(values.shape[:lead], np.int64)
    for dim in range(lead):
        steps = np.arange(values.shape[dim]) * values.strides[dim]
        total += steps.reshape(-1, *(1,) * (lead - dim - 1))
    return total.reshape(-1)


def _inner_view(attr: Any, dim: int) -> Any:
    return tuple((out - dim if out >= 0 else out, start, step) for out, start, step in attr[dim:])


_SHIFTED: dict[int, Callable[[Any, int], Any]] = {
    graph.MAP: lambda attr, dim: attr,
    graph.VIEW: _inner_view,
    graph.REDUCE: lambda attr, dim: (tuple(axis - dim for axis in attr[0]), attr[1]),
    graph.SCAN: lambda attr, dim: attr - dim,
}
"""A node's attribute where the dims before its rows are left out."""
