"""Segments of products on the CPU: every block of rows passes through all their steps.

A step multiplies a block with packed panels, or runs element-wise code, which is compiled by the
same planner and generator as for whole arrays: for a slice whose leaves are blocks of rows.  What
the steps exchange lies in the thread's scratch.  `codegen.products.chain` calls them in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from fusewright.base.figures import LINE
from fusewright.base.options import Options
from fusewright.codegen.products.sizes import PANEL_WORDS, STEP_WORDS, panel_bytes, rounded_up
from fusewright.ir import graph
from fusewright.ir.graph import Memory, Node
from fusewright.plan.chain_prices import Layer
from fusewright.plan.chains import Segment
from fusewright.runtime.arguments import ADDRESS, CONSTANT, NUMBER, VALUE
from fusewright.runtime.trace import Key, Slice, take
from fusewright.targets.cpu import products
from fusewright.targets.cpu.launch import Launch
from fusewright.targets.cpu.product_blocks import ProductKernel, threads_for
from fusewright.targets.cpu.product_calls import BoundCalls, ProgramNumber, WordTable
from fusewright.targets.cpu.row_blocks import Place, RowBlocks, offsets_of

Find = Callable[[Key, Slice, Options], Any]
"""The code for a slice; None where that is being compiled beside."""


class _Step(NamedTuple):
    """A kernel's call: its argument words, which of them are addresses, units, scratch."""

    code: int
    words: Sequence[Any]
    patches: Sequence[tuple[int, Place]]
    units: int
    scratch: int


class _Panels(NamedTuple):
    """The right operand of a product, packed: where, bytes of a panel and of those of a chunk."""

    place: Place
    panel: int
    every: int


class SegmentCalls(NamedTuple):
    """What a segment calls, on so many threads, and whose code that is."""

    bound: BoundCalls
    threads: int
    runners: tuple[Any, ...]


def run(
    nodes: dict[int, Node], segment: Segment, options: Options, find: Find
) -> SegmentCalls | None:
    """Compute a segment whose other operands are in memory; its outputs become leaves.  None where
    nothing has run, because its code is being compiled beside.
    """
    calls = SegmentRun(nodes, segment, options, find).calls()
    if calls is None:
        return None
    began = perf_counter()
    calls.bound.run()
    took = perf_counter() - began
    for runner in calls.runners:
        runner.note_run(took)
    return calls


class SegmentRun(RowBlocks):
    """The calls of a segment, as they are found."""

    def __init__(
        self, nodes: dict[int, Node], segment: Segment, options: Options, find: Find
    ) -> None:
        super().__init__(nodes, segment)
        self.options = options
        self.find = find
        self.runners: dict[int, Any] = {}
        self.is_ready = True

    def calls(self) -> SegmentCalls | None:
        rows, total = self.rows, self.segment.region.rows
        blocks = -(-total // rows)
        rest = total - (blocks - 1) * rows
        self.stored()
        self.local()
        mapped = self.all_mapped(rows)
        mapped_rest = mapped if rest == rows else self.all_mapped(rest)
        if not self.is_ready:
            return None
        threads = threads_for(3.0 * self.segment.together.total)
        panels = {slot: self.packed(slot) for slot in self.segment.products}
        whole = self.steps(rows, panels, mapped)
        last = whole if rest == rows else self.steps(rest, panels, mapped_rest)
        self.launch(whole, last, blocks, threads)
        return SegmentCalls(self.bound, threads, tuple(self.runners.values()))

    # ---- steps

    def all_mapped(self, rows: int) -> list[list[_Step]]:
        """Every layer's steps that are no products."""
        return [self.mapped(layer, rows) for layer in self.segment.layers]

    def steps(
        self, rows: int, panels: dict[int, _Panels], mapped: list[list[_Step]]
    ) -> list[_Step]:
        """All of a block with so many rows."""
        found: list[_Step] = []
        for layer, others in zip(self.segment.layers, mapped, strict=True):
            found += [self.multiplied(slot, rows, panels[slot]) for slot in layer.products]
            found += others
        return found

    def packed(self, slot: int) -> _Panels:
        """Pack the right operand of a product: panels for each chunk of k, for each item."""
        node = self.nodes[slot]
        kernel = _kernel(node)
        right, source = self.bound.operand(node.args[1])
        lead = self.segment.region.batch if right.ndim > 2 else ()
        right = np.broadcast_to(right, (*lead, *right.shape[-2:]))
        k, n = right.shape[-2:]
        count = -(-n // kernel.tile.columns)
        chunk = kernel.chunk(k)
        panel = panel_bytes(kernel.tile, min(k, chunk), kernel.tile.columns)
        every = count * panel
        item = every * -(-k // chunk)
        to = room = self.bound.calls.room(item * prod(lead))
        down, across = right.strides[-2:]
        for offset in offsets_of(right, len(lead)).tolist():
            for start in range(0, k, chunk):
                deep = min(chunk, k - start)
                begin = source.further(offset + start * down)
                words = (begin, down, across, deep, n, to, panel)
                self.bound.calls.add(kernel.pack, words, count, 1, 0, threads_for(deep * n / 2))
                to = to.further(every)
        column = self.column(np.arange(self.items) * item) if lead else 0
        return _Panels(Place(room, column), panel, every)

    def multiplied(self, slot: int, rows: int, panels: _Panels) -> _Step:
        """A block times the panels."""
        node = self.nodes[slot]
        kernel = _kernel(node)
        left = node.args[0]
        k, n = left.shape[-1], node.shape[-1]
        chunk = kernel.chunk(k)
        source, _, (across, along) = self.block(left, len(left.shape) - 2, rows)
        words = (
            0, along, across, rows, 0, panels.panel, n, 0, self.row_bytes(slot), k, chunk,
            panels.every,
        )  # fmt: skip
        addresses = {"from": source, "panels": panels.place, "out": self.places[slot]}
        patches = [(PANEL_WORDS.index(name), place) for name, place in addresses.items()]
        height = kernel.tile.rows
        tile = panel_bytes(kernel.tile, min(k, chunk), height)
        return _Step(kernel.by_panels, words, patches, 1, -(-rows // height) * tile + LINE)

    def mapped(self, layer: Layer, rows: int) -> list[_Step]:
        """The code for everything of a layer that is no product."""
        wanted = [slot for slot in layer.others if slot in self.places]
        if not wanted:
            return []
        marks: list[Place] = []
        requested = self.cloned(layer, wanted, rows, marks)
        slice_ = take(requested)
        order, chosen = slice_.order, self.options
        runner = self.find(slice_.code_key(chosen), slice_, chosen)
        if runner is None:
            self.is_ready = False
            return []
        self.runners[id(runner)] = runner
        where = {id(node): k for k, node in enumerate(order)}
        spots = {
            k: marks[node.value[0].address]
            for k, node in enumerate(order)
            if node.kind == graph.LEAF
        }
        for slot, node in zip(wanted, requested, strict=True):
            spots[where[id(node)]] = self.places[slot]
        values = [fetch(order) for fetch in runner.fetches]
        sources = runner.program.arguments
        numbers = {
            place: self.bound.slots[id(order[source.slot])]
            for place, source in enumerate(sources)
            if source.what == "scalar"
        }
        return [self.called(step, values, numbers, spots) for step in runner.steps]

    def called(
        self, step: Any, values: list[Any], numbers: dict[int, int], spots: dict[int, Place]
    ) -> _Step:
        """The call of compiled code on a block; `numbers` are the slots of those of the program."""
        assert isinstance(step, Launch) and not step.partials, "a row is computed by itself"
        for slot, size in step.outputs:
            if slot not in spots:
                spots[slot] = Place(self.more(size(values)))
        given = [*values, 1, step.stretch(values)]
        words = [
            ProgramNumber(numbers[word.number], word.dtype, word.part)  # type: ignore[arg-type]
            if word.what == NUMBER
            else given[word.number]
            if word.what == VALUE
            else word.number * (word.what == CONSTANT)
            for word in step.words
        ]
        patches = [
            (number, spots[word.number])
            for number, word in enumerate(step.words)
            if word.what == ADDRESS
        ]
        scratch = sum(rounded_up(size(values), LINE) for _, size in step.scratch)
        return _Step(step.address, words, patches, step.units(values), scratch)

    def cloned(
        self, layer: Layer, wanted: Sequence[int], rows: int, marks: list[Place]
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
        self, arg: Node, dim: int, rows: int, made: dict[Any, Node], marks: list[Place]
    ) -> Node:
        """An operand: of the same layer, or in memory or scratch."""
        slot = self.bound.slots.get(id(arg), -1)
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

    # ---- the call

    def launch(
        self, whole: Sequence[_Step], last: Sequence[_Step], blocks: int, threads: int
    ) -> None:
        every = (*whole, *last)
        words = rounded_up(8 * max(len(step.words) for step in every), LINE)
        start = words + rounded_up(max(step.scratch for step in every), LINE)
        tables = [self.table(steps, words, start) for steps in (whole, last)]
        offsets = np.stack(self.columns, 1)
        arguments = (*tables, len(whole), blocks, WordTable(offsets), offsets.shape[1])
        kernel = _kernel(self.nodes[self.segment.products[0]])
        self.bound.calls.add(
            kernel.row_blocks, arguments, blocks * self.items, 1, start + self.room, threads
        )

    def table(self, steps: Sequence[_Step], words: int, start: int) -> WordTable:
        """The steps as `codegen.products.chain` reads them."""
        table = list[Any]()
        for step in steps:
            patches = list[Any]()
            for number, place in step.patches:
                is_local = isinstance(place.base, int)
                base = place.base + start if isinstance(place.base, int) else place.base
                patches += (number, base, -int(is_local), place.column, place.step)
            table += (
                step.code, WordTable(step.words), len(step.words), step.units, WordTable(patches),
                len(step.patches), words,
            )  # fmt: skip
        assert len(table) == len(steps) * len(STEP_WORDS)
        return WordTable(table)


def _kernel(node: Node) -> ProductKernel:
    """The code that multiplies for a PRODUCT."""
    return products.kernel_for(node.args[0].dtype, node.dtype)
