"""Coulomb and exchange matrices from integrals that are evaluated and forgotten."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod

import numpy as np

from fusewright.codegen.recurrences.records import BOTH, COULOMB, EXCHANGE
from fusewright.integrals.basis import Basis
from fusewright.integrals.bins import Contribution, Pass, Wanted, most_matrices
from fusewright.integrals.classes import Momenta
from fusewright.integrals.fock_code import FockCode
from fusewright.integrals.operators import COULOMB as FULL
from fusewright.integrals.operators import Operator
from fusewright.integrals.screened import screened
from fusewright.ir.fused import Array
from fusewright.machine.integrals import FOCK, LIBCINT_FOCK, FockRates

TOLERANCE = 1e-13
"""PySCF's `direct_scf_tol`."""


class Fock:
    """Coulomb and exchange matrices for one geometry and operator.

    `tolerance`: contributions below it are left out (`direct_scf_tol`).  `quartets` counts those of
    shells that the last call evaluated, in whole vectors.
    """

    def __init__(
        self, basis: Basis, operator: Operator = FULL, tolerance: float = TOLERANCE
    ) -> None:
        self.basis, self.operator, self.tolerance = basis, operator, tolerance
        self.functions = int(basis.offsets[-1])
        groups = screened(basis, operator, tolerance)
        self.quartets: Counter[Momenta] = Counter()
        self.code = FockCode(basis, operator, groups, tolerance) if groups else None

    def matrices(
        self, densities: Array, hermi: int = 1, with_j: bool = True, with_k: bool = True
    ) -> tuple[Array | None, Array | None]:
        """J_ij = sum of (ij|kl) D_kl and K_il = sum of (ij|kl) D_jk, of the shape of `densities`,
        (functions, functions) or (n, functions, functions).

        `hermi`: D is symmetric (1), antisymmetric (2) or neither (0).  None is for what is not
        asked for.
        """
        given = np.ascontiguousarray(densities, np.float64)
        dms = given.reshape(prod(given.shape[:-2]), self.functions, self.functions)
        j = np.zeros(dms.shape) if with_j else None
        k = np.zeros(dms.shape) if with_k else None
        wanted, targets = [], []
        for number, dm in enumerate(dms):
            for sign in (1, -1) if hermi == 0 else (1,) if hermi == 1 else (-1,):
                kind = _kind(with_j and sign > 0, with_k)
                if kind is not None:
                    half = dm if hermi else 0.5 * (dm + sign * dm.T)
                    wanted.append(Wanted(np.ascontiguousarray(half), kind))
                    targets.append((number, sign))
        for (number, sign), found in zip(targets, self.contributions(wanted), strict=True):
            if j is not None and found.coulomb is not None:
                j[number] += 2 * (found.coulomb + found.coulomb.T)
            if k is not None and found.exchange is not None:
                k[number] += found.exchange + sign * found.exchange.T
        return (
            j.reshape(given.shape) if j is not None else None,
            k.reshape(given.shape) if k is not None else None,
        )

    def seconds(self, threads: int = 1) -> float:
        """What J and K of one density matrix are predicted to take."""
        return self._predicted(FOCK, threads)

    def seconds_of_libcint(self, threads: int = 1) -> float:
        """The same in PySCF."""
        return self._predicted(LIBCINT_FOCK, threads)

    def _predicted(self, rates: FockRates, threads: int) -> float:
        if self.code is None:
            return 0.0
        total = sum(each.sum(axis=0) for each in self.code.counts)
        return rates.call + float(total @ np.array(rates.each)) / threads

    def contributions(self, wanted: Sequence[Wanted]) -> list[Contribution]:
        """All of them in as few passes as the memory of bins allows."""
        if self.code is None:
            empty = np.zeros((self.functions, self.functions))
            return [Contribution(empty, empty) for _ in wanted]
        found: list[Contribution] = []
        self.quartets.clear()
        most = most_matrices(self.code)
        for start in range(0, len(wanted), most):
            one = Pass(self.code, wanted[start : start + most])
            found += one.results()
            self.quartets.update(one.quartets())
        return found


def _kind(with_j: bool, with_k: bool) -> int | None:
    if with_j:
        return BOTH if with_k else COULOMB
    return EXCHANGE if with_k else None
