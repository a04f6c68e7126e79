"""The stages of a plan for a graph of recurrences, in order.

    graph  --maps.py-->  places of linear maps  --choose.py-->  one relation for each vertex
           --close.py--> statements  --order.py--> their order  --write.py--> lists

A graph with a sum along an axis is planned from the end: the list after the sum says which sums it
reads, and these are the targets of the list before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from fusewright.base import collector
from fusewright.base.options import current
from fusewright.base.values import dataclass
from fusewright.ir.recurrences.graph import AndOrGraph
from fusewright.ir.recurrences.phases import SUM, Phases
from fusewright.ir.recurrences.straight import Straight
from fusewright.ir.recurrences.verify import check_phases
from fusewright.plan.recurrences import choose, maps, order
from fusewright.plan.recurrences.choose import Candidate
from fusewright.plan.recurrences.close import IsLeaf, close
from fusewright.plan.recurrences.live import Pressure, pressure
from fusewright.plan.recurrences.write import written


@dataclass(frozen=True, slots=True)
class Listed:
    """A list with what was chosen for it.  `textbook` gives the pressure of the textbook's order:
    the first alternatives, all values of one distance from the leaves before the next.  `tried`
    has the peak of every candidate by its rule and the place of its maps.
    """

    straight: Straight
    chosen: Candidate
    pressure: Pressure
    textbook: Callable[[], Pressure]
    placement: str
    tried: dict[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class RecurrencePlan:
    """The lists that compute a graph, and the decisions behind them."""

    phases: Phases
    outer: Listed
    inner: Listed | None = None

    @property
    def lists(self) -> tuple[Listed, ...]:
        """In the order in which they run."""
        return (self.outer,) if self.inner is None else (self.inner, self.outer)


def plan(graph: AndOrGraph, effort: int, seed: int = 0) -> RecurrencePlan:
    """Plan a graph; equal graphs, efforts and seeds give equal plans.

    `effort` is the number of statements that planning of a list looks at, beyond one choice.
    """
    with collector.paused():
        return _planned(graph, effort, seed)


def _planned(graph: AndOrGraph, effort: int, seed: int) -> RecurrencePlan:
    leaves = {n for n, vertex in enumerate(graph.vertices) if vertex.leaf is not None}
    sums = {n for n, vertex in enumerate(graph.vertices) if vertex.summed}
    ends = leaves | sums
    best, placement, tried = _best(graph, graph.targets, ends.__contains__, effort, seed)
    rows = {n: graph.leaves[leaf] for n in leaves if (leaf := graph.vertices[n].leaf) is not None}
    summed = [n for n in best.closure.leaves if n in sums]
    rows |= {n: f"{SUM}{place}" for place, n in enumerate(summed)}
    outer = _listed(best, rows, placement, tried, graph.targets, ends.__contains__)
    if not summed:
        return _checked(RecurrencePlan(Phases(outer.straight), outer))
    targets = [_summed_vertex(graph, n) for n in summed]
    best, placement, tried = _best(graph, targets, leaves.__contains__, effort, seed)
    inner = _listed(best, rows, placement, tried, targets, leaves.__contains__)
    phases = Phases(outer.straight, inner.straight, graph.axis)
    return _checked(RecurrencePlan(phases, outer, inner))


def _checked(found: RecurrencePlan) -> RecurrencePlan:
    """In debug mode the lists are verified: that takes a tenth of planning."""
    if current().debug:
        check_phases(found.phases)
    return found


def _summed_vertex(graph: AndOrGraph, number: int) -> int:
    vertex = graph.vertices[number].relations[0][0].vertex
    assert vertex is not None  # a summed vertex reads one vertex: `check_graph`
    return vertex


def _best(
    graph: AndOrGraph, targets: Sequence[int], is_leaf: IsLeaf, effort: int, seed: int
) -> tuple[Candidate, str, dict[tuple[str, str], int]]:
    """The best candidate that this effort finds; how, and what else was tried."""
    best: Candidate | None = None
    place = ""
    fixed: dict[int, int] = {}
    tried: dict[tuple[str, str], int] = {}
    left = effort
    places = maps.placements(graph, targets, is_leaf)
    for rule, choice in choose.rules(graph, targets, is_leaf):
        for placement in places:
            there = list(choice)
            for vertex, n in placement.fixed.items():
                there[vertex] = n
            found = choose.candidate(graph, targets, is_leaf, there, rule)
            left -= choose.ORDERS * len(found.closure.terms)
            tried[rule, placement.name] = found.peak
            if best is None or found.cost < best.cost:
                best, place, fixed = found, placement.name, placement.fixed
        if left <= 0 or (best is not None and not choose.free(best, fixed)):
            break
    assert best is not None  # there is a rule and a placement
    best = choose.search(best, targets, is_leaf, left // 2, seed, fixed.keys())
    return _ordered(best, left // 2, seed), place, tried


def _ordered(best: Candidate, steps: int, seed: int) -> Candidate:
    """The best order for the statements that were chosen."""
    operands = best.closure.operands()
    name, found = order.search(best.order, operands, best.closure.targets, steps, seed)
    peak = pressure(found, operands).peak
    return replace(best, order=found, ordering=name or best.ordering, peak=peak)


def _listed(
    best: Candidate,
    rows: dict[int, str],
    placement: str,
    tried: dict[tuple[str, str], int],
    targets: Sequence[int],
    is_leaf: IsLeaf,
) -> Listed:
    straight = written(best.closure, best.order, rows)
    found = pressure(best.order, best.closure.operands())
    graph = best.closure.graph

    def textbook() -> Pressure:
        operands = close(graph, [0] * len(graph.vertices), targets, is_leaf).operands()
        return pressure(order.by_level(operands), operands)

    return Listed(straight, best, found, textbook, placement, tried)
