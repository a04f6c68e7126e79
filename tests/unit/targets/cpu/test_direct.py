"""Steps on arrays run without a slice, once: for all they give, after what they need."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fusewright as fw
from fusewright import driver
from fusewright.targets.cpu import direct


@fw.kernel
def swing(a: Any, b: Any) -> None:
    for i in range(1, a.shape[0]):
        a[i] = a[i - 1] * 0.5 + b[i]
        b[i] = b[i - 1] + a[i]


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many values each run at once was asked for."""
    seen: list[int] = []
    run = direct.run

    def counted(whole: Any, requested: Any, compute: Any) -> None:
        seen.append(len(requested))
        run(whole, requested, compute)

    monkeypatch.setattr(driver.direct, "run", counted)
    fw.cache_clear()  # what the core has learnt it runs by itself
    return seen


def test_parts_asked_for_in_turn_are_computed_once(runs: list[int]) -> None:
    x, y = np.arange(5.0), np.ones(5)
    a, b = fw.asarray(x), fw.asarray(y)
    swing(a, b)
    swing.__wrapped__(x, y)
    fw.evaluate(b)
    assert runs == [1]
    assert b.tolist() == y.tolist()
    assert a.tolist() == x.tolist()
    assert runs == [1]


def test_operands_that_are_pending_are_computed_first(runs: list[int]) -> None:
    x, y = np.arange(5.0), np.ones(5)
    a, b = fw.asarray(x) * 2, fw.asarray(y)
    swing(a, b)
    x = x * 2
    swing.__wrapped__(x, y)
    fw.evaluate(a, b)
    assert runs == [2]
    assert (a.tolist(), b.tolist()) == (x.tolist(), y.tolist())


def test_one_operand_twice_is_not_overwritten(runs: list[int]) -> None:
    x = np.arange(5.0)
    a = fw.asarray(x)
    b = a.copy()
    y = x.copy()
    swing(a, b)
    swing.__wrapped__(x, y)
    fw.evaluate(a, b)
    assert runs == [2]
    assert (a.tolist(), b.tolist()) == (x.tolist(), y.tolist())
