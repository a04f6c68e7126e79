"""Complex numbers are pairs of real ones: a dim more, and both parts before either is stored."""

from __future__ import annotations

from tests.unit.plan.loops.passes import HEAD

from fusewright.ir.loops.parse import parse_kernel
from fusewright.ir.loops.text import kernel_text
from fusewright.ir.loops.verify import check_kernel
from fusewright.plan.loops.normalise.complex import without_complex

PRODUCT = """\
kernel sample
  param p0: int64 = extent 0 of b0
  buffer b0: complex128[p0]
  buffer b1: complex128[p0]
  for i0 in [0, p0):
    b0[i0] = (b0[i0] + b1[i0])
"""


def test_both_parts_are_known_before_one_is_stored() -> None:
    after = without_complex(parse_kernel(PRODUCT))
    check_kernel(after)
    assert (
        kernel_text(after)
        == """\
kernel sample
  param p0: int64 = extent 0 of b0
  buffer b0: float64[p0, 2]
  buffer b1: float64[p0, 2]
  val v0: float64  # _
  val v1: float64  # _
  for i0 in [0, p0):
    v0 = (b0[i0, 0] + b1[i0, 0])
    v1 = (b0[i0, 1] + b1[i0, 1])
    b0[i0, 0] = v0
    b0[i0, 1] = v1
"""
    )


def test_a_kernel_of_real_numbers_is_the_same_one() -> None:
    kernel = parse_kernel(f"{HEAD}  for i0 in [0, p0):\n    b1[i0] = b0[i0]\n")
    assert without_complex(kernel) is kernel
