"""The reductions and scans of one phase: accumulators, taken in an order that shapes alone fix.

For a reduction along the last dim (`LANE` order):

    for chunk of TILE elements:   acc[lane] = combine(acc[lane], body[i])   with lane = i mod LANES
                                  total[lane] = combine(total[lane], acc[lane])
    result = total folded in halves

For one along other dims the accumulators are the result's own elements, taken in the order of the
reduced dims.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from fusewright.codegen.fold import Folding, load_lanes, store_lanes
from fusewright.codegen.loops import at
from fusewright.codegen.spell import literal, llvm_type
from fusewright.ir import linear
from fusewright.ir.dtypes import BOOL, INT64, DType
from fusewright.ir.expr import Expr, const, load, op
from fusewright.ir.identity import of_reduction
from fusewright.ir.nest import Nest, Stage
from fusewright.plan.plan import TILE, Member, is_sink, lanes_of

if TYPE_CHECKING:
    from fusewright.codegen.lower import Lowering


def write(
    folding: Folding,
    lowering: Lowering,
    phase: Sequence[Member],
    outer: tuple[Expr, ...],
    unit: Expr | None,
    bounds: tuple[Expr, Expr] | None = None,
) -> None:
    """A phase for one index of the shared dims; `bounds` cut the last dim (a tile)."""
    folds = [
        Fold(m.stage, nest, lowering.bodies([nest])[0], part)
        for m in phase
        if m.stage.form != "map"
        for part, nest in enumerate(m.stage.nests)
    ]
    stores = [
        (m.stage.slot, lowering.bodies(m.stage.nests)[0]) for m in phase if m.stage.form == "map"
    ]
    work = _Work(folding, lowering, phase, folds, stores, outer, unit, bounds)
    stage = folds[0].stage
    if stage.form == "scan":
        work.scan()
    elif stage.axes[-1] == len(stage.extents) - 1:
        work.fold_last()
    else:
        work.fold_outer()


class Fold(NamedTuple):
    """One accumulation of a phase: a stage's (a complex value has two parts)."""

    stage: Stage
    nest: Nest
    body: Expr
    part: int

    @property
    def name(self) -> str:
        return self.stage.fold

    @property
    def dtype(self) -> DType:
        return self.body.dtype


class _Work:
    """One phase being written."""

    def __init__(
        self,
        folding: Folding,
        lowering: Lowering,
        phase: Sequence[Member],
        folds: Sequence[Fold],
        stores: Sequence[tuple[int, Expr]],
        outer: tuple[Expr, ...],
        unit: Expr | None,
        bounds: tuple[Expr, Expr] | None,
    ) -> None:
        self.folding = folding
        self.builder = folding.builder
        self.memory = folding.memory
        self.lowering = lowering
        self.phase = phase
        self.folds = folds
        self.stores = stores
        self.outer = outer
        self.unit = unit
        self.bounds = bounds
        stage = folds[0].stage
        self.stage = stage
        self.sink = is_sink(stage)
        self.inner = range(len(outer), len(stage.extents))
        self.kept = [dim for dim in self.inner[:-1] if dim not in stage.axes]
        self.reduced = [dim for dim in self.inner[:-1] if dim in stage.axes]

    @property
    def width(self) -> int:
        """Lanes of the vector being written."""
        return self.builder.lanes.width if self.builder.lanes else 1

    # -- scans ----------------------------------------------------------------------------------

    def scan(self) -> None:
        (axis,) = self.stage.axes
        (fold,) = self.folds
        with ExitStack() as stack:
            here = self._loops(stack, self.inner[:-1], {})
            if axis == self.inner[-1]:
                self._scan_last(fold, here)
            else:
                self._scan_outer(fold, here, axis)

    def _scan_last(self, fold: Fold, here: dict[int, Expr]) -> None:
        """One element after the other."""
        low, high = (self.lowering.position(e) for e in self._limits())
        start = literal(of_reduction(fold.name, fold.dtype), fold.dtype, 1)
        kind = llvm_type(fold.dtype, 1)
        with self.builder.loop(low, high, 1, [(kind, start)]) as loop:
            place = self._place({**here, self.inner[-1]: loop.variable})
            value = self.builder.scalar(at(fold.body, place))
            total = self.folding.combine(fold.name, fold.dtype, loop.current[0], value, 1)
            self.memory.store(fold.stage.slot, self._where(fold, place), total, fold.dtype)
            loop.next.append(total)

    def _scan_outer(self, fold: Fold, here: dict[int, Expr], axis: int) -> None:
        """A vector of elements at a time, each from the one before along the axis."""
        first = op("equal", here[axis], const(0, INT64))
        before = op("where", first, const(0, INT64), op("subtract", here[axis], const(1, INT64)))
        slot, dtype = fold.stage.slot, fold.dtype

        def statement(variable: Expr) -> None:
            place = self._place({**here, self.inner[-1]: variable})
            value = self.builder.emit(at(fold.body, place))
            back = self._place({**here, self.inner[-1]: variable, axis: before})
            previous = self._read(slot, self._where(fold, back), dtype)
            total = self.folding.combine(fold.name, dtype, previous, value, self.width)
            choice = self.builder.emit(first)
            kind = llvm_type(dtype, self.width)
            chosen = self.builder.value(
                f"select {llvm_type(BOOL, self.width)} {choice}, {kind} {value}, {kind} {total}"
            )
            self.memory.store(slot, self._where(fold, place), chosen, dtype)

        self.lowering.vector_loop(*self._limits(), self.lowering.width([fold.body]), statement)

    # -- reductions along the last dim ----------------------------------------------------------

    def fold_last(self) -> None:
        lanes = lanes_of(self.folds[0].dtype)
        kinds = [llvm_type(fold.dtype, lanes) for fold in self.folds]
        totals = [self.builder.slot(kind) for kind in kinds]
        with ExitStack() as stack:
            here = self._loops(stack, self.kept, {})
            for fold, kind, total in zip(self.folds, kinds, totals, strict=True):
                start = literal(of_reduction(fold.name, fold.dtype), fold.dtype, lanes)
                self.builder.line(f"store {kind} {start}, ptr {total}, align 64")
            with ExitStack() as reduction:
                there = self._loops(reduction, self.reduced, here)
                self._chunks(there, totals, lanes)
            for fold, kind, total in zip(self.folds, kinds, totals, strict=True):
                final = self.builder.value(f"load {kind}, ptr {total}, align 64")
                self._finish_last(fold, here, final, lanes)

    def _finish_last(self, fold: Fold, here: dict[int, Expr], final: str, lanes: int) -> None:
        if self.sink and not self.kept:
            self._into_block(fold, final, lanes)
            return
        result = self.folding.halve(fold.name, fold.dtype, final, lanes)
        place = self._place(here)
        if self.sink:
            self._combine_into(fold, self._block_place(fold, place), result)
            return
        self.memory.store(fold.stage.slot, self._where(fold, place), result, fold.dtype)

    def _chunks(self, here: dict[int, Expr], totals: Sequence[str], lanes: int) -> None:
        """The last dim in chunks; each is collected in registers and added to the totals."""
        low, high = self._limits()
        begin, end = self.lowering.position(low), self.lowering.position(high)
        with self.builder.loop(begin, end, TILE) as chunk:
            stop = op("add", chunk.variable, const(TILE, INT64))
            stop = op("where", op("less", stop, high), stop, high)
            values = self._chunk(here, chunk.variable, stop, lanes)
            for fold, value, total in zip(self.folds, values, totals, strict=True):
                kind = llvm_type(fold.dtype, lanes)
                before = self.builder.value(f"load {kind}, ptr {total}, align 64")
                after = self.folding.combine(fold.name, fold.dtype, before, value, lanes)
                self.builder.line(f"store {kind} {after}, ptr {total}, align 64")

    def _chunk(self, here: dict[int, Expr], low: Expr, high: Expr, lanes: int) -> list[str]:
        """One chunk: whole vectors, then a masked one whose idle lanes hold the identity."""
        builder = self.builder
        kinds = [llvm_type(fold.dtype, lanes) for fold in self.folds]
        starts = [literal(of_reduction(f.name, f.dtype), f.dtype, lanes) for f in self.folds]
        slots = [builder.slot(kind) for kind in kinds]
        begin, end = self.lowering.position(low), self.lowering.position(high)
        count = builder.value(f"sub i64 {end}, {begin}")
        whole = builder.value(f"and i64 {count}, {-lanes}")
        middle = builder.value(f"add i64 {begin}, {whole}")
        with builder.when("true"):
            carried = list(zip(kinds, starts, strict=True))
            with (
                builder.loop(begin, middle, lanes, carried) as loop,
                self.lowering.lanes(loop.variable, lanes, loop.register, None),
            ):
                loop.next.extend(self._step(here, loop.variable, loop.current))
            for kind, total, slot in zip(kinds, loop.current, slots, strict=True):
                builder.line(f"store {kind} {total}, ptr {slot}, align 64")
            with builder.when(builder.value(f"icmp slt i64 {middle}, {end}")):
                mask = self.lowering.mask(middle, end, lanes)
                variable = builder.variable(middle)
                with self.lowering.lanes(variable, lanes, middle, mask):
                    finals = self._step(here, variable, loop.current, mask)
                for kind, final, slot in zip(kinds, finals, slots, strict=True):
                    builder.line(f"store {kind} {final}, ptr {slot}, align 64")
        pairs = zip(kinds, slots, strict=True)
        return [builder.value(f"load {kind}, ptr {slot}, align 64") for kind, slot in pairs]

    def _step(
        self, here: dict[int, Expr], variable: Expr, totals: Sequence[str], mask: str = ""
    ) -> list[str]:
        """One vector: what the phase stores, and the accumulators with the new elements."""
        place = self._place({**here, self.inner[-1]: variable})
        self._store_maps(place)
        after = []
        for fold, total in zip(self.folds, totals, strict=True):
            value = self.builder.emit(at(fold.body, place))
            if mask:
                kind = llvm_type(fold.dtype, self.width)
                idle = literal(of_reduction(fold.name, fold.dtype), fold.dtype, self.width)
                value = self.builder.value(
                    f"select {llvm_type(BOOL, self.width)} {mask}, {kind} {value}, {kind} {idle}"
                )
            after.append(self.folding.combine(fold.name, fold.dtype, total, value, self.width))
        return after

    def _store_maps(self, place: tuple[Expr, ...]) -> None:
        for slot, body in self.stores:
            self.memory.store(slot, place, self.builder.emit(at(body, place)), body.dtype)

    # -- reductions along other dims ------------------------------------------------------------

    def fold_outer(self) -> None:
        """Accumulate into the result's own elements (a sink: the block's), in the order of the
        reduced dims.
        """
        with ExitStack() as stack:
            if self.sink:
                first = self.lowering.position(self._first_of_block())
                stack.enter_context(self.builder.when(first))
            here = self._loops(stack, self.kept, {})
            self.lowering.vector_loop(
                *self._limits(), self._lanes(), lambda j: self._clear(here, j)
            )
        with ExitStack() as stack:
            here = self._loops(stack, [*self.reduced, *self.kept], {})
            outer = self._place(here)[:-1]
            self.lowering.vector_loop(
                *self._limits(),
                self._lanes(),
                lambda j: self._accumulate(here, j),
                self.lowering.origin(self.phase, outer),
            )

    def _lanes(self) -> int:
        return self.lowering.width([*(f.body for f in self.folds), *(b for _, b in self.stores)])

    def _clear(self, here: dict[int, Expr], variable: Expr) -> None:
        place = self._place({**here, self.inner[-1]: variable})
        for fold in self.folds:
            start = literal(of_reduction(fold.name, fold.dtype), fold.dtype, self.width)
            self.memory.store(fold.stage.slot, self._target(fold, place), start, fold.dtype)

    def _accumulate(self, here: dict[int, Expr], variable: Expr) -> None:
        place = self._place({**here, self.inner[-1]: variable})
        self._store_maps(place)
        for fold in self.folds:
            where = self._target(fold, place)
            value = self.builder.emit(at(fold.body, place))
            before = self._read(fold.stage.slot, where, fold.dtype)
            total = self.folding.combine(fold.name, fold.dtype, before, value, self.width)
            self.memory.store(fold.stage.slot, where, total, fold.dtype)

    # -- where things are -----------------------------------------------------------------------

    def _limits(self) -> tuple[Expr, Expr]:
        if self.bounds is not None:
            return self.bounds
        box = self.folds[0].nest.box
        return box.low[-1], box.high[-1]

    def _loops(
        self, stack: ExitStack, dims: Sequence[int], here: dict[int, Expr]
    ) -> dict[int, Expr]:
        here = dict(here)
        box = self.folds[0].nest.box
        for dim in dims:
            low, high = (self.lowering.position(e) for e in (box.low[dim], box.high[dim]))
            here[dim] = stack.enter_context(self.builder.loop(low, high, 1)).variable
        return here

    def _place(self, here: dict[int, Expr]) -> tuple[Expr, ...]:
        """The loop index; dims that are done count as 0."""
        zero = const(0, INT64)
        return (*self.outer, *(here.get(dim, zero) for dim in self.inner))

    def _where(self, fold: Fold, place: tuple[Expr, ...]) -> list[Expr]:
        return [at(i, place) for i in fold.nest.store]

    def _target(self, fold: Fold, place: tuple[Expr, ...]) -> list[Expr]:
        """Where a fold along outer dims accumulates."""
        return self._block_place(fold, place) if self.sink else self._where(fold, place)

    def _read(self, slot: int, where: Sequence[Expr], dtype: DType) -> str:
        return self.memory.load(load(slot, tuple(where), dtype), self.width)

    # -- blocks of units ------------------------------------------------------------------------

    def _block_number(self) -> Expr:
        assert self.unit is not None
        if self.bounds is not None:
            return self.unit
        return op("tdiv", self.unit, self.lowering.block_size)

    def _first_of_block(self) -> Expr:
        assert self.unit is not None
        rest = op("trem", self.unit, self.lowering.block_size)
        return op("equal", rest, const(0, INT64))

    def _block_place(self, fold: Fold, place: tuple[Expr, ...]) -> list[Expr]:
        return [self._block_number(), *self._where(fold, place)]

    def _into_block(self, fold: Fold, total: str, lanes: int) -> None:
        """Add the lanes to this unit's block."""
        builder, kind = self.builder, llvm_type(fold.dtype, lanes)
        parts = len(fold.stage.nests)
        number = builder.scalar(linear.plus(linear.times(self._block_number(), parts), fold.part))
        element = "i8" if fold.dtype is BOOL else fold.dtype.llvm
        partial = self.folding.partials[fold.stage.slot]
        pointer = builder.value(f"getelementptr [{lanes} x {element}], ptr {partial}, i64 {number}")
        if self.bounds is None:
            first = self.lowering.position(self._first_of_block())
            slot = builder.slot(kind)
            builder.line(f"store {kind} {total}, ptr {slot}, align 64")
            with builder.when(builder.value(f"xor i1 {first}, true")):
                before = load_lanes(builder, pointer, fold.dtype, lanes)
                both = self.folding.combine(fold.name, fold.dtype, before, total, lanes)
                builder.line(f"store {kind} {both}, ptr {slot}, align 64")
            total = builder.value(f"load {kind}, ptr {slot}, align 64")
        store_lanes(builder, pointer, total, fold.dtype, lanes)

    def _combine_into(self, fold: Fold, where: list[Expr], value: str) -> None:
        """Add one element to this unit's block."""
        first = self.lowering.position(self._first_of_block())
        kind = llvm_type(fold.dtype, 1)
        before = self._read(fold.stage.slot, where, fold.dtype)
        total = self.folding.combine(fold.name, fold.dtype, before, value, 1)
        chosen = self.builder.value(f"select i1 {first}, {kind} {value}, {kind} {total}")
        self.memory.store(fold.stage.slot, where, chosen, fold.dtype)
