"""A plan's steps as launches: barriers where a step needs one, results complete and values released
as early as can be.
"""

from __future__ import annotations

from collections.abc import Iterator

from fusewright.ir.expr import postorder
from fusewright.ir.nest import Alias, Library, Program
from fusewright.ir.tree.launches import (
    Barrier,
    Completion,
    Flight,
    LaunchNode,
    Release,
    TreeLaunch,
    Work,
)
from fusewright.plan.lifetimes import completions, deaths
from fusewright.plan.plan import Kernel, Plan


def launches_of(program: Program, plan: Plan) -> tuple[LaunchNode, ...]:
    """The whole plan; its kernels' trees are numbered in their order."""
    nodes: list[LaunchNode] = []
    flight = Flight()
    for node in _steps(program, plan):
        if flight.waits(node):
            nodes.append(Barrier())
            flight.take(Barrier())
        nodes.append(node)
        flight.take(node)
    return tuple(nodes)


def _steps(program: Program, plan: Plan) -> Iterator[LaunchNode]:
    number, rows = 0, set[int]()
    lives = zip(completions(plan, program.outputs), deaths(plan, program.outputs), strict=True)
    for step, (complete, dead) in zip(plan.steps, lives, strict=True):
        yield _work(step, number)
        if isinstance(step, Kernel):
            number += 1
            rows |= {m.stage.slot for m in step.members if m.place == "row"}
        if complete:
            yield Completion(complete)
        released = tuple(sorted(set(dead) - rows))
        if released:
            yield Release(released)


def _work(step: Kernel | Library | Alias, number: int) -> Work:
    if not isinstance(step, Kernel):
        return step
    members = step.members
    nodes = postorder(n.body for m in members for n in m.stage.nests)
    made = {m.stage.slot for m in members}
    reads = {node.attr for node in nodes if node.name == "load"} - made
    writes = {m.stage.slot for m in members if m.place == "memory"}
    updates = {
        (m.stage.slot, m.stage.update) for m in members if m.stage.update not in (-1, m.stage.slot)
    }
    return TreeLaunch(number, tuple(sorted(reads)), tuple(sorted(writes)), tuple(sorted(updates)))
