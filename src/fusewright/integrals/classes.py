"""Classes of integrals: the code of one pattern of angular momenta, planned and compiled once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from fusewright.base.later import later
from fusewright.base.options import current
from fusewright.codegen.recurrences.quartets import QuartetSizes
from fusewright.integrals.harmonics import Exponents, cartesian
from fusewright.targets.executable import UnitCode, Written
from fusewright.targets.target import target

if TYPE_CHECKING:
    from fusewright.codegen.recurrences import quartets
    from fusewright.frontends.recurrences import demand
    from fusewright.integrals import families, narrow
    from fusewright.plan.recurrences import plan as planner
else:  # a process that finds its code on disk makes no plans
    quartets = later("fusewright.codegen.recurrences.quartets")
    demand = later("fusewright.frontends.recurrences.demand")
    families = later("fusewright.integrals.families")
    narrow = later("fusewright.integrals.narrow")
    planner = later("fusewright.plan.recurrences.plan")

ABSENT = -1
"""Instead of an angular momentum: the function 1, an s function of exponent 0."""
EFFORT = 0
"""Statements that the planner looks at beyond the first choice: that is what first use pays for."""
LARGE = 13
"""Total angular momentum from which on a class's horizontal steps are matrix products.  Up to
(ff|ff), whose list has 50,000 statements, lists are faster (8 against 58 us a quartet, K = 1); that
of (gg|gg) would take minutes to plan, and its horizontal relation loses three digits.
"""
NARROW = 6
"""Total angular momentum from which on relations are fixed beforehand: at (dp|dp) planning begins
to take longer than compiling.
"""

Momenta = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class QuartetClass:
    """(ab|cd) for these angular momenta; `ABSENT` for a function that is not there.

    `harmonics`: spherical components.  `parts` says of each part of the operator whether it is
    attenuated; `general` whether shells have several contractions.
    """

    momenta: Momenta
    harmonics: bool
    parts: tuple[bool, ...]
    general: bool

    @property
    def is_large(self) -> bool:
        """Whether its code ends with [e0|f0]: the other steps are matrix products (`transfer`)."""
        return sum(max(l, 0) for l in self.momenta) >= LARGE  # noqa: E741


def lanes() -> int:
    """Doubles in the widest register of the processor."""
    return target("cpu").features(current().features).vector_bytes // 8


def code_of(kind: QuartetClass) -> UnitCode[QuartetSizes]:
    """The code of a class for this machine."""
    return target("cpu").compile(_program(kind), current())


def is_compiled(kind: QuartetClass) -> bool:
    """Whether its code is in memory or on disk."""
    return target("cpu").compile(_program(kind), current(), make=False) is not None


def _program(kind: QuartetClass) -> Written[QuartetSizes]:
    def write(lanes: int) -> tuple[QuartetSizes, str]:
        code = listed(*_key(kind))
        return code.sizes, quartets.quartets(code, lanes)

    return Written(("quartets", *_key(kind)), write)


def _key(kind: QuartetClass) -> tuple[Momenta, bool, tuple[bool, ...], bool, bool]:
    """What its code depends on: the arguments of `listed`."""
    large = kind.is_large
    has_harmonics = kind.harmonics and max(kind.momenta) > 1 and not large
    return kind.momenta, has_harmonics, kind.parts, kind.general, large


def listed(
    momenta: Momenta,
    harmonics: bool,
    parts: tuple[bool, ...] = (False,),
    general: bool = False,
    large: bool = False,
) -> quartets.QuartetCode:
    """The planned lists of a class; of a `large` one up to [e0|f0]."""
    la, lb, lc, ld = (max(l, 0) for l in momenta)  # noqa: E741
    family = families.repulsion(la, lb, lc, ld, harmonics)
    if la + lb + lc + ld >= NARROW:
        family = narrow.narrowed(family)
    if large:
        family = replace(family, targets=[("E", (*e_f, 0)) for e_f in raised(momenta)])
    zeros = _zeros(momenta)
    scalars = {name: zeros.get(name) for name in families.SCALARS}
    graph = demand.demanded(family.targets, family.families, scalars)
    phases = planner.plan(graph, EFFORT).phases
    return quartets.quartet_code(phases, la + lb + lc + ld, parts, general)


def raised(momenta: Momenta) -> list[tuple[Exponents, Exponents]]:
    """The pairs (e, f) of [e0|f0], in order."""
    la, lb, lc, ld = (max(l, 0) for l in momenta)  # noqa: E741
    return list(product(raised_side(la, lb), raised_side(lc, ld)))


def raised_side(la: int, lb: int) -> list[Exponents]:
    """The Cartesian functions about one point that those of two shells are combinations of: of all
    degrees up to la + lb, or of degree la where the point is A.
    """
    return [e for degree in range(0 if lb else la, la + lb + 1) for e in cartesian(degree)]


def _zeros(momenta: Sequence[int]) -> dict[str, float]:
    """The scalars that are 0 where functions are absent."""
    names = (("PA", "AB") if momenta[1] == ABSENT else ()) + (
        ("QC", "CD") if momenta[3] == ABSENT else ()
    )
    return {f"{name}{axis}": 0.0 for name in names for axis in families.AXES}
