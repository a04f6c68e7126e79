"""Classes of integrals against mpmath at 50 digits, for seeded quartets of shells.

    python -m tests.unit.integrals.precision [--seed N] [--many N] [class ...]

All classes of shells up to g, 20 quartets each: hours; a row for each class, with the largest error
relative to the Schwarz bound of its quartet.  `test_repulsion` has a short form.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from typing import Any, NamedTuple

import mpmath
import numpy as np
from tests.unit.integrals.reference import Gaussian, repulsion

from fusewright import integrals
from fusewright.integrals.basis import LETTERS, Basis
from fusewright.integrals.harmonics import cartesian
from fusewright.integrals.operators import COULOMB, Operator, long_range, short_range
from fusewright.integrals.pairs import grouped
from fusewright.integrals.schwarz import bounds

OPERATORS = {
    "coulomb": (COULOMB, [(1.0, mpmath.inf)]),
    "long": (long_range(0.4), [(1.0, 0.4)]),
    "short": (short_range(0.4), [(1.0, mpmath.inf), (-1.0, 0.4)]),
    "mixed": (Operator(0.2, 0.8, 1.3), [(0.2, mpmath.inf), (0.8, 1.3)]),
}
ANGULAR = {0: math.sqrt(1 / (4 * math.pi)), 1: math.sqrt(3 / (4 * math.pi))}
SIZES = (1.0, 0.0, 1e-6, 4.0, 1e3)
"""How far apart centres are, in bohr."""
LEAST = 1e-280
"""Bounds below have lost digits themselves."""


class Case(NamedTuple):
    """A quartet; `primitives` of the first shell of each pair are more than one in every fourth."""

    basis: Basis
    operator: str
    name: str


def cases(letters: str, seed: int, many: int) -> Iterator[Case]:
    """Seeded quartets of a class."""
    for number in range(many):
        rng = np.random.default_rng([seed, number, *letters.encode()])
        size = SIZES[number % len(SIZES)]
        operator = tuple(OPERATORS)[number % len(OPERATORS)]
        places = size * rng.standard_normal((4, 3))
        if number % 2:  # both centres of a pair in one place
            places[1], places[3] = places[0], places[2]
        shells = []
        for place, letter in enumerate(letters):
            depth = 2 if number % 4 == 3 and place % 2 == 0 else 1
            exponents = 10 ** rng.uniform(-3, 7, depth)
            shells.append((place, LETTERS.index(letter), exponents, rng.uniform(0.3, 1, depth)))
        basis = Basis.from_arrays(places, shells, np.zeros(4), cartesian=True)
        yield Case(basis, operator, f"{letters} {number} {operator} {size:g} bohr")


def bound_of(case: Case) -> float:
    """The Schwarz bound of a quartet."""
    basis, (operator, _) = case.basis, OPERATORS[case.operator]
    bra, ket = (grouped(basis, [pair], careful=True)[0] for pair in [(0, 1), (2, 3)])
    return float(bounds(basis, bra, operator)[0] * bounds(basis, ket, operator)[0])


def error(case: Case, components: int = 3, bound: float | None = None) -> float:
    """The largest error of a few components, in Schwarz bounds."""
    basis, (operator, parts) = case.basis, OPERATORS[case.operator]
    found = integrals.electron_repulsion(basis, [(n, n + 1) for n in range(4)], operator)
    bound = bound_of(case) if bound is None else bound
    if bound < LEAST:
        return 0.0
    rng, worst = np.random.default_rng(1), 0.0
    for _ in range(components):
        place = tuple(int(rng.integers(size)) for size in found.shape)
        worst = max(worst, abs(found[place] - float(exact(basis, place, parts))) / bound)
    return worst


def exact(basis: Basis, place: tuple[int, ...], parts: Any) -> Any:
    """One component, summed over primitives."""
    total = mpmath.mpf(0)
    depths = [range(len(shell.exponents)) for shell in basis.shells]
    for chosen in product(*depths):
        functions, norm = [], mpmath.mpf(1)
        for shell, k, component in zip(basis.shells, chosen, place, strict=True):
            powers = cartesian(shell.l)[component]
            functions.append(Gaussian(shell.exponents[k], tuple(shell.centre), powers))
            norm *= mpmath.mpf(float(shell.coefficients[k, 0])) * ANGULAR.get(shell.l, 1.0)
        total += norm * repulsion(functions, parts)
    return total


def classes(highest: str = "g") -> list[str]:
    """All classes of shells up to this one, small ones first."""
    shells = LETTERS[: LETTERS.index(highest) + 1]
    pairs = [b + a for a, b in combinations_with_replacement(shells, 2)]
    found = [two + one for one, two in combinations_with_replacement(pairs, 2)]
    return sorted(found, key=lambda name: sum(map(LETTERS.index, name)))


def main() -> int:
    """Print a row for each class; 1 where an error is above 1e-14."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--many", type=int, default=20)
    parser.add_argument("names", nargs="*")
    chosen = parser.parse_args()
    missed = 0
    print("| class | largest error | of |\n|---|---|---|")
    for letters in chosen.names or classes():
        found = [(error(case), case.name) for case in cases(letters, chosen.seed, chosen.many)]
        worst, name = max(found)
        missed += worst > 1e-14
        print(f"| {letters} | {worst:.1e} | {name.removeprefix(letters)} |", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
