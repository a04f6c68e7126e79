"""Classes of electron-repulsion integrals against libcint, as in PySCF's wheel, in one process.

    python benchmarks/recurrences/classes.py [--avx2] [--qcint libqcint.so] [class ...]

One pair of shells against many: all integrals, spherical, into a buffer; K primitives a shell;
pair data and libcint's optimizer made beforehand.  One thread, CPU seconds, the best of turns that
alternate.  Results are compared.  PySCF's wheel has libcint built for SSE2.

`--qcint`: a second column for qcint, libcint's variant with AVX-512 across primitives.  It is on
no package index; its sources are built by cmake, or its core alone (no `src/autocode`):

    gcc -shared -fPIC -O2 -march=native -funroll-loops -ftree-vectorize -ffast-math -fno-math-errno
        -Wl,-Bsymbolic -Iinclude -Isrc -I(cmake's headers) -o libqcint.so src/{c2f,cart2sph,cint1e,
        cint2c2e,cint2e,cint3c1e,cint3c2e,cint_bas,eigh,exp_simd,fblas,find_roots,fmt,g1e,g1e_grids,
        g2e,g2e_simd1,g3c1e,g3c2e,gout2e,misc,optimizer,polyfits,rys_roots,rys_wheeler}.c
        -lm -lquadmath
"""

from __future__ import annotations

import argparse
import ctypes
import os
import time
from collections.abc import Callable
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from pyscf import gto, lib
from pyscf.gto import moleintor

import fusewright as fw
from fusewright.integrals.basis import Basis
from fusewright.integrals.classes import lanes
from fusewright.integrals.evaluate import Evaluator, Side, empty
from fusewright.integrals.operators import COULOMB
from fusewright.integrals.pairs import grouped
from fusewright.integrals.repulsion import kind_of, units_of

TARGETS = {
    ("ssss", 3): 5, ("psss", 3): 7, ("psps", 3): 9, ("ppss", 3): 9,
    ("pppp", 1): 12, ("dpdp", 1): 9, ("dddd", 1): 5.5,
    ("pppp", 3): 9, ("dpdp", 3): 9, ("dddd", 3): 9,
    ("ffff", 1): 5,
}  # fmt: skip
"""Times faster than libcint, at least; with AVX2 0.55 of it."""
TURNS = 7


def molecule(momenta: list[int], primitives: int, c: int, d: int) -> Any:
    """One shell a, one b, c and d shells of the others, at random places."""
    rng = np.random.default_rng(0)
    atoms, shells, env = [], [], list(np.zeros(20))
    exponents = 0.35 * 3.0 ** np.arange(primitives)
    for kind, many in enumerate((1, 1, c, d)):
        for _ in range(many):
            atoms.append([1, len(env), 1, 0, 0, 0])
            env += [*(0.8 * rng.standard_normal(3)), 0.0]
            at = len(env)
            shells.append([len(atoms) - 1, momenta[kind], primitives, 1, 0, at, at + primitives, 0])
            env += [*(exponents * (1 + 0.07 * kind)), *([1.0] * primitives)]
    mol = gto.M(atom="H 0 0 0", spin=None, verbose=0)
    mol._atm, mol._bas = np.array(atoms, np.int32), np.array(shells, np.int32)
    mol._env, mol._built = np.array(env), True
    return mol


class Replaced:
    """PySCF's library with these functions of another one."""

    names = ("int2e_sph", "int2e_optimizer", "CINTdel_optimizer")

    def __init__(self, path: str) -> None:
        self.other, self.own = ctypes.CDLL(path), moleintor.libcgto

    def __getattr__(self, name: str) -> Any:
        return getattr(self.other if name in self.names else self.own, name)


def race(letters: str, primitives: int) -> tuple[float, float, float]:
    """Microseconds a quartet of ours and of libcint's; the largest difference, relative."""
    momenta = ["spdfg".index(letter) for letter in letters]
    c, d = (64, 64) if primitives == 1 else (16, 32) if sum(momenta) < 6 else (8, 8)
    c, d = (16, 32) if sum(momenta) > 9 else (c, d)
    mol = molecule(momenta, primitives, c, d)
    basis, width = Basis.from_pyscf(mol), lanes()
    (bra,) = grouped(basis, [(0, 1)])
    (ket,) = grouped(basis, [(2 + i, 2 + c + j) for i in range(c) for j in range(d)])
    left, right = Side(bra, width), Side(ket, width)
    evaluator = Evaluator(kind_of(bra, ket, basis, COULOMB), left, right, COULOMB)
    units = units_of(left, right, False)
    results = empty((len(units), *evaluator.shape))
    slices = (0, 1, 1, 2, 2, 2 + c, 2 + c, 2 + c + d)
    out = mol.intor("int2e_sph", shls_slice=slices)
    optimizer = moleintor.make_cintopt(mol._atm, mol._bas, mol._env, "int2e_sph")
    offsets = moleintor.make_loc(mol._bas, "int2e_sph")
    given = ("int2e_sph", mol._atm, mol._bas, mol._env, slices, 1, "s1", offsets, optimizer, out)
    best = [np.inf, np.inf]
    for _ in range(TURNS):
        for place, run in enumerate(
            (lambda: evaluator.run(units, results), lambda: moleintor.getints4c(*given))
        ):
            best[place] = min(best[place], seconds(run))
    many = c * d
    rows = results[:, 0].transpose(0, 2, 1).reshape(-1, results.shape[2])[:many]
    sizes = [2 * momentum + 1 for momentum in momenta]
    blocks = out.reshape(sizes[0], sizes[1], c, sizes[2], d, sizes[3])
    expected = blocks[:, :, ket.first - 2, :, ket.second - 2 - c]  # pairs come to the front
    error = np.abs(rows - expected.reshape(many, -1)).max() / np.abs(out).max()
    return best[0] / many * 1e6, best[1] / many * 1e6, float(error)


def seconds(run: Callable[[], object]) -> float:
    """CPU seconds of the fastest of a few calls."""
    least, spent = np.inf, 0.0
    while spent < 0.03:
        start = time.process_time()
        run()
        took = time.process_time() - start
        least, spent = min(least, took), spent + max(took, 1e-6)
    return float(least)


def main() -> int:
    """Print a table; 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--avx2", action="store_true")
    parser.add_argument("--qcint")
    parser.add_argument("classes", nargs="*")
    chosen = parser.parse_args()
    lib.num_threads(1)
    missed, own = 0, moleintor.libcgto
    second = Replaced(chosen.qcint) if chosen.qcint else None
    more = " qcint µs/quartet | ratio |" if second else ""
    print(f"| class | K | ours µs/quartet | libcint µs/quartet | ratio | at least | |{more}")
    print("|---|---|---|---|---|---|---|" + "---|---|" * bool(second))
    with fw.options(threads=1, features="avx2" if chosen.avx2 else "auto"):
        for (letters, primitives), least in TARGETS.items():
            if chosen.classes and letters not in chosen.classes:
                continue
            ours, theirs, error = race(letters, primitives)
            assert error < 1e-12, (letters, error)  # of the largest integral
            wanted = least * (0.55 if chosen.avx2 else 1.0)
            verdict = "PASS" if theirs / ours >= wanted else "MISS"
            missed += verdict == "MISS"
            print(
                f"| {letters} | {primitives} | {ours:.4f} | {theirs:.4f} | {theirs / ours:.1f}× | "
                f"{wanted:.1f}× | {verdict} |",
                end="" if second else "\n", flush=True,
            )  # fmt: skip
            if second:
                moleintor.libcgto = second
                ours, theirs, error = race(letters, primitives)
                moleintor.libcgto = own
                assert error < 1e-11, (letters, error)
                print(f" {theirs:.4f} | {theirs / ours:.1f}× |", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
