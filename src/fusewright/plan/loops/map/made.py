"""Loops that the planner makes run on the threads of those inside them; what no task can do."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from fusewright.ir.loops.statements import NOWHERE, Block, Check, For, Leave, Print, walk
from fusewright.plan.loops.plan import LoopReport


def shared(reports: Sequence[LoopReport], loop: For, made: Collection[int]) -> list[LoopReport]:
    """The reports of a loop over strips and of all that is inside it; `made` are the first dims of
    such loops.
    """
    own, *inside = reports
    cut = {*_cut(loop, made)}
    found = [replace(own, made=True)]
    for report in inside:
        if own.threads and report.dims and report.dims[0] in cut:
            scans = report.scans or own.scans
            report = replace(report, threads=True, why="", because=NOWHERE, scans=scans)
        found.append(report)
    return found


def _cut(loop: For, made: Collection[int]) -> Iterator[int]:
    """The loops that it runs strip by strip, by their first dims."""
    for inner in loop.body:
        if isinstance(inner, For):
            yield inner.dims[0].index
            if inner.dims[0].index in made:
                yield from _cut(inner, made)


def has_order(loop: For) -> bool:
    """Whether it prints or checks: the first line, and the first index outside, come first."""
    return any(isinstance(statement, Print | Check) for statement in walk(loop.body))


def acts_outside(loop: For) -> bool:
    """Whether an iteration prints, checks or leaves more than the loop: no task can do that, not
    even of a loop that is known to have one iteration.
    """
    own = {s.label for s in walk(loop.body) if isinstance(s, Block)}
    leaves = (s for s in walk(loop.body) if isinstance(s, Leave))
    return has_order(loop) or any(leave.label not in own for leave in leaves)
