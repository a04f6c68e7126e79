"""Which rows a kernel computes ahead of those who read them, and how many it keeps."""

from __future__ import annotations

import pytest

from fusewright.ir.nest import Stage
from fusewright.ir.text import parse_program
from fusewright.plan.lags import scheduled
from fusewright.plan.plan import Member, Place

PROGRAM = """\
argument p0 extent 0 0 0
argument p1 extent 0 1 0
buffer b0 float64 [p0, p1]
buffer b1 float64 [p0, p1]
buffer b2 float64 [p0, p1]
stage b1 map float64 [p0, p1]
  nest [0, 0] to [p0, p1] store [i0, i1]
    multiply(b0[i0, i1], b0[i0, i1])
stage b2 map float64 [p0, p1]
  nest [1, 0] to [subtract(p0, 1), p1] store [i0, i1]
    READS
outputs b2
"""


def first_of(reads: str, place: Place = "row") -> Member:
    """The stage that is read, where the other reads so."""
    stages = [s for s in parse_program(PROGRAM.replace("READS", reads)).steps
              if isinstance(s, Stage)]  # fmt: skip
    members = [Member(stages[0], place), Member(stages[1], "memory")]
    first, second = scheduled(members, tiled=False)
    assert (second.lag, second.low, second.high, second.ring) == (0, 0, 0, 1)
    return first


BEFORE, HERE, BEHIND = "b1[subtract(i0, 1), i1]", "b1[i0, i1]", "b1[add(i0, 1), i1]"

CASES = {
    "its own row": (HERE, (0, 0, 0, 1)),
    "the row behind": (f"add({HERE}, {BEHIND})", (1, 0, 1, 2)),
    "the row before": (f"add({HERE}, {BEFORE})", (0, -1, 0, 2)),
    "three rows": (f"add({BEFORE}, {BEHIND})", (1, -1, 1, 4)),
}


@pytest.mark.parametrize(("reads", "wanted"), CASES.values(), ids=CASES)
def test_rows_that_are_read(reads: str, wanted: tuple[int, int, int, int]) -> None:
    """Rows ahead, the first and the last that are read, and rows kept: a power of two."""
    found = first_of(reads)
    assert (found.lag, found.low, found.high, found.ring) == wanted


def test_what_goes_to_memory_is_computed_where_it_stands() -> None:
    assert first_of(BEHIND, "row").low == 1
    assert first_of(BEHIND, "memory").low == 0
