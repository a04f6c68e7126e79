"""The array of all integrals with eight-fold symmetry, and what it is predicted to cost."""

from __future__ import annotations

from itertools import product

import pytest

import fusewright as fw
from fusewright.integrals import Basis, electron_repulsion
from fusewright.integrals.costs import predicted
from fusewright.integrals.operators import long_range
from fusewright.integrals.packed import packed_repulsion

PLACES = [[0.0, 0.0, 0.0], [0.0, 0.3, 1.4], [1.1, -0.2, 0.5]]
SHELLS = [
    (0, 0, [1.3, 0.4], [[0.6, 0.1], [0.5, -0.4]]),  # two contractions
    (1, 1, [0.8], [1.0]),
    (2, 0, [0.5], [1.0]),
    (0, 1, [0.9, 0.3], [0.4, 0.7]),
]


@pytest.fixture(scope="module")
def basis() -> Basis:
    return Basis.from_arrays(PLACES, SHELLS)


def test_each_integral_is_at_its_place(basis: Basis) -> None:
    whole, packed = electron_repulsion(basis), packed_repulsion(basis)
    n = len(whole)
    pairs = n * (n + 1) // 2
    assert packed.shape == (pairs * (pairs + 1) // 2,)
    for i, j, k, l in product(range(n), repeat=4):  # noqa: E741
        ij, kl = i * (i + 1) // 2 + j, k * (k + 1) // 2 + l
        if j <= i and l <= k and kl <= ij:
            assert abs(packed[ij * (ij + 1) // 2 + kl] - whole[i, j, k, l]) < 1e-14


def test_operators_and_observers(basis: Basis) -> None:
    told: list[int] = []
    packed = packed_repulsion(basis, long_range(0.4), lambda _, many, seconds: told.append(many))
    assert abs(packed[0] - electron_repulsion(basis, operator=long_range(0.4))[0, 0, 0, 0]) < 1e-14
    pairs = len(SHELLS) * (len(SHELLS) + 1) // 2
    assert sum(told) == pairs * (pairs + 1) // 2


def test_bits_do_not_depend_on_threads(basis: Basis) -> None:
    found = []
    for threads in (1, 2):
        with fw.options(threads=threads):
            found.append(packed_repulsion(basis))
    assert found[0].tobytes() == found[1].tobytes()


def test_empty() -> None:
    assert packed_repulsion(Basis(())).shape == (0,)
    assert predicted(Basis(())).libcint == 0


def test_predictions_count_quartets_and_grow(basis: Basis) -> None:
    packed_repulsion(basis)
    one = predicted(basis)
    assert not one.missing and one.compiling == 0
    twice = Basis(tuple(basis.shells) * 2)
    assert predicted(twice).parallel > 8 * one.parallel
    assert one.ours(4) < one.ours(1)
    unknown = Basis.from_arrays(PLACES, [(0, 4, [0.77], [1.0])], cartesian=True)
    assert predicted(unknown).ours(1) > 0


def test_shells_that_are_not_compiled_are_missing(
    basis: Basis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fusewright.integrals.costs.is_compiled", lambda kind: False)
    found = predicted(basis)
    assert (1, 1, 1, 1) in {kind.momenta for kind in found.missing}
    assert found.compiling > 0
