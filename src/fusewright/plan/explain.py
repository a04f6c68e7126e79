"""What a plan says about the program it was made from: which operations a kernel holds, where each
result lives, and why.

Slots become the user's operations here; nothing is decided.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Literal

from fusewright.base.values import dataclass
from fusewright.ir import graph
from fusewright.ir.graph import Node
from fusewright.ir.names import name_of
from fusewright.ir.nest import Alias, Library, Program
from fusewright.plan.plan import Decided, Kernel, Member, Plan, is_sink
from fusewright.plan.support import why_library

Place = Literal["register", "row", "memory", "input"]
Line = tuple[str, int, int, int]

_UNLISTED = frozenset({graph.VIEW, graph.SCALAR, graph.RESHAPE})


@dataclass(frozen=True, slots=True)
class Placed:
    """An operation of a kernel: the node's slot and where its result lives."""

    slot: int
    place: Place


def operations(order: Sequence[Node], plan: Plan, kernel: Kernel) -> tuple[Placed, ...]:
    """The operations a kernel computes and the values it reads, operands first."""
    slots = {id(node): slot for slot, node in enumerate(order)}
    places: dict[int, Place] = {m.stage.slot: m.place for m in kernel.members}
    elsewhere = _made_by(plan)
    stack = [arg for slot in places for arg in order[slot].args]
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        slot = slots[id(node)]
        if slot in seen:
            continue
        seen.add(slot)
        ready = node.kind == graph.LEAF or slot in elsewhere
        if not ready:
            stack.extend(node.args)
        if slot not in places and (ready or node.kind not in _UNLISTED):
            places[slot] = "input" if ready else "register"
    return tuple(Placed(slot, places[slot]) for slot in sorted(places))


def _made_by(plan: Plan) -> set[int]:
    """The slots some step of the plan leaves a value in."""
    made: set[int] = set()
    for step in plan.steps:
        if isinstance(step, Kernel):
            made.update(member.stage.slot for member in step.members)
        else:
            made.add(step.slot)
    return made


def decisions_of(plan: Plan, computed: Collection[int]) -> Iterator[Decided]:
    """The decisions about what a kernel computes, each once: what joined it, and what it could not
    join.
    """
    for decided in dict.fromkeys(plan.decisions):
        if decided.slots[1] in computed:
            yield decided


def spelled(order: Sequence[Node], decided: Decided) -> str:
    """`sum with divide`: the two operations of a decision."""
    first, second = (name_of(order[slot]) for slot in decided.slots)
    return f"{first} with {second}" if decided.fused else f"{first} and {second}"


def why_kept(order: Sequence[Node], program: Program, kernel: Kernel, member: Member) -> str:
    """Why a value has a place of its own instead of living in a register."""
    slot = member.stage.slot
    if slot in program.outputs:
        return "asked for"
    for step in program.steps:
        if isinstance(step, Library) and slot in step.reads:
            return f"{name_of(order[step.slot])} runs in a library and reads it whole"
        if isinstance(step, Alias) and slot == step.source:
            return "it is reshaped, so it must lie in memory in C order"
    if is_sink(member.stage):
        return "a reduction over the whole loop: complete when the loop ends"
    if member.stage.form != "map":
        kind = "scan" if member.stage.form == "scan" else "reduction"
        return f"a {kind}: its readers need the result of a whole row"
    if member.place == "row":
        return "several steps of this kernel read it: computing it for each would cost more"
    return "another kernel reads it"


def why_opaque(node: Node) -> str:
    """Why a step runs in a library."""
    return why_library(node) or "a view of complex numbers is taken by NumPy"
