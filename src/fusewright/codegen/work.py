"""A phase with reductions or scans while it is written: its loops, places and blocks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from fusewright.codegen.fold import Folding, store_lanes
from fusewright.codegen.loops import at
from fusewright.codegen.spell import llvm_type
from fusewright.ir import linear
from fusewright.ir.dtypes import BOOL, INT64, DType
from fusewright.ir.expr import Expr, const, load, op
from fusewright.ir.nest import Nest, Stage
from fusewright.plan.plan import Member, is_sink

if TYPE_CHECKING:
    from fusewright.codegen.arguments import Arguments


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


class Write(NamedTuple):
    """What a phase that reduces also stores, element by element."""

    slot: int
    where: tuple[Expr, ...]
    body: Expr


class Work:
    """One phase being written, for one index of the shared dims; `bounds` cut the last dim."""

    def __init__(
        self,
        folding: Folding,
        lowering: Arguments,
        phase: Sequence[Member],
        folds: Sequence[Fold],
        stores: Sequence[Write],
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

    def _store_maps(self, place: tuple[Expr, ...]) -> None:
        for slot, where, body in self.stores:
            there = tuple(at(index, place) for index in where)
            self.memory.store(slot, there, self.builder.emit(at(body, place)), body.dtype)

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

    def _ends_block(self) -> Expr:
        """Whether the unit is the last of its block, or of all the thread has."""
        assert self.unit is not None
        one = const(1, INT64)
        before = op("trem", self.unit, self.lowering.block_size)
        full = op("equal", op("add", before, one), self.lowering.block_size)
        end = op("equal", op("add", self.unit, one), self.builder.variable("%hi"))
        return op("bitwise_or", full, end)

    def _block_place(self, fold: Fold, place: tuple[Expr, ...]) -> list[Expr]:
        return [self._block_number(), *self._where(fold, place)]

    def _into_block(self, fold: Fold, total: str, lanes: int) -> None:
        """The lanes of this unit's block so far."""
        builder = self.builder
        parts = len(fold.stage.nests)
        number = builder.scalar(linear.plus(linear.times(self._block_number(), parts), fold.part))
        element = "i8" if fold.dtype is BOOL else fold.dtype.llvm
        partial = self.folding.partials[fold.stage.slot]
        pointer = builder.value(f"getelementptr [{lanes} x {element}], ptr {partial}, i64 {number}")
        store_lanes(builder, pointer, total, fold.dtype, lanes)

    def _combine_into(self, fold: Fold, where: list[Expr], value: str) -> None:
        """Add one element to this unit's block."""
        first = self.lowering.position(self._first_of_block())
        kind = llvm_type(fold.dtype, 1)
        before = self._read(fold.stage.slot, where, fold.dtype)
        total = self.folding.combine(fold.name, fold.dtype, before, value, 1)
        chosen = self.builder.value(f"select i1 {first}, {kind} {value}, {kind} {total}")
        self.memory.store(fold.stage.slot, where, chosen, fold.dtype)
