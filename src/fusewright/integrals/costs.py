"""What all integrals of a basis are predicted to cost, here and in libcint.

Times are linear in five counts, those of `machine.integrals.IntegralRates`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fusewright.base.values import dataclass
from fusewright.integrals.basis import Basis
from fusewright.integrals.classes import QuartetClass, is_compiled, raised_side
from fusewright.integrals.operators import COULOMB
from fusewright.integrals.packed import quartets
from fusewright.integrals.pairs import PairGroup, grouped
from fusewright.integrals.repulsion import kind_of, pairs_of
from fusewright.ir.fused import Array
from fusewright.machine.integrals import COMPILING, LIBCINT, OURS


@dataclass(frozen=True, slots=True)
class Prediction:
    """Seconds of one core: `serial` cannot be spread over threads, `parallel` can.

    `compiling` is what the classes in `missing`, which are not compiled yet, cost before.
    """

    serial: float
    parallel: float
    libcint: float
    compiling: float
    missing: tuple[QuartetClass, ...]

    def ours(self, threads: int) -> float:
        """Seconds on so many threads, once compiled."""
        return self.serial + self.parallel / threads


def predicted(basis: Basis) -> Prediction:
    """The cost of `packed_repulsion`."""
    sums, missing = np.zeros(5), dict[QuartetClass, float]()
    for bra, ket in group_pairs(basis):
        sums += counts(basis, bra, ket)
        kind = kind_of(bra, ket, basis, COULOMB)
        if kind not in missing and not is_compiled(kind):
            missing[kind] = COMPILING[0] + COMPILING[1] * _values(bra) * _values(ket)
    sums[0] = len(basis.shells) ** 2
    ours = sums * OURS
    return Prediction(
        float(ours[0] + ours[1] + ours[4]), float(ours[2] + ours[3]), float(sums @ LIBCINT),
        sum(missing.values()), tuple(missing),
    )  # fmt: skip


def group_pairs(basis: Basis) -> Iterator[tuple[PairGroup, PairGroup]]:
    """In the order in which they are evaluated."""
    shells = (0, len(basis.shells))
    groups = grouped(basis, pairs_of(shells, shells))
    for m, bra in enumerate(groups):
        for ket in groups[m:]:
            yield bra, ket


def counts(basis: Basis, bra: PairGroup, ket: PairGroup) -> Array:
    """The counts of two groups; the first belongs to the basis and is 0 here."""
    many = quartets(bra, ket)
    share = many / (len(bra) * len(ket))
    primitives = float(bra.starts[-1]) * float(ket.starts[-1]) * share
    functions = [basis.components(l) for l in (*bra.pattern[:2], *ket.pattern[:2])]  # noqa: E741
    integrals = float(many) * bra.contractions * ket.contractions * float(np.prod(functions))
    values = _values(bra) * _values(ket)
    return np.array([0.0, 1.0, primitives, primitives * values, integrals])


def _values(group: PairGroup) -> int:
    return len(raised_side(*group.pattern[:2], group.is_centred))
