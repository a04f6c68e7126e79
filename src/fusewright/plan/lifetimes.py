"""What the steps of a plan use, and when its values die."""

from __future__ import annotations

from fusewright.analysis.liveness import last_uses
from fusewright.ir.expr import postorder
from fusewright.ir.nest import Alias, Library
from fusewright.plan.plan import Kernel, Plan


def deaths(plan: Plan, outputs: frozenset[int]) -> list[tuple[int, ...]]:
    """After which step each stored value is no longer needed."""
    return last_uses(list(map(_touched, plan.steps)), outputs)


def completions(plan: Plan, outputs: frozenset[int]) -> list[tuple[int, ...]]:
    """Which outputs each step is the last to write."""
    last = last_uses([outputs & _written(step) for step in plan.steps], ())
    return [tuple(sorted(each)) for each in last]


def _written(step: Kernel | Library | Alias) -> set[int]:
    return {m.stage.slot for m in step.members} if isinstance(step, Kernel) else {step.slot}


def _touched(step: Kernel | Library | Alias) -> set[int]:
    if isinstance(step, Alias):
        return {step.slot, step.source}
    if isinstance(step, Library):
        return {step.slot, *step.reads}
    loads = postorder(n.body for m in step.members for n in m.stage.nests)
    updates = {m.stage.update for m in step.members if m.stage.update >= 0}
    return _written(step) | updates | {e.attr for e in loads if e.name == "load"}
