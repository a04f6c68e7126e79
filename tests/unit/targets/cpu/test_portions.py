"""Requests in portions: the same values, less memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright import driver
from fusewright.targets.cpu import portions

ROWS = 400


def reshaped(np: Any) -> Any:
    tables = [np.sin(np.arange(ROWS * 100.0) + k).reshape(ROWS, 100) for k in range(6)]
    return np.array([table[3].copy() for table in tables])


def sorted_parts(np: Any) -> Any:
    start = np.arange(ROWS * 100.0) * 7919 % 1009
    return sum(np.sort(start * k)[: ROWS // 2] for k in range(1, 12))


def steps(np: Any) -> Any:
    u, v = np.ones((ROWS, 100)), np.zeros((ROWS, 100))
    for _ in range(12):
        v = v + 0.1 * (np.roll(u, 1, 0) + np.roll(u, -1, 1) - 2 * u)
        u = u + 0.1 * np.cumsum(v, axis=0)
    return u + v


def stored_often(np: Any) -> Any:
    values = [np.cumsum(np.arange(ROWS * 100.0) + k) for k in range(12)]
    return sum(value[::10] for value in values)


PROGRAMS = (reshaped, sorted_parts, steps, stored_often)


@pytest.mark.parametrize("program", PROGRAMS)
def test_portions_change_no_bit(
    program: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with fw.options(interpret=False):
        whole = np.array(program(fnp))
        driver.cache_clear()
        monkeypatch.setattr(portions, "ROOM", 1000)
        monkeypatch.setattr(portions, "SHARE", 1000)
        cut = []
        original = portions.first_portion

        def first_portion(*given: Any) -> Any:
            cut.append(given)
            return original(*given)

        monkeypatch.setattr(portions, "first_portion", first_portion)
        monkeypatch.setattr(portions, "stored", lambda *given: 1 << 60)
        again = np.array(program(fnp))
    driver.cache_clear()
    np.testing.assert_array_equal(whole, again)
    np.testing.assert_allclose(whole, program(np), rtol=1e-9)
    assert cut or program is steps


def test_what_statements_hold_is_what_numpy_holds() -> None:
    x = fw.asarray(np.arange(10_000.0))
    y = ((x + 1) * 2 - 3) / 4
    slice_ = driver.take([y._node])
    assert portions.total(slice_.order) == 4 * 80_000
    # one result at a time, and the one it is made from
    assert portions.of_statements(slice_.order, slice_.outputs) == 2 * 80_000
