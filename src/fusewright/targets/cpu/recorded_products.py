"""PRODUCT nodes on the CPU: in segments with what stands around them, or by themselves; in memory
of the pool.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import prod
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright.base import hooks
from fusewright.base.later import later
from fusewright.base.options import Options
from fusewright.ir.graph import (
    ASSEMBLE,
    GATHER,
    IOTA,
    LEAF,
    MAP,
    PRODUCT,
    REDUCE,
    RESHAPE,
    SCALAR,
    SCAN,
    VIEW,
    Memory,
    Node,
    contiguous_strides,
    leaf,
)
from fusewright.ir.products import operations
from fusewright.machine import record as machine
from fusewright.plan import chains as plan
from fusewright.plan.chains import Segment
from fusewright.runtime.buffers import allocate
from fusewright.runtime.limits import thread_count
from fusewright.runtime.listening import interprets, listeners
from fusewright.runtime.profile import Flush, KernelRecord, Step, told
from fusewright.runtime.trace import WORTH_KEEPING, Slice, take
from fusewright.runtime.trigger import asked
from fusewright.targets.cpu import asking, chains, product_schedules, products
from fusewright.targets.cpu.product_blocks import Operand, calls_for
from fusewright.targets.cpu.product_calls import BoundCalls, base_of, window_of

if TYPE_CHECKING:
    from fusewright.targets.cpu import product_records
    from fusewright.targets.cpu.product_schedules import Draft
else:  # few programs are listened to
    product_records = later("fusewright.targets.cpu.product_records")

Array = np.ndarray[Any, Any]
Compute = Callable[[Sequence[Node]], None]
MOST_KNOWN = 1024
"""Plans kept, by structure and shapes: finding one takes about as long as a product of 200."""
_known: dict[Any, tuple[Segment, ...]] = {}


def run_inside(
    pending: Sequence[Node], options: Options, compute: Compute, find: chains.Find
) -> None:
    """Compute the products that a request needs and what is fused with them, each after what it is
    made of, and then the rest of the request, both by `compute`.

    The core is told how that was done, for other requests of this structure.
    """
    structure = asking.structure_of_products(pending)
    may_wait = interprets(options) and not listeners
    is_first = may_wait and structure is not None and not asking.is_met_again(structure)
    began, steps = perf_counter(), list[Step]()
    found, count = _planned(pending, options)
    schedule = product_schedules.Draft(count)
    for segment, nodes in found:
        wanted = _needed(segment, nodes)
        schedule.first(nodes, wanted)
        if wanted:
            compute(wanted)
        record = product_records.described(segment, nodes) if listeners else None
        start = perf_counter()
        threads = run_segment(segment, nodes, options, compute, find, schedule, is_first)
        if record is not None:
            took = perf_counter() - start
            steps.append(replace(record, start=start, seconds=took, threads=threads))
    if listeners:
        told(Flush(*asked(), began, perf_counter() - began, steps))
    elif structure is not None and schedule.is_known:
        asking.learn(structure, schedule.made())
    compute(pending)


def run_segment(
    segment: Segment, nodes: dict[int, Node], options: Options, compute: Compute,
    find: chains.Find, schedule: Draft, is_first: bool,
) -> int:  # fmt: skip
    """Compute one segment; on how many threads.  Where it `is_first` asked for, fusing must save
    more than loading its code takes.
    """
    saved = 1e-9 * (segment.apart.total - segment.together.total)
    fused = segment.fused and (not is_first or saved > machine.current().load_finder)
    calls = chains.run(nodes, segment, options, find) if fused else None
    if calls is not None:
        schedule.add(calls.bound, segment.members, calls.runners)
        _computed_once(segment, nodes)
        return calls.threads
    schedule.is_known &= not segment.fused  # else its code is being compiled
    for slot in segment.products:
        bases = map(base_of, nodes[slot].args)
        wanted = [base for base in bases if base.kind not in (LEAF, SCALAR)]
        schedule.first(nodes, wanted)
        if wanted:
            compute(wanted)
        schedule.add(run_alone(nodes, slot))
    return thread_count()


def planned(slice_: Slice, options: Options) -> Iterator[KernelRecord | Slice]:
    """What would run for a slice with products, in order: their records, and slices of what is
    computed before them and of what is left; nothing runs.
    """
    order = slice_.order
    every = dict(enumerate(order))
    slots = {id(node): slot for slot, node in every.items()}
    stored: set[int] = set()
    for segment in segments_of(slice_, options.fuse):
        needed = [slots[id(node)] for node in _needed(segment, every)]
        before = [slot for slot in needed if slot not in stored]
        if before:
            yield _rest(order, before, stored)
        yield product_records.described(segment, every)
        stored |= {*before, *segment.outputs}
    left = [slot for slot in slice_.outputs if slot not in stored]
    if left:
        yield _rest(order, left, stored)


def _rest(order: Sequence[Node], wanted: list[int], stored: set[int]) -> Slice:
    """The slice of some values when others are in memory."""
    twins: dict[int, Node] = {}
    for slot, node in enumerate(order):
        if slot in stored:
            strides = contiguous_strides(node.shape, node.dtype.itemsize)
            twin = leaf(Memory(0, 0, None), node.dtype, node.shape, 0, strides)
        else:
            args = tuple(twins[id(arg)] for arg in node.args)
            twin = Node(node.kind, node.op, args, node.dtype, node.shape, node.attr, node.value)
        twin.line = node.line
        twins[id(node)] = twin
    requested = [twins[id(order[slot])] for slot in wanted]
    twins.clear()  # references are counted
    return take(requested)


def replayed(order: Sequence[Node], outputs: Sequence[int], options: Options) -> bool:
    """Compute the values in some slots of a slice that is kept for other calls, where that fuses
    products; False, and nothing is computed, where it does not.
    """
    if not options.fuse or any(node.kind not in _COPIED for node in order):
        return False
    twins: dict[int, Node] = {}
    for node in order:
        if node.kind != SCALAR:
            args = tuple(twins.get(id(arg), arg) for arg in node.args)
            twin = Node(node.kind, node.op, args, node.dtype, node.shape, node.attr, node.value)
            twin.line = node.line
            twins[id(node)] = twin
    wanted = [twins[id(order[slot])] for slot in outputs]
    twins.clear()  # references are counted
    if not any(segment.fused for segment in segments_of(take(wanted), options.fuse)):
        return False
    hooks.evaluate(wanted)
    for slot, twin in zip(outputs, wanted, strict=True):
        order[slot].become_leaf(*twin.value)
    return True


_COPIED = frozenset(
    {LEAF, SCALAR, MAP, VIEW, REDUCE, SCAN, ASSEMBLE, GATHER, IOTA, RESHAPE, PRODUCT}
)
"""Kinds without a state of their own."""


def _planned(
    pending: Sequence[Node], options: Options
) -> tuple[list[tuple[Segment, dict[int, Node]]], int]:
    """The segments, each with its members and their operands: references to others are counted; and
    how many values the request needs.
    """
    slice_ = take(pending)
    order = slice_.order
    found = segments_of(slice_, options.fuse)
    slots = {id(node): slot for slot, node in enumerate(order)}
    result = []
    for segment in found:
        nodes: dict[int, Node] = {}
        for slot in segment.members:
            nodes[slot] = order[slot]
            nodes.update((slots[id(arg)], arg) for arg in order[slot].args)
        result.append((segment, nodes))
    return result, len(order)


def segments_of(slice_: Slice, fuse: bool) -> tuple[Segment, ...]:
    """How a slice is cut: known, or found now."""
    shapes = tuple([node.shape for node in slice_.order])
    machine = products.machine_at_hand(slice_.order)
    key = (slice_.key, shapes, fuse, thread_count(), machine, plan.MOST_LAYERS)
    found = _known.get(key)
    if found is None:
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        outputs = frozenset(slice_.outputs)
        found = tuple(plan.segments(slice_.order, outputs, machine, fuse, thread_count()))
        _known[key] = found
    return found


def _needed(segment: Segment, nodes: dict[int, Node]) -> list[Node]:
    """What is not in memory and is read from outside."""
    members = {id(nodes[slot]) for slot in segment.members}
    found = {}
    for slot in segment.members:
        for arg in nodes[slot].args:
            base = arg
            while base.kind == VIEW and id(base) not in members:
                base = base.args[0]
            if id(base) not in members and base.kind not in (LEAF, SCALAR):
                found[id(base)] = base
    return list(found.values())


def _computed_once(segment: Segment, nodes: dict[int, Node]) -> None:
    """As `trace.computed_once` for what has not been stored."""
    for slot in segment.members:
        if nodes[slot].kind in WORTH_KEEPING:
            nodes[slot].demands += 1


def run_alone(nodes: dict[int, Node], slot: int) -> BoundCalls | None:
    """Compute one product; None where that is more than calls."""
    node, bound = nodes[slot], BoundCalls(nodes)
    out = bound.result(slot)
    places = [(out, node.shape, contiguous_strides(node.shape, node.dtype.itemsize))]
    for arg in node.args:
        array, address = bound.operand(arg)
        places.append((address, arg.shape, array.strides))
    if operations(node):
        result, left, right = (Operand(*each) for each in places)
        calls = calls_for(left, right, result, products.kernel_for(node.args[0].dtype, node.dtype))
        if calls is not None:
            bound.calls = calls
            bound.run()
            return bound
    memory = into_pool(node, [window_of(arg) for arg in node.args])
    node.become_leaf(memory, 0, contiguous_strides(node.shape, node.dtype.itemsize))
    return None


def into_pool(node: Node, operands: list[Array]) -> Memory:
    """The result of a PRODUCT, in C order."""
    memory = allocate(max(prod(node.shape) * node.dtype.itemsize, 1))
    left, right = operands
    products.product(left, right, np.ndarray(node.shape, node.dtype.numpy, memory.owner))
    return memory
