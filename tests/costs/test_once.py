"""Nothing expensive is computed twice: random programs never call a library more often than NumPy
does.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fusewright as fw
from fusewright.frontends.arrays import opaque

N = 2000


class Counted:
    """Statements on arrays of one length; library steps are counted."""

    def __init__(self, seed: int, ours: bool) -> None:
        self.chance = random.Random(seed)
        self.ours = ours
        self.calls = 0
        start = np.random.default_rng(seed).random(N)
        self.held: list[Any] = [fw.asarray(start) if ours else start]

    def step(self, x: Any) -> Any:
        """A library step."""

        def called(array: Any) -> Any:
            self.calls += 1
            return np.sort(array)

        return opaque.opaque("counted", called, (x,), np.float64, (N,)) if self.ours else called(x)

    def statement(self) -> None:
        pick = self.chance.randrange
        x, y = (self.held[pick(len(self.held))] for _ in range(2))
        kind = pick(8)
        if kind < 2:
            self.held.append(self.step(x))
        elif kind == 2:
            self.held.append(self.step(x) * 2.0 + y)
        elif kind == 3:
            self.held.append(x - y * 0.5)
        elif kind == 4:
            np.asarray(x + 1.0)  # asked for
        elif kind == 5:
            np.asarray((x * y)[: N // 2])
        elif kind == 6:
            self.held.append(x - x.max())
        elif len(self.held) > 3:
            del self.held[pick(len(self.held))]


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 2**32), count=st.integers(1, 40))
def test_library_steps_run_no_more_often_than_in_numpy(seed: int, count: int) -> None:
    ours, plain = Counted(seed, True), Counted(seed, False)
    for _ in range(count):
        ours.statement()
        plain.statement()
    for mine, theirs in zip(ours.held, plain.held, strict=True):
        np.testing.assert_allclose(np.asarray(mine), theirs, rtol=1e-9)
    assert ours.calls <= plain.calls


USES: dict[str, Callable[[Any], Any]] = {
    "one expression": lambda f: np.asarray(f * 2.0),
    "a part": lambda f: np.asarray(f[3:9] + 1.0),
    "a sum": lambda f: float((f * f).sum()),
    "itself": np.asarray,
}


@pytest.mark.parametrize("first", USES.values(), ids=USES)
@pytest.mark.parametrize("second", USES.values(), ids=USES)
@pytest.mark.parametrize("interpret", [True, False])
def test_a_held_result_is_made_once(
    first: Callable[[Any], Any], second: Callable[[Any], Any], interpret: bool
) -> None:
    program = Counted(1, True)
    with fw.options(interpret=interpret):
        result = program.step(program.held[0] * 3.0)
        first(result)
        second(result)
    assert program.calls == 1


@pytest.mark.parametrize("interpret", [True, False])
def test_what_only_pending_values_read_is_made_once(interpret: bool) -> None:
    program = Counted(1, True)
    with fw.options(interpret=interpret):
        result = program.step(program.held[0] * 3.0)
        later = result - 1.0
        now = result + 1.0
        del result
        np.asarray(now)
        np.asarray(later)
    assert program.calls == 1
