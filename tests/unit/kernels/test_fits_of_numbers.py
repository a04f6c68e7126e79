"""Sizes that fit or not by a call's numbers are looked at in each call, whoever makes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fusewright as fw
from fusewright.base.errors import ShapeError


@fw.kernel
def put(row, vector, position):
    n = vector.shape[0]
    row[position : position + n] = vector
    row[position + n] = len(row)


@fw.kernel
def cut(a, b, k):
    return a[:k] + b[k:]


def test_calls_that_come_again() -> None:
    """The native core makes them, and asks about sizes."""
    vector = np.array([1.0, 2.0, 3.0])
    for _ in range(3):
        for position in (0, 2, 4, 5):
            row, wanted = np.zeros(9), np.zeros(9)
            put(row, vector, position)
            put.__wrapped__(wanted, vector, position)
            np.testing.assert_array_equal(row, wanted)
        row = np.zeros(9)
        with pytest.raises(ShapeError, match="2 and 3 elements"):
            put(row, vector, 7)
        assert not row.any()


def test_calls_with_results() -> None:
    a: Any = np.arange(6.0)
    for _ in range(3):
        np.testing.assert_array_equal(cut(a, a, 3), a[:3] + a[3:])
        with pytest.raises(ShapeError):
            cut(a, a, 2)


def test_the_core_makes_them() -> None:
    kernel = fw.kernel(put.__wrapped__)
    row, vector = np.zeros(9), np.ones(3)
    for position in (0, 1, 2, 3):
        kernel(row, vector, position)
    assert kernel.stats.calls == 4
    (found,) = next(iter(kernel.specialisations.values()))
    assert found.calls < 4
