"""A request in portions, where computing it at once would hold much more memory than the program
run statement by statement.

Fusing many statements keeps what they exchange in registers; but what one flush stores (each
library step's result, each value that several kernels read) may add up to more than the program
would ever have held.  Such a request is cut in two: what the first half of its nodes hands to the
second is computed first, by itself, and so on.  Fusion changes no bit, so cutting changes none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import TYPE_CHECKING

from fusewright.base.later import later
from fusewright.ir import graph
from fusewright.ir.graph import Node
from fusewright.runtime.trace import Key, Slice
from fusewright.targets.cpu.stored_programs import ROOM

if TYPE_CHECKING:
    from fusewright.analysis import liveness
    from fusewright.ir import nest
    from fusewright.plan import lifetimes
    from fusewright.plan.plan import Kernel, Plan
else:
    nest, lifetimes = later("fusewright.ir.nest"), later("fusewright.plan.lifetimes")
    liveness = later("fusewright.analysis.liveness")

SHARE = 10
"""And the share of those: one in so many."""
MOST_STRUCTURES = 4096
EXCERPT = 4
"""A view of less than one part in so many is stored instead of its source."""
FEWEST = 3
"""Values computed in a request that is worth cutting."""
_ELSEWHERE = frozenset((graph.LEAF, graph.SCALAR, graph.VIEW, graph.RESHAPE, graph.PART))
"""Kinds that need no memory of their own in NumPy."""


class TooMuch(Exception):
    """A plan would hold too much: the request is cut, and the plan is not compiled."""


too_much: dict[Key, int] = {}
"""Structures that are computed in portions, and from how many bytes of values."""


def refuse(key: Key, slice_: Slice) -> None:
    """A structure would hold too much where its values take as many bytes as these."""
    if len(too_much) >= MOST_STRUCTURES:
        too_much.clear()
    too_much[key] = total(slice_.order)


def total(order: Iterable[Node]) -> int:
    """Bytes of everything that is computed: no way to run it holds more."""
    return sum(_bytes(node) for node in order if node.kind not in _ELSEWHERE)


def stored(order: Sequence[Node], plan: Plan) -> int:
    """Bytes of all results of kernels."""
    return sum(
        _bytes(order[member.stage.slot])
        for step in plan.steps
        if not isinstance(step, nest.Alias | nest.Library)
        for member in step.members
        if member.place == "memory" and member.stage.update < 0
    )


def is_hungry(order: Sequence[Node], plan: Plan, outputs: Iterable[int]) -> bool:
    """Whether running a plan holds much more than its operations one at a time."""
    if total(order) <= ROOM or sum(map(_computes, order)) < FEWEST:
        return False
    ours, theirs = of_plan(order, plan, outputs), of_statements(order, outputs)
    return ours > theirs + theirs // SHARE + ROOM


def of_plan(order: Sequence[Node], plan: Plan, outputs: Iterable[int]) -> int:
    """The most bytes that a plan's results hold at once."""
    ledger = _Ledger(order)
    for step, dead in zip(plan.steps, lifetimes.deaths(plan, frozenset(outputs)), strict=True):
        if isinstance(step, nest.Alias):
            ledger.share(step.slot, step.source)
        elif isinstance(step, nest.Library):
            ledger.make(step.slot)
        else:
            _launch(ledger, step)
        ledger.drop(dead)
    return ledger.most


def _launch(ledger: _Ledger, kernel: Kernel) -> None:
    for member in kernel.members:
        stage = member.stage
        if member.place == "memory" and stage.slot not in ledger.owner:
            if stage.update in (-1, stage.slot):
                ledger.make(stage.slot)
            else:
                ledger.share(stage.slot, stage.update)


def of_statements(order: Sequence[Node], outputs: Iterable[int]) -> int:
    """The most bytes that the operations hold at once, each computed by itself, in this order."""
    ledger = _Ledger(order)
    slots = {id(node): slot for slot, node in enumerate(order)}
    reads = [[slots[id(arg)] for arg in node.args] for node in order]
    dead = liveness.last_uses(
        [{*operands, slot} for slot, operands in enumerate(reads)], set(outputs)
    )
    for slot, node in enumerate(order):
        if node.args and _lies_in_operand(node, reads[slot][0], ledger, dead[slot]):
            ledger.share(slot, reads[slot][0])
        elif node.kind not in _ELSEWHERE or _is_excerpt(node):
            ledger.make(slot)
        ledger.drop(dead[slot])
    return ledger.most


def _lies_in_operand(node: Node, base: int, ledger: _Ledger, dead: Sequence[int]) -> bool:
    """Whether a value is a view, or what a statement has written into the memory there is."""
    if node.kind != graph.ASSEMBLE:
        return node.kind in _ELSEWHERE and not _is_excerpt(node)
    has_memory = base in ledger.owner or node.args[0].kind == graph.LEAF
    return has_memory and base in dead and node.args[0].shape == node.shape


def _is_excerpt(node: Node) -> bool:
    """Whether a view is so little of its source that it was made to be kept instead of it."""
    if node.kind != graph.VIEW or node.args[0].kind == graph.LEAF:
        return False
    return EXCERPT * _bytes(node) <= _bytes(node.args[0])


class _Ledger:
    """Who shares which memory, and how much there is."""

    def __init__(self, order: Sequence[Node]) -> None:
        self.order = order
        self.owner: dict[int, int] = {}
        self.users: dict[int, int] = {}
        self.now = self.most = 0

    def make(self, slot: int) -> None:
        self.owner[slot] = slot
        self.users[slot] = 1
        self.now += _bytes(self.order[slot])
        self.most = max(self.most, self.now)

    def share(self, slot: int, source: int) -> None:
        owner = self.owner.get(source)
        if owner is not None:  # else a leaf's
            self.owner[slot] = owner
            self.users[owner] += 1

    def drop(self, slots: Iterable[int]) -> None:
        for slot in slots:
            owner = self.owner.pop(slot, None)
            if owner is not None:
                self.users[owner] -= 1
                if not self.users[owner]:
                    self.now -= _bytes(self.order[owner])


def first_portion(order: Sequence[Node], requested: Sequence[Node]) -> list[Node]:
    """What the first half of a request hands to the second; empty where there is nothing to cut."""
    costs = [_bytes(node) * _computes(node) for node in order]
    half, done = sum(costs) / 2, 0
    middle = 0
    while middle < len(order) - 1 and done <= half:
        done += costs[middle]
        middle += 1
    first = {id(node) for node in order[:middle]}
    wanted = [arg for node in order[middle:] for arg in node.args if id(arg) in first]
    wanted += [node for node in requested if id(node) in first]
    found = {id(node): node for each in wanted for node in _stored(each, order)}
    asked = {id(node) for node in requested}
    return [] if asked <= found.keys() else list(found.values())


def _stored(node: Node, order: Sequence[Node]) -> list[Node]:
    """What has to be in memory for a value to be: nothing where it is made for nothing."""
    while node.kind in (graph.VIEW, graph.RESHAPE) and not _is_excerpt(node):
        node = node.args[0]
    if node.kind == graph.OPAQUE and node.attr:  # several results
        return [part for part in order if part.kind == graph.PART and part.args[0] is node]
    return [node] if _computes(node) or node.kind in (graph.PART, graph.VIEW) else []


def _computes(node: Node) -> bool:
    """Whether a value is worth computing ahead: not what is there or made of numbers alone."""
    if node.kind in _ELSEWHERE or node.kind == graph.IOTA:
        return False
    return any(arg.kind != graph.SCALAR for arg in node.args) or node.kind == graph.OPAQUE


def _bytes(node: Node) -> int:
    return prod(node.shape) * node.dtype.itemsize
