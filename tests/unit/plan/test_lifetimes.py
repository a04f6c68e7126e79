"""What the steps of a plan use, and when its values die."""

from __future__ import annotations

from fusewright.ir.nest import Alias, Library, Stage
from fusewright.ir.text import parse_program
from fusewright.plan.lifetimes import completions, deaths
from fusewright.plan.plan import Kernel, Member, Plan

PROGRAM = parse_program("""\
argument p0 extent 0 0 0
buffer b0 float64 [p0]
buffer b1 float64 [p0]
buffer b2 float64 [p0]
buffer b3 float64 [p0]
stage b1 map float64 [p0]
  nest [0] to [p0] store [i0]
    multiply(b0[i0], b0[i0])
stage b3 map float64 [p0]
  nest [0] to [p0] store [i0]
    add(b1[i0], b2[i0])
outputs b3 b4
""")


def kernel(number: int) -> Kernel:
    stage = PROGRAM.steps[number]
    assert isinstance(stage, Stage)
    return Kernel("tiles", 1, ((stage.extents[0],),), ((Member(stage, "memory"),),))


PLAN = Plan((kernel(0), Library(2, (0, 1)), kernel(1), Alias(4, 3)), ())


def test_values_die_after_the_last_step_that_uses_them() -> None:
    assert deaths(PLAN, frozenset({3, 4})) == [(), (0,), (1, 2), ()]


def test_results_are_complete_after_the_last_step_that_writes_them() -> None:
    assert completions(PLAN, frozenset({3, 4})) == [(), (), (3,), (4,)]
