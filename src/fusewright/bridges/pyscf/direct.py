"""J and K from integrals that are not kept, by whom they are made sooner."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from pyscf import lib

from fusewright.base import bounded, words
from fusewright.base.errors import FusewrightError
from fusewright.base.options import current
from fusewright.bridges.pyscf import compiling, in_core
from fusewright.bridges.pyscf.record import (
    AHEAD,
    JK,
    OURS,
    Evaluated,
    Geometry,
    IntegralRecord,
    PassedOn,
    class_name,
)
from fusewright.integrals.basis import Basis
from fusewright.integrals.fock import Fock, FockRequest
from fusewright.integrals.operators import COULOMB, Operator, long_range, short_range
from fusewright.ir.fused import Array
from fusewright.machine.integrals import FOCK, MARGIN
from fusewright.runtime.limits import thread_count

UNEQUAL = 1e-10
"""A matrix is not symmetric, whatever `hermi` says, where elements differ more from those of its
transposed one, relative to the largest.
"""
ROUNDED = 1e-12
"""Nor for that: differences of two density matrices are as exact as these are."""
KEPT = 3
"""Geometries and operators that an object keeps: a hybrid functional has two operators."""


def operator_of(omega: float | None) -> Operator:
    """PySCF's `omega`: positive for erf(w r)/r, negative for erfc(w r)/r."""
    if not omega:
        return COULOMB
    return long_range(float(omega)) if omega > 0 else short_range(-float(omega))


def geometry_of(
    mf: Any, mol: Any, omega: float | None, record: IntegralRecord, fits: bool,
    second: float | None = None,
) -> Geometry:  # fmt: skip
    """What J and K need of a geometry, made once; `PassedOn` where there is no code for it.

    With `second`, an omega too, they are for both operators.

    `fits`: PySCF would keep all integrals in memory.  With `strict=True` what is missing is
    compiled at once.
    """
    operators = [operator_of(each) for each in (omega, *([second] if second else []))]
    tolerance = float(mf.direct_scf_tol) if mf.direct_scf else 0.0
    key = (molecule_key(mol), *operators, tolerance, current().features)
    found = record.geometries.get(key)
    if found is None:
        try:
            if not current().strict:
                check_size(mol, fits)
            basis = Basis.from_pyscf(mol)
            if not current().strict:
                compiling.require(basis, operators, fits)
            found = Geometry(Fock(basis, operators[0], tolerance, *operators[1:]))
        except FusewrightError as error:
            raise PassedOn(error.what) from error
        bounded.keep(record.geometries, key, found, KEPT)
    return found


def molecule_key(mol: Any) -> tuple[bytes, bytes, bytes, bool]:
    """What the integrals of a molecule depend on."""
    return mol._atm.tobytes(), mol._bas.tobytes(), mol._env.tobytes(), bool(mol.cart)


def check_size(mol: Any, fits: bool) -> None:
    """`PassedOn` for molecules so small that a call of ours takes longer than PySCF can."""
    theirs = in_core.needs_in(mol).most / lib.num_threads()
    if fits:
        theirs = theirs / compiling.BUILDS + in_core.reading(int(mol.nao))
    if FOCK.call * MARGIN > theirs:
        raise PassedOn(lambda: (
            f"predicted at least {words.seconds(FOCK.call)}, PySCF at most {words.seconds(theirs)}"
        ))  # fmt: skip


def prefers_memory(geometry: Geometry) -> bool:
    """Whether all integrals in memory are predicted to take less time."""
    if geometry.in_memory is None:
        fock = geometry.fock
        direct = compiling.BUILDS * fock.seconds(thread_count())
        kept = in_core.seconds(fock.basis, fock.functions, compiling.BUILDS)
        geometry.in_memory = kept < direct * MARGIN
    return geometry.in_memory


def worth(fock: Fock) -> None:
    """`PassedOn` where PySCF is predicted to be faster."""
    ours, theirs = fock.seconds(thread_count()), fock.seconds_of_libcint(lib.num_threads())
    if ours * MARGIN > theirs and not current().strict:
        raise PassedOn(f"predicted {words.seconds(ours)}, PySCF {words.seconds(theirs)}")


def get_jk(
    fock: Fock, dm: Any, hermi: int, with_j: bool, with_k: bool, record: IntegralRecord,
    later: Array | None = None,
) -> tuple[Array | None, Array | None]:  # fmt: skip
    """As PySCF's, for real matrices; with `later` K of these is made beside, with the second
    operator, and kept for the next question.
    """
    start = time.perf_counter()
    requests = [FockRequest(np.asarray(dm, np.float64), hermi, with_j, with_k)]
    if later is not None:
        requests.append(FockRequest(later, hermi, False, True, 1))
    (j, k), *more = fock.requested(requests)
    if later is not None and record.expected is not None:
        exchange = more[0][1]
        assert exchange is not None
        record.expected.exchange = (later, exchange)
        record.add(Evaluated(AHEAD, OURS), 1)
    record.add(Evaluated(JK, OURS), 1, time.perf_counter() - start)
    for momenta, many in fock.quartets.items():
        record.add(Evaluated(class_name(momenta), OURS), many)
    return j, k


def check_matrices(dm: Any, functions: int, hermi: int) -> None:
    """`PassedOn` for matrices that ours does not know."""
    given = np.asarray(dm)
    if given.dtype.kind == "c":
        raise PassedOn("the density matrix is complex")
    if given.ndim < 2 or given.shape[-2:] != (functions, functions):
        raise PassedOn(f"the density matrix has the shape {given.shape}")
    if hermi == 0 or not given.size:
        return
    turned = given.swapaxes(-1, -2)
    difference = given - turned if hermi == 1 else given + turned
    if np.abs(difference).max() > UNEQUAL * np.abs(given).max() + ROUNDED:
        kind = "symmetric" if hermi == 1 else "antisymmetric"
        raise PassedOn(f"the density matrix is not {kind}, as hermi = {hermi} says")
