"""Classes of integrals against libcint, as in PySCF, for a seeded quartet of shells each.

    python -m tests.unit.integrals.against_libcint [--highest L] [--seed N] [class ...]

All classes of spherical shells up to g, or h: minutes, most of them for compiling; a row for each
class, with the largest difference of all its integrals, relative to the Schwarz bound of its
quartet.  Where that is above 1e-12, mpmath says whose error it is.  `test_repulsion` has a short
form.
"""

from __future__ import annotations

import argparse
from typing import Any

import mpmath
import numpy as np
from tests.unit.integrals.precision import Case, bound_of, classes, exact

import fusewright as fw
from fusewright import integrals
from fusewright.integrals.basis import LETTERS, Basis
from fusewright.ir.fused import Array

MOST = 1e-12


def quartet(letters: str, seed: int, cartesian: bool = False) -> Any:
    """A molecule of four shells, two primitives in every other one."""
    from pyscf import gto

    rng = np.random.default_rng([seed, *letters.encode()])
    atoms, shells = [], {}
    for place, letter in enumerate(letters):
        exponents = 10 ** rng.uniform(-0.5, 0.5, 1 + place % 2)
        primitives = [[e, rng.uniform(0.3, 1)] for e in exponents.tolist()]
        atoms.append((f"H{place}", rng.standard_normal(3).tolist()))
        shells[f"H{place}"] = [[LETTERS.index(letter), *primitives]]
    return gto.M(atom=atoms, basis=shells, unit="Bohr", cart=cartesian, verbose=0)


def both(mol: Any) -> tuple[Array, Array, float]:
    """Our integrals of a quartet, libcint's, and the Schwarz bound."""
    basis = Basis.from_pyscf(mol)
    found = integrals.electron_repulsion(basis, [(n, n + 1) for n in range(4)])
    expected = mol.intor("int2e", shls_slice=(0, 1, 1, 2, 2, 3, 3, 4))
    assert found.shape == expected.shape
    return found, expected, bound_of(Case(basis, "coulomb", ""))


def difference(letters: str, seed: int) -> float:
    """The largest one of a quartet, in Schwarz bounds."""
    found, expected, bound = both(quartet(letters, seed))
    return float(np.abs(found - expected).max() / bound)


def errors(letters: str, seed: int) -> tuple[float, float]:
    """Ours and libcint's where the Cartesian ones differ most, in Schwarz bounds."""
    mol = quartet(letters, seed, cartesian=True)
    found, expected, bound = both(mol)
    worst = np.unravel_index(np.abs(found - expected).argmax(), found.shape)
    place = tuple(map(int, worst))
    with mpmath.workdps(50):
        value = float(exact(Basis.from_pyscf(mol), place, [(1.0, mpmath.inf)]))
    return abs(found[place] - value) / bound, abs(expected[place] - value) / bound


def main() -> int:
    """Print a row for each class; 1 where an error of ours is above `MOST`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--highest", choices=("g", "h"), default="g")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("names", nargs="*")
    chosen = parser.parse_args()
    missed = 0
    print("| class | largest difference | |\n|---|---|---|")
    with fw.options(shells=chosen.highest):
        for letters in chosen.names or classes(chosen.highest):
            worst, note = difference(letters, chosen.seed), ""
            if worst > MOST:
                mine, theirs = errors(letters, chosen.seed)
                missed += mine > MOST
                note = f"where Cartesian ones differ most: ours {mine:.1e}, libcint {theirs:.1e}"
            print(f"| {letters} | {worst:.1e} | {note} |", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
