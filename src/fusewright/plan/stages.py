"""From recorded nodes to stages: which values are stored, and the nests that compute them.

Everything that `plan.readers` does not store is inlined.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from fusewright.ir import graph, linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, cast, const, index, postorder
from fusewright.ir.graph import Node
from fusewright.ir.nest import Alias, Box, Library, Nest, Program, Stage, Step
from fusewright.plan.pieces import bounded
from fusewright.plan.readers import choose_stored
from fusewright.plan.support import why_library
from fusewright.plan.values import (
    NotInlinable,
    Split,
    Values,
    is_contiguous,
)
from fusewright.rules.complex import separate

MOST_BOXES = 40
"""More boxes than this for one value make more code than they save: its assembled operands are
stored instead."""


def by_library(node: Node) -> bool:
    """Whether a library computes the node on whole arrays."""
    return bool(why_library(node))


def build(
    order: Sequence[Node],
    outputs: frozenset[int],
    reusable: frozenset[int] = frozenset(),
    inline: bool = True,
    staged: frozenset[int] = frozenset(),
) -> Program:
    """The slice as stages.  `order` is topological; `outputs` are the slots asked for; `reusable`
    those assembled values that may take their base's memory, once the `staged` are stored.
    Without `inline` every operation stores its result.
    """
    every = staged if inline else frozenset(_computing(order)) | staged
    while True:
        stored = bounded(order, choose_stored(order, outputs | every, reusable))
        steps, values = _all_steps(order, stored, reusable)
        refused = _read_elsewhere(order, steps, values) & reusable
        if not refused:
            break
        reusable -= refused
    for slot in outputs:
        values.describe(slot)
    return Program(values.buffers, steps, values.arguments.sources, outputs)


def _all_steps(
    order: Sequence[Node], stored: set[int], reusable: frozenset[int]
) -> tuple[tuple[Step, ...], Values]:
    """The steps of every stored value; what turns out not to be inlinable is stored as well.

    What is found while a value is built is stored at once, and everything is built once more at
    the end, so that values built before read it too.  So each value is built a few times at most.
    """
    while True:
        values = Values(order, stored, reusable)
        made: dict[int, list[Step]] = {}
        known = len(stored)
        todo = [s for s in sorted(stored, reverse=True) if order[s].kind != graph.LEAF]
        while todo:
            slot = todo.pop()
            try:
                made[slot] = [_realised(step) for step in _steps(values, slot, order[slot])]
            except NotInlinable as reason:
                assert reason.slot not in stored, "a stored value needs no inlining"
                stored.add(reason.slot)
                todo += (slot, reason.slot)
        if len(stored) == known:
            return tuple(step for slot in sorted(made) for step in made[slot]), values


def _computing(order: Sequence[Node]) -> list[int]:
    kinds = (graph.MAP, graph.ASSEMBLE, graph.GATHER)
    return [slot for slot, node in enumerate(order) if node.kind in kinds]


def _realised(step: Step) -> Step:
    """A stage on real numbers only: a complex value's parts are two nests, its buffer has a last
    dim of 2.
    """
    if not isinstance(step, Stage):
        return step
    nests: list[Nest] = []
    for nest, parts in zip(step.nests, _parts(step), strict=True):
        if not nest.body.dtype.is_complex:
            nests.append(replace(nest, body=parts[0]))
            continue
        for number, part in enumerate(parts):
            store = (*nest.store, const(number, INT64))
            nests.append(replace(nest, body=part, store=store))
    return replace(step, nests=tuple(nests))


def _parts(stage: Stage) -> list[tuple[Expr, Expr]]:
    """The parts of each nest's body."""
    if not any(e.dtype.is_complex for e in postorder(n.body for n in stage.nests)):
        return [(nest.body, nest.body) for nest in stage.nests]
    parts = separate([nest.body for nest in stage.nests])
    return [parts[nest.body] for nest in stage.nests]


def _read_elsewhere(order: Sequence[Node], steps: Sequence[Step], values: Values) -> frozenset[int]:
    """Stages that work in place although a later step reads the memory they write."""
    refused = set()
    patches = [s for s in steps if isinstance(s, Stage) and s.update not in (-1, s.slot)]
    readers: dict[object, int] = {}  # of a slot, and of a leaf's memory: the last that reads it
    for step in steps if patches else ():
        last = sys.maxsize if isinstance(step, Alias) else step.slot  # it is that memory, too
        for slot in _step_reads(step):
            for what in (slot, _memory(order[slot])):
                readers[what] = max(readers.get(what, 0), last)
    for patch in patches:
        # A patch joins no earlier kernel: who comes before it has read.
        memory = _memory(order[patch.update])
        if max(readers.get(patch.update, 0), readers.get(memory, 0) if memory else 0) > patch.slot:
            refused.add(patch.slot)
    return frozenset(refused)


def _memory(node: Node) -> object | None:
    return node.value[0] if node.kind == graph.LEAF else None


def _step_reads(step: Step) -> set[int]:
    if isinstance(step, Library):
        return set(step.reads)
    if isinstance(step, Alias):
        return {step.source}
    loads = {e.attr for e in postorder(n.body for n in step.nests) if e.name == "load"}
    return loads | ({step.update} if step.update >= 0 else set())


def _steps(values: Values, slot: int, node: Node) -> list[Step]:
    if by_library(node):
        values.describe(slot)
        return [Library(slot, _roots(values, node))]
    if node.kind == graph.RESHAPE:
        values.describe(slot)
        source = node.args[0]
        if source.kind == graph.LEAF and not is_contiguous(source):
            return [_straightened(values, slot, node)]
        return [Alias(slot, values.slots[id(source)])]
    values.describe(slot)
    return _FORMS.get(node.kind, _map)(values, slot, node)


def _roots(values: Values, node: Node) -> tuple[int, ...]:
    """The stored values below an opaque step's operands (views are taken by the library itself)."""
    found = []
    for arg in node.args:
        while arg.kind == graph.VIEW and values.slots[id(arg)] not in values.stored:
            arg = arg.args[0]
        if arg.kind != graph.SCALAR:
            found.append(values.slots[id(arg)])
    return tuple(found)


def _whole(values: Values, slot: int) -> Box:
    extents = values.arguments.extents(slot)
    return Box(tuple(const(0, INT64) for _ in extents), extents)


def _indices(rank: int) -> tuple[Expr, ...]:
    return tuple(index(dim) for dim in range(rank))


def _cut(
    values: Values, node: Node, box: Box, store: tuple[Expr, ...], inlined: bool = True
) -> list[Nest]:
    """Nests that compute `node` at `store` over a box, cut wherever its pieces require.  Where they
    are too many, a value below it is stored first: the node itself if it is but `inlined` here.
    """
    done: list[Nest] = []
    todo = [box]
    while todo:
        box = todo.pop()
        try:
            body = values.at_box(node, store, box)
        except Split as split:
            todo.extend(reversed(_halves(values, box, split)))
            if len(todo) + len(done) > MOST_BOXES:
                operand = _assembled_operand(values, node, inlined)
                raise (_TooManyBoxes if operand < 0 else NotInlinable(operand)) from None
            continue
        done.append(Nest(box, body, _indices(len(box.low))))
    return done


def _halves(values: Values, box: Box, split: Split) -> tuple[Box, Box]:
    high, low = list(box.high), list(box.low)
    high[split.dim] = values.arguments.at_most(high[split.dim], split.cut)
    low[split.dim] = values.arguments.at_least(low[split.dim], split.cut)
    return Box(box.low, tuple(high)), Box(tuple(low), box.high)


class _TooManyBoxes(Exception):
    """The value's own pieces make too many boxes: they are written one after the other."""


def _assembled_operand(values: Values, node: Node, itself: bool = False) -> int:
    """An assembled value below `node` (or the node `itself`) that is inlined today and should not
    be, or -1.
    """
    stack = [node] if itself else list(node.args)
    while stack:
        arg = stack.pop()
        slot = values.slots[id(arg)]
        if slot in values.stored or arg.kind == graph.LEAF:
            continue
        if arg.kind == graph.ASSEMBLE:
            return slot
        stack.extend(arg.args)
    return -1


def _has_several_readers(values: Values, slot: int) -> bool:
    """Whether several values are computed of one, as it is or through views: it is stored itself,
    or what is computed of it would be stored once for each.
    """
    inside, readers = {id(values.order[slot])}, 0
    for node in values.order:
        if any(id(arg) in inside for arg in node.args):
            if node.kind == graph.VIEW:
                inside.add(id(node))
            else:
                readers += 1
    return readers > 1


def _map(values: Values, slot: int, node: Node) -> list[Step]:
    box = _whole(values, slot)
    with values.unstored(slot):
        nests = _cut(values, node, box, _indices(len(box.low)), inlined=False)
    return [Stage(slot, "map", node.dtype, box.high, tuple(nests))]


def _straightened(values: Values, slot: int, node: Node) -> Stage:
    """A reshaped copy of a leaf whose elements do not lie in order."""
    (source,) = node.args
    box = _whole(values, values.slots[id(source)])
    here = _indices(len(box.low))
    position: Expr = const(0, INT64)
    for dim, extent in enumerate(box.high):
        position = linear.plus(linear.times(position, extent), here[dim])
    store = (position,) if node.shape else ()
    nests = [replace(nest, store=store) for nest in _cut(values, source, box, here)]
    return Stage(slot, "map", node.dtype, box.high, tuple(nests))


def _folded(values: Values, slot: int, node: Node) -> list[Step]:
    (source,) = node.args
    box = _whole(values, values.slots[id(source)])
    nests = _cut(values, source, box, _indices(len(box.low)))
    if len(nests) > 1:  # a reduction's order depends on the shape alone: its loop is never cut
        slot, below = values.slots[id(source)], _assembled_operand(values, node)
        is_shared = below >= 0 and _has_several_readers(values, below)
        raise NotInlinable(below if is_shared or slot in values.stored else slot)
    nests = [Nest(n.box, cast(n.body, node.dtype), n.store) for n in nests]
    if node.kind == graph.SCAN:
        return [Stage(slot, "scan", node.dtype, box.high, tuple(nests), node.op, (node.attr,))]
    axes, keepdims = node.attr
    store = tuple(
        const(0, INT64) if dim in axes else index(dim)
        for dim in range(len(box.low))
        if keepdims or dim not in axes
    )
    nests = [Nest(n.box, n.body, store) for n in nests]
    return [Stage(slot, "fold", node.dtype, box.high, tuple(nests), node.op, axes)]


def _assembled(values: Values, slot: int, node: Node) -> list[Step]:
    if slot in values.reusable:
        return _patched(values, slot, node, values.slots[id(node.args[0])])
    if any(step != 1 for region in node.attr for _, step in region):
        return _patched(values, slot, node)
    try:
        return _map(values, slot, node)
    except _TooManyBoxes:
        return _patched(values, slot, node)


def _patched(values: Values, slot: int, node: Node, base: int = -1) -> list[Step]:
    """One stage for each piece, in order, each over the piece's own iteration space; in place, the
    first is there already.
    """
    steps: list[Step] = []
    for number, (piece, region) in enumerate(zip(node.args, node.attr, strict=True)):
        if number == 0 and base >= 0:
            continue
        extents = values.arguments.extents(values.slots[id(piece)])
        box = Box(tuple(const(0, INT64) for _ in extents), extents)
        store = tuple(
            linear.plus(
                values.position(slot, number, dim, start, node.shape[dim], node),
                linear.times(index(dim), values.step(slot, number, dim, step)),
            )
            for dim, (start, step) in enumerate(region)
        )
        nests = _cut(values, piece, box, _indices(len(extents)))
        stored = tuple(Nest(n.box, cast(n.body, node.dtype), store) for n in nests)
        patched = base if number == 0 or base >= 0 else slot
        steps.append(Stage(slot, "map", node.dtype, extents, stored, update=patched))
    return steps


_FORMS = {
    graph.REDUCE: _folded,
    graph.SCAN: _folded,
    graph.ASSEMBLE: _assembled,
}
