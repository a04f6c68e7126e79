"""A scan along the last dim: one element after the other.  Reductions along it are
`codegen.lane_order`'s; those along other dims are loops of the tree.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from fusewright.codegen.fold import Folding
from fusewright.codegen.lane_order import LaneOrder
from fusewright.codegen.loops import at
from fusewright.codegen.spell import literal, llvm_type
from fusewright.codegen.work import Work
from fusewright.ir.identity import of_reduction
from fusewright.ir.tree.nodes import OrderedReduction

if TYPE_CHECKING:
    from fusewright.codegen.arguments import UnitArguments


def write(folding: Folding, lowering: UnitArguments, node: OrderedReduction) -> None:
    """A phase for one index of the dims around it."""
    if node.order == "lanes":
        LaneOrder(folding, lowering, node).fold()
    else:
        _InSequence(folding, lowering, node).scan()


class _InSequence(Work):
    """Such a scan being written."""

    def scan(self) -> None:
        (fold,) = self.folds
        start = literal(of_reduction(fold.name, fold.dtype), fold.dtype, 1)
        kind = llvm_type(fold.dtype, 1)
        with ExitStack() as stack:
            here = self._loops(stack, self.inner[:-1], {})
            carried = [(kind, start)]
            loop = stack.enter_context(self.builder.loop(*self._bounds(), 1, carried))
            place = self._place({**here, self.inner[-1]: loop.variable})
            value = self.builder.scalar(at(fold.body, place))
            total = self.folding.combine(fold.name, fold.dtype, loop.current[0], value, 1)
            self.memory.store(fold.slot, self._where(fold, place), total, fold.dtype)
            loop.next.append(total)
