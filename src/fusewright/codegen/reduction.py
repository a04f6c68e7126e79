"""The reductions and scans of one phase: accumulators, taken in an order that shapes alone fix.

Reductions along the last dim are `codegen.lane_order`'s.  For one along other dims the accumulators
are the result's own elements, taken in the order of the reduced dims.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from fusewright.codegen.fold import Folding
from fusewright.codegen.lane_order import LaneOrder
from fusewright.codegen.loops import at
from fusewright.codegen.spell import literal, llvm_type
from fusewright.codegen.work import Fold, Work, Write
from fusewright.ir.dtypes import BOOL, INT64
from fusewright.ir.expr import Expr, const, op
from fusewright.ir.identity import of_reduction
from fusewright.plan.plan import Member

if TYPE_CHECKING:
    from fusewright.codegen.arguments import Arguments


def write(
    folding: Folding,
    lowering: Arguments,
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
        Write(m.stage.slot, m.stage.nests[0].store, lowering.bodies(m.stage.nests)[0])
        for m in phase
        if m.stage.form == "map"
    ]
    given = folding, lowering, phase, folds, stores, outer, unit, bounds
    stage = folds[0].stage
    if stage.form == "scan":
        _ElementOrder(*given).scan()
    elif stage.axes[-1] == len(stage.extents) - 1:
        LaneOrder(*given).fold()
    else:
        _ElementOrder(*given).fold()


class _ElementOrder(Work):
    """A scan, or a reduction whose accumulators are the result's own elements."""

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

    # -- reductions along other dims ------------------------------------------------------------

    def fold(self) -> None:
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
        return self.lowering.width([*(f.body for f in self.folds), *(w.body for w in self.stores)])

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
