"""What `explain()` prints of a plan: what was chosen, the values live at once before and after,
flops, and where the values stay.
"""

from __future__ import annotations

from collections.abc import Iterator

from fusewright.base.values import dataclass
from fusewright.ir.recurrences.graph import AndOrGraph
from fusewright.ir.recurrences.straight import flops
from fusewright.plan.recurrences.cut import pieces
from fusewright.plan.recurrences.live import Spills, spills
from fusewright.plan.recurrences.plan import Listed, RecurrencePlan
from fusewright.plan.recurrences.tier import Tier, tier


@dataclass(frozen=True, slots=True)
class ListReport:
    """One list in numbers; `choices` are its statements with several relations, `peak` and `mean`
    count values live at once, `by_level` those of the textbook's order.  Stores and loads are
    predicted for the registers that there are.
    """

    name: str
    statements: int
    choices: int
    flops: int
    by_level: tuple[int, float]
    peak: int
    mean: float
    rule: str
    ordering: str
    placement: str
    tried: dict[tuple[str, str], int]
    tier: Tier
    stores: int
    loads: int
    pieces: int

    def lines(self) -> Iterator[str]:
        """As text, indented below the list's name."""
        yield f"{self.name}: {self.statements} statements, {self.flops} flops in each column"
        if self.choices:
            yield f"  relations: {self.rule}{self._others()}"
        if self.placement:
            yield f"  linear maps: {self.placement}{self._places()}"
        yield f"  order: {self.ordering}"
        before, mean = self.by_level
        yield (
            f"  live at once: at most {self.peak}, {self.mean:.0f} on average "
            f"(by level {before} and {mean:.0f})"
        )
        where = self.tier
        yield f"  kept in {where.place}" + (
            f": {where.slots} values beyond the registers, {where.bytes} bytes; "
            f"about {self.stores} stores and {self.loads} loads"
            if where.slots
            else ""
        )
        if self.pieces > 1:
            yield f"  cut into {self.pieces} pieces"

    def _others(self) -> str:
        """How many rules were tried at the chosen place, and the peaks that they gave."""
        peaks = [peak for (_, place), peak in self.tried.items() if place == self.placement]
        if len(peaks) < 2:
            return ""
        return f" ({len(peaks)} rules were tried, with peaks of {min(peaks)} to {max(peaks)})"

    def _places(self) -> str:
        best: dict[str, int] = {}
        for (_, place), peak in self.tried.items():
            best[place] = min(best.get(place, peak), peak)
        peaks = [f"{place} {peak}" for place, peak in best.items()]
        return f" (peaks before the search: {'; '.join(peaks)})" if len(peaks) > 1 else ""


@dataclass(frozen=True, slots=True)
class RecurrenceReport:
    """What was chosen for a graph; prints as text.  `lists` are in the order in which they run."""

    values: int
    choices: int
    targets: int
    leaves: int
    axis: str
    lists: tuple[ListReport, ...]
    runs_on: str

    def __str__(self) -> str:
        lines = [
            f"{self.targets} targets of {self.leaves} leaves: {self.values} values, "
            f"{self.choices} of them with a choice of relations; runs on {self.runs_on}"
        ]
        lines += [line for each in self.lists for line in each.lines()]
        return "\n".join(lines)

    __repr__ = __str__


def report(
    graph: AndOrGraph, plan: RecurrencePlan, registers: int, lanes: int, runs_on: str
) -> RecurrenceReport:
    """The report of a plan, for vectors of so many lanes in so many registers."""
    names = [f"at each of {graph.axis}", f"after the sum over {graph.axis}"]
    if plan.inner is None:
        names = ["list"]
    return RecurrenceReport(
        len(graph.vertices),
        sum(len(vertex.relations) > 1 for vertex in graph.vertices),
        len(graph.targets),
        len(graph.leaves),
        graph.axis,
        tuple(
            _listed(name, each, registers, lanes)
            for name, each in zip(names, plan.lists, strict=True)
        ),
        runs_on,
    )


def _listed(name: str, listed: Listed, registers: int, lanes: int) -> ListReport:
    chosen = listed.chosen
    moved: Spills = spills(chosen.order, chosen.closure.operands(), registers)
    count, textbook = len(listed.straight.statements), listed.textbook()
    return ListReport(
        name=name,
        statements=count,
        choices=sum(len(chosen.closure.graph.vertices[v].relations) > 1 for v in chosen.order),
        flops=flops(listed.straight),
        by_level=(textbook.peak, textbook.mean),
        peak=listed.pressure.peak,
        mean=listed.pressure.mean,
        rule=chosen.rule,
        ordering=chosen.ordering,
        placement=listed.placement,
        tried=listed.tried,
        tier=tier(listed.pressure.peak, registers, lanes),
        stores=len(moved.stores),
        loads=len(moved.loads),
        pieces=len(pieces(count)),
    )
