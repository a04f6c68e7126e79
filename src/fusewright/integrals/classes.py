"""Classes of integrals: the code of one pattern of angular momenta, planned and compiled once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from fusewright.base.later import later
from fusewright.base.options import current
from fusewright.base.values import dataclass
from fusewright.codegen.recurrences.quartets import Parts, QuartetSizes
from fusewright.codegen.recurrences.sides import SideStep
from fusewright.integrals.harmonics import Exponents, cartesian
from fusewright.machine.steps import stepped_from
from fusewright.runtime.image import Executable
from fusewright.targets.executable import Written
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
STEPPED = stepped_from()
"""Total angular momentum from which on a class has one step for each side after the sum over
primitives, in a loop, instead of one list for both sides."""
CENTRED = 7
"""Angular momentum of a pair from which on that step is a product with a matrix, about a point
between both shells: the horizontal relation of (gg| would lose three digits.
"""
STEP_EFFORT = 20_000
"""The same for the list of one side, which is short and runs for all functions of the other one."""
NARROW = 6
"""Total angular momentum from which on relations are fixed beforehand: at (dp|dp) planning begins
to take longer than compiling.
"""

Momenta = tuple[int, int, int, int]
_DISTANCE = "AB"
"""What the scalars of a step are planned with."""


@dataclass(frozen=True, slots=True)
class QuartetClass:
    """(ab|cd) for these angular momenta; `ABSENT` for a function that is not there.

    `harmonics`: spherical components.  `parts` says of each part of each operator (one, or two that
    are evaluated together) whether it is attenuated; `general` whether shells have several
    contractions; `lossy` of bra and ket whether they are such pairs (`pairs.PairGroup`).
    """

    momenta: Momenta
    harmonics: bool
    parts: Parts
    general: bool
    lossy: tuple[bool, bool] = (False, False)

    @property
    def centred(self) -> tuple[bool, bool]:
        """Whether bra and ket have their steps by matrices."""
        pairs = (self.momenta[:2], self.momenta[2:])
        bra, ket = (is_centred(*pair, lossy) for pair, lossy in zip(pairs, self.lossy, strict=True))
        return bra, ket

    @property
    def is_stepped(self) -> bool:
        """Whether there is one step for each side."""
        return any(self.centred) or sum(max(l, 0) for l in self.momenta) >= STEPPED  # noqa: E741


def lanes() -> int:
    """Doubles in the widest register of the processor."""
    return target("cpu").features(current().features).vector_bytes // 8


def code_of(kind: QuartetClass) -> Executable[QuartetSizes]:
    """The code of a class for this machine."""
    return target("cpu").compile(_program(kind), current())


def is_compiled(kind: QuartetClass) -> bool:
    """Whether its code is in memory or on disk."""
    return target("cpu").compile(_program(kind), current(), make=False) is not None


def _program(kind: QuartetClass) -> Written[QuartetSizes]:
    def write(lanes: int) -> tuple[QuartetSizes, str]:
        code = listed(same)
        return code.sizes, quartets.quartets(code, lanes)

    same = replace(kind, harmonics=kind.harmonics and max(kind.momenta) > 1)
    given = (kind.momenta, same.harmonics, kind.parts, kind.general)
    return Written(("quartets", *given, kind.is_stepped, *kind.centred), write)


def listed(kind: QuartetClass) -> quartets.QuartetCode:
    """The planned lists of a class."""
    momenta, harmonics = kind.momenta, kind.harmonics
    la, lb, lc, ld = (max(l, 0) for l in momenta)  # noqa: E741
    highest = la + lb + lc + ld
    family = families.repulsion(la, lb, lc, ld, harmonics)
    if highest >= NARROW:
        family = narrow.narrowed(family)
    if kind.is_stepped:
        bra, ket = kind.centred
        raised = product(raised_side(la, lb, bra), raised_side(lc, ld, ket))
        family = replace(family, targets=[("E", (e, f, 0)) for e, f in raised])
    zeros = _zeros(momenta)
    scalars = {name: zeros.get(name) for name in families.SCALARS}
    graph = demand.demanded(family.targets, family.families, scalars)
    phases = planner.plan(graph, EFFORT).phases
    if not kind.is_stepped:
        return quartets.quartet_code(phases, highest, kind.parts, kind.general)
    steps = (_step(la, lb, harmonics, "AB", bra), _step(lc, ld, harmonics, "CD", ket))
    return quartets.stepped(phases, steps, highest, kind.parts, kind.general)


def _step(la: int, lb: int, harmonics: bool, distance: str, centred: bool) -> SideStep:
    """That of one side; `distance` is what its scalars are called, `AB` or `CD`."""
    found = _planned_step(la, lb, harmonics, centred)
    if found.straight is None:
        return found
    scalars = tuple(name.replace(_DISTANCE, distance) for name in found.straight.scalars)
    return replace(found, straight=replace(found.straight, scalars=scalars))


@cache
def _planned_step(la: int, lb: int, harmonics: bool, centred: bool) -> SideStep:
    """The step of a bra, planned with some search: its list is short and runs often."""
    raised = raised_side(la, lb, centred)
    one, two = (2 * l + 1 if harmonics else len(cartesian(l)) for l in (la, lb))  # noqa: E741
    if centred:
        return SideStep(len(raised), one * two, None)
    family = families.one_side(la, lb, raised, harmonics, _DISTANCE)
    scalars = [f"{_DISTANCE}{axis}" for axis in families.AXES]
    graph = demand.demanded(family.targets, family.families, scalars)
    straight = planner.plan(graph, STEP_EFFORT).outer.straight
    return SideStep(len(raised), one * two, straight)


def is_centred(la: int, lb: int, lossy: bool = False) -> bool:
    """Whether a pair's [e| are about a point between both shells, and not about the first one."""
    return lb > 0 and (lossy or la + lb >= CENTRED)


def raised_side(la: int, lb: int, centred: bool) -> list[Exponents]:
    """The Cartesian functions about one point that those of two shells are combinations of: of the
    degrees up to la + lb, from la on where the point is that of the first shell.
    """
    first = 0 if centred else la
    return [e for degree in range(first, la + max(lb, 0) + 1) for e in cartesian(degree)]


def _zeros(momenta: Sequence[int]) -> dict[str, float]:
    """The scalars that are 0 where functions are absent."""
    names = (("PA", "AB") if momenta[1] == ABSENT else ()) + (
        ("QC", "CD") if momenta[3] == ABSENT else ()
    )
    return {f"{name}{axis}": 0.0 for name in names for axis in families.AXES}
