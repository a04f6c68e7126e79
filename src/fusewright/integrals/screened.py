"""Pairs of shells as Coulomb and exchange matrices need them: sorted by bound, in whole eights.

Pairs that no quartet needs are left out.  Pairs of equal shells have half their weight, so that a
sum over pairs i >= j is half of that over all i and j.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fusewright.base.values import dataclass
from fusewright.codegen.recurrences.records import EIGHT
from fusewright.integrals.basis import Basis
from fusewright.integrals.evaluate import aligned
from fusewright.integrals.operators import Operator
from fusewright.integrals.pairs import PairGroup, grouped
from fusewright.integrals.repulsion import pairs_of
from fusewright.integrals.schwarz import bounds
from fusewright.ir.fused import Array

STEPS = 2.0
"""Within a factor of 10^(1/STEPS) bounds count as equal: there the pairs of primitives decide, so
that a vector's kets have equally many.
"""


@dataclass(frozen=True, slots=True, eq=False)
class ScreenedGroup:
    """A group's pairs in order of falling bounds (roughly), and the arrays of its records.

    `bounds`, `first`, `second` (shells, int32), `first_at`, `second_at` (their first functions)
    have zeros up to a whole eight; `falling` (eights,) is the largest bound from an eight on,
    `depths` (eights + 1,) the sum of the most pairs of primitives of all eights before one.
    """

    group: PairGroup
    bounds: Array
    falling: Array
    depths: Array
    first: Array
    second: Array
    first_at: Array
    second_at: Array

    @property
    def eights(self) -> int:
        """How many there are."""
        return len(self.falling)


def screened(basis: Basis, operators: Sequence[Operator], tolerance: float) -> list[ScreenedGroup]:
    """All pairs i >= j with which some quartet has a bound above the tolerance, for any operator;
    a pair's bound is the largest of all operators'.
    """
    shells = (0, len(basis.shells))
    groups = grouped(basis, pairs_of(shells, shells))
    found = [
        np.max([bounds(basis, group, operator) for operator in operators], axis=0)
        for group in groups
    ]
    largest = max((float(each.max()) for each in found), default=0.0)
    made = []
    for group, each in zip(groups, found, strict=True):
        kept = np.flatnonzero(each * largest > tolerance)
        if len(kept):
            made.append(_sorted(basis, group.taken(kept), each[kept]))
    return made


def _sorted(basis: Basis, group: PairGroup, found: Array) -> ScreenedGroup:
    counts = np.diff(group.starts)
    order = np.lexsort((-found, -counts, -np.floor(STEPS * np.log10(found))))
    group, found = group.taken(order), found[order]
    eights = -(-len(group) // EIGHT)
    whole = _padded(found, eights)
    most = whole.reshape(eights, EIGHT).max(axis=1)
    shells = (group.first, group.second)
    first, second = (_padded(each, eights, np.int32) for each in shells)
    starts = [_padded(basis.offsets[each], eights, np.int64) for each in shells]
    falling = np.maximum.accumulate(most[::-1])[::-1].copy()
    deepest = _padded(np.diff(group.starts), eights, np.int64).reshape(eights, EIGHT).max(axis=1)
    depths = np.concatenate([[0], np.cumsum(deepest)])
    return ScreenedGroup(_halved(group), whole, falling, depths, first, second, *starts)


def _padded(values: Array, eights: int, kind: type = np.float64) -> Array:
    whole: Array = np.zeros(eights * EIGHT, kind)
    whole[: len(values)] = values
    return aligned(whole) if kind is np.float64 else whole


def _halved(group: PairGroup) -> PairGroup:
    """With half the weight for pairs of equal shells."""
    same = np.repeat(group.first == group.second, np.diff(group.starts))
    data = group.data.copy()
    data[same, 8:] *= 0.5
    return replace(group, data=data)
