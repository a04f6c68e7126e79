"""Memory of J and K of 2,000 functions: a process that may not have more than 4 GiB of addresses.

    OMP_NUM_THREADS=1 python benchmarks/recurrences/large.py [--molecules N] [--limit GiB] [--pairs]

Water molecules on a cubic lattice, cc-pVDZ, J and K of the density of the initial guess, one
thread; 83 molecules are 1,992 functions.  The limit is RLIMIT_AS; memory is what the system counts
for the process at most.  `--pairs`: no pair of shells is left out (as if all were close to one
another), all bins are written to, and no integral is evaluated.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
from pyscf import gto, lib, scf

import fusewright as fw
from fusewright.codegen.recurrences.records import BOTH
from fusewright.integrals import Basis
from fusewright.integrals.bins import Pass, Wanted
from fusewright.integrals.fock import Fock

GIB = 1 << 30
APART = 2.85


def waters(many: int) -> list[tuple[str, Any]]:
    """Molecules on a lattice, turned at random."""
    rng, atoms = np.random.default_rng(0), []
    one = np.array([[0, 0, 0], [0.757, 0.586, 0], [-0.757, 0.586, 0]])
    edge = int(np.ceil(many ** (1 / 3)))
    for n in range(many):
        corner = np.array([n % edge, n // edge % edge, n // edge**2]) * APART
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        atoms += list(zip("OHH", one @ turn.T + corner, strict=True))
    return atoms


def gib(field: str) -> float:
    """A field of the process's status, `VmHWM` (resident at most) or `VmPeak` (addresses)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (found,) = (line.split()[1] for line in lines if line.startswith(f"{field}:"))
    return int(found) * 1024 / GIB


def row(what: str, start: float, note: str = "") -> None:
    """Print what was done, and its memory."""
    seconds = time.process_time() - start
    print(
        f"| {what} | {seconds:.1f} | {gib('VmHWM'):.2f} | {gib('VmPeak'):.2f} | {note} |",
        flush=True,
    )


def main() -> None:
    """Print a row after each step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--molecules", type=int, default=83)
    parser.add_argument("--limit", type=float, default=4.0)
    parser.add_argument("--pairs", action="store_true")
    chosen = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (int(chosen.limit * GIB),) * 2)
    lib.num_threads(1)
    mol = gto.M(atom=waters(chosen.molecules), basis="cc-pvdz", verbose=0)
    print("| | CPU s | resident GiB | addresses GiB | |\n|---|---|---|---|---|", flush=True)
    start = time.process_time()
    dm = np.ascontiguousarray(scf.hf.init_guess_by_minao(mol))
    row(f"{mol.nao} functions, PySCF's initial guess", start)
    with fw.options(threads=1):
        start = time.process_time()
        fock = Fock(Basis.from_pyscf(mol), tolerance=0.0 if chosen.pairs else 1e-13)
        assert fock.code is not None
        pairs = sum(len(each.group) for each in fock.code.groups)
        row("pairs and classes", start, f"{pairs} pairs of {mol.nbas} shells")
        start = time.process_time()
        if chosen.pairs:
            whole = Pass(fock.code, [Wanted(dm, BOTH)])
            whole.j[...], whole.k[...] = 1.0, 1.0
            row("bins", start, f"{whole.bins}")
        else:
            j, k = fock.matrices(dm)
            assert j is not None and k is not None and np.isfinite(j + k).all()
            row("J and K", start, f"{sum(fock.quartets.values()):.3g} quartets of shells")


if __name__ == "__main__":
    main()
