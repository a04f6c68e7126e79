"""What an iteration stores and reads again it keeps in a variable."""

from __future__ import annotations

from tests.unit.plan.loops.passes import becomes, stays

from fusewright.plan.loops.place.store_forwarding import forwarded


def test_what_was_just_stored_is_kept() -> None:
    becomes(
        """\
  for i0 in [0, p0):
    b1[i0] = (b0[i0] * 2.0)
    b0[i0] = (b1[i0] + 1.0)
""",
        forwarded,
        """\
  val v0: float64  # _
  for i0 in [0, p0):
    v0 = (b0[i0] * 2.0)
    b1[i0] = v0
    b0[i0] = (v0 + 1.0)
""",
    )


def test_another_element_is_read_from_memory() -> None:
    stays(
        """\
  for i0 in [1, p0):
    b1[i0] = (b0[i0] * 2.0)
    b0[i0] = (b1[(i0 - 1)] + 1.0)
""",
        forwarded,
    )
