"""What the loop tree of a kernel of arrays means: it is called for parts of its units, each with
scratch of its own, and what it has reduced over units is combined when all have run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from fusewright.ir.dtypes import component
from fusewright.ir.expr import Expr
from fusewright.ir.loops.interpret import RUN
from fusewright.ir.loops.statements import If, Store
from fusewright.ir.tree.accumulators import LaneAccumulators, combined, halved, start_of
from fusewright.ir.tree.interpret import TreeMachine, updated
from fusewright.ir.tree.nodes import (
    Branch,
    MappedLoop,
    OrderedReduction,
    PairedStore,
    RepeatedStep,
    Section,
    Together,
    Tree,
    stores_in,
)
from fusewright.ir.tree.units import (
    BLOCK,
    HIGH,
    LOW,
    STRETCH,
    IndexLet,
    PartialResults,
    RowBuffer,
    Units,
    WindowStart,
    closes_block,
    opens_block,
)

UNWRITTEN = 77
"""What row buffers hold before they are written."""


class UnitCalls(NamedTuple):
    """The parts of the units, the units in a block of reductions, the elements of a stretch."""

    parts: Sequence[tuple[int, int]]
    block: int = 1
    stretch: int = 0


def run_array_tree(
    tree: Tree,
    arrays: Sequence[Any],
    params: Sequence[Any],
    calls: UnitCalls,
    kind: type[ArrayMachine] | None = None,
) -> None:
    """Run a tree on its arrays, in the order of its buffers without those in scratch; each call by
    a machine of this kind.
    """
    assert tree.units is not None
    count = max(-(-max(high for _, high in calls.parts) // calls.block), 1)
    partials: dict[int, Any] = {}
    with np.errstate(all="ignore"):
        of_kind = kind or ArrayMachine
        machine = of_kind(tree, arrays, params, partials)
        for each in tree.units.partials:
            partials[each.buffer] = machine.blocks(each, count)
        for low, high in calls.parts:
            part = of_kind(tree, arrays, params, partials)
            part.call(low, high, calls)
        for each in tree.units.partials:
            machine.finish(each)


def _as_reals(array: Any) -> Any:
    """Complex numbers as reals with one more dim."""
    if array.dtype.kind != "c":
        return array
    shape, strides = (*array.shape, 2), (*array.strides, array.itemsize // 2)
    return np.lib.stride_tricks.as_strided(array.real, shape, strides)


def _flat(shape: Sequence[int], places: Sequence[int]) -> int:
    """The number of an element in C order."""
    return reduce(
        lambda total, each: total * each[0] + each[1], zip(shape, places, strict=False), 0
    )


class ArrayMachine(TreeMachine):
    """One call.  `starts` say where windows begin."""

    def __init__(
        self, tree: Tree, arrays: Sequence[Any], params: Sequence[Any], partials: dict[int, Any]
    ) -> None:
        super().__init__(tree, arrays, params, print, RuntimeError)
        assert tree.units is not None
        self.arrays = {number: _as_reals(array) for number, array in self.arrays.items()}
        self.units: Units = tree.units
        self.rooms = {room.number: room for room in tree.units.rooms}
        self.partials = partials
        self.starts: dict[int, int] = {}
        self.runs: dict[int, LaneAccumulators] = {}
        self.given: tuple[int, int, UnitCalls] = (0, 0, UnitCalls(()))

    def call(self, low: int, high: int, calls: UnitCalls) -> None:
        """Run the units [low, high)."""
        self.given = low, high, calls
        for index, value in ((LOW, low), (HIGH, high), (BLOCK, calls.block),
                             (STRETCH, calls.stretch)):  # fmt: skip
            self.indices[index.attr] = np.int64(value)
        for room in self.units.rooms:
            self._make_room(room)
        self.block(self.tree.body)

    def block(self, body: Sequence[Any]) -> None:
        """Nodes, one after the other."""
        for node in body:
            _RUN_ARRAY_NODE[type(node)](self, node)

    # -- elements -------------------------------------------------------------------------------

    def _make_room(self, room: RowBuffer) -> None:
        buffer = self.kernel.buffers[room.number]
        inner = [int(self.value(e)) for e in buffer.extents[max(room.dropped, 1) :]]
        if room.halo >= 0:
            inner[0] = self.given[2].stretch + room.halo
        shape = [max(room.rows, 1), *([] if room.tile else inner)]
        parts = [2] if buffer.dtype.is_complex else []
        kind = component(buffer.dtype).numpy
        self.arrays[room.number] = np.full([*shape, *parts], UNWRITTEN, kind)

    def _place(self, number: int, places: Sequence[Any]) -> tuple[Any, tuple[int, ...]]:
        """The array and where in it; of what is reduced in blocks those of its block.  Elements in
        C order are counted, as dims that run together or one index for all dims may say.
        """
        where = [int(place) for place in places]
        if number in self.partials:
            shape = self.arrays[number].shape
            return self.partials[number], (where[0], _flat(shape, where[1:]))
        array = self.arrays[number]
        room, buffer = self.rooms.get(number), self.kernel.buffers[number]
        if room is not None and room.tile:
            where[0] -= self.starts[number]
        elif room is not None:
            if room.halo >= 0:
                where[1] -= self.starts[number]
            where = [where[0] % max(room.rows, 1), *where[max(room.dropped, 1) :]]
        elif buffer.strides is not None:
            return array, tuple(where)
        flat = _flat(array.shape if len(where) == array.ndim else (1, 2), where)
        assert 0 <= flat < array.size
        return array.reshape(-1), (flat,)

    def _one(self, node: Expr, operands: list[Any]) -> Any:
        if node.name == "load":
            array, where = self._place(node.attr, operands)
            return array[where]
        return super()._one(node, operands)

    def _put(self, store: Store, places: Sequence[Any], value: Any) -> None:
        array, where = self._place(store.buffer, places)
        array[where] = updated(store.combine, store.value.dtype, array[where], value)

    def stored(self, stores: Sequence[Store | PairedStore]) -> None:
        """All values, then all stores, one for each lane."""
        made = [
            (store, [self.value(p) for p in store.indices], self.value(store.value))
            for store in stores_in(stores)
        ]
        for store, places, value in made:
            if self.active is None:
                self._put(store, places, value)
                continue
            for lane in np.flatnonzero(self.active):
                self._put(store, [place[lane] for place in places], value[lane])

    def let(self, node: IndexLet) -> None:
        """An index that follows from others."""
        self.indices[node.index] = np.int64(self.value(node.value))

    def open_window(self, node: WindowStart) -> None:
        """From now on a row buffer begins there."""
        self.starts[node.buffer] = int(self.value(node.place))

    # -- reductions -----------------------------------------------------------------------------

    def reduction(self, node: OrderedReduction) -> None:
        """A reduction in its order."""
        inner = range(node.outer, len(node.extents))
        outside = {dim: self.indices.get(dim) for dim in inner}
        for dim in inner:
            self.indices[dim] = np.int64(0)
        _IN_ORDER[node.order](self, node)
        for dim, before in outside.items():
            if before is not None:
                self.indices[dim] = before

    def _space(self, node: OrderedReduction, dims: Sequence[int]) -> Iterator[None]:
        ends = [(int(self.value(node.low[d])), int(self.value(node.high[d]))) for d in dims]
        for places in product(*(range(*each) for each in ends)):
            for dim, place in zip(dims, places, strict=True):
                self.indices[dim] = np.int64(place)
            yield

    def _last(self, node: OrderedReduction) -> Iterator[int]:
        low, high = (int(self.value(bound)) for bound in node.ends)
        for place in range(low, high):
            self.indices[node.last] = np.int64(place)
            yield place - low

    def in_lanes(self, node: OrderedReduction) -> None:
        """Lane `i mod width` collects element `i`, chunk by chunk."""
        for _ in self._space(node, node.kept):
            if node.spans_units:
                self._run_of_units(node)
                continue
            lanes = LaneAccumulators(node)
            for _ in self._space(node, node.before):
                self._rows(node, lanes, 0)
                lanes.close()
            for number in (*node.before, *node.run, node.last):
                self.indices[number] = np.int64(0)
            self._finish_lanes(node, lanes)

    def _rows(self, node: OrderedReduction, lanes: LaneAccumulators, start: int) -> None:
        for _ in self._space(node, node.run):
            for _ in self._last(node):
                self.stored(node.stores)
                lanes.add(start, [self.value(fold.value) for fold in node.folds])
                start += 1

    def _run_of_units(self, node: OrderedReduction) -> None:
        assert node.unit is not None
        if self.value(opens_block(node.unit)):
            self.runs[id(node)] = LaneAccumulators(node)
        lanes = self.runs[id(node)]
        self._rows(node, lanes, int(self.value(node.offset)))
        if self.value(closes_block(node.unit)):
            lanes.close()
            self._into_block(node, lanes)

    def _into_block(self, node: OrderedReduction, lanes: LaneAccumulators) -> None:
        parts, block = dict[int, int](), int(self.value(node.block))
        for fold, total in zip(node.folds, lanes.totals, strict=True):
            part = parts[fold.buffer] = parts.get(fold.buffer, -1) + 1
            width = node.lanes.width
            self.partials[fold.buffer][block, part * width : (part + 1) * width] = total

    def _finish_lanes(self, node: OrderedReduction, lanes: LaneAccumulators) -> None:
        if node.unit is not None and not node.kept:
            self._into_block(node, lanes)
            return
        for fold, total in zip(node.folds, lanes.totals, strict=True):
            dtype = fold.value.dtype
            value = halved(fold.combine, dtype, total)
            places = [self.value(place) for place in fold.indices]
            if node.unit is None:
                self._put(replace(fold, combine=""), places, value)
                continue
            array, where = self._place(fold.buffer, [self.value(node.block), *places])
            if not self.value(opens_block(node.unit)):
                value = combined(fold.combine, dtype, array[where], value)
            array[where] = value

    def in_sequence(self, node: OrderedReduction) -> None:
        """Each result from the one before."""
        (fold,) = node.folds
        for _ in self._space(node, range(node.outer, node.last)):
            total = start_of(fold)
            for _ in self._last(node):
                total = combined(fold.combine, fold.value.dtype, total, self.value(fold.value))
                self._put(replace(fold, combine=""), list(map(self.value, fold.indices)), total)

    # -- blocks ---------------------------------------------------------------------------------

    def blocks(self, each: PartialResults, count: int) -> Any:
        """Room for the partial results of so many blocks."""
        dtype = component(self.kernel.buffers[each.buffer].dtype)
        return np.full([count, int(self.value(each.size))], UNWRITTEN, dtype.numpy)

    def finish(self, each: PartialResults) -> None:
        """Combine the blocks by halving, and their lanes."""
        left, dtype = self.partials[each.buffer], component(self.kernel.buffers[each.buffer].dtype)
        while len(left) > 1:
            half = (len(left) + 1) // 2
            for above in range(half, len(left)):
                below = left[above - half]
                for place in np.ndindex(*below.shape):
                    below[place] = combined(each.by, dtype, below[place], left[above][place])
            left = left[:half]
        result = self.arrays[each.buffer]
        if not each.are_lanes:
            result[...] = left[0].reshape(result.shape)
            return
        flat = result.reshape(-1)
        for part in range(each.parts):
            lanes = left[0][part * each.width : (part + 1) * each.width]
            flat[part] = halved(each.by, dtype, lanes)


_IN_ORDER: Mapping[str, Callable[[ArrayMachine, OrderedReduction], None]] = {
    "lanes": ArrayMachine.in_lanes,
    "scan": ArrayMachine.in_sequence,
}
_RUN_ARRAY_NODE: Mapping[type, Callable[[ArrayMachine, Any], None]] = {
    Store: lambda machine, node: machine.stored([node]),
    PairedStore: lambda machine, node: machine.stored([node]),
    Together: lambda machine, node: machine.stored(node.body),
    RepeatedStep: lambda machine, node: machine.stored(node.body),
    Section: lambda machine, node: machine.block(node.body),
    MappedLoop: ArrayMachine.loop,
    Branch: RUN[If],
    IndexLet: ArrayMachine.let,
    WindowStart: ArrayMachine.open_window,
    OrderedReduction: ArrayMachine.reduction,
}
