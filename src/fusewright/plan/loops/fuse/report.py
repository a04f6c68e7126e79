"""What became of each pair of neighbouring loops, kept while the planner works."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from fusewright.analysis.explain import why_apart
from fusewright.analysis.pairs import compare
from fusewright.analysis.unit import Facts
from fusewright.analysis.verdict import Verdict
from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.ir.loops.statements import Kernel
from fusewright.plan.loops.fuse.nests import Item
from fusewright.plan.loops.plan import FAR, Level, PairReport


@dataclass(slots=True)
class Pairs:
    """The reports, by the lines of the two loops; `reasons` makes them say why (which costs).

    `moved` are the bytes an iteration of the loops that fused would move apart.
    """

    kernel: Kernel
    facts: Facts
    level: Level
    reasons: bool
    found: dict[tuple[Span, Span], PairReport] = field(default_factory=dict)
    moved: int = 0

    def fused(self, a: Item, b: Item, verdict: Verdict, form: str, dim: str = "") -> None:
        """The two became one loop, or run in strips of one."""
        names = tuple(name for name in ([dim] if dim else [d.name for d in b.loop.dims]) if name)
        shared = self._bytes(a.buffers & b.buffers)
        self.moved += self._bytes(a.buffers) + self._bytes(b.buffers)
        key = (a.last, b.loop.span)
        self.found[key] = PairReport(*key, True, verdict.level, names, "", shared, form)

    def _bytes(self, buffers: Iterable[int]) -> int:
        """What an iteration moves of these arrays, one element each."""
        return sum(self.kernel.buffers[number].dtype.itemsize for number in buffers)

    @property
    def gain(self) -> float:
        """The share of what fused loops would move apart that they do not move as one."""
        saved = sum(pair.nbytes for pair in self.found.values())
        return saved / self.moved if self.moved else 0.0

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
            if verdict.allowed(self.level):
                return "skipped by cost: strips of it would keep a loop from threads or vectors"
            return "\n".join(why_apart(verdict, a.unit, b.unit, self.facts))
        text = "\n".join(why_apart(verdict, a.unit, b.unit, self.facts))
        far = any(step is None or step > FAR for step in verdict.shift or (None,))
        remedy = f"; legal with level={verdict.level}"
        cost = "" if far else "; skipped by cost: strips in order would keep it from the threads"
        return text.replace(remedy, cost)

    def all(self) -> tuple[PairReport, ...]:
        return tuple(self.found.values())
