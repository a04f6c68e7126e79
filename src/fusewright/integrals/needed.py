"""What a basis needs, known without its geometry: classes, and how much work there is at most."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import NamedTuple

from fusewright.integrals.basis import Basis
from fusewright.integrals.classes import Momenta, QuartetClass, is_centred, is_compiled, raised_side
from fusewright.integrals.operators import Operator
from fusewright.machine.integrals import COMPILING, LIBCINT, OURS

Kind = tuple[int, int, int]
"""l, contractions and primitives of a shell."""

REMEMBERED = 64
"""Lists of shells of which it is kept what they need: molecules in many geometries."""


class Needs(NamedTuple):
    """All integrals of some shells: the seconds that they take here at least, and in libcint at
    most, on one core; quartets of shells by class.
    """

    least: float
    most: float
    quartets: Counter[Momenta]


@lru_cache(REMEMBERED)
def needs_of(shells: tuple[Kind, ...]) -> Needs:
    """What these shells need, known without their places."""
    kinds = Counter(shells)
    return Needs(least_seconds(kinds), most_seconds(kinds), quartets_of(kinds))


def kinds_of(basis: Basis) -> Counter[Kind]:
    """How many shells of each kind there are."""
    return Counter((shell.l, shell.contractions, len(shell.exponents)) for shell in basis.shells)


def classes_of(basis: Basis, *operators: Operator) -> list[QuartetClass]:
    """All classes of quartets, for one operator or two together, the smaller ones first."""
    kinds = {(shell.l, shell.contractions) for shell in basis.shells}
    pairs = {
        (max(a[0], b[0]), min(a[0], b[0]), a[1] * b[1] > 1)
        for a, b in combinations_with_replacement(sorted(kinds), 2)
    }
    found, parts = set(), tuple(operator.parts for operator in operators)
    for one, two in combinations_with_replacement(sorted(pairs, reverse=True), 2):
        momenta = (*one[:2], *two[:2])
        general = one[2] or two[2]
        found.add(QuartetClass(momenta, not basis.is_cartesian, parts, general))
    return sorted(found, key=lambda kind: (sum(kind.momenta), kind.momenta, kind.general))


def missing_of(basis: Basis, *operators: Operator) -> list[QuartetClass]:
    """Those that are not compiled."""
    return [kind for kind in classes_of(basis, *operators) if not is_compiled(kind)]


def compiling_seconds(kinds: list[QuartetClass]) -> float:
    """What compiling these classes takes, on one core."""
    sizes = [_values(kind.momenta[:2]) * _values(kind.momenta[2:]) for kind in kinds]
    return sum(COMPILING[0] + COMPILING[1] * size for size in sizes)


def least_seconds(kinds: Counter[Kind]) -> float:
    """What an array of all integrals takes here at least: pairs of shells, groups of pairs."""
    patterns = len({kind[:2] for kind in kinds})
    groups = patterns * (patterns + 1) // 2
    return OURS.shells * kinds.total() ** 2 + OURS.groups * (groups * (groups + 1) // 2)


def most_seconds(many: Counter[Kind]) -> float:
    """What all integrals take in libcint on one core, none of them left out."""
    primitives = values = 0.0
    for one, two in combinations_with_replacement(many, 2):
        pairs = _pairs(many[one], many[two], one == two)
        momenta = (max(one[0], two[0]), min(one[0], two[0]))
        primitives += pairs * one[2] * two[2]
        values += pairs * one[2] * two[2] * _values(momenta)
    return 0.5 * (LIBCINT.primitives * primitives**2 + LIBCINT.values * values**2)


def quartets_of(kinds: Counter[Kind]) -> Counter[Momenta]:
    """Quartets of shells by their angular momenta, each once."""
    many, pairs = Counter[int](), Counter[tuple[int, int]]()
    for (momentum, _, _), count in kinds.items():
        many[momentum] += count
    for one, two in combinations_with_replacement(sorted(many, reverse=True), 2):
        pairs[one, two] = _pairs(many[one], many[two], one == two)
    found: Counter[Momenta] = Counter()
    for bra, ket in combinations_with_replacement(sorted(pairs, reverse=True), 2):
        found[*bra, *ket] = _pairs(pairs[bra], pairs[ket], bra == ket)
    return found


def _pairs(one: int, two: int, same: bool) -> int:
    return one * (one + 1) // 2 if same else one * two


def _values(momenta: tuple[int, ...]) -> int:
    la, lb = momenta
    return len(raised_side(la, lb, is_centred(la, lb)))
