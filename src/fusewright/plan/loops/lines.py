"""Loops are told apart by their spans: those of one line (a function that is called twice, an array
statement) get spans of their own while a kernel is planned, and their lines back in what is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fusewright.base.source import Span
from fusewright.ir.loops.statements import Kernel, walk, with_spans
from fusewright.plan.loops.plan import LoopPlan

Lines = Mapping[Span, Span]


def told_apart(kernel: Kernel) -> tuple[Kernel, Lines]:
    """The kernel with a span for each statement, which ends at no column that there is; the spans
    that they stand for.
    """
    written = {}
    for number, statement in enumerate(walk(kernel.body)):
        file, line, column, _ = statement.span
        written[file, line, column, -1 - number] = statement.span
    return with_spans(kernel, list(written)), written


def with_lines(plan: LoopPlan, written: Lines) -> LoopPlan:
    """The plan whose reports have the spans of the source."""

    def of(span: Span) -> Span:
        return written.get(span, span)

    loops = [replace(loop, span=of(loop.span), because=of(loop.because)) for loop in plan.loops]
    pairs = [replace(pair, first=of(pair.first), second=of(pair.second)) for pair in plan.pairs]
    other = plan.otherwise
    otherwise = None if other is None else with_lines(other, written)
    return replace(plan, loops=tuple(loops), pairs=tuple(pairs), otherwise=otherwise)
