"""What a stage reads, and how much it computes."""

from __future__ import annotations

from functools import lru_cache

from fusewright.ir.expr import Expr, postorder
from fusewright.ir.nest import Stage, Step

MOST_STAGES = 512
"""Stages whose facts are remembered: those of a large flush."""


@lru_cache(maxsize=MOST_STAGES)
def loads_of(stage: Stage) -> list[Expr]:
    """Every element that the stage's loops read."""
    return [e for e in postorder(n.body for n in stage.nests) if e.name == "load"]


@lru_cache(maxsize=MOST_STAGES)
def reads_of(step: Step) -> list[int]:
    """The stored values that a stage reads, the one it patches included."""
    if isinstance(step, Stage):
        base = {step.update} if step.update >= 0 else set()
        return sorted(base | {load.attr for load in loads_of(step)})
    return []


@lru_cache(maxsize=MOST_STAGES)
def expressions_of(stage: Stage) -> int:
    """How many operations, loads and operands the stage's loops are made of."""
    return sum(1 for _ in postorder(nest.body for nest in stage.nests))
