"""Classes of integrals against libcint, as in PySCF, for a seeded quartet of shells each.

    python -m tests.unit.integrals.against_libcint [--highest L] [--seed N] [class ...]

All classes of spherical shells up to g, or h: minutes, most of them for compiling; a row for each
class, with the largest error of all its integrals, relative to the Schwarz bound of its quartet.
`test_repulsion` has a short form.
"""

from __future__ import annotations

import argparse

import numpy as np
from tests.unit.integrals.precision import Case, bound_of, classes

import fusewright as fw
from fusewright import integrals
from fusewright.integrals.basis import LETTERS, Basis

MOST = 1e-12


def error(letters: str, seed: int) -> float:
    """The largest error of a quartet, in Schwarz bounds; two primitives in every other shell."""
    from pyscf import gto

    rng = np.random.default_rng([seed, *letters.encode()])
    atoms, shells = [], {}
    for place, letter in enumerate(letters):
        exponents = 10 ** rng.uniform(-0.5, 0.5, 1 + place % 2)
        primitives = [[e, rng.uniform(0.3, 1)] for e in exponents.tolist()]
        atoms.append((f"H{place}", rng.standard_normal(3).tolist()))
        shells[f"H{place}"] = [[LETTERS.index(letter), *primitives]]
    mol = gto.M(atom=atoms, basis=shells, unit="Bohr", verbose=0)
    basis = Basis.from_pyscf(mol)
    found = integrals.electron_repulsion(basis, [(n, n + 1) for n in range(4)])
    expected = mol.intor("int2e", shls_slice=(0, 1, 1, 2, 2, 3, 3, 4))
    assert found.shape == expected.shape
    return float(np.abs(found - expected).max() / bound_of(Case(basis, "coulomb", letters)))


def main() -> int:
    """Print a row for each class; 1 where an error is above `MOST`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--highest", choices=("g", "h"), default="g")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("names", nargs="*")
    chosen = parser.parse_args()
    missed = 0
    print("| class | largest error |\n|---|---|")
    with fw.options(shells=chosen.highest):
        for letters in chosen.names or classes(chosen.highest):
            worst = error(letters, chosen.seed)
            missed += worst > MOST
            print(f"| {letters} | {worst:.1e} |", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
