"""`x[i, mask]` reads and writes what NumPy reads and writes, whoever still waits to read `x`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.properties.operands import attempt

import fusewright as fw
import fusewright.numpy as fnp

LENGTHS = (1, 7, 700, 5_000, 40_000)
"""On both sides of what is NumPy's, what is looked at at once, and what is recorded."""
VALUES = ("read", "number", "negated", "in place", "too many", "two dims", "none")


@st.composite
def programs(draw: st.DrawFn) -> tuple[Any, ...]:
    """Extents, the dims that the mask covers, numbers for the others, how rare it is, and steps."""
    length = draw(st.sampled_from(LENGTHS))
    extents = [length, *draw(st.lists(st.integers(1, 3), min_size=1, max_size=2))]
    extents = draw(st.permutations(extents))
    first = draw(st.integers(0, len(extents) - 1))
    covered = draw(st.integers(1, len(extents) - first))
    numbers = [draw(st.integers(-n - (n == 1), n - 1)) for n in extents]
    share = draw(st.sampled_from((0.0, 0.01, 0.5, 1.0)))
    wrong = draw(st.integers(0, 20)) == 0
    steps = draw(st.lists(st.sampled_from(VALUES), min_size=1, max_size=4))
    return tuple(extents), first, covered, numbers, share, wrong, steps, draw(st.booleans())


def _run(np_: Any, program: tuple[Any, ...]) -> list[Any]:
    extents, first, covered, numbers, share, wrong, steps, is_numpy_mask = program
    rng = np.random.default_rng(0)
    data, draws = rng.normal(size=extents), rng.random(extents[first : first + covered])
    x = np_.array(data) * 2.0
    mask = np_.array(draws[..., 1:] if wrong else draws) < share
    if is_numpy_mask:
        mask = draws < share
    key = (*numbers[:first], mask, *numbers[first + covered :])
    seen = []
    for step in steps:
        waits = x > 0.5  # reads what is there before the write
        if step == "read":
            seen.append(x[key])
        elif step == "number":
            x[key] = 3.5
        elif step == "negated":
            x[key] = -x[key]
        elif step == "in place":
            x[key] *= 0.5
        elif step == "too many":
            x[key] = np_.ones(5)
        elif step == "two dims":
            x[key] = x[key][None]
        else:
            x = x + 1.0
        seen += [waits, x]
        x = x + 0.0 if step == "read" else x
    return [np.array(each) for each in seen]


@settings(deadline=None, max_examples=150)
@given(programs())
@pytest.mark.parametrize("small", (0, 512))
def test_masks_beside_numbers(small: int, program: tuple[Any, ...]) -> None:
    with fw.options(small=small, interpret=True):
        ours, refused = attempt(lambda: _run(fnp, program))
    theirs, error = attempt(lambda: _run(np, program))
    assert isinstance(refused, type(error)), (refused, error)
    for one, other in zip(ours or (), theirs or (), strict=True):
        np.testing.assert_array_equal(one, other)
