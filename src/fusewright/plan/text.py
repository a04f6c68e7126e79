"""A plan of array statements as text, for people and for tests: a line for each step, phase and
stage, then the decisions.

    kernel tiles shared 1 over [p0]
      phase
        b2 row lag 1 ring 3
        b3 memory
    decision b2 b3 fused: saves 16 bytes for each element

 What stands at its default is left out; extents are spelled as in the program's text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from fusewright.ir.nest import Alias, Library, Program
from fusewright.ir.text import row_text
from fusewright.plan.plan import Decided, Kernel, Member, Plan

_DEFAULTS = {
    each.name: each.default for each in fields(Member) if each.name not in ("stage", "place")
}


def plan_text(program: Program, plan: Plan) -> str:
    """The whole plan."""
    lines = [line for step in plan.steps for line in _step_lines(program, step)]
    return "\n".join([*lines, *map(_decided, plan.decisions)])


def _step_lines(program: Program, step: Kernel | Library | Alias) -> Iterator[str]:
    if isinstance(step, Library):
        yield f"library b{step.slot}"
    elif isinstance(step, Alias):
        yield f"alias b{step.slot} b{step.source}"
    else:
        yield from _kernel_lines(program, step)


def _kernel_lines(program: Program, kernel: Kernel) -> Iterator[str]:
    words = [f"kernel {kernel.form} shared {kernel.shared}"]
    words += [word for word in ("ordered", "tiled") if getattr(kernel, word)]
    over = ", ".join(row_text(program, extents) for extents in kernel.extents)
    yield f"{' '.join(words)} over {over}"
    for phase in kernel.phases:
        yield "  phase"
        yield from (f"    {_member(member)}" for member in phase)


def _member(member: Member) -> str:
    changed = [
        f" {name} {getattr(member, name)}"
        for name, usual in _DEFAULTS.items()
        if getattr(member, name) != usual
    ]
    return f"b{member.stage.slot} {member.place}{''.join(changed)}"


def _decided(decided: Decided) -> str:
    first, second = decided.slots
    return f"decision b{first} b{second} {'fused' if decided.fused else 'apart'}: {decided.why}"
