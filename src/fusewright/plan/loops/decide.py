"""The plan of a kernel of loops: what is fused, what runs on threads and in vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fusewright.ir.loops.statements import For, Kernel, walk
from fusewright.plan.loops.parallel import Ways
from fusewright.plan.loops.plan import LoopPlan, Settings
from fusewright.plan.loops.units import surroundings
from fusewright.plan.loops.work import iteration

NO_NAMES: Mapping[int, str] = {}


def decide(
    kernel: Kernel,
    settings: Settings,
    names: Mapping[int, str] = NO_NAMES,
    parameters: Mapping[int, str] = NO_NAMES,
    unique: frozenset[int] = frozenset(),
    reasons: bool = False,
) -> LoopPlan:
    """Plan a kernel; `names` and `parameters` are what the user calls buffers and numbers.

    With `reasons` the reports say why; finding that out costs more than the plan.
    """
    around = surroundings(kernel, names, parameters, unique)
    ways = Ways(around, reasons)
    body = ways.body(kernel.body, frozenset())
    planned = replace(kernel, body=body)
    vectors = frozenset(ways.vectors)
    work = {
        loop.dims[0].index: iteration(loop, vectors)
        for loop in walk(body)
        if isinstance(loop, For) and loop.dims[0].index in ways.threads
    }
    return LoopPlan(planned, frozenset(ways.threads), vectors, work, tuple(ways.reports))
