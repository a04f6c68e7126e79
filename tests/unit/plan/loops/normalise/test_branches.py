"""A store that both ways through a branch end with comes after it."""

from __future__ import annotations

from tests.unit.plan.loops.passes import becomes, stays

from fusewright.plan.loops.normalise.branches import stores_last


def test_one_store_after_both_ways() -> None:
    becomes(
        """\
  for i0 in [0, p0):
    if (b0[i0] < 0.0):
      b1[i0] = 1.0
    else:
      b1[i0] = b0[i0]
""",
        stores_last,
        """\
  var v0: float64  # _
  for i0 in [0, p0):
    if (b0[i0] < 0.0):
      v0 = 1.0
    else:
      v0 = b0[i0]
    b1[i0] = v0
""",
    )


def test_stores_to_other_elements_stay() -> None:
    stays(
        """\
  for i0 in [0, p0):
    if (b0[i0] < 0.0):
      b1[i0] = 1.0
    else:
      b1[0] = b0[i0]
""",
        stores_last,
    )


def test_one_way_alone_writes_nothing_on_the_other() -> None:
    stays(
        """\
  for i0 in [0, p0):
    if (b0[i0] < 0.0):
      b1[i0] = 1.0
""",
        stores_last,
    )
