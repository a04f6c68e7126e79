"""Pairs of shells and their groups: each pair once, in its group, with its own data."""

from __future__ import annotations

import numpy as np
import pytest

from fusewright.integrals import Basis
from fusewright.integrals.pairs import NONE, grouped
from fusewright.integrals.repulsion import pairs_of

TWO = ([0.9, 0.3], [[0.4, 0.1], [0.5, 0.8]])
SHELLS = [
    (0, 0, [1.1, 0.3], [0.5, 0.6]), (1, 1, [0.7], [1.0]), (2, 0, *TWO), (0, 2, [2.0], [1.0]),
    (1, 1, [1.9, 0.4], [0.2, 0.9]), (2, 2, [0.6], [1.0]), (0, 0, *TWO), (1, 0, [0.8], [1.0]),
]  # fmt: skip
PLACES = [[0, 0, 0], [0.3, 1.1, -0.4], [1.9, -0.2, 0.7]]


@pytest.mark.parametrize("one", [(0, 0), (0, 8), (2, 5)])
@pytest.mark.parametrize("two", [(0, 8), (4, 7), (3, 3)])
def test_pairs_of_two_ranges(one: tuple[int, int], two: tuple[int, int]) -> None:
    found = pairs_of(one, two)
    meant = sorted({(max(i, j), min(i, j)) for i in range(*one) for j in range(*two)})
    assert found.shape == (len(meant), 2) and list(map(tuple, found.tolist())) == meant


@pytest.mark.parametrize("alone", [False, True])
def test_a_group_has_its_pairs_as_if_each_were_made_alone(alone: bool) -> None:
    basis = Basis.from_arrays(PLACES, SHELLS)
    given = [(i, NONE) for i in range(8)] if alone else pairs_of((0, 8), (0, 8)).tolist()
    groups = grouped(basis, given)
    assert [each.pattern for each in groups] == sorted({g.pattern for g in groups}, reverse=True)
    seen = set()
    for group in groups:
        assert np.all(np.diff(np.diff(group.starts)) <= 0)  # the deepest pairs come first
        for n, (i, j) in enumerate(zip(group.first, group.second, strict=True)):
            seen.add((max(i, j), min(i, j)))
            (single,) = grouped(basis, [(int(i), int(j))])
            rows = slice(group.starts[n], group.starts[n + 1])
            assert single.pattern == group.pattern and (single.first, single.second) == (i, j)
            assert np.array_equal(single.apart[0], group.apart[n])
            assert np.array_equal(single.data, group.data[rows])
            assert np.array_equal(single.exponents, group.exponents[rows])
    assert seen == {(max(i, j), min(i, j)) for i, j in given}
    assert sum(map(len, groups)) == len(given)


def test_no_pairs_make_no_groups() -> None:
    assert grouped(Basis.from_arrays(PLACES, SHELLS), pairs_of((0, 0), (0, 8))) == []
