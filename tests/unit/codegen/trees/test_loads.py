"""What is read again is kept in a variable until something may have changed it."""

from __future__ import annotations

import pytest

from fusewright.codegen.trees.loads import keep_loads
from fusewright.ir.tree.parse import parse_tree
from fusewright.ir.tree.text import tree_text
from fusewright.ir.tree.verify import check_tree

HEAD = """\
kernel sample
  param p0: int64 = extent 0 of b0
  buffer b0: float64[p0]
  buffer b1: float64[p0]
  buffer b2: float64[p0]
  buffer b3: int64[p0]
  var v0: int64  # k
  val v1: int64  # place
  disjoint b0 b1, b0 b3, b1 b3
"""
CASES = {
    "again": ("b1[0] = b0[0]|b1[1] = b0[0]", "v2 = b0[0]|b1[0] = v2|b1[1] = v2"),
    "once": ("b1[0] = b0[0]|b1[1] = b0[1]", "b1[0] = b0[0]|b1[1] = b0[1]"),
    "twice in one expression": ("b1[0] = (b0[0] * b0[0])",) * 2,  # equal expressions are one
    "written": ("b1[0] = b0[0]|b0[0] = 1.0|b1[1] = b0[0]",) * 2,
    "may share memory": ("b2[0] = b0[0]|b2[1] = b0[0]",) * 2,
    "another name of the place": (
        "v1 = (p0 - 1)|b1[0] = b0[v1]|b1[1] = b0[(p0 - 1)]",
        "v1 = (p0 - 1)|v2 = b0[v1]|b1[0] = v2|b1[1] = v2",
    ),
    "a place that changes": ("v0 = 1|b1[0] = b0[v0]|v0 = 2|b1[1] = b0[v0]",) * 2,
    "a place that stays": (
        "v0 = 1|b1[0] = b0[v0]|b1[1] = b0[v0]",
        "v0 = 1|v2 = b0[v0]|b1[0] = v2|b1[1] = v2",
    ),
    "a place that is read": (
        "b1[0] = b0[b3[0]]|b1[1] = b0[b3[0]]",
        "v2 = b3[0]|v3 = b0[v2]|b1[0] = v3|b1[1] = v3",
    ),
    "an update": ("b1[1] = b0[0]|b0[0] add= 2.0", "v2 = b0[0]|b1[1] = v2|b0[0] = (v2 + 2.0)"),
    "an update alone": ("b0[0] add= 2.0|b0[0] add= 2.0",) * 2,
    "in a loop": (
        "b1[0] = b0[0]|for i0 in [0, p0):|  b1[i0] = b0[0]",
        "v2 = b0[0]|b1[0] = v2|for i0 in [0, p0):|  b1[i0] = v2",
    ),
    "a loop that writes": ("b1[0] = b0[0]|for i0 in [0, p0):|  b0[i0] = (b0[0] + 1.0)",) * 2,
    "behind a loop": ("for i0 in [0, p0):|  b1[i0] = b0[0]|b1[0] = b0[0]",) * 2,
    "lanes": ("b1[0] = b0[0]|for i0 in [0, p0) in lanes of 4:|  b1[i0] = b0[0]",) * 2,
    "a task": (
        "b1[0] = b0[0]|for i0 in [0, p0) on threads grain 1 work 1 frame ():|  b1[i0] = b0[0]",
    )
    * 2,
    "in one branch": ("if (p0 < 9):|  b1[0] = b0[0]|else:|  b1[1] = b0[0]|b1[2] = b0[0]",) * 2,
    "before a branch": (
        "if (b0[0] < 9.0):|  b1[0] = b0[0]",
        "v2 = b0[0]|if (v2 < 9.0):|  b1[0] = v2",
    ),
    "a condition": (
        "while:|  pass|holds (b0[0] < 1.0):|  b1[0] = b0[0]",
        "while:|  v2 = b0[0]|holds (v2 < 1.0):|  b1[0] = v2",
    ),
    "a message": ("check (p0 < 9) else bounds('{} {}', b0[0], b0[0])",) * 2,
}


@pytest.mark.parametrize("name", CASES)
def test_reads(name: str) -> None:
    before, after = (
        HEAD + "".join(f"  {line}\n" for line in body.split("|")) for body in CASES[name]
    )
    check_tree(parse_tree(before))
    kept = keep_loads(parse_tree(before))
    check_tree(kept)
    text = "".join(line for line in tree_text(kept).splitlines(True) if "# kept" not in line)
    assert text == after
