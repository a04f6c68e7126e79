"""Time-step loops end as NumPy's, to the bit: a short form of
`python -m tests.properties.random_steps`.

`FUSEWRIGHT_TEST_EXAMPLES` draws as many new programs.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.evaluators import installed
from tests.properties.chance import EXAMPLES
from tests.properties.random_steps import program
from tests.properties.step_runs import (
    FEW,
    Program,
    compared,
    difference,
    files_difference,
    outcome,
    reduced,
)

import fusewright.numpy as fnp

PROGRAMS = 8


@pytest.fixture(autouse=True, scope="module")
def evaluator() -> Iterator[None]:
    """What users have."""
    with installed("interpreted"):
        yield


def numbers() -> range:
    first = int.from_bytes(os.urandom(4), "little") if EXAMPLES else 0
    return range(first, first + (EXAMPLES or PROGRAMS))


def test_loops_end_as_numpys() -> None:
    for number in numbers():
        made = program(number)
        assert made.body
        outcome(made, np)  # NumPy runs it
        found = difference(made, FEW)
        assert not found, f"program {number}: {found}\n{made.source()}"


def test_files_print_what_they_print_under_numpy(tmp_path: Path) -> None:
    made = {number: program(number) for number in range(3)}
    made = {number: each for number, each in made.items() if not each.rounds}
    environment = {"FUSEWRIGHT_CACHE_DIR": str(tmp_path / "cache")}
    assert not files_difference(made, tmp_path / "steps.py", environment)


def test_a_difference_is_seen_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    right = fnp.roll
    monkeypatch.setattr(fnp, "roll", lambda x, *args, **kwargs: right(x, *args, **kwargs) + 1)
    setup = program(0).setup
    made = Program(setup, ("f2 = f0 * 2", "f1 = np.roll(f1, 1, 0)", "f0 += 1"), 40, 0)
    found = reduced(made, FEW)
    assert found.body == ("f1 = np.roll(f1, 1, 0)",)
    assert found.turns < 40
    assert difference(found, FEW).startswith("default: f1")
    assert compared([1.0], [2.0])
