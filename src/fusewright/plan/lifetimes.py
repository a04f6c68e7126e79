"""When the values of a plan die."""

from __future__ import annotations

from fusewright.ir.expr import postorder
from fusewright.ir.nest import Alias, Library
from fusewright.plan.plan import Kernel, Plan


def last_uses(plan: Plan, outputs: frozenset[int]) -> list[tuple[int, ...]]:
    """After which step each stored value is no longer needed."""
    seen = set(outputs)
    result: list[tuple[int, ...]] = []
    for step in reversed(plan.steps):
        used = _touched(step)
        result.append(tuple(used - seen))
        seen |= used
    return result[::-1]


def _touched(step: Kernel | Library | Alias) -> set[int]:
    if isinstance(step, Alias):
        return {step.slot, step.source}
    if isinstance(step, Library):
        return {step.slot, *step.reads}
    loads = postorder(n.body for m in step.members for n in m.stage.nests)
    updates = {m.stage.update for m in step.members if m.stage.update >= 0}
    stored = {m.stage.slot for m in step.members}
    return stored | updates | {e.attr for e in loads if e.name == "load"}
