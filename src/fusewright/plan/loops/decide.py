"""The plan of a kernel of loops: what is fused, what runs on threads and in vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fusewright.analysis.unit import Facts
from fusewright.analysis.verdict import Condition
from fusewright.base.source import Span
from fusewright.ir.expr import Expr
from fusewright.ir.loops.statements import For, Kernel, Statement, walk
from fusewright.plan.loops.fuse.fuser import Fuser
from fusewright.plan.loops.fuse.guards import Conditions
from fusewright.plan.loops.fuse.report import Pairs
from fusewright.plan.loops.legality.loop_facts import surroundings
from fusewright.plan.loops.lines import told_apart, with_lines
from fusewright.plan.loops.map.extremes import with_checked_extremes
from fusewright.plan.loops.map.parallel import Parallelism
from fusewright.plan.loops.map.reductions import with_extremes
from fusewright.plan.loops.map.scans import Scans
from fusewright.plan.loops.map.work import iteration
from fusewright.plan.loops.normalise.branches import stores_last
from fusewright.plan.loops.normalise.complex import without_complex
from fusewright.plan.loops.normalise.copy_propagation import coalesced
from fusewright.plan.loops.normalise.load_hoisting import reads_first
from fusewright.plan.loops.normalise.perfect_nests import all_flattened
from fusewright.plan.loops.normalise.rename import Numbers
from fusewright.plan.loops.place.array_contraction import contracted
from fusewright.plan.loops.place.predictive_commoning import carried
from fusewright.plan.loops.place.scalar_replacement import promoted
from fusewright.plan.loops.place.store_forwarding import forwarded, untouched
from fusewright.plan.loops.place.unroll_and_jam import VECTORS, UnrollAndJam
from fusewright.plan.loops.plan import LoopPlan, PairReport, Settings

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
    kernel, written = told_apart(kernel) if reasons else (kernel, {})
    kernel = coalesced(without_complex(kernel))
    plan = _decided(_Planner(kernel, settings, names, parameters, reasons))
    return with_lines(plan, written) if reasons else plan  # else its spans differ already


def _decided(planner: _Planner) -> LoopPlan:
    plan, found = planner.plan(()), planner.conditions.found
    apart = {(pair.first, pair.second): pair for pair in plan.pairs if not pair.fused}
    open_ = {key: condition for key, condition in found.items() if key in apart}
    guard = planner.conditions.joined(open_, planner.facts) if open_ else None
    if guard is None or guard.holds is None:
        return replace(plan, pairs=tuple(_unguarded(pair, open_) for pair in plan.pairs))
    fused = planner.plan((guard.holds,))
    if _count(fused) <= _count(plan):
        return plan
    pairs = tuple(
        replace(pair, when=guard.text) if (pair.first, pair.second) in apart and pair.fused
        else pair
        for pair in fused.pairs
    )  # fmt: skip
    return replace(fused, pairs=pairs, guard=guard, otherwise=plan)


def _count(plan: LoopPlan) -> int:
    return sum(pair.fused for pair in plan.pairs)


def _unguarded(pair: PairReport, found: Mapping[tuple[Span, Span], Condition]) -> PairReport:
    """Why there is no test at run time, where one was looked for."""
    condition = found.get((pair.first, pair.second))
    if condition is None or not pair.why:
        return pair
    return replace(pair, why=f"{pair.why}; no test at run time: {condition.text}")


class _Planner:
    """Plans one kernel, for all parameters or some; notes when loops that stay apart need not."""

    def __init__(
        self,
        kernel: Kernel,
        settings: Settings,
        names: Mapping[int, str],
        parameters: Mapping[int, str],
        reasons: bool,
    ) -> None:
        self.kernel, self.settings = kernel, settings
        self.names, self.parameters, self.reasons = names, parameters, reasons
        self.conditions = Conditions()
        self.facts = Facts()

    def plan(self, assumed: tuple[Expr, ...]) -> LoopPlan:
        """The plan where these conditions hold."""
        kernel, settings = self.kernel, self.settings
        flat = with_extremes(replace(kernel, body=all_flattened(kernel.body)))
        numbers = Numbers.after(flat)
        checked = with_checked_extremes(flat, numbers)
        flat = forwarded(stores_last(checked.kernel, numbers), numbers)
        free = (settings.reassociate, checked.variables)
        known = (self.names, self.parameters, assumed, *free)
        tiles = UnrollAndJam(numbers, settings)
        flat = tiles.planned(flat, surroundings(flat, *known), early=True)
        around = surroundings(flat, *known)
        self.facts = around.facts
        pairs = Pairs(flat, around.facts, settings.level, self.reasons)
        first = Parallelism(around, tiles=tiles.made)
        fuser = Fuser(first, settings, numbers, pairs, [], self.conditions)
        body = fuser.body(flat.body, frozenset())
        fused = forwarded(replace(flat, body=body, locals=tuple(numbers.locals)), numbers)
        gone = untouched(fused, fused.body)
        fused = contracted(fused, fuser.strips)
        gone |= fused.scratch - flat.scratch
        scans = Scans(fused, surroundings(fused, *known), numbers)
        if settings.threads:
            fused = scans.planned()
        if settings.fuse:
            fused = reads_first(fused, numbers)
        fused = tiles.planned(fused, surroundings(fused, *known))
        ways = Parallelism(surroundings(fused, *known), self.reasons, tiles.made)
        ways.proved, ways.ordered = fuser.ways.proved | set(scans.proved), fuser.ways.ordered
        ways.columns, ways.pieces = tiles.lanes, tiles.ordered
        ways.scans = scans.proved
        body = ways.body(fused.body, frozenset())
        vectors = frozenset(ways.vectors)
        parallel = vectors | ways.threads
        fused = promoted(replace(fused, body=body), numbers, parallel)
        fused = carried(fused, numbers, parallel)
        return LoopPlan(
            fused, frozenset(ways.threads), vectors, ways.folds, ways.copies,
            _work(body, ways), dict.fromkeys(sorted(tiles.lanes), VECTORS), tuple(ways.reports),
            pairs.all(), gone, gain=pairs.gain,
        )  # fmt: skip


def _work(body: tuple[Statement, ...], ways: Parallelism) -> dict[int, Expr]:
    """What one iteration of each loop on threads costs."""
    loops = (loop for loop in walk(body) if isinstance(loop, For))
    return {
        loop.dims[0].index: iteration(loop, frozenset(ways.vectors))
        for loop in loops
        if loop.dims[0].index in ways.threads
    }
