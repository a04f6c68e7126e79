"""Whole self-consistent calculations against PySCF's, in one process.

    OMP_NUM_THREADS=1 python benchmarks/recurrences/converge.py [--compared N] [row ...]

Hartree-Fock and B3LYP to convergence without integrals in memory, one thread, CPU seconds, classes
compiled before.  There is one calculation, with our J and K; each time that it asks for them,
PySCF's are made of the same matrices, too, compared, and their seconds counted apart.  *rest* is
all else: it is PySCF's and the same on both sides (for B3LYP mostly exchange-correlation).  A line
is printed for each Fock matrix.

`--compared N` asks PySCF for the first N only; its seconds for each later one are taken to be ours
times the ratio of the last one that was compared.

With PySCF's default memory: `direct.py --converge`.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from direct import CAFFEINE, benzene, waters
from pyscf import dft, gto, lib, scf

import fusewright as fw
import fusewright.bridges.pyscf as fp
from fusewright.bridges.pyscf.record import JK, OURS

WHOLE: dict[str, tuple[Any, str, str, float]] = {
    "RHF (H2O)8/cc-pVTZ": (waters(), "cc-pvtz", "", 2.5),
    "RHF benzene/cc-pVQZ": (benzene(), "cc-pvqz", "", 2.5),
    "RHF caffeine/def2-TZVP": (CAFFEINE, "def2-tzvp", "", 2.5),
    "B3LYP (H2O)8/cc-pVDZ": (waters(), "cc-pvdz", "b3lyp", 1.5),
    "B3LYP caffeine/def2-SVP": (CAFFEINE, "def2-svp", "b3lyp", 1.5),
}
"""Molecule, basis, functional or nothing, and times faster than PySCF at least."""


class Twice:
    """J and K of ours and of PySCF's for each question, and the CPU seconds of both."""

    def __init__(self, mf: Any, compared: int) -> None:
        self.ours, self.plain, self.compared = mf.get_jk, fp.undo(mf.copy()), compared
        self.seconds, self.builds, self.difference, self.ratio = np.zeros(2), 0, 0.0, 0.0
        self.unpaid, self.start = 0.0, time.process_time()

    def __call__(
        self, mol: Any = None, dm: Any = None, hermi: int = 1, with_j: bool = True,
        with_k: bool = True, omega: Any = None,
    ) -> Any:  # fmt: skip
        start = time.process_time()
        mine = self.ours(mol, dm, hermi, with_j, with_k, omega)
        middle = time.process_time()
        self.builds += 1
        if self.builds > self.compared:
            self.seconds += (middle - start) * np.array([1.0, self.ratio])
            self.unpaid += (middle - start) * self.ratio
            print(f"  build {self.builds}: ours {middle - start:.2f} s", flush=True)
            return mine
        theirs = self.plain.get_jk(mol, np.asarray(dm), hermi, with_j, with_k, omega)
        now = np.array([middle - start, time.process_time() - middle])
        self.seconds += now
        self.ratio = now[1] / now[0]
        for one, two in zip(mine, theirs, strict=True):
            if one is not None:
                self.difference = max(self.difference, float(np.abs(one - two).max()))
        print(
            f"  build {self.builds}: ours {now[0]:.2f} s, PySCF {now[1]:.2f} s, "
            f"so far {self.seconds[1] / self.seconds[0]:.1f}×", flush=True,
        )  # fmt: skip
        return mine

    @property
    def rest(self) -> float:
        """CPU seconds that were spent on anything else."""
        return time.process_time() - self.start - float(self.seconds.sum()) + self.unpaid


def direct(name: str, compared: int) -> bool:
    """One calculation; whether it is as fast as was asked for."""
    atoms, basis, functional, least = WHOLE[name]
    mol = gto.M(atom=atoms, basis=basis, verbose=0)
    mf = dft.RKS(mol, xc=functional) if functional else scf.RHF(mol)
    start = time.process_time()
    fp.warm(mol)
    print(f"{name}: {mol.nao} functions, warm in {time.process_time() - start:.1f} s", flush=True)
    mf = fp.apply(mf.set(max_memory=0))
    mf.get_jk = twice = Twice(mf, compared)
    mf.kernel()
    rest = twice.rest
    ours, theirs = twice.seconds + rest
    made = {item.by for item, _, _ in fp.explain(mf).rows if item.what == JK}
    assert made == {OURS}, fp.explain(mf)
    assert twice.difference < 1e-9 and mf.converged
    is_fast = bool(theirs / ours >= least)
    print("| | functions | builds (compared) | ours s | PySCF s | rest s | whole | at least | |")
    print("|---|---|---|---|---|---|---|---|---|")
    print(
        f"| {name} | {mol.nao} | {twice.builds} ({min(compared, twice.builds)}) "
        f"| {twice.seconds[0]:.1f} | {twice.seconds[1]:.1f} | {rest:.1f} "
        f"| {theirs / ours:.1f}× | {least:.1f}× | {'PASS' if is_fast else 'MISS'} |", flush=True,
    )  # fmt: skip
    return is_fast


def main() -> int:
    """Print a table for each row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compared", type=int, default=1000)
    parser.add_argument("rows", nargs="*")
    chosen = parser.parse_args()
    lib.num_threads(1)
    with fw.options(threads=1):
        found = [direct(name, chosen.compared) for name in chosen.rows or WHOLE]
    return int(not all(found))


if __name__ == "__main__":
    raise SystemExit(main())
