"""What a basis needs, known without its geometry, is what its pairs of shells need."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from fusewright.integrals import Basis, Operator, long_range
from fusewright.integrals.costs import counts, group_pairs
from fusewright.integrals.costs import predicted as predicted_array
from fusewright.integrals.needed import (
    classes_of,
    compiling_seconds,
    kinds_of,
    least_seconds,
    most_seconds,
    needs_of,
    quartets_of,
)
from fusewright.integrals.packed import quartets
from fusewright.integrals.repulsion import kind_of
from fusewright.machine.integrals import LIBCINT

TWO = ([2.0, 0.7], [[0.4, 0.3], [0.5, -0.2]])
SHELLS = [
    (0, 0, *TWO), (0, 1, [1.0], [1.0]), (1, 0, [0.9, 0.2], [0.6, 0.5]), (1, 2, [0.8], [1.0]),
    (2, 1, *TWO), (2, 0, [1.1], [1.0]), (2, 0, [0.3], [1.0]),
]  # fmt: skip


@pytest.fixture
def basis() -> Basis:
    return Basis.from_arrays([[0, 0, 0], [0.5, 0, 0.1], [0, 0.4, 0.9]], SHELLS)


@pytest.mark.parametrize("operator", [Operator(), long_range(0.2), Operator(1.0, -1.0, 0.2)])
def test_classes(operator: Operator, basis: Basis) -> None:
    needed = {kind_of(bra, ket, basis, operator) for bra, ket in group_pairs(basis)}
    found = classes_of(basis, operator)
    assert set(found) == needed and len(found) == len(needed)
    sizes = [sum(kind.momenta) for kind in found]
    assert sizes == sorted(sizes)


def test_quartets(basis: Basis) -> None:
    needed: Counter[tuple[int, ...]] = Counter()
    for bra, ket in group_pairs(basis):
        needed[*bra.pattern[:2], *ket.pattern[:2]] += quartets(bra, ket)
    assert dict(quartets_of(kinds_of(basis))) == dict(needed)
    many = len(SHELLS) * (len(SHELLS) + 1) // 2
    assert quartets_of(kinds_of(basis)).total() == many * (many + 1) // 2


def test_seconds(basis: Basis) -> None:
    """A bound for what is predicted with the pairs at hand, and not far from it."""
    total = sum(counts(basis, bra, ket) for bra, ket in group_pairs(basis))
    predicted_ours = predicted_array(basis).ours(1)
    predicted = float(np.dot(total[2:4], [LIBCINT.primitives, LIBCINT.values]))
    most = most_seconds(kinds_of(basis))
    assert predicted < 1.2 * most and most < 2 * predicted
    assert 0 < least_seconds(kinds_of(basis)) < predicted_ours
    shells = tuple(kinds_of(basis).elements())
    assert needs_of(shells)[:2] == (least_seconds(kinds_of(basis)), most)
    small, all_ = classes_of(basis, Operator())[:1], classes_of(basis, Operator())
    assert 0 < compiling_seconds(small) < compiling_seconds(all_)
