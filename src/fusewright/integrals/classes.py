"""Classes of integrals: the code of one pattern of angular momenta, planned and compiled once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from fusewright.base.options import current
from fusewright.codegen.recurrences.quartets import QuartetCode, quartet_code, quartets
from fusewright.frontends.recurrences.demand import demanded
from fusewright.integrals.families import AXES, SCALARS, repulsion
from fusewright.integrals.pairs import NONE
from fusewright.ir.recurrences.phases import Phases
from fusewright.ir.recurrences.text import straight_text
from fusewright.runtime.image import LoadedImage
from fusewright.targets.cpu.recurrences import obtain


@dataclass(frozen=True, slots=True)
class QuartetClass:
    """(ab|cd) for these angular momenta; `NONE` for a function that is not there.

    `parts` says of each part of the operator whether it is attenuated.
    """

    momenta: tuple[int, int, int, int]
    harmonics: bool
    parts: tuple[bool, ...]
    general: bool

    @property
    def highest(self) -> int:
        """The highest order of Boys functions that it needs."""
        return sum(max(l, 0) for l in self.momenta)  # noqa: E741


@cache
def planned(momenta: tuple[int, int, int, int], harmonics: bool) -> Phases:
    """The lists of a class."""
    from fusewright.ir.recurrences.phases import SUM
    from fusewright.plan.recurrences.choose import rules
    from fusewright.plan.recurrences.close import close
    from fusewright.plan.recurrences.order import depth_first, labels, ranked
    from fusewright.plan.recurrences.write import written

    la, lb, lc, ld = (max(l, 0) for l in momenta)  # noqa: E741
    zeros = {f"{name}{axis}" for axis in AXES for name in _absent(momenta)}
    family = repulsion(la, lb, lc, ld, harmonics and max(momenta) > 1)
    graph = demanded(
        family.targets, family.families, {s: 0.0 if s in zeros else None for s in SCALARS}
    )
    def summed(v): return graph.vertices[v].summed
    rule = "lowest exponent, first side"
    choice = rules(graph, graph.targets, summed)[rule]
    outer = close(graph, choice, graph.targets, summed)
    sums = sorted(outer.leaves, key=lambda v: graph.vertices[v].index)
    inner_targets = [graph.vertices[v].relations[0][0].vertex for v in sums]
    leaf = lambda v: graph.vertices[v].leaf is not None
    inner = close(graph, choice, inner_targets, leaf)
    def order(c): o = c.operands(); return depth_first(ranked(o, None), c.targets)
    rows = {v: f"{SUM}{k}" for k, v in enumerate(sums)}
    return Phases(
        written(outer, order(outer), rows),
        written(inner, order(inner), {v: graph.leaves[graph.vertices[v].leaf] for v in inner.leaves}),
        "primitives",
    )


def _absent(momenta: Sequence[int]) -> tuple[str, ...]:
    bra = ("PA", "AB") if momenta[1] == NONE else ()
    ket = ("QC", "CD") if momenta[3] == NONE else ()
    return (*bra, *ket)


@cache
def code_of(kind: QuartetClass) -> QuartetCode:
    """What its code is made from."""
    harmonics = kind.harmonics and max(kind.momenta) > 1
    phases = planned(kind.momenta, harmonics)
    return quartet_code(phases, kind.highest, kind.parts, kind.general)


def compiled(kind: QuartetClass) -> LoadedImage:
    """Its code for this machine."""
    code = code_of(kind)
    lists = (straight_text(code.vertical), straight_text(code.horizontal))
    key = ("quartets", code.highest, code.parts, code.general, *lists)
    return obtain(key, lambda lanes: quartets(code, lanes), current())
