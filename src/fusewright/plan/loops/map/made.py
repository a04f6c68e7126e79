"""Loops that the planner makes, over strips or blocks of the user's: those run on their threads."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from fusewright.ir.loops.statements import NOWHERE, For
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
