"""The plan of a kernel of loops: what is fused, what runs on threads and in vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fusewright.ir.loops.statements import For, Kernel, walk
from fusewright.plan.loops.contract import contracted
from fusewright.plan.loops.early import reads_first
from fusewright.plan.loops.folds import with_extremes
from fusewright.plan.loops.forward import forwarded, untouched
from fusewright.plan.loops.fuse import Fuser
from fusewright.plan.loops.nests import all_flattened
from fusewright.plan.loops.parallel import Ways
from fusewright.plan.loops.plan import LoopPlan, Settings
from fusewright.plan.loops.rename import Numbers
from fusewright.plan.loops.report import Pairs
from fusewright.plan.loops.units import surroundings
from fusewright.plan.loops.work import iteration

NO_NAMES: Mapping[int, str] = {}


def decide(
    kernel: Kernel,
    settings: Settings,
    names: Mapping[int, str] = NO_NAMES,
    parameters: Mapping[int, str] = NO_NAMES,
    reasons: bool = False,
) -> LoopPlan:
    """Plan a kernel; `names` and `parameters` are what the user calls buffers and numbers.

    With `reasons` the reports say why; finding that out costs more than the plan.
    """
    flat = with_extremes(replace(kernel, body=all_flattened(kernel.body)))
    numbers = Numbers.after(flat)
    flat = forwarded(flat, numbers)
    around = surroundings(flat, names, parameters)
    pairs = Pairs(flat, around.facts, settings.level, reasons)
    fuser = Fuser(Ways(around), settings, numbers, pairs, [])
    body = fuser.body(flat.body, frozenset())
    fused = forwarded(replace(flat, body=body, locals=tuple(numbers.locals)), numbers)
    gone = untouched(fused, fused.body)
    fused = contracted(fused, fuser.strips)
    gone |= fused.scratch - kernel.scratch
    if settings.fuse:
        fused = reads_first(fused, numbers)
    ways = Ways(surroundings(fused, names, parameters), reasons)
    ways.proved, ways.ordered = fuser.ways.proved, fuser.ways.ordered
    body = ways.body(fused.body, frozenset())
    vectors = frozenset(ways.vectors)
    work = {
        loop.dims[0].index: iteration(loop, vectors)
        for loop in walk(body)
        if isinstance(loop, For) and loop.dims[0].index in ways.threads
    }
    return LoopPlan(
        replace(fused, body=body), frozenset(ways.threads), vectors, ways.folds, ways.copies,
        work, tuple(ways.reports), pairs.all(), gone,
    )  # fmt: skip
