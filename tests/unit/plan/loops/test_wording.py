"""One sentence says how a loop runs: plans, tables and pages all have it from `loop_line`."""

import doctest

import pytest

from fusewright.ir.loops.statements import NOWHERE, Kernel
from fusewright.plan.loops import wording
from fusewright.plan.loops.plan import LoopPlan, LoopReport
from fusewright.plan.loops.text import plan_text
from fusewright.plan.loops.wording import loop_line

HERE, THERE = ("file.py", 7, 1), ("file.py", 9, 1)
LOOPS = {
    "on threads and in vectors: its iterations are independent":
        LoopReport(HERE, (0,), ("i",), True, True),
    "in vectors, in tiles of 4 rows whose sums stay in registers: its iterations are independent":
        LoopReport(HERE, (0,), ("i",), False, True, tile=4),
    "on threads: any order of updating `s` is the same":
        LoopReport(HERE, (0,), ("i",), True, False, folds=("s",)),
    "on threads: in blocks, once it is known what `s` is where each begins":
        LoopReport(HERE, (0,), ("i",), True, False, scans=("s",)),
    "in blocks on threads, each in order: because":
        LoopReport(HERE, (0,), ("i",), False, False, "because", blocks=True),
}  # fmt: skip


@pytest.mark.parametrize("runs", LOOPS)
def test_plans_say_what_explanations_say(runs: str) -> None:
    loop = LOOPS[runs]
    kernel = Kernel("empty", (), frozenset(), (), (), (), ())
    plan = LoopPlan(kernel, frozenset(), frozenset(), loops=(loop,))
    assert loop_line(loop).runs == runs
    assert f"loop i0 {runs}" in plan_text(plan).splitlines()


def test_the_line_of_a_reason_is_named_where_it_is_another() -> None:
    told = loop_line(LoopReport(HERE, (0,), ("i",), False, False, "why", THERE))
    assert told.runs_where == "in order: why (line 9)"
    assert loop_line(LoopReport(HERE, (0,), ("i",), False, False, "why", HERE)).because == NOWHERE


def test_examples() -> None:
    assert doctest.testmod(wording) == (0, 1)
