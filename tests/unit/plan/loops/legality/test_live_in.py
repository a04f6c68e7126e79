"""Which variables a body uses as others have left them."""

from __future__ import annotations

import pytest
from tests.unit.plan.loops.passes import HEAD

from fusewright.ir.loops.parse import parse_kernel
from fusewright.plan.loops.legality.live_in import assigned, exposed, read_from, used

VARIABLES = f"{HEAD}  var v0: float64  # s\n  var v1: float64  # x\n"

CASES = {
    "read after it is given": ("  v0 = 1.0\n  b0[0] = v0\n", set()),
    "read first": ("  b0[0] = v0\n  v0 = 1.0\n", {0}),
    "updated": ("  v0 = (v0 + 1.0)\n", {0}),
    "given on both ways": (
        "  if (v1 < 0.0):\n    v0 = 1.0\n  else:\n    v0 = 2.0\n  b0[0] = v0\n", {1},
    ),
    "given on one way": ("  if (v1 < 0.0):\n    v0 = 1.0\n  b0[0] = v0\n", {0, 1}),
    "given by a loop that may not run": (
        "  for i0 in [0, p0):\n    v0 = 1.0\n  b0[0] = v0\n", {0},
    ),
    "given before a condition reads it": (
        "  while:\n    v0 = b0[0]\n  holds (v0 < 9.0):\n    b0[0] add= v0\n", set(),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "wanted"), CASES.values(), ids=CASES)
def test_what_is_read_before_it_has_a_value(body: str, wanted: set[int]) -> None:
    assert exposed(parse_kernel(VARIABLES + body).body) == wanted


def test_what_is_needed_from_each_place_on() -> None:
    body = parse_kernel(f"{VARIABLES}  v0 = b0[0]\n  v1 = (v0 * 2.0)\n  b0[0] = v1\n").body
    assert read_from(body, frozenset({0})) == [{0, 1}, {0, 1}, {0, 1}, {0}]  # given on the way
    assert (assigned(body), used(body)) == ({0, 1}, {0, 1})
