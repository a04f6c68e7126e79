"""Both parts of a range-separated functional in one pass.

`get_veff` of PySCF asks for J (and K) with 1/r, and then for K with the functional's omega.  While
it runs the second question is known when the first one comes, and both are answered by one pass.

Where the functional has no exact exchange at long range, newer versions ask for the short range
(omega < 0), older ones for the long one: what the first such question was tells.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from fusewright.bridges.pyscf.record import Expected, IntegralRecord
from fusewright.ir.fused import Array

_sign = -1.0
"""That of omega without exact exchange at long range, as this version of PySCF asks."""


@contextmanager
def expecting(mf: Any, record: IntegralRecord, dm: Any, dm_last: Any) -> Iterator[None]:
    """For `get_veff` of these density matrices."""
    omega = omega_of(mf)
    if omega and dm is not None:
        whole = np.asarray(dm)
        later = [whole]
        if dm_last is not None and np.shape(dm_last) == whole.shape:
            later.append(whole - np.asarray(dm_last))
        record.expected = Expected(omega, tuple(later))
    try:
        yield
    finally:
        record.expected = None


def omega_of(mf: Any) -> float:
    """With which omega K will be asked for after J; 0.0 where it will not be."""
    numint, xc = getattr(mf, "_numint", None), getattr(mf, "xc", None)
    if numint is None or not isinstance(xc, str) or not numint.libxc.is_hybrid_xc(xc):
        return 0.0
    omega, alpha, _ = numint.rsh_and_hybrid_coeff(xc, spin=mf.mol.spin)
    return float(_sign * omega if alpha == 0 else omega)


def next_question(record: IntegralRecord, dm: Array) -> tuple[float, Array] | None:
    """The omega and the matrices of the question after this one."""
    expected = record.expected
    if expected is None or expected.exchange is not None:
        return None
    for later in expected.densities:
        is_whole = later.shape == dm.shape and np.array_equal(later, dm)
        is_sum = later.ndim == 3 and len(later) == 2 and np.array_equal(later[0] + later[1], dm)
        if is_whole or is_sum:
            return expected.omega, later
    return None


def answered(record: IntegralRecord, dm: Any, omega: float | None, with_j: bool) -> Array | None:
    """K, where it was made with the question before."""
    global _sign
    expected = record.expected
    if expected is None or expected.exchange is None or with_j:
        return None
    if omega != expected.omega:
        if omega == -expected.omega:
            _sign, record.expected = -_sign, None
        return None
    later, exchange = expected.exchange
    if later.shape != np.shape(dm) or not np.array_equal(later, dm):
        return None
    record.expected = None
    return exchange
