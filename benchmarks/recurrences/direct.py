"""Direct J and K against PySCF's, in one process.

    python benchmarks/recurrences/direct.py [--threads N] [--avx2] [--fit] [row ...]
    python benchmarks/recurrences/direct.py --converge [row ...]

One Fock matrix (J and K of the initial guess, `direct_scf_tol` 1e-13), classes compiled and pairs
made beforehand on both sides.  The best of turns that alternate; with one thread CPU seconds, with
more wall-clock seconds.  Results are compared.  `integrals` is the share of ours that evaluating
them takes; the rest is digestion.  `--fit` prints factors for `machine.integrals`.

`--converge` runs restricted Hartree-Fock as it is, with PySCF's default memory, CPU seconds of one
thread: PySCF keeps all integrals in memory where they fit, ours goes direct.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from pyscf import gto, lib, scf

import fusewright as fw
import fusewright.bridges.pyscf as fp
from fusewright.bridges.pyscf.record import IN_CORE, JK
from fusewright.codegen.recurrences.records import BOTH
from fusewright.integrals import Basis
from fusewright.integrals.bins import Pass, Wanted
from fusewright.integrals.fock import Fock

CAFFEINE = """
H -3.3804130 -1.1272367 0.5733036
N 0.9668296 -1.0737425 -0.8198227
C 0.0567293 0.8527195 0.3923156
N -1.3751742 -1.0212243 -0.0570552
C -1.2615018 0.2590713 0.5234135
C -0.3068337 -1.6836331 -0.7169344
C 1.1394235 0.1874122 -0.2700900
N 0.5602627 2.0839095 0.8251589
O -0.4926797 -2.8180554 -1.2094732
C -2.6328073 -1.7303959 -0.0060953
O -2.2301338 0.7988624 1.0899730
H 2.5496990 2.9734977 0.6229590
C 2.0527432 -1.7360887 -1.4931279
H -2.4807715 -2.7269528 0.4882631
H -3.0089039 -1.9025254 -1.0498023
H 2.9176101 -1.8481516 -0.7857866
H 2.3787863 -1.1211917 -2.3743655
H 1.7189877 -2.7489920 -1.8439205
C -0.1518450 3.0970046 1.5348347
C 1.8934096 2.1181245 0.4193193
N 2.2861252 0.9968439 -0.2440298
H -0.1687028 4.0436553 0.9301094
H 0.3535322 3.2979060 2.5177747
H -1.2074498 2.7537592 1.7203047
"""


def waters() -> list[tuple[str, Any]]:
    """Eight molecules at the corners of a cube, turned at random."""
    rng, atoms = np.random.default_rng(0), []
    one = np.array([[0, 0, 0], [0.757, 0.586, 0], [-0.757, 0.586, 0]])
    for n in range(8):
        corner = np.array([n & 1, (n >> 1) & 1, n >> 2]) * 2.85
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        atoms += list(zip("OHH", one @ turn.T + corner, strict=True))
    return atoms


def benzene() -> list[tuple[str, Any]]:
    """A regular hexagon."""
    turns = [(np.cos(k * np.pi / 3), np.sin(k * np.pi / 3), 0.0) for k in range(6)]
    return [(s, r * np.array(turn)) for turn in turns for s, r in (("C", 1.39), ("H", 2.48))]


ROWS: dict[str, tuple[Any, str, float]] = {
    "(H2O)8/cc-pVDZ": (waters(), "cc-pvdz", 3.5),
    "caffeine/def2-SVP": (CAFFEINE, "def2-svp", 3.5),
    "benzene/def2-TZVPP": (benzene(), "def2-tzvpp", 3.0),
}
"""Molecule, basis, and times faster than PySCF at least."""
FITTED: dict[str, tuple[Any, str]] = {
    "water/6-31G": (waters()[:3], "6-31g"),
    "(H2O)2/6-31G*": (waters()[:6], "6-31g*"),
    "(H2O)4/cc-pVDZ": (waters()[:12], "cc-pvdz"),
    "(H2O)8/6-31G": (waters(), "6-31g"),
    "benzene/def2-SVP": (benzene(), "def2-svp"),
}
"""Smaller ones for `--fit`."""
TURNS = 3


class Undigested(Pass):
    """A pass that evaluates the same integrals and forgets them."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.seen = super().largest()
        self.wanted, self.pairs, self.j_numbers, self.k_numbers = [], [], [], []

    def largest(self) -> Any:
        return self.seen


def best(clock: Callable[[], float], *calls: Callable[[], Any], turns: int = TURNS) -> list[float]:
    """The least seconds of each."""
    found = [np.inf] * len(calls)
    for _ in range(turns):
        for place, call in enumerate(calls):
            start = clock()
            call()
            found[place] = min(found[place], clock() - start)
    return found


def measured(atoms: Any, basis: str, threads: int) -> tuple[Any, list[float], Fock, float]:
    """Nuclei and functions, seconds (ours, PySCF's, our integrals), pairs, largest difference."""
    mol = gto.M(atom=atoms, basis=basis, verbose=0)
    mf = scf.RHF(mol)
    mf._is_mem_enough = lambda: False
    dm = np.array(mf.get_init_guess())
    fock = Fock(Basis.from_pyscf(mol))
    mine, theirs = fock.matrices(dm), mf.get_jk(mol, dm)
    pairs = zip(mine, theirs, strict=True)
    difference = max(float(np.abs(one - two).max()) for one, two in pairs)
    clock = time.process_time if threads == 1 else time.perf_counter
    alone = [Wanted(dm, BOTH)]
    seconds = best(
        clock, lambda: fock.matrices(dm), lambda: mf.get_jk(mol, dm),
        lambda: Undigested(fock.code, alone).launch(),
    )  # fmt: skip
    return mol, seconds, fock, difference


def main() -> int:
    """Print one row for each molecule and basis."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--avx2", action="store_true")
    parser.add_argument("--converge", action="store_true")
    parser.add_argument("rows", nargs="*", default=list(ROWS))
    chosen = parser.parse_args()
    lib.num_threads(chosen.threads)
    if chosen.converge:
        return converge(chosen.rows)
    missed, counts, times = 0, [], []
    print("| | functions | ours s | PySCF s | ratio | at least | integrals | predicted | PySCF |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    features = "avx2" if chosen.avx2 else "auto"
    with fw.options(threads=chosen.threads, features=features):
        for name in (*chosen.rows, *(FITTED if chosen.fit else ())):
            atoms, basis, least = (*FITTED[name], 0.0) if name in FITTED else ROWS[name]
            mol, seconds, fock, difference = measured(atoms, basis, chosen.threads)
            assert difference < 1e-10, (name, difference)
            ours, theirs, alone = seconds
            assert fock.code is not None
            counts.append([1.0, *sum(each.sum(axis=0) for each in fock.code.counts)])
            times.append((ours, theirs))
            missed += theirs / ours < least
            threads = chosen.threads
            print(
                f"| {name} | {mol.nao} | {ours:.3f} | {theirs:.3f} | {theirs / ours:.1f}× "
                f"| {least:.1f}× | {alone / ours:.0%} | {fock.seconds(threads):.3f} "
                f"| {fock.seconds_of_libcint(threads):.3f} |", flush=True,
            )  # fmt: skip
    if chosen.fit:
        fit(np.array(counts), np.array(times))
    return int(missed > 0)


def converge(rows: list[str]) -> int:
    """Whole calculations."""
    print("| RHF | ours s | PySCF s | ratio | cycles | difference of energies | ours by |")
    print("|---|---|---|---|---|---|---|", flush=True)
    with fw.options(threads=1):
        for name in rows:
            atoms, basis, _ = ROWS[name]
            mol = gto.M(atom=atoms, basis=basis, verbose=0)
            fp.warm(mol)
            mf, plain = fp.apply(scf.RHF(mol)), scf.RHF(mol)
            (ours,), (theirs,) = (
                best(time.process_time, each.kernel, turns=1) for each in (mf, plain)
            )
            (kind,) = {item.what for item, _, _ in fp.explain(mf).rows} & {JK, IN_CORE}
            print(
                f"| {name} | {ours:.2f} | {theirs:.2f} | {theirs / ours:.1f}× "
                f"| {mf.cycles}, {plain.cycles} | {abs(mf.e_tot - plain.e_tot):.0e} | {kind} |",
                flush=True,
            )
            assert abs(mf.e_tot - plain.e_tot) < 1e-9
    return 0


def fit(counts: Any, times: Any) -> None:
    """Factors that are not negative with the least relative errors."""
    from scipy.optimize import nnls

    for name, measured_times in zip(("FOCK", "LIBCINT_FOCK"), times.T, strict=True):
        factors = nnls(counts / measured_times[:, None], np.ones(len(counts)))[0]
        print(name, "=", ", ".join(f"{factor:.2g}" for factor in factors))


if __name__ == "__main__":
    raise SystemExit(main())
