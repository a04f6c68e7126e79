"""Coulomb and exchange matrices from integrals that are evaluated and forgotten."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from fusewright.base.values import dataclass
from fusewright.codegen.recurrences.records import BOTH, COULOMB, EXCHANGE
from fusewright.integrals import given
from fusewright.integrals.basis import Basis, a_basis
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


@dataclass(frozen=True, slots=True)
class FockRequest:
    """Matrices of some densities (as `Fock.matrices` takes them) with one operator, by number."""

    densities: Array
    hermi: int = 1
    with_j: bool = True
    with_k: bool = True
    operator: int = 0

    def wanted(self) -> Iterator[tuple[int, int, Wanted]]:
        """Symmetric and antisymmetric matrices: their density's number, 1 or -1, what is asked."""
        shape = self.densities.shape
        for number, dm in enumerate(self.densities.reshape(prod(shape[:-2]), *shape[-2:])):
            for sign in (1, -1) if self.hermi == 0 else (1,) if self.hermi == 1 else (-1,):
                kind = _kind(self.with_j and sign > 0, self.with_k)
                if kind is not None:
                    half = dm if self.hermi else 0.5 * (dm + sign * dm.T)
                    yield number, sign, Wanted(np.ascontiguousarray(half), kind, self.operator)


class Fock:
    """Coulomb and exchange matrices for one geometry and operator.

    `tolerance`: contributions below it are left out (`direct_scf_tol`).  `quartets` counts those of
    shells that the last call evaluated, in whole vectors.  With `second` there are matrices of two
    operators, in one pass.
    """

    def __init__(
        self, basis: Basis, operator: Operator = FULL, tolerance: float = TOLERANCE,
        second: Operator | None = None,
    ) -> None:  # fmt: skip
        self.basis, self.tolerance = a_basis(basis), given.tolerance(tolerance)
        both = (operator,) if second is None else (operator, second)
        self.operators = tuple(given.an_operator(each) for each in both)
        self.functions = int(basis.offsets[-1])
        groups = screened(basis, self.operators, tolerance)
        self.quartets: Counter[Momenta] = Counter()
        self.code = FockCode(basis, self.operators, groups, tolerance) if groups else None

    def __reduce__(self) -> Any:
        # Code and addresses belong to a process.
        return Fock, (self.basis, self.operators[0], self.tolerance, *self.operators[1:])

    def matrices(
        self, densities: Array, hermi: int = 1, with_j: bool = True, with_k: bool = True
    ) -> tuple[Array | None, Array | None]:
        """J_ij = sum of (ij|kl) D_kl and K_il = sum of (ij|kl) D_jk, of the shape of `densities`,
        (functions, functions) or (n, functions, functions).

        `hermi`: D is symmetric (1), antisymmetric (2) or neither (0).  None is for what is not
        asked for.
        """
        (found,) = self.requested([FockRequest(densities, hermi, with_j, with_k)])
        return found

    def requested(self, requests: Sequence[FockRequest]) -> list[tuple[Array | None, Array | None]]:
        """J and K of each request, all of them in one pass."""
        asked = [
            replace(each, densities=given.densities(each.densities, self.functions, each.hermi))
            for each in requests
        ]
        parts = [list(each.wanted()) for each in asked]
        made = iter(self.contributions([wanted for part in parts for _, _, wanted in part]))
        return [_matrices(each, part, made) for each, part in zip(asked, parts, strict=True)]

    def seconds(self, threads: int = 1) -> float:
        """What J and K of one density matrix are predicted to take."""
        return self._predicted(FOCK, threads)

    def seconds_of_libcint(self, threads: int = 1) -> float:
        """The same in PySCF."""
        return self._predicted(LIBCINT_FOCK, threads)

    def _predicted(self, rates: FockRates, threads: int) -> float:
        if self.code is None:
            return 0.0
        total = sum(each.sum(axis=0) for each in self.code.counts) * len(self.operators)
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


def _matrices(
    request: FockRequest, parts: Sequence[tuple[int, int, Wanted]], made: Iterator[Contribution]
) -> tuple[Array | None, Array | None]:
    shape = request.densities.shape
    whole = (prod(shape[:-2]), *shape[-2:])
    j = np.zeros(whole) if request.with_j else None
    k = np.zeros(whole) if request.with_k else None
    for (number, sign, _), found in zip(parts, made, strict=False):
        if j is not None and found.coulomb is not None:
            j[number] += 2 * (found.coulomb + found.coulomb.T)
        if k is not None and found.exchange is not None:
            k[number] += found.exchange + sign * found.exchange.T
    return (
        j.reshape(shape) if j is not None else None,
        k.reshape(shape) if k is not None else None,
    )


def _kind(with_j: bool, with_k: bool) -> int | None:
    if with_j:
        return BOTH if with_k else COULOMB
    return EXCHANGE if with_k else None
