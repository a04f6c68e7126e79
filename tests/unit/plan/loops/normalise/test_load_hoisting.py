"""A body reads before it writes, where nothing that it writes is what it reads."""

from __future__ import annotations

from tests.unit.plan.loops.passes import HEAD, becomes, stays

from fusewright.plan.loops.normalise.load_hoisting import reads_first

THREE = f"{HEAD}  buffer b2: float64[p0]\n"
LATE = """\
  for i0 in [0, p0):
    b1[i0] = (b0[i0] * 2.0)
    b1[i0] add= b2[i0]
"""


def test_a_load_behind_a_store_comes_first() -> None:
    becomes(
        LATE,
        reads_first,
        """\
  val v0: float64  # _
  for i0 in [0, p0):
    v0 = b2[i0]
    b1[i0] = (b0[i0] * 2.0)
    b1[i0] add= v0
""",
        head=f"{THREE}  disjoint b0 b1, b1 b2\n",
    )


def test_arrays_that_may_share_memory_are_read_where_they_were() -> None:
    stays(LATE, reads_first, head=THREE)


def test_what_is_written_in_the_body_is_read_where_it_was() -> None:
    stays(
        """\
  for i0 in [0, p0):
    b1[i0] = (b0[i0] * 2.0)
    b0[i0] = b1[i0]
""",
        reads_first,
    )


def test_a_load_that_a_test_guards_stays_behind_it() -> None:
    stays(
        """\
  for i0 in [0, p0):
    b1[i0] = 2.0
    if (b1[i0] < 0.0):
      b1[i0] = b0[(i0 + 1)]
""",
        reads_first,
    )
