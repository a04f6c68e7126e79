"""All electron-repulsion integrals of a molecule, 8-fold packed, against PySCF's, in one process.

    python benchmarks/recurrences/incore.py [--fit] [molecule/basis ...]

`packed_repulsion` against `mol.intor("int2e", aosym="s8")` of PySCF's wheel.  One thread, CPU
seconds, the best of turns that alternate; classes are compiled beforehand.  Results are compared.
Beside both times stands what `integrals.costs` predicts; `--fit` prints factors for it.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from pyscf import gto

import fusewright as fw
from fusewright.integrals import Basis
from fusewright.integrals.costs import counts, group_pairs, predicted
from fusewright.integrals.packed import packed_repulsion

WATER = "O 0 0 0; H 0 0.76 0.59; H 0 -0.76 0.59"
RING = [(np.cos(k * np.pi / 3), np.sin(k * np.pi / 3)) for k in range(6)]
BENZENE = "; ".join(f"C {1.39 * x} {1.39 * y} 0; H {2.48 * x} {2.48 * y} 0" for x, y in RING)
WATERS = "; ".join(
    f"O {3 * k} 0 {k % 2}; H {3 * k} 0.76 {k % 2 + 0.59}; H {3 * k} -0.76 {k % 2 + 0.59}"
    for k in range(4)
)
MOLECULES = {"H2": "H 0 0 0; H 0 0 0.74", "H2O": WATER, "(H2O)4": WATERS, "C6H6": BENZENE}
ROWS = [
    "H2/sto-3g", "H2/cc-pvdz", "H2O/sto-3g", "H2O/6-31g", "H2O/6-31g*",
    "H2O/cc-pvdz", "H2O/def2-svp",
    "(H2O)4/sto-3g", "(H2O)4/6-31g*", "(H2O)4/cc-pvdz", "(H2O)4/def2-svp",
    "C6H6/sto-3g", "C6H6/6-31g*", "C6H6/cc-pvdz", "C6H6/def2-svp",
]  # fmt: skip
TURNS = 3


def timed(call: Any) -> tuple[float, Any]:
    """CPU seconds, and the result."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def measured(mol: Any) -> tuple[float, float, float]:
    """Ours, PySCF's, and the largest difference."""

    def ours() -> Any:  # the prediction is part of what a user pays
        predicted(Basis.from_pyscf(mol))
        return packed_repulsion(Basis.from_pyscf(mol))

    def theirs() -> Any:
        return mol.intor("int2e", aosym="s8")

    difference = float(np.abs(ours() - theirs()).max())  # compiles
    turns = [(timed(ours)[0], timed(theirs)[0]) for _ in range(TURNS)]
    return min(t[0] for t in turns), min(t[1] for t in turns), difference


def main() -> None:
    """Print one row for each molecule and basis."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("rows", nargs="*", default=ROWS)
    chosen = parser.parse_args()
    features, times = [], []
    print("| | functions | ours s | predicted | PySCF s | predicted | ratio | difference |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for row in chosen.rows:
        name, basis_name = row.split("/")
        mol = gto.M(atom=MOLECULES[name], basis=basis_name, verbose=0)
        basis = Basis.from_pyscf(mol)
        ours, theirs, difference = measured(mol)
        guess = predicted(basis)
        sums = np.sum([counts(basis, bra, ket) for bra, ket in group_pairs(basis)], axis=0)
        sums[0] = len(basis.shells) ** 2
        features.append(sums)
        times.append((ours, theirs))
        print(
            f"| {row} | {mol.nao} | {ours:.4f} | {guess.ours(1):.4f} | {theirs:.4f} "
            f"| {guess.libcint:.4f} | {theirs / ours:.2f} | {difference:.0e} |", flush=True,
        )  # fmt: skip
    if chosen.fit:
        fit(np.array(features), np.array(times))


def fit(features: Any, times: Any) -> None:
    """Factors that are not negative with the least relative errors."""
    from scipy.optimize import nnls

    for name, measured_times in zip(("OURS", "LIBCINT"), times.T, strict=True):
        factors = nnls(features / measured_times[:, None], np.ones(len(features)))[0]
        print(name, "=", ", ".join(f"{factor:.2g}" for factor in factors))


if __name__ == "__main__":
    with fw.options(threads=1):
        main()
