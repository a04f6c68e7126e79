"""A call of a class's code: what it needs is made once, and each call has its own addresses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fusewright.integrals import Basis, classes, evaluate
from fusewright.integrals.classes import lanes
from fusewright.integrals.evaluate import Evaluator, Side, empty
from fusewright.integrals.operators import COULOMB
from fusewright.integrals.pairs import grouped
from fusewright.integrals.repulsion import kind_of, units_of

SHELLS = [(n, momentum, [0.9, 0.3], [0.6, 0.5]) for n, momentum in enumerate((1, 0, 1, 1, 0))]
PLACES = [[0, 0, 0], [0.5, 0, 0.1], [0, 0.4, 0.9], [1.0, 0.2, 0.3], [0.3, 1.4, 0.8]]


def test_calls_look_for_code_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def code_of(kind: Any) -> Any:
        asked.append(kind)
        return classes.code_of(kind)

    monkeypatch.setattr(evaluate, "code_of", code_of)
    basis, width = Basis.from_arrays(PLACES, SHELLS), lanes()
    (bra,), (ket,) = grouped(basis, [(0, 1)]), grouped(basis, [(2, 4), (3, 4)])
    left, right = Side(bra, width), Side(ket, width)
    evaluator = Evaluator(kind_of(bra, ket, basis, COULOMB), left, right, COULOMB)
    units = units_of(left, right, False)
    one, two = (empty((len(units), *evaluator.shape)) for _ in range(2))
    for results in (one, two):
        results[...] = np.nan
        evaluator.run(units, results)
    assert len(asked) == 1
    assert np.isfinite(one).all() and np.array_equal(one, two)
    assert list(evaluator.words(1, 2)) != list(evaluator.words(3, 4))
