"""Reductions and scans of arrays as nodes that carry their order, which follows from shapes alone
(decision 0006).
"""

from __future__ import annotations

from collections.abc import Sequence

from fusewright.ir import linear
from fusewright.ir.dtypes import BOOL, INT64, component
from fusewright.ir.expr import Expr, const, postorder
from fusewright.ir.loops.statements import Store
from fusewright.ir.nest import Stage
from fusewright.ir.tree.nodes import FixedOrder, LaneMapping, OrderedReduction
from fusewright.ir.tree.units import PartialResults
from fusewright.plan.plan import TILE, Member, is_sink, lanes_of

LIGHT = 24
"""Expressions in the bodies of a phase: a loop of fewer is short machine code."""


def reduction(
    phase: Sequence[Member],
    outer: int,
    unit: Expr | None,
    bounds: tuple[Expr, Expr] | None,
    lanes: LaneMapping,
    bodies: Sequence[Expr],
) -> OrderedReduction:
    """A phase for one index of the dims before `outer`; `lanes` are those of a loop over elements,
    `bodies` what is computed, in primitives.
    """
    reduced = [m.stage for m in phase if m.stage.form != "map"]
    folds = [
        Store(stage.slot, nest.store, nest.body, stage.fold)
        for stage in reduced
        for nest in stage.nests
    ]
    stores = [
        Store(m.stage.slot, m.stage.nests[0].store, m.stage.nests[0].body)
        for m in phase
        if m.stage.form == "map"
    ]
    stage = reduced[0]
    box, order = stage.nests[0].box, _order(stage)
    short = chunk = 0
    if order == "lanes":
        width, chunk = lanes_of(folds[0].value.dtype), TILE
        lanes = LaneMapping(width)
        short = width // 2 if _is_light(folds, bodies) else 0
    return OrderedReduction(
        order, tuple(folds), tuple(stores), stage.extents, box.low, box.high, stage.axes, outer,
        lanes, chunk, short, unit if is_sink(stage) else None, bounds,
    )  # fmt: skip


def _order(stage: Stage) -> FixedOrder:
    if stage.form == "scan":
        return "scan"
    return "lanes" if stage.axes[-1] == len(stage.extents) - 1 else "elements"


def _is_light(folds: Sequence[Store], bodies: Sequence[Expr]) -> bool:
    """Whether the elements of a short row may be added one by one: a bool is a bit of its
    accumulators, and long code is not written twice.
    """
    several = all(fold.value.dtype is not BOOL for fold in folds)
    return several and sum(1 for _ in postorder(bodies)) < LIGHT


def blocks_of(stage: Stage) -> PartialResults:
    """What is kept of a block of units (a complex value counts twice)."""
    parts, width = len(stage.nests), lanes_of(component(stage.dtype))
    if len(stage.axes) == len(stage.extents):  # a block is one set of lanes
        size = const(width * parts, INT64)
        return PartialResults(stage.slot, stage.fold, parts, size, width, are_lanes=True)
    total: Expr = const(parts, INT64)
    for dim in stage.kept:
        total = linear.times(total, stage.extents[dim])
    return PartialResults(stage.slot, stage.fold, parts, total, width)
