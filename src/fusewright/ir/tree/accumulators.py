"""Reductions in the order of decision 0006, number by number: for the interpreter of trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fusewright.ir import ops
from fusewright.ir.dtypes import DType
from fusewright.ir.identity import of_reduction
from fusewright.ir.loops.statements import Store
from fusewright.ir.tree.interpret import updated
from fusewright.ir.tree.nodes import OrderedReduction


def combined(by: str, dtype: DType, a: Any, b: Any) -> Any:
    """Two numbers, as a reduction or scan of this name combines them."""
    row = ops.REDUCE.get(by) or ops.SCAN[by]
    return updated(row.combine, dtype, a, b)


def halved(by: str, dtype: DType, lanes: Sequence[Any]) -> Any:
    """All lanes, the upper half onto the lower until one is left."""
    left = list(lanes)
    while len(left) > 1:
        half = len(left) // 2
        pairs = zip(left[:half], left[half:], strict=True)
        left = [combined(by, dtype, a, b) for a, b in pairs]
    return left[0]


class LaneAccumulators:
    """The accumulators of a reduction in `lanes` order: the chunk's, and those of all before."""

    def __init__(self, node: OrderedReduction) -> None:
        self.node = node
        self.totals = self._start()
        self.chunks = self._start()

    def _start(self) -> list[list[Any]]:
        starts = [start_of(fold) for fold in self.node.folds]
        return [[start] * self.node.lanes.width for start in starts]

    def add(self, position: int, values: Sequence[Any]) -> None:
        """The element at this position of the run."""
        if position and position % self.node.chunk == 0:
            self.close()
        lane = position % self.node.lanes.width
        for fold, lanes, value in zip(self.node.folds, self.chunks, values, strict=True):
            lanes[lane] = combined(fold.combine, fold.value.dtype, lanes[lane], value)

    def close(self) -> None:
        """Add the chunk to what was before it."""
        for number, fold in enumerate(self.node.folds):
            both = zip(self.totals[number], self.chunks[number], strict=True)
            dtype = fold.value.dtype
            self.totals[number] = [combined(fold.combine, dtype, a, b) for a, b in both]
        self.chunks = self._start()


def start_of(fold: Store) -> Any:
    """What a fold begins with."""
    dtype = fold.value.dtype
    return dtype.numpy.type(of_reduction(fold.combine, dtype))
