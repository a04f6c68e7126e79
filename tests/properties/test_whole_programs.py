"""Whole array programs end with NumPy's values, types and errors, and give the same bits fused,
apart, operation by operation and compiled: a short form of `python tools/fuzz.py`.

`FUSEWRIGHT_TEST_EXAMPLES` draws as many new programs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest
from tests.evaluators import installed
from tests.properties.chance import EXAMPLES
from tests.properties.whole_programs import program
from tests.properties.whole_runs import (
    MODES,
    Block,
    Oracle,
    difference,
    reduced,
    source,
)
from tests.properties.whole_values import CLOSE, EXACT, OPEN, SIGNS, compared

import fusewright as fw
import fusewright.numpy as fnp

PROGRAMS, COMPILED_EACH = 100, 25
"""Of each run of the suite."""


@pytest.fixture(autouse=True, scope="module")
def evaluator() -> Iterator[None]:
    """What users have."""
    with installed("interpreted"):
        yield


def test_programs_end_as_numpys() -> None:
    first = int.from_bytes(os.urandom(4), "little") if EXAMPLES else 0
    for seed in range(first, first + (EXAMPLES or PROGRAMS)):
        blocks, oracle = program(seed)
        modes = tuple(MODES) if seed % COMPILED_EACH == 0 else ("default", "small=0, unfused")
        found = difference(blocks, modes, oracle)
        assert not found, f"program {seed}: {found}\n{source(blocks)}"


def levels(*lines: str) -> dict[str, int]:
    oracle = Oracle()
    for line in lines:
        oracle.run(Block((line,)))
    return oracle.levels


def test_what_numpy_defines_is_told() -> None:
    """A check that looked at nothing would find nothing."""
    made = "v0 = made('f8', (600,), 7, True)"
    assert levels(made, "v1 = v0 * 2.5 - v0", "v1[1:] += v0[:-1]", "v2 = v1.argsort() // 3") == {}
    assert levels(made, "v1 = v0.max()", "v2 = v1 + 1") == {"v1": SIGNS, "v2": SIGNS}
    assert levels(made, "v1 = np.exp(v0)", "v2 = v1 + 1", "v3 = v0 + 1") == {
        "v1": CLOSE,
        "v2": OPEN,
    }
    assert levels(made, "v1 = v0[2:]", "v1 += v0.sum()")["v0"] == OPEN
    assert levels("v0 = made('i4', (600,), 7, True)", "v1 = v0.sum()", "v0 *= v1") == {}


def test_differences_are_seen() -> None:
    one = np.array([1.0, 0.0, np.nan])
    assert not compared(one, one.copy(), EXACT)
    assert compared(one, one.astype("f4"), OPEN) and compared(one, one[:2], OPEN)
    assert compared(one, np.array([1.0, -0.0, np.nan]), EXACT)
    assert not compared(one, np.array([1.0, -0.0, np.nan]), SIGNS)
    assert compared(one, np.array([1.0, 0.0, 0.0]), CLOSE)
    assert compared(one, np.array([1.5, 0.0, np.nan]), CLOSE)
    assert compared([one], [one + 1], EXACT)


def test_a_difference_is_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left of a program names what is wrong, and how often it must be repeated."""
    right = fnp.roll
    monkeypatch.setattr(fnp, "roll", lambda x, *args, **kwargs: right(x, *args, **kwargs) + 1)
    blocks = [
        Block(("v0 = made('f8', (600,), 7, True)",)),
        Block(("v1 = v0 * 2",)),
        Block(("v0[1:] = 3", "v0 = np.roll(v0, 1)", "v1 += 1"), 7),
        Block(("v2 = v1.sum()",)),
    ]
    found = reduced(blocks, ("default",))
    assert source(found) == (
        "v0 = made('f8', (600,), 7, True)\nfor k in range(1):\n    v0 = np.roll(v0, 1)"
    ) or "range" not in source(found)
    assert difference(found, ("default",)).startswith("default, v0")


@pytest.mark.parametrize("number", [np.nan, np.inf, 1e30])
def test_lists_with_lazy_floats_are_refused_by_integers(number: float) -> None:
    array, lazy = fw.asarray(np.ones(2000, "i4")), (fw.asarray(np.ones(2000)) * number).sum()
    with pytest.raises((ValueError, OverflowError)):
        array[:2] = [lazy, 1]
