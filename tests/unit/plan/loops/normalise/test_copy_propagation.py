"""Copies of what loops hand on are the variable itself, unless both values are needed at once."""

from __future__ import annotations

from tests.unit.plan.loops.passes import HEAD, becomes, stays

from fusewright.ir.loops.statements import Kernel
from fusewright.plan.loops.normalise.copy_propagation import coalesced
from fusewright.plan.loops.normalise.rename import Numbers

TWO = f"{HEAD}  var v0: float64  # s\n  var v1: float64  # x\n"


def without_copies(kernel: Kernel, numbers: Numbers) -> Kernel:
    return coalesced(kernel)


def test_what_is_handed_back_is_one_variable() -> None:
    becomes(
        """\
  v0 = 0.0
  for i0 in [0, p0):
    v1 = v0
    v1 = (v1 + b0[i0])
    v0 = v1
  b1[0] = v0
""",
        without_copies,
        """\
  v0 = 0.0
  for i0 in [0, p0):
    v0 = (v0 + b0[i0])
  b1[0] = v0
""",
        head=TWO,
    )


def test_the_value_before_is_still_needed() -> None:
    stays(
        """\
  v0 = 0.0
  for i0 in [0, p0):
    v1 = v0
    v0 = (v0 + b0[i0])
    b1[i0] = v1
""",
        without_copies,
        head=TWO,
    )
