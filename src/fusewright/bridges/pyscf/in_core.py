"""The array of all integrals that PySCF keeps in memory, by whom it is made sooner."""

from __future__ import annotations

import time
from typing import Any

from pyscf import lib

from fusewright.base import words
from fusewright.base.errors import FusewrightError, StrictError
from fusewright.base.options import current
from fusewright.bridges.pyscf import compiling
from fusewright.bridges.pyscf.record import (
    IN_CORE,
    OURS,
    THEIRS,
    Evaluated,
    IntegralRecord,
    class_name,
)
from fusewright.integrals.basis import Basis
from fusewright.integrals.classes import QuartetClass
from fusewright.integrals.costs import Prediction, predicted
from fusewright.integrals.needed import Needs, needs_of
from fusewright.integrals.packed import packed_repulsion
from fusewright.ir.fused import Array
from fusewright.machine.integrals import IN_MEMORY, MARGIN
from fusewright.runtime.limits import thread_count


def integrals(mol: Any, record: IntegralRecord) -> Array:
    """All integrals of a molecule, 8-fold packed as `mol.intor("int2e", aosym="s8")`.

    They are PySCF's where we have no such class or where PySCF is predicted to be faster.  With
    `strict=True` they are ours, or it is a `StrictError`.
    """
    strict = current().strict
    if not strict and (why := too_small(mol)):
        return _theirs(mol, record, why)
    try:
        basis = Basis.from_pyscf(mol)
    except FusewrightError as error:
        if strict:
            raise StrictError("PySCF would evaluate all integrals", why=error.what) from error
        return _theirs(mol, record, error.what)
    why = "" if strict else slower(predicted(basis), thread_count(), lib.num_threads())
    return _theirs(mol, record, why) if why else _ours(basis, record)


def needs_in(mol: Any) -> Needs:
    """What a molecule needs, without making a basis of it."""
    return needs_of(tuple((row[1], row[3], row[2]) for row in mol._bas.tolist()))


def too_small(mol: Any) -> str:
    """Why PySCF's integrals are taken where that is seen without the pairs of shells."""
    needs = needs_in(mol)
    least, theirs = needs.least, needs.most / lib.num_threads()
    if least * MARGIN > theirs:
        return f"predicted at least {words.seconds(least)}, PySCF at most {words.seconds(theirs)}"
    if not compiling.is_worth_asking(theirs - least):
        return f"predicted to save {words.seconds(theirs - least)} at most"
    return ""


def seconds(basis: Basis, functions: int, builds: int) -> float:
    """What all integrals, by whom they are made sooner, and so many J and K of them are predicted
    to take.
    """
    prediction = predicted(basis)
    first = min(prediction.ours(thread_count()), prediction.libcint / lib.num_threads())
    return float(first + builds * reading(functions))


def reading(functions: int) -> float:
    """What PySCF is predicted to take for J and K of all integrals in memory."""
    pairs = functions * (functions + 1) // 2
    return float(IN_MEMORY * (pairs * (pairs + 1) // 2) / lib.num_threads())


def slower(prediction: Prediction, threads: int, their_threads: int) -> str:
    """Why PySCF's integrals are taken; empty for ours.

    Classes that are not compiled yet are compiled where that pays at once, otherwise beside
    the program, once the time that they would have saved in this process is as much as compiling
    takes.
    """
    ours, theirs = prediction.ours(threads), prediction.libcint / their_threads
    if ours * MARGIN > theirs:
        return f"predicted {words.seconds(ours)}, PySCF {words.seconds(theirs)}"
    missing = prediction.missing
    if theirs - ours > prediction.compiling:
        return ""
    if compiling.is_due(missing, prediction.compiling, theirs - ours):
        compiling.submit(missing)
        return compiling.being_compiled(missing)
    return compiling.not_compiled(missing, prediction.compiling)


def _ours(basis: Basis, record: IntegralRecord) -> Array:
    def observe(kind: QuartetClass, quartets: int, seconds: float) -> None:
        record.add(Evaluated(class_name(kind.momenta), OURS), quartets, seconds)

    start = time.perf_counter()
    values = packed_repulsion(basis, observe=observe)
    record.add(Evaluated(IN_CORE, OURS), 1, time.perf_counter() - start)
    return values


def _theirs(mol: Any, record: IntegralRecord, why: str) -> Array:
    start = time.perf_counter()
    values: Array = mol.intor("int2e", aosym="s8")
    record.add(Evaluated(IN_CORE, THEIRS, why), 1, time.perf_counter() - start)
    record.add_classes(needs_in(mol).quartets, THEIRS, why)
    return values
