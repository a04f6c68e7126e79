"""What fusing the loops of one kernel knows and writes down: below `fuser`, which makes one loop of
two, and `strip_mining` and `blocks`, which run them strip by strip.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from fusewright.analysis.pairs import compare
from fusewright.analysis.unit import Facts
from fusewright.analysis.verdict import Verdict
from fusewright.base.values import dataclass
from fusewright.ir.expr import Expr
from fusewright.ir.loops.statements import Statement
from fusewright.plan.loops.fuse.guards import Conditions
from fusewright.plan.loops.fuse.nests import Item
from fusewright.plan.loops.fuse.report import Pairs
from fusewright.plan.loops.legality.live_in import Locals
from fusewright.plan.loops.map.parallel import Parallelism
from fusewright.plan.loops.normalise.rename import Numbers
from fusewright.plan.loops.plan import Settings

Form = Literal["dims", "overlap", "shift", "shift in blocks"]
Inner = Callable[[tuple[Statement, ...], Locals], tuple[Statement, ...]]
"""Fuses the loops of a body, with the variables that are read after it."""


@dataclass(frozen=True, slots=True)
class Strip:
    """A loop over strips: `start` is where strip `index` begins, `size` its length; `reach` says
    for each member's own loop how far beyond the strip's ends it goes.
    """

    index: int
    start: Expr
    size: Expr
    reach: dict[int, tuple[int, int]]
    form: Form


@dataclass(slots=True)
class Fusing:
    """The kernel as it is known so far, what was decided of pairs of loops, and the strips made."""

    ways: Parallelism
    settings: Settings
    numbers: Numbers
    pairs: Pairs
    strips: list[Strip]
    conditions: Conditions

    @property
    def facts(self) -> Facts:
        return replace(self.ways.around.facts, witnesses=False)

    def verdict(self, a: Item, b: Item) -> Verdict:
        """The analysis' answer for two loops."""
        return compare(a.unit, b.unit, self.facts)

    def note_variables(self) -> None:
        """What the planner knows of variables holds for those made since, too."""
        around = replace(self.ways.around.kernel, locals=tuple(self.numbers.locals))
        self.ways.around = replace(self.ways.around, kernel=around)
