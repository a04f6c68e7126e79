"""What is written in place: the core decides as `runtime.reuse` does, and both are right."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from tests.unit.core.updates import Program

import fusewright as fw
from fusewright._core import native
from fusewright.ir.graph import LEAF, SCALAR
from fusewright.runtime.trace import take

ROUNDS = 6
PROGRAMS = 5 * int(os.environ.get("FUSEWRIGHT_TEST_EXAMPLES", "10"))
needs_native = pytest.mark.skipif(native is None, reason="there is no native core")


@pytest.fixture(autouse=True)
def everything_is_recorded() -> Iterator[None]:
    """And nothing pending."""
    fw.sync()
    with fw.options(interpret=False):
        yield


def requests(program: Program) -> tuple[object, ...]:
    nodes = [ours._node for _, ours in program.asked()]
    return tuple({id(n): n for n in nodes if n.kind not in (LEAF, SCALAR)}.values())


@needs_native
@pytest.mark.parametrize("round_", range(ROUNDS))
def test_the_core_decides_as_python_does(round_: int) -> None:
    answers, left, slices = set(), 0, 0
    for seed in range(round_ * PROGRAMS, (round_ + 1) * PROGRAMS):
        program = Program(seed)
        for _ in range(program.chance.randint(1, 14)):
            program.step()
            nodes = requests(program)
            if not nodes:
                continue
            mine = native.in_place(nodes)
            slice_ = take(nodes)
            slices += 1
            if mine is None:
                left += 1
                continue
            theirs = sorted(slice_.slots[node] for node in slice_.reusable)
            assert mine == theirs, f"seed {seed}"
            answers.add(bool(theirs))
        del program
    assert answers == {True, False}
    assert left < 0.2 * slices


@pytest.mark.parametrize("round_", range(ROUNDS))
def test_values_are_those_of_numpy(round_: int) -> None:
    warnings.simplefilter("ignore")
    for seed in range(round_ * PROGRAMS // 10, (round_ + 1) * PROGRAMS // 10):
        program = Program(seed)
        for _ in range(program.chance.randint(1, 10)):
            program.step()
        fw.evaluate(*[ours for _, ours in program.asked()])
        for plain, ours in program.arrays + program.held:
            np.testing.assert_array_equal(np.asarray(ours), plain, f"seed {seed}")
