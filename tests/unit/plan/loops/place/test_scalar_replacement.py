"""An element that a loop in order changes again and again is a variable meanwhile."""

from __future__ import annotations

from tests.unit.plan.loops.passes import APART, becomes, stays

from fusewright.ir.loops.statements import Kernel
from fusewright.plan.loops.normalise.rename import Numbers
from fusewright.plan.loops.place.scalar_replacement import promoted


def in_order(kernel: Kernel, numbers: Numbers) -> Kernel:
    return promoted(kernel, numbers, frozenset())


SUM = """\
  b1[0] = 0.0
  for i0 in [0, p0):
    b1[0] = (b1[0] + b0[i0])
"""


def test_a_sum_in_memory_is_one_in_a_register() -> None:
    becomes(
        SUM,
        in_order,
        """\
  var v0: float64  # _
  b1[0] = 0.0
  v0 = b1[0]
  for i0 in [0, p0):
    v0 = (v0 + b0[i0])
  b1[0] = v0
""",
        head=APART,
    )


def test_an_element_that_something_else_may_touch_stays_in_memory() -> None:
    stays(SUM, in_order)
    stays(SUM.replace("b0[i0]", "b1[i0]"), in_order, head=APART)


def test_a_loop_in_vectors_keeps_its_update() -> None:
    stays(SUM, lambda kernel, numbers: promoted(kernel, numbers, frozenset({0})), head=APART)
