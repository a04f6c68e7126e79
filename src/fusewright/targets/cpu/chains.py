"""Segments of products on the CPU: every block of rows passes through all their steps.

A step multiplies a block with packed panels, or runs element-wise code, which is compiled by the
same planner and generator as for whole arrays: for a slice whose leaves are blocks of rows.  What
the steps exchange lies in the thread's scratch.  `codegen.products.chain` calls them in turn.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

import numpy as np

from fusewright.base.options import Options
from fusewright.codegen.products.blocks import panel_bytes, rounded_up
from fusewright.codegen.products.chain import STEP_WORDS
from fusewright.ir import graph
from fusewright.ir.graph import Memory, Node, contiguous_strides
from fusewright.ir.products import CHUNK, operations
from fusewright.plan.chains import Layer, Segment
from fusewright.runtime.buffers import allocate
from fusewright.targets.cpu import products
from fusewright.targets.cpu.direct import viewed
from fusewright.targets.cpu.launch import Launch
from fusewright.targets.cpu.products import ProductKernel
from fusewright.targets.cpu.runner import Runner
from fusewright.targets.cpu.threads import launch

Array = np.ndarray[Any, Any]
Prepare = Callable[[Sequence[Node], Options], tuple[list[Node], Runner]]
"""The slice of some values, operands first, and its compiled code."""
LINE = 64


class _Place(NamedTuple):
    """Where the first block of rows begins: an address, or bytes of scratch (`local`); the column
    of the offsets between items; bytes from block to block.
    """

    base: int
    local: bool = False
    column: int = 0
    step: int = 0


class _Step(NamedTuple):
    """A kernel's call: its argument words, which of them are addresses, units, scratch."""

    code: int
    words: Sequence[int]
    patches: Sequence[tuple[int, _Place]]
    units: int
    scratch: int


@dataclass(slots=True)
class _Panels:
    """The right operand of a product, packed."""

    memory: Memory
    place: _Place
    panel: int
    every: int


def run(nodes: dict[int, Node], segment: Segment, options: Options, prepare: Prepare) -> int:
    """Compute a segment whose other operands are in memory; its outputs become leaves.  How many
    threads did.
    """
    return _Running(nodes, segment, options, prepare).run()


@dataclass(slots=True)
class _Running:
    """One run of a segment."""

    nodes: dict[int, Node]
    segment: Segment
    options: Options
    prepare: Prepare
    slots: dict[int, int] = field(default_factory=dict)
    places: dict[int, _Place] = field(default_factory=dict)
    columns: list[Array] = field(default_factory=list)
    alive: list[Any] = field(default_factory=list)
    room: int = 0
    """Bytes of scratch for values, so far."""

    @property
    def items(self) -> int:
        return prod(self.segment.region.batch)

    def run(self) -> int:
        segment, region = self.segment, self.segment.region
        self.slots = {id(node): slot for slot, node in self.nodes.items()}
        self.columns = [np.zeros(self.items, np.int64)]
        rows = min(segment.rows, region.rows)
        blocks = -(-region.rows // rows)
        memories = self.stored(rows)
        self.local(rows)
        cycles = sum(operations(self.nodes[s]) for s in segment.products) / 16
        threads = products.threads_for(cycles)
        panels = {slot: self.packed(slot, threads) for slot in segment.products}
        whole = self.steps(rows, panels)
        rest = region.rows - (blocks - 1) * rows
        last = whole if rest == rows else self.steps(rest, panels)
        self.launch(whole, last, blocks, threads)
        for slot, memory in memories.items():
            node = self.nodes[slot]
            strides = contiguous_strides(node.shape, node.dtype.itemsize)
            node.become_leaf(memory, 0, strides)
        return threads

    # ---- where values lie

    def row_bytes(self, slot: int) -> int:
        node = self.nodes[slot]
        trail = node.shape[self.segment.region.dims[slot] + 1 :]
        return prod(trail) * node.dtype.itemsize

    def stored(self, rows: int) -> dict[int, Memory]:
        """Memory for the outputs."""
        found = {}
        for slot in sorted(self.segment.outputs):
            size = self.row_bytes(slot)
            whole = size * self.segment.region.rows
            found[slot] = memory = allocate(max(whole * self.items, 1))
            column = self.column(np.arange(self.items, dtype=np.int64) * whole)
            self.places[slot] = _Place(memory.address, False, column, rows * size)
        return found

    def local(self, rows: int) -> None:
        """Scratch for what steps exchange: a layer's values take what earlier ones have left."""
        last: dict[int, int] = {}
        for number, layer in enumerate(self.segment.layers):
            for slot in (*layer.products, *layer.others):
                for arg in self.nodes[slot].args:
                    last[self.base(arg)] = number
        free: list[tuple[int, int]] = []
        held: list[tuple[int, int, int]] = []
        for number, layer in enumerate(self.segment.layers):
            free += [(size, start) for end, size, start in held if end < number]
            held = [each for each in held if each[0] >= number]
            for slot in (*layer.products, *layer.others):
                if slot in self.segment.kept:
                    size = rounded_up(rows * self.row_bytes(slot), LINE)
                    fitting = min((each for each in free if each[0] >= size), default=None)
                    if fitting is None:
                        fitting = self.more(size)
                    else:
                        free.remove(fitting)
                    held.append((last.get(slot, number), *fitting))
                    self.places[slot] = _Place(fitting[1], local=True)

    def more(self, size: int) -> tuple[int, int]:
        start = self.room
        self.room += rounded_up(size, LINE)
        return rounded_up(size, LINE), start

    def column(self, offsets: Array) -> int:
        """The number of a column of offsets between items."""
        if not offsets.any():
            return 0
        self.columns.append(offsets)
        return len(self.columns) - 1

    def base(self, node: Node) -> int:
        """The slot of what a view of a member shows."""
        dims = self.segment.region.dims
        while node.kind == graph.VIEW and self.slots[id(node)] in dims:
            node = node.args[0]
        return self.slots.get(id(node), -1)

    def outside(self, node: Node, dim: int) -> Array:
        """An operand from outside, with the region's stack of matrices before its rows."""
        window = products_window(node)
        self.alive.append(window)
        trail = window.shape[max(dim, 0) :]
        return np.broadcast_to(window, (*self.segment.region.batch, *trail))

    def window(self, node: Node, dim: int, rows: int) -> tuple[_Place, tuple[int, ...], Any]:
        """A block of an operand from outside: its place, shape and strides."""
        region = self.segment.region
        if dim < 0:
            whole = products_window(node)
            self.alive.append(whole)
            return _Place(whole.ctypes.data), whole.shape, whole.strides
        whole = self.outside(node, dim)
        lead = len(region.batch)
        shape, strides = whole.shape[lead:], whole.strides[lead:]
        column = self.column(_offsets(whole, lead))
        if shape[0] != region.rows or region.rows == 1:
            return _Place(whole.ctypes.data, False, column), shape, strides
        place = _Place(whole.ctypes.data, False, column, min(self.segment.rows, region.rows) * strides[0])
        return place, (rows, *shape[1:]), strides

    def block(self, node: Node, dim: int, rows: int) -> tuple[_Place, tuple[int, ...], Any]:
        """A block of a value: of a member that is stored or kept, or from outside."""
        slot = self.slots.get(id(node), -1)
        if slot not in self.segment.region.dims or self.base(node) not in self.places:
            return self.window(node, dim, rows)
        views = []
        while node.kind == graph.VIEW:
            views.append(node)
            node = node.args[0]
        place = self.places[self.slots[id(node)]]
        dim = self.segment.region.dims[self.slots[id(node)]]
        shape = (rows, *node.shape[dim + 1 :])
        if not views:
            return place, shape, contiguous_strides(shape, node.dtype.itemsize)
        memory = np.empty(shape, node.dtype.numpy)  # never touched: where a view of it would be
        seen: Array = memory
        for view in reversed(views):
            seen = viewed(self.clone(view, dim, rows, (view.args[0],)), seen)
        moved = place._replace(base=place.base + seen.ctypes.data - memory.ctypes.data)
        return moved, seen.shape, seen.strides

    # ---- steps

    def steps(self, rows: int, panels: dict[int, _Panels]) -> list[_Step]:
        """All of a block with so many rows."""
        found: list[_Step] = []
        for layer in self.segment.layers:
            found += [self.multiplied(slot, rows, panels[slot]) for slot in layer.products]
            found += self.mapped(layer, rows)
        return found

    def packed(self, slot: int, threads: int) -> _Panels:
        """Pack the right operand of a product: panels for each chunk of k, for each item."""
        node = self.nodes[slot]
        kernel = products.kernel_for(node.dtype)
        right = products_window(node.args[1])
        batched = right.ndim > 2
        lead = self.segment.region.batch if batched else ()
        right = np.broadcast_to(right, (*lead, *right.shape[-2:]))
        k, n = right.shape[-2:]
        width = kernel.tile.columns
        count = -(-n // width)
        panel = panel_bytes(kernel.dtype, kernel.tile, min(k, CHUNK), width)
        every, chunks = count * panel, -(-k // CHUNK)
        memory = allocate(every * chunks * prod(lead))
        offsets = _offsets(right, len(lead))
        for item, offset in enumerate(offsets.tolist()):
            for chunk in range(chunks):
                start = right.ctypes.data + offset + chunk * CHUNK * right.strides[-2]
                to = memory.address + (item * chunks + chunk) * every
                deep = min(CHUNK, k - chunk * CHUNK)
                words = array("q", (start, right.strides[-2], right.strides[-1], deep, n, to, panel))
                parallel = threads if deep * n > 1 << 16 else 1
                launch(kernel.pack, words.buffer_info()[0], count, 1, 0, parallel)
        self.alive.append(right)
        column = self.column(np.arange(self.items, dtype=np.int64) * every * chunks) if batched else 0
        return _Panels(memory, _Place(memory.address, False, column), panel, every)

    def multiplied(self, slot: int, rows: int, panels: _Panels) -> _Step:
        """A block times the panels."""
        node = self.nodes[slot]
        kernel: ProductKernel = products.kernel_for(node.dtype)
        left = node.args[0]
        k, n = left.shape[-1], node.shape[-1]
        source, _, strides = self.block(left, len(left.shape) - 2, rows)
        words = (0, strides[1], strides[0], rows, 0, panels.panel, n, 0, self.row_bytes(slot), k, CHUNK,
                 panels.every)
        patches = ((0, source), (4, panels.place), (7, self.places[slot]))
        tiles = -(-rows // kernel.tile.rows)
        scratch = tiles * panel_bytes(kernel.dtype, kernel.tile, min(k, CHUNK), kernel.tile.rows) + LINE
        return _Step(kernel.by_panels, words, patches, 1, scratch)

    def mapped(self, layer: Layer, rows: int) -> list[_Step]:
        """The code for everything of a layer that is no product."""
        wanted = [slot for slot in layer.others if slot in self.places]
        if not wanted:
            return []
        marks: list[_Place] = []
        requested = self.cloned(layer, wanted, rows, marks)
        order, runner = self.prepare(requested, self.options)
        where = {id(node): k for k, node in enumerate(order)}
        spots = {
            k: marks[node.value[0].address] for k, node in enumerate(order) if node.kind == graph.LEAF
        }
        for slot, node in zip(wanted, requested, strict=True):
            spots[where[id(node)]] = self.places[slot]
        values = [fetch(order) for fetch in runner.fetches]
        return [self.called(step, values, spots) for step in runner.steps]

    def called(self, step: Any, values: list[Any], spots: dict[int, _Place]) -> _Step:
        """The call of compiled code on a block."""
        assert isinstance(step, Launch) and not step.partials, "a row is computed by itself"
        for slot, size in step.outputs:
            if slot not in spots:
                spots[slot] = _Place(self.more(size(values))[1], local=True)
        words, patches = [], []
        for number, (word, fill) in enumerate(zip(step.module.words, step.fills, strict=True)):
            if word.what == "pointer":
                patches.append((number, spots[word.number]))
                words.append(0)
            else:
                words.append(fill(values, {}))
        scratch = sum(rounded_up(size(values), LINE) for _, size in step.scratch)
        return _Step(step.address, words, patches, step.units(values), scratch)

    def cloned(
        self, layer: Layer, wanted: Sequence[int], rows: int, marks: list[_Place]
    ) -> list[Node]:
        """The values of a layer again, on blocks of rows.  Nothing but them refers to what they are
        made of: references are counted.
        """
        made: dict[Any, Node] = {}
        for slot in layer.others:
            node, dim = self.nodes[slot], self.segment.region.dims[slot]
            args = []
            for arg in node.args:
                place = dim - len(node.shape) + len(arg.shape) if node.kind == graph.MAP else dim
                args.append(self.operand(arg, place, rows, made, marks))
            made[slot] = self.clone(node, dim, rows, tuple(args))
        return [made[slot] for slot in wanted]

    def operand(
        self, arg: Node, dim: int, rows: int, made: dict[Any, Node], marks: list[_Place]
    ) -> Node:
        """An operand: of the same layer, or in memory or scratch."""
        slot = self.slots.get(id(arg), -1)
        if arg.kind == graph.SCALAR:
            return arg
        if slot in made:
            return made[slot]
        key = (id(arg), dim)
        if key not in made:
            place, shape, strides = self.block(arg, dim, rows)
            made[key] = graph.leaf(Memory(len(marks), 0, None), arg.dtype, shape, 0, tuple(strides))
            marks.append(place)
        return made[key]

    def clone(self, node: Node, dim: int, rows: int, args: tuple[Node, ...]) -> Node:
        """The same operation on a block of rows."""
        attr = _SHIFTED[node.kind](node.attr, dim)
        shape = (rows, *node.shape[dim + 1 :])
        return Node(node.kind, node.op, args, node.dtype, shape, attr, node.value)

    # ---- the call

    def launch(
        self, whole: Sequence[_Step], last: Sequence[_Step], blocks: int, threads: int
    ) -> None:
        every = (*whole, *last)
        words = rounded_up(8 * max(len(step.words) for step in every), LINE)
        start = words + rounded_up(max(step.scratch for step in every), LINE)
        tables = [self.table(steps, words, start) for steps in (whole, last)]
        offsets = np.stack(self.columns, 1)
        arguments = array("q", (
            tables[0].buffer_info()[0], tables[1].buffer_info()[0], len(whole), blocks,
            offsets.ctypes.data, offsets.shape[1],
        ))  # fmt: skip
        kernel = products.kernel_for(self.nodes[self.segment.products[0]].dtype)
        scratch = start + self.room
        launch(
            kernel.row_blocks, arguments.buffer_info()[0], blocks * self.items, 1, scratch, threads
        )

    def table(self, steps: Sequence[_Step], words: int, start: int) -> array[int]:
        """The steps as `codegen.products.chain` reads them."""
        table = array("q")
        for step in steps:
            own = array("q", step.words)
            patches = array("q")
            for number, place in step.patches:
                base = place.base + (start if place.local else 0)
                patches.extend((number, base, -int(place.local), place.column, place.step))
            self.alive += (own, patches)
            table.extend((
                step.code, own.buffer_info()[0], len(own), step.units,
                patches.buffer_info()[0], len(step.patches), words,
            ))  # fmt: skip
        assert len(table) == len(steps) * len(STEP_WORDS)
        self.alive.append(table)
        return table


def _offsets(array_: Array, lead: int) -> Array:
    """Bytes from the first item to each."""
    total = np.zeros(array_.shape[:lead], np.int64)
    for dim in range(lead):
        steps = np.arange(array_.shape[dim]) * array_.strides[dim]
        total += steps.reshape(-1, *(1,) * (lead - dim - 1))
    return total.reshape(-1)


def products_window(node: Node) -> Array:
    """A value in memory, or a view of one, as NumPy sees it."""
    if node.kind == graph.VIEW:
        source: Array = viewed(node, products_window(node.args[0]))
        return source
    memory, offset, strides = node.value
    return np.ndarray(node.shape, node.dtype.numpy, memory.owner, offset, strides)


def _view(attr: Any, dim: int) -> Any:
    return tuple((out - dim if out >= 0 else out, start, step) for out, start, step in attr[dim:])


_SHIFTED: dict[int, Callable[[Any, int], Any]] = {
    graph.MAP: lambda attr, dim: attr,
    graph.VIEW: _view,
    graph.REDUCE: lambda attr, dim: (tuple(axis - dim for axis in attr[0]), attr[1]),
    graph.SCAN: lambda attr, dim: attr - dim,
}
"""A node's attribute where the dims before its rows are left out."""
