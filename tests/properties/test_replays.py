"""Loops whose flushes repeat end as NumPy's: a short form of `python tools/fuzz.py --kind replays`.

`FUSEWRIGHT_TEST_EXAMPLES` draws as many new programs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.evaluators import installed
from tests.properties.chance import EXAMPLES
from tests.properties.random_replays import Loop, compare, differs, replay_difference

import fusewright.numpy as fnp

PROGRAMS = 150
"""Of each run of the suite."""


@pytest.fixture(autouse=True, scope="module")
def evaluator() -> Iterator[None]:
    """What users have."""
    with installed("interpreted"):
        yield


def test_loops_end_as_numpys() -> None:
    first = int.from_bytes(os.urandom(4), "little") if EXAMPLES else 1
    for seed in range(first, first + (EXAMPLES or PROGRAMS)):
        if EXAMPLES or seed % 10 or seed % 50 == 0:  # few are compiled at once
            found = replay_difference(seed)
            assert not found, f"program {seed}: {found}"


@pytest.mark.parametrize("turns", [1, 5, 12, 23, 30, 31, 40, 67])
def test_what_is_turned_may_be_computed_meanwhile(turns: int) -> None:
    """A view of an operand is recorded, and with that all that waits may be computed: the very
    operation that is being turned, too.
    """
    start = (np.arange(7200) % 9).reshape(20, 30, 12).astype("i2")

    def program(np_: Any) -> Any:
        a, b, c = (np_.asfortranarray(np_.array(start)) for _ in range(3))
        mask = a > 1
        for _ in range(turns):
            b[..., 0] -= c[..., -1]
        return b + mask

    for _ in range(3):
        assert np.array_equal(np.asarray(program(fnp)), program(np))


def test_differences_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that looked at nothing would find nothing."""
    right = fnp.roll
    monkeypatch.setattr(fnp, "roll", lambda x, *args, **kwargs: right(x, *args, **kwargs) + 1)
    loop = Loop(3)
    assert not compare(loop, loop.source(["a = a + b"], 5), ("default",))
    assert compare(loop, loop.source(["a = np.roll(a, 1, 0)"], 5), ("default",))
    one = np.array([1.0, 0.0, np.nan])
    assert not differs(one, one.copy(), signs=True)
    assert differs(one, np.array([1.0, -0.0, np.nan]), signs=True)
    assert not differs(one, np.array([1.0, -0.0, np.nan]), signs=False)
    assert differs(one, one.astype("f4"), signs=False)
