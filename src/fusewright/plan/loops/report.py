"""What became of each pair of neighbouring loops, kept while the planner works."""

from __future__ import annotations

from dataclasses import dataclass, field

from fusewright.analysis.explain import describe
from fusewright.analysis.pairs import compare
from fusewright.analysis.unit import Facts
from fusewright.analysis.verdict import Verdict
from fusewright.base.source import Span
from fusewright.ir.loops.statements import Kernel
from fusewright.plan.loops.nests import Item
from fusewright.plan.loops.plan import FAR, Level, PairReport


@dataclass(slots=True)
class Pairs:
    """The reports, by the lines of the two loops; `reasons` makes them say why (which costs)."""

    kernel: Kernel
    facts: Facts
    level: Level
    reasons: bool
    found: dict[tuple[Span, Span], PairReport] = field(default_factory=dict)

    def fused(self, a: Item, b: Item, verdict: Verdict, form: str, dim: str = "") -> None:
        """The two became one loop, or run in strips of one."""
        names = (dim,) if dim else tuple(d.name or f"i{d.index}" for d in b.loop.dims)
        sizes = (self.kernel.buffers[n].dtype.itemsize for n in a.buffers & b.buffers)
        key = (a.last, b.loop.span)
        self.found[key] = PairReport(*key, True, verdict.level, names, "", sum(sizes), form)

    def kept(self, a: Item, b: Item, why: str, adjacent: bool = True) -> None:
        """The two stay apart; without a reason given the analysis is asked for one."""
        key = (a.last, b.loop.span)
        known = self.found.get(key)
        if not adjacent or (known is not None and known.fused):
            return
        if not why and self.reasons:
            why = self._reason(a, b)
        if known is None or (why and not known.why):
            self.found[key] = PairReport(*key, False, None, (), why)

    def _reason(self, a: Item, b: Item) -> str:
        """The analysis' answer in words."""
        verdict = compare(a.unit, b.unit, self.facts)
        if verdict.level not in ("shift", "overlap") or not verdict.allowed(self.level):
            text = describe(verdict, a.unit, b.unit, self.facts, self.level)
            if text.startswith("FUSED"):
                return "skipped by cost: strips of it would keep a loop from threads or vectors"
            return text.replace("NOT FUSED: ", "")
        text = describe(verdict, a.unit, b.unit, self.facts, "dims").replace("NOT FUSED: ", "")
        far = any(step is None or step > FAR for step in verdict.shift or (None,))
        remedy = f"; legal with level={verdict.level}"
        cost = "" if far else "; skipped by cost: strips in order would keep it from the threads"
        return text.replace(remedy, cost)

    def all(self) -> tuple[PairReport, ...]:
        return tuple(self.found.values())
