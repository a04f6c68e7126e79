"""Coulomb and exchange matrices: those of the array of all integrals, and the same bits whatever
runs them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fusewright as fw
from fusewright.codegen.recurrences.records import BOTH, EXCHANGE
from fusewright.integrals import (
    Basis,
    Operator,
    classes,
    electron_repulsion,
    long_range,
    short_range,
)
from fusewright.integrals.bins import BIN_BYTES, MOST_BINS, Pass, Wanted, tasks_of
from fusewright.integrals.fock import Fock, FockRequest

GENERAL = ([3.0, 0.8, 0.2], [[0.3, 0.1], [0.6, -0.4], [0.2, 0.9]])
SHELLS = [
    (0, 0, *GENERAL), (0, 1, [1.1, 0.3], [0.5, 0.6]),
    (1, 0, [1.3], [1.0]), (1, 1, *GENERAL), (2, 0, [0.4, 2.0], [0.7, 0.4]), (2, 1, [0.5], [1.0]),
    (3, 0, [0.9], [1.0]), (4, 0, [0.05], [1.0]),
]  # fmt: skip
S_AND_D = [(0, 2, [0.4, 1.7], [0.7, 0.4]), (1, 0, [1.3], [1.0]), (2, 2, [0.6], [1.0])]
PLACES = [[0, 0, 0], [0.3, 1.1, -0.4], [1.9, -0.2, 0.7], [-1.2, 0.5, 2.0], [8.0, 9.0, 7.0]]


def basis(cartesian: bool = False, shells: Any = SHELLS) -> Basis:
    return Basis.from_arrays(PLACES, shells, cartesian=cartesian)


def densities(functions: int, many: int, hermi: int) -> Any:
    found = np.random.default_rng(functions + hermi).standard_normal((many, functions, functions))
    return found if hermi == 0 else found + (3 - 2 * hermi) * found.swapaxes(1, 2)


def by_definition(made: Basis, dms: Any, operator: Operator) -> tuple[Any, Any]:
    whole = electron_repulsion(made, operator=operator)
    j = np.einsum("ijkl,nlk->nij", whole, dms, optimize=True)
    return j, np.einsum("ijkl,njk->nil", whole, dms, optimize=True)


OPERATORS = {"full": Operator(), "long": long_range(0.3), "short": short_range(0.11),
             "mixed": Operator(0.2, 0.8, 0.3)}  # fmt: skip
CASES: list[tuple[str, int, Any]] = [
    ("full", 0, {}), ("full", 1, {}), ("full", 2, {}), ("long", 1, {}), ("short", 0, {}),
    ("mixed", 1, {}), ("full", 0, {"shells": S_AND_D}),
    ("full", 1, {"shells": S_AND_D, "cartesian": True}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "hermi", "shells"), CASES)
def test_matrices(name: str, hermi: int, shells: Any) -> None:
    made, operator = basis(**shells), OPERATORS[name]
    fock = Fock(made, operator, 1e-14)
    dms = densities(fock.functions, 2, hermi)
    expected = by_definition(made, dms, operator)
    for with_j, with_k in ((True, True), (True, False), (False, True)):
        found = fock.matrices(dms, hermi, with_j, with_k)
        for mine, theirs, wanted in zip(found, expected, (with_j, with_k), strict=True):
            assert (mine is not None) == wanted
            if mine is not None:
                assert np.abs(mine - theirs).max() < 1e-11
    one, _ = fock.matrices(dms[0], hermi)
    assert one is not None and one.shape == (fock.functions, fock.functions)
    assert np.abs(one - expected[0][0]).max() < 1e-11


def test_the_same_bits() -> None:
    made = basis()
    dms = densities(int(made.offsets[-1]), 2, 0)
    first = Fock(made).matrices(dms, 0)
    for settings in ({"threads": 1}, {"threads": 2}, {"threads": 7}, {"features": "avx2"}):
        with fw.options(**settings):  # type: ignore[arg-type]
            again = Fock(made).matrices(dms, 0)
        for one, two in zip(first, again, strict=True):
            assert np.array_equal(one, two), settings


def test_more_than_a_vector_of_each_kind() -> None:
    rng = np.random.default_rng(3)
    shells = [(k, l, [0.3 + 0.1 * k], [1.0]) for k in range(11) for l in (0, 1)]  # noqa: E741
    made = Basis.from_arrays(2 * rng.standard_normal((11, 3)), shells)
    fock = Fock(made, tolerance=1e-15)
    dms = densities(fock.functions, 1, 1)
    for mine, theirs in zip(fock.matrices(dms), by_definition(made, dms, Operator()), strict=True):
        assert mine is not None and np.abs(mine - theirs).max() < 1e-11


def test_two_operators_in_one_pass() -> None:
    """Pairs are in the order of the first one's bounds, so that its matrices have their bits."""
    made = basis()
    dms = densities(int(made.offsets[-1]), 2, 0)
    both = Fock(made, Operator(), 0.0, long_range(0.3))
    (j, k), (none, long) = both.requested([
        FockRequest(dms, 0), FockRequest(dms, 0, with_j=False, operator=1),
    ])  # fmt: skip
    alone = Fock(made, Operator(), 0.0).matrices(dms, 0)
    assert np.array_equal(j, alone[0]) and np.array_equal(k, alone[1]) and none is None
    assert long is not None
    other = Fock(made, long_range(0.3), 0.0).matrices(dms, 0)[1]
    assert other is not None and np.abs(long - other).max() < 1e-12


def test_two_operators_that_are_both_attenuated() -> None:
    """Each with its own w; the same bits for all widths and threads, several contractions too."""
    made, names = basis(), ("long", "short")
    dms = densities(int(made.offsets[-1]), 1, 1)
    both = Fock(made, OPERATORS["long"], 1e-14, OPERATORS["short"])
    requests = [FockRequest(dms, 1), FockRequest(dms, 1, operator=1)]
    found = both.requested(requests)
    for name, pair in zip(names, found, strict=True):
        expected = by_definition(made, dms, OPERATORS[name])
        for mine, meant in zip(pair, expected, strict=True):
            assert mine is not None and np.abs(mine - meant).max() < 1e-11
    for settings in ({"threads": 7}, {"features": "avx2"}):
        with fw.options(**settings):  # type: ignore[arg-type]
            again = Fock(made, OPERATORS["long"], 1e-14, OPERATORS["short"]).requested(requests)
        for one, two in zip(found, again, strict=True):
            assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True)), settings


def test_screening_keeps_its_promise() -> None:
    made = basis()
    dms = densities(int(made.offsets[-1]), 1, 1) * 1e-3
    exact, loose = Fock(made, tolerance=0.0), Fock(made, tolerance=1e-7)
    found = [(fock.matrices(dms), fock.quartets.total()) for fock in (exact, loose)]
    assert found[1][1] < found[0][1]
    for one, two in zip(found[0][0], found[1][0], strict=True):
        assert one is not None and two is not None
        assert 0 < np.abs(one - two).max() < 1e-5


def test_nothing_is_evaluated_for_nothing() -> None:
    fock = Fock(basis())
    j, k = fock.matrices(np.zeros((fock.functions, fock.functions)))
    assert not np.any(j) and not np.any(k) and fock.quartets.total() == 0
    empty = Fock(Basis.from_arrays([], []))
    for matrix in empty.matrices(np.zeros((0, 0))):
        assert matrix is not None and matrix.shape == (0, 0)


def test_bins_do_not_depend_on_threads_and_are_bounded() -> None:
    fock = Fock(basis())
    assert fock.code is not None
    dm = densities(fock.functions, 1, 1)[0]
    for threads in (1, 7):
        with fw.options(threads=threads):
            assert Pass(fock.code, [Wanted(dm, BOTH)]).bins == MOST_BINS
    tasks, starts = tasks_of(fock.code, 8)
    assert len({tuple(task) for task in tasks.tolist()}) == len(tasks) == starts[-1]
    assert len(tasks) == sum(len(each.group) for each in fock.code.groups)
    many = Pass(fock.code, [Wanted(dm, BOTH)] * 3 + [Wanted(dm, EXCHANGE)])
    assert many.k.nbytes + many.j.nbytes <= BIN_BYTES
    assert many.k.shape[1] == 4 and many.j.shape[1] == 3


def test_steps_of_one_side_by_lists_and_by_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    """As f and g shells have them."""
    made = basis(shells=[(0, 2, [0.9], [1.0]), (1, 1, *GENERAL), (2, 0, [1.3], [1.0])])
    dms = densities(int(made.offsets[-1]), 2, 1)
    expected = by_definition(made, dms, Operator())  # by one list, up to (dp|dp)
    for stepped, centred in ((1, 7), (1, 3)):
        monkeypatch.setattr(classes, "STEPPED", stepped)
        monkeypatch.setattr(classes, "CENTRED", centred)
        fock = Fock(made, tolerance=1e-15)
        for mine, theirs in zip(fock.matrices(dms), expected, strict=True):
            assert mine is not None and np.abs(mine - theirs).max() < 1e-11
        with fw.options(features="avx2"):
            again = Fock(made, tolerance=1e-15).matrices(dms)
        assert all(map(np.array_equal, again, fock.matrices(dms)))
