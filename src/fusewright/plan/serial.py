"""Small kernels one after the other in one launch: a launch costs more than they do.

A program that patches small arrays again and again (boundary rows of a time loop, single elements)
makes hundreds of kernels of a microsecond.  Where every value of the slice is small, neighbours
become the phases of one kernel of one unit, in the plan's order: what an earlier phase wrote is in
memory when a later one reads it, and a patch finds the value that it patches complete.
"""

from __future__ import annotations

from dataclasses import replace

from fusewright.ir.nest import Alias, Library
from fusewright.plan.plan import Decided, Kernel, Member, Plan

MOST_PHASES = 48
"""Phases of one launch: machine code for more takes longer to make than it saves."""


def joined(plan: Plan) -> Plan:
    """The plan with neighbouring kernels in one launch."""
    steps: list[Kernel | Library | Alias] = []
    decisions = list(plan.decisions)
    for step in plan.steps:
        last = steps[-1] if steps else None
        if isinstance(step, Kernel) and isinstance(last, Kernel) and _fit(last, step):
            slots = (last.members[-1].stage.slot, step.members[0].stage.slot)
            decisions.append(Decided(True, slots, "both are small: one launch runs them in order"))
            phases = (*_whole(last), *_whole(step))
            steps[-1] = Kernel("rows", 0, ((),), phases)
        else:
            steps.append(step)
    return replace(plan, steps=tuple(steps), decisions=tuple(decisions))


def _fit(first: Kernel, second: Kernel) -> bool:
    members = (*first.members, *second.members)
    if any(member.stage.form != "map" for member in members):
        return False
    return len(first.phases) + len(second.phases) <= MOST_PHASES


def _whole(kernel: Kernel) -> tuple[tuple[Member, ...], ...]:
    """The phases, each computing all of its values into memory."""
    return tuple(tuple(Member(m.stage, "memory") for m in phase) for phase in kernel.phases)
