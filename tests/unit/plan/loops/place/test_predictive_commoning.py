"""What an iteration stores and the next one reads is handed on in a variable."""

from __future__ import annotations

from tests.unit.plan.loops.passes import becomes, stays

from fusewright.ir.loops.statements import Kernel
from fusewright.plan.loops.normalise.rename import Numbers
from fusewright.plan.loops.place.predictive_commoning import carried


def in_order(kernel: Kernel, numbers: Numbers) -> Kernel:
    return carried(kernel, numbers, frozenset())


def in_parallel(kernel: Kernel, numbers: Numbers) -> Kernel:
    return carried(kernel, numbers, frozenset({0}))


CHAIN = """\
  for i0 in [1, p0):
    b1[i0] = (b1[(i0 - 1)] * b0[i0])
"""


def test_the_element_before_is_a_variable() -> None:
    becomes(
        CHAIN,
        in_order,
        """\
  var v0: float64  # _
  val v1: float64  # _
  if (1 < p0):
    v0 = b1[0]
    for i0 in [1, p0):
      v1 = (v0 * b0[i0])
      b1[i0] = v1
      v0 = v1
""",
    )


def test_a_loop_that_runs_in_parallel_hands_nothing_on() -> None:
    stays(CHAIN, in_parallel)


def test_two_elements_before_are_not_what_was_just_stored() -> None:
    stays(CHAIN.replace("(i0 - 1)", "(i0 - 2)").replace("[1, p0)", "[2, p0)"), in_order)
