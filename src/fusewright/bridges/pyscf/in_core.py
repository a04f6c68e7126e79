"""The array of all integrals that PySCF keeps in memory, by whom it is made sooner."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import Any

from pyscf import lib

from fusewright.base.errors import FusewrightError, StrictError
from fusewright.base.options import current
from fusewright.bridges.pyscf.record import (
    IN_CORE,
    OURS,
    THEIRS,
    Evaluated,
    IntegralRecord,
    class_name,
)
from fusewright.integrals.basis import Basis
from fusewright.integrals.classes import Momenta, QuartetClass
from fusewright.integrals.costs import Prediction, predicted
from fusewright.integrals.packed import packed_repulsion
from fusewright.ir.fused import Array
from fusewright.machine.integrals import MARGIN
from fusewright.runtime.limits import thread_count

_forgone: dict[tuple[Momenta, ...], float] = defaultdict(float)
"""Seconds that would have been gained in this process, had these classes been compiled.  They are
compiled once that is as much as compiling takes: at most twice the least time is spent.
"""


def integrals(mol: Any, record: IntegralRecord) -> Array:
    """All integrals of a molecule, 8-fold packed as `mol.intor("int2e", aosym="s8")`.

    They are PySCF's where we have no such class or where PySCF is predicted to be faster.  With
    `strict=True` they are ours, or it is a `StrictError`.
    """
    strict = current().strict
    try:
        basis = Basis.from_pyscf(mol)
    except FusewrightError as error:
        if strict:
            raise StrictError("PySCF would evaluate all integrals", why=error.what) from error
        return _theirs(mol, record, error.what, None)
    prediction = predicted(basis)
    why = "" if strict else slower(prediction, thread_count(), lib.num_threads())
    return _theirs(mol, record, why, prediction) if why else _ours(basis, record)


def slower(prediction: Prediction, threads: int, their_threads: int) -> str:
    """Why PySCF's integrals are taken; empty for ours."""
    ours, theirs = prediction.ours(threads), prediction.libcint / their_threads
    if ours * MARGIN > theirs:
        return f"predicted {_seconds(ours)}, PySCF {_seconds(theirs)}"
    gained = _forgone[prediction.missing] + theirs - ours
    if gained < prediction.compiling:
        _forgone[prediction.missing] = gained
        return (
            f"{len(prediction.missing)} classes are not compiled, predicted "
            f"{_seconds(prediction.compiling)}; fp.warm(mol) compiles them"
        )
    return ""


def _seconds(value: float) -> str:
    return f"{value:.1f} s" if value >= 1 else f"{1e3 * value:.2g} ms"


def _ours(basis: Basis, record: IntegralRecord) -> Array:
    def observe(kind: QuartetClass, quartets: int, seconds: float) -> None:
        record.add(Evaluated(class_name(kind.momenta), OURS), quartets, seconds)

    start = time.perf_counter()
    values = packed_repulsion(basis, observe=observe)
    record.add(Evaluated(IN_CORE, OURS), 1, time.perf_counter() - start)
    return values


def _theirs(mol: Any, record: IntegralRecord, why: str, prediction: Prediction | None) -> Array:
    start = time.perf_counter()
    values: Array = mol.intor("int2e", aosym="s8")
    record.add(Evaluated(IN_CORE, THEIRS, why), 1, time.perf_counter() - start)
    if prediction is not None:
        record.add_classes(prediction.classes, THEIRS, why)
    return values
