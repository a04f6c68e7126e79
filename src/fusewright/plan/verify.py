"""Whether a plan is well formed: every step once, in an order that respects every dependence.

Checked in debug mode, before code is generated.
"""

from __future__ import annotations

from collections.abc import Collection

from fusewright.base.errors import InternalError
from fusewright.ir.expr import postorder
from fusewright.ir.nest import Alias, Library, Program
from fusewright.plan.plan import Kernel, Plan, is_sink


def check_plan(program: Program, plan: Plan, leaves: Collection[int]) -> None:
    """Refuse a plan that loses a step, runs one before its operands, or stores nothing where a
    reader looks.

    `leaves` are the slots that are in memory already.
    """
    stored = set(leaves)
    for number, step in enumerate(plan.steps):
        where = f"step {number}"
        if isinstance(step, Kernel):
            _check_kernel(where, program, step, stored)
            stored |= {m.stage.slot for m in step.members if m.place == "memory"}
        else:
            reads = step.reads if isinstance(step, Library) else (step.source,)
            _require(set(reads) <= stored, f"{where} reads {reads}, of which some are not stored")
            stored.add(step.slot)
    lost = program.outputs - stored
    _require(not lost, f"the outputs {sorted(lost)} are not stored")
    kept = {step for step in program.steps if isinstance(step, Library | Alias)}
    _require(kept <= set(plan.steps), "a library step or an alias is missing")


def _check_kernel(where: str, program: Program, kernel: Kernel, stored: set[int]) -> None:
    _require(bool(kernel.members), f"{where} is an empty kernel")
    computed: set[int] = set()
    for phase in kernel.phases:
        for member in phase:
            reads = {
                e.attr for e in postorder(n.body for n in member.stage.nests) if e.name == "load"
            }
            missing = reads - stored - computed
            _require(
                not missing, f"{where}: slot {member.stage.slot} reads {sorted(missing)} too early"
            )
            ring = member.ring
            _require(ring > 0 and ring & (ring - 1) == 0, f"{where}: a ring of {ring} rows")
            _require(
                member.low <= 0 <= member.high or member.place == "row",
                f"{where}: its range shrinks",
            )
            if is_sink(member.stage) or member.stage.slot in program.outputs:
                _require(
                    member.place == "memory", f"{where}: slot {member.stage.slot} must be stored"
                )
        computed |= {m.stage.slot for m in phase}


def _require(right: bool, what: str) -> None:
    if not right:
        raise InternalError(f"the plan is not well formed: {what}", ("slice", "nests", "plan"))
