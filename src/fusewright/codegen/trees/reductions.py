"""Reductions and scans of arrays in their order, which follows from shapes alone (decision 0006):
loops where results are the accumulators, along the last dim a node that carries it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from fusewright.codegen.loops import at
from fusewright.ir import linear, ops
from fusewright.ir.dtypes import BOOL, INT64, component
from fusewright.ir.expr import Expr, const, index, load, op, postorder, typed_op
from fusewright.ir.identity import of_reduction
from fusewright.ir.loops.statements import Store
from fusewright.ir.nest import Box, Stage
from fusewright.ir.tree.nodes import Branch, LaneMapping, MappedLoop, Node, OrderedReduction
from fusewright.ir.tree.units import PartialResults, block_of, opens_block
from fusewright.plan.plan import TILE, Member, is_sink, lanes_of

Bounds = tuple[Expr, Expr]
LIGHT = 24
"""Expressions in the bodies of a phase: a loop of fewer is short machine code."""


def reduction(
    phase: Sequence[Member],
    outer: int,
    unit: Expr | None,
    bounds: Bounds | None,
    lanes: LaneMapping,
    bodies: Sequence[Expr],
) -> tuple[Node, ...]:
    """A phase for one index of the dims before `outer`; `lanes` are those of a loop over elements,
    `bodies` what is computed, in primitives.
    """
    stages = [m.stage for m in phase if m.stage.form != "map"]
    folds = [
        Store(stage.slot, nest.store, nest.body, stage.fold)
        for stage in stages
        for nest in stage.nests
    ]
    stores = [
        Store(m.stage.slot, m.stage.nests[0].store, m.stage.nests[0].body)
        for m in phase
        if m.stage.form == "map"
    ]
    stage = stages[0]
    is_last = stage.axes[-1] == len(stage.extents) - 1
    unit = unit if is_sink(stage) else None
    if not is_last:
        space = _Space(stage.nests[0].box, outer, bounds)
        return (
            _scan(stage, folds[0], space, lanes)
            if stage.form == "scan"
            else _by_elements(stage, (*stores, *folds), space, unit, lanes)
        )
    short = chunk = 0
    if stage.form != "scan":
        width, chunk = lanes_of(folds[0].value.dtype), TILE
        lanes = LaneMapping(width)
        short = width // 2 if _is_light(folds, bodies) else 0
    box = stage.nests[0].box
    return (OrderedReduction(
        "scan" if stage.form == "scan" else "lanes", tuple(folds), tuple(stores), stage.extents,
        box.low, box.high, stage.axes, outer, lanes, chunk, short, unit, bounds,
    ),)  # fmt: skip


class _Space(NamedTuple):
    """The dims of a box from `outer` on; `bounds` cut the last."""

    box: Box
    outer: int
    bounds: Bounds | None

    @property
    def dims(self) -> range:
        """Those around the last."""
        return range(self.outer, len(self.box.low) - 1)

    def loops(
        self, dims: Sequence[int], body: Sequence[Store], lanes: LaneMapping
    ) -> tuple[Node, ...]:
        """A vector loop over the last dim, inside loops over others."""
        low, high = self.box
        ends = self.bounds or (low[-1], high[-1])
        node = MappedLoop(len(low) - 1, *ends, tuple(body), lanes=lanes)
        for dim in reversed(dims):
            node = MappedLoop(dim, low[dim], high[dim], (node,))
        return (node,)


def _by_elements(
    stage: Stage, stores: Sequence[Store], space: _Space, unit: Expr | None, lanes: LaneMapping
) -> tuple[Node, ...]:
    """A reduction along other dims than the last: the results (a sink's: those of the block) are
    the accumulators, in the order of the reduced dims.
    """
    kept = [dim for dim in space.dims if dim not in stage.axes]
    reduced = [dim for dim in space.dims if dim in stage.axes]
    block = () if unit is None else (block_of(unit),)
    clear, collect = list[Store](), list[Store]()
    for store in stores:
        if not store.combine:
            collect.append(store)
            continue
        dtype, where = store.value.dtype, (*block, *store.indices)
        start = const(of_reduction(store.combine, dtype), dtype)
        clear.append(Store(store.buffer, where, start))
        by = ops.REDUCE[store.combine].combine
        collect.append(replace(store, indices=where, combine=by))
    start_of_block = space.loops(kept, clear, LaneMapping(lanes.width))
    if unit is not None:
        start_of_block = (Branch(opens_block(unit), start_of_block),)
    return (*start_of_block, *space.loops([*reduced, *kept], collect, lanes))


def _scan(stage: Stage, fold: Store, space: _Space, lanes: LaneMapping) -> tuple[Node, ...]:
    """A scan along another dim than the last: a vector of results at a time, each from the one
    before along the axis.
    """
    (axis,), zero, dtype = stage.axes, const(0, INT64), fold.value.dtype
    first = op("equal", index(axis), zero)
    before = op("where", first, zero, op("subtract", index(axis), const(1, INT64)))
    there = {**dict(enumerate(map(index, range(len(stage.extents))))), axis: before}
    previous = load(fold.buffer, tuple(at(i, there) for i in fold.indices), dtype)
    total = typed_op(ops.SCAN[fold.combine].combine, dtype, previous, fold.value)
    store = Store(fold.buffer, fold.indices, op("where", first, fold.value, total))
    return space.loops(space.dims, (store,), LaneMapping(lanes.width))


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
