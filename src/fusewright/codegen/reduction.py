"""The reductions and scans of one phase: accumulators, taken in an order that shapes alone fix.

Reductions along the last dim are `codegen.lane_order`'s.  For one along other dims the accumulators
are the result's own elements, taken in the order of the reduced dims.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from fusewright.codegen.fold import Folding
from fusewright.codegen.lane_order import LaneOrder
from fusewright.codegen.loops import at, spelled
from fusewright.codegen.spell import literal, llvm_type
from fusewright.codegen.work import Fold, Work
from fusewright.ir.dtypes import BOOL, INT64
from fusewright.ir.expr import Expr, const, op
from fusewright.ir.identity import of_reduction
from fusewright.ir.tree.nodes import OrderedReduction

if TYPE_CHECKING:
    from fusewright.codegen.arguments import UnitArguments


def write(folding: Folding, lowering: UnitArguments, node: OrderedReduction) -> None:
    """A phase for one index of the dims around it."""
    if node.order == "lanes":
        LaneOrder(folding, lowering, node).fold()
    elif node.order == "scan":
        _ElementOrder(folding, lowering, node).scan()
    else:
        _ElementOrder(folding, lowering, node).fold()


class _ElementOrder(Work):
    """A scan, or a reduction whose accumulators are the result's own elements."""

    # -- scans ----------------------------------------------------------------------------------

    def scan(self) -> None:
        (axis,) = self.node.axes
        (fold,) = self.folds
        with ExitStack() as stack:
            here = self._loops(stack, self.inner[:-1], {})
            if axis == self.inner[-1]:
                self._scan_last(fold, here)
            else:
                self._scan_outer(fold, here, axis)

    def _scan_last(self, fold: Fold, here: dict[int, Expr]) -> None:
        """One element after the other."""
        low, high = self._bounds()
        start = literal(of_reduction(fold.name, fold.dtype), fold.dtype, 1)
        kind = llvm_type(fold.dtype, 1)
        with self.builder.loop(low, high, 1, [(kind, start)]) as loop:
            place = self._place({**here, self.inner[-1]: loop.variable})
            value = self.builder.scalar(at(fold.body, place))
            total = self.folding.combine(fold.name, fold.dtype, loop.current[0], value, 1)
            self.memory.store(fold.slot, self._where(fold, place), total, fold.dtype)
            loop.next.append(total)

    def _scan_outer(self, fold: Fold, here: dict[int, Expr], axis: int) -> None:
        """A vector of elements at a time, each from the one before along the axis."""
        first = op("equal", here[axis], const(0, INT64))
        before = op("where", first, const(0, INT64), op("subtract", here[axis], const(1, INT64)))
        slot, dtype = fold.slot, fold.dtype

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

        self.lowering.vector_loop(*self._bounds(), self.node.lanes.width, statement)

    # -- reductions along other dims ------------------------------------------------------------

    def fold(self) -> None:
        """Accumulate into the result's own elements (a sink: the block's), in the order of the
        reduced dims.
        """
        lanes, width = self.node.lanes, self.node.lanes.width
        with ExitStack() as stack:
            if self.sink:
                first = self.builder.scalar(self._first_of_block())
                stack.enter_context(self.builder.when(first))
            here = self._loops(stack, self.kept, {})
            self.lowering.vector_loop(*self._bounds(), width, lambda j: self._clear(here, j))
        with ExitStack() as stack:
            here = self._loops(stack, [*self.reduced, *self.kept], {})
            origin = None
            if lanes.origin is not None:
                origin = self.builder.scalar(spelled(lanes.origin, self._place(here)))
            with self.lowering.past_caches(lanes, lanes.past):
                self.lowering.vector_loop(
                    *self._bounds(), width, lambda j: self._accumulate(here, j), origin
                )

    def _clear(self, here: dict[int, Expr], variable: Expr) -> None:
        place = self._place({**here, self.inner[-1]: variable})
        for fold in self.folds:
            start = literal(of_reduction(fold.name, fold.dtype), fold.dtype, self.width)
            self.memory.store(fold.slot, self._target(fold, place), start, fold.dtype)

    def _accumulate(self, here: dict[int, Expr], variable: Expr) -> None:
        place = self._place({**here, self.inner[-1]: variable})
        self._store_maps(place)
        for fold in self.folds:
            where = self._target(fold, place)
            value = self.builder.emit(at(fold.body, place))
            before = self._read(fold.slot, where, fold.dtype)
            total = self.folding.combine(fold.name, fold.dtype, before, value, self.width)
            self.memory.store(fold.slot, where, total, fold.dtype)
