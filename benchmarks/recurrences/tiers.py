"""One list for both sides of a class of integrals against one short list for each side, in loops.

    python benchmarks/recurrences/tiers.py [--avx2] [class ...]

One pair of shells against many, as in `classes.py`, with results that stay in the second-level
cache; K primitives a shell.  One thread, CPU seconds, the best of turns that alternate.  Integrals
are compared.  `machine.steps.STEPS` has the means of what this prints.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from functools import partial
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["FUSEWRIGHT_CACHE_DIR"] = tempfile.mkdtemp()

import numpy as np
from classes import molecule, seconds

import fusewright as fw
from fusewright.integrals import classes
from fusewright.integrals.basis import Basis
from fusewright.integrals.evaluate import Evaluator, Side, empty
from fusewright.integrals.operators import COULOMB
from fusewright.integrals.pairs import grouped
from fusewright.integrals.repulsion import kind_of, units_of

CLASSES = (
    "pppp", "dsds", "dpps", "fsps", "dppp", "ddps", "fpps", "fsds", "dpdp", "ddds", "fsfs", "gsds",
    "dddp", "fpdp", "dddd", "fpfp", "gsgs",
)  # fmt: skip
TURNS = 7
BOTH = {"one list": 99, "steps": 0}
"""Total angular momentum from which on there are steps, in each of both ways."""


def evaluators(basis: Basis, pairs: Any) -> dict[str, Evaluator]:
    """For each way an evaluator whose code is there."""
    found = {}
    for way, least in BOTH.items():
        classes.STEPPED = least
        sides = [Side(group, classes.lanes()) for group in pairs]
        kind = kind_of(*(side.group for side in sides), basis, COULOMB)
        found[way] = Evaluator(kind, *sides, COULOMB)
        assert found[way].code is not None
    return found


def race(letters: str, primitives: int) -> tuple[dict[str, float], float]:
    """For each way nanoseconds of a quartet; the largest difference, relative."""
    momenta = ["spdfg".index(letter) for letter in letters]
    many = 128 if sum(momenta) < 7 else 32
    mol = molecule(momenta, primitives, 8, many // 8)
    basis = Basis.from_pyscf(mol)
    (bra,) = grouped(basis, [(0, 1)])
    (ket,) = grouped(basis, [(2 + i, 10 + j) for i in range(8) for j in range(many // 8)])
    ways = evaluators(basis, (bra, ket))
    best = dict.fromkeys(ways, np.inf)
    units = {way: units_of(each.bra, each.ket, False) for way, each in ways.items()}
    results = {way: empty((len(units[way]), *each.shape)) for way, each in ways.items()}
    for _ in range(TURNS):
        for way, each in ways.items():
            run = partial(each.run, units[way], results[way])
            best[way] = min(best[way], seconds(run))
    one, two = results.values()
    error = np.abs(one - two).max() / np.abs(one).max()
    return {way: 1e9 * took / many for way, took in best.items()}, float(error)


def main() -> int:
    """Print a row for each class."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--avx2", action="store_true")
    parser.add_argument("classes", nargs="*")
    chosen = parser.parse_args()
    print("| class | L | K = 1: one list ns | steps ns | ratio | K = 3: ratio |")
    print("|---|---|---|---|---|---|")
    with fw.options(threads=1, features="avx2" if chosen.avx2 else "auto"):
        for letters in chosen.classes or CLASSES:
            total = sum("spdfg".index(letter) for letter in letters)
            took, error = race(letters, 1)
            more, other = race(letters, 3)
            assert max(error, other) < 1e-13, (letters, error, other)
            ratios = [each["steps"] / each["one list"] for each in (took, more)]
            print(
                f"| {letters} | {total} | {took['one list']:.1f} | {took['steps']:.1f} | "
                f"{ratios[0]:.2f} | {ratios[1]:.2f} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
