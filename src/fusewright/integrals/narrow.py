"""One relation instead of all: for large classes, whose choices would take longer than the code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from fusewright.frontends.recurrences.families import AnyFamily, Family
from fusewright.integrals.families import Integrals

Exponents = tuple[int, ...]
_Lowered = Callable[[tuple[Any, ...]], Exponents]
"""From a value's index, the exponents of the function that its relations lower."""

_LOWERED: dict[str, _Lowered] = {
    "V": lambda index: index[1] if any(index[1]) else index[0],
    "K": lambda index: index[2],
    "B": lambda index: index[1],
    "BK": lambda index: index[1],
}


def narrowed(integrals: Integrals) -> Integrals:
    """Each relation lowers the direction with the lowest exponent (Makowski, IJQC 107, 30 (2007)),
    on the ket before the bra, and harmonics are formed as early as they can be.

    The planner begins with the same choices; what is left out is the search for better ones.
    """
    return replace(integrals, families=[_narrowed(family) for family in integrals.families])


def _narrowed(family: AnyFamily) -> AnyFamily:
    if not isinstance(family, Family):
        return family
    lowered = _LOWERED.get(family.name)

    def alternatives(*index: Any) -> list[Any]:
        found = list(family.alternatives(*index))
        return [found[_lowest(lowered(index)) if lowered and len(found) > 1 else 0]]

    return Family(family.name, family.index, alternatives, family.leaf)


def _lowest(exponents: Exponents) -> int:
    """The number, among the directions with an exponent, of the one where it is lowest; of equals
    the last.
    """
    present = [exponent for exponent in exponents if exponent]
    return len(present) - 1 - present[::-1].index(min(present))
