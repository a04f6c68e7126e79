"""Loop trees: their text, what they mean, and what is not well formed."""

from __future__ import annotations

import numpy as np
import pytest

from fusewright.base.errors import InternalError
from fusewright.ir.tree.interpret import run_tree
from fusewright.ir.tree.nodes import RESERVED, MappedLoop, buffers_of, stored, walk
from fusewright.ir.tree.parse import parse_tree
from fusewright.ir.tree.text import tree_text
from fusewright.ir.tree.verify import check_tree

HEAD = """\
kernel sample
  param p0: int64 = extent 0 of b0
  param p1: float64 = scalar 0
  buffer b0: float64[p0]
  buffer b1: float64[p0] strides (p0) dead large
  scratch b2: float64[3]
  buffer b3: int64[4]
  var v0: int64  # k
  val v1: bool  # mask
  val v2: float64  # x
  disjoint b0 b1, b0 b3
"""
BODY = """\
  stream b1
  allocate b2 stack
  v0 = 0
  for i0 'i' in [0, p0) on threads grain 64 work (900 + p0) frame () shared (b2) in lanes of 4 at \
b0[0] from 24 past (b0[0]) reduces (v0 by add in any order, b3 by add in any order up to 65536):
    v1 = (b0[i0] < p1)
    where v1:
      b0[i0] = minimum(inf, b2[(i0 % 3)])
      v0 = where(v1, (v0 + i0), v0)
    where invert(v1):
      b3[(i0 % 4)] add= 1
  block L1:
    while:
      pass
    holds (v0 < 9):
      v0 = (v0 * -3)
      if (v0 == 4):
        leave L1
      else:
        print('k = ', v0!r:'', (v0 / 2) numpy, '\\n')
    check isnan.bool(b0[v0]) else bounds('k is {}', v0, 'i'=v0)
"""
FORMS = HEAD + "  guard (p1 < 1e-05)\n  v0 = 1\notherwise\n" + HEAD + "  v0 = 2\n"


def test_text_parses_back() -> None:
    for text in (HEAD + BODY, FORMS, HEAD + "  pass\n"):
        assert tree_text(parse_tree(text)) == text
    tree = parse_tree(HEAD + BODY)
    assert parse_tree(tree_text(tree)) == tree


def test_text_that_is_none() -> None:
    for line in ("v0 = (1 + ", "b0[0] = frobnicate", "for i0 in [0, 1) sideways:", "v0 = b0[1,2]"):
        with pytest.raises((ValueError, KeyError, IndexError)):
            parse_tree(f"{HEAD}  {line}\n")


def test_facts() -> None:
    body = parse_tree(HEAD + BODY).body
    assert stored(body) == {0, 3}
    assert buffers_of(body) == {0, 2, 3}
    (loop,) = (node for node in walk(body) if isinstance(node, MappedLoop))
    assert loop.lanes is not None
    assert loop.lanes.nontemporal == (loop.lanes.anchor,)
    assert not {"threads", "lanes"} & set(RESERVED)


def ran(body: str, size: int = 10) -> tuple[list[float], list[int]]:
    """What the given arrays hold afterwards."""
    tree = parse_tree(HEAD + body)
    check_tree(tree)
    a, b, c = np.arange(float(size)), np.zeros(size), np.zeros(4, np.int64)
    run_tree(tree, [a, b, c], [size, 5.0], print, lambda *_: AssertionError())
    return a.tolist(), c.tolist()


LANES = """\
  v0 = 100
  for i0 in [0, p0) in lanes of 4 reduces (v0 by add in any order):
    v1 = (b0[i0] < p1)
    where v1:
      b0[i0] = -1.0
      v0 = {}
  b3[0] = v0
"""


def test_lanes_run_under_masks() -> None:
    found, counts = ran(LANES.format("where(v1, (v0 + i0), v0)"))
    assert found == [-1.0] * 5 + [5.0, 6.0, 7.0, 8.0, 9.0]
    assert counts == [110, 0, 0, 0]


def test_lanes_without_a_selection_show() -> None:
    """A variable that is not chosen by the mask gets nothing in the other lanes."""
    assert ran(LANES.format("(v0 + i0)"))[1] != [110, 0, 0, 0]


TASK = """\
  v0 = 7
  for i0 in [1, p0) on threads grain 1 work 9 frame (v0) reduces (b3 by add in any order up to {}):
    b3[(i0 % 4)] add= v0
"""


@pytest.mark.parametrize("most", [0, 99])
def test_tasks_run_in_parts(most: int) -> None:
    text = TASK.format(most).replace(" up to 0", "")
    assert ran(text)[1] == [14, 21, 14, 14]


def test_parts_run_in_another_order() -> None:
    """What an iteration leaves to the next shows."""
    text = "  for i0 in [1, p0) on threads grain 1 work 9 frame ():\n"
    steps = [2.0 * place for place in range(10)]
    assert ran(text + "    b0[i0] = (b0[(i0 - 1)] + 2.0)\n")[0] != steps
    assert ran("  for i0 in [1, p0):\n    b0[i0] = (b0[(i0 - 1)] + 2.0)\n")[0] == steps


def test_a_part_of_a_task_has_own_arrays() -> None:
    text = "  for i0 in [0, p0) on threads grain 1 work 9 frame () own (b2 stack):\n"
    assert ran(text + "    b2[0] = 3.0\n    b0[i0] = b2[0]\n")[0] == [3.0] * 10


WRONG = {
    "lanes inside lanes": (
        "for i0 in [0, 1) in lanes of 4:|  for i1 in [0, 1) in lanes of 4:|    pass"
    ),
    "3 lanes": "for i0 in [0, 1) in lanes of 3:|  pass",
    "cannot be in lanes": "for i0 in [0, 1) in lanes of 4:|  if (p0 < 1):|    pass",
    "a mask outside lanes": "where (p0 < 1):|  pass",
    "without an anchor": "for i0 in [0, 1) in lanes of 4 past (b0[0]):|  pass",
    "v0 is not in the frame": "for i0 in [0, 9) on threads grain 1 work 1 frame ():|  b0[v0] = 1.0",
    "b2 is neither": "for i0 in [0, 9) on threads grain 1 work 1 frame ():|  b2[0] = 1.0",
    "in a frame": "for i0 in [0, 9) on threads grain 1 work 1 frame (p0):|  pass",
    "a task inside a task": (
        "for i0 in [0, 9) on threads grain 1 work 1 frame ():|"
        "  for i1 in [0, 9) on threads grain 1 work 1 frame ():|    pass"
    ),
    "not of each lane": ("for i0 in [0, 9) in lanes of 4:|  for i1 in [0, 9):|    v0 = 1"),
    "outside its loop": "for i0 in [0, 9) on threads grain 1 work 1 frame ():|  pass|b0[i0] = 1.0",
    "copies of a serial loop": "for i0 in [0, 9) reduces (v0 by add in any order):|  v0 = 1",
    "cannot copy an array": (
        "for i0 in [0, 9) in lanes of 4 reduces (b3 by add in any order up to 9):|  pass"
    ),
    "not new": "for i0 in [0, 9):|  for i0 in [0, 9):|    pass",
    "not a condition": "if p0:|  pass",
    "label twice": "block L1:|  block L1:|    pass",
    "no block 1": "block L1:|  for i0 in [0, 9) on threads grain 1 work 1 frame ():|    leave L1",
    "is not the kernel's own": "allocate b0 stack",
    "for each lane outside": "allocate v0 register",
    "before its definition": "b0[0] = v2",
    "defined twice": "v2 = 1.0|v2 = 2.0",
}


@pytest.mark.parametrize("what", WRONG)
def test_not_well_formed(what: str) -> None:
    lines = "".join(f"  {line}\n" for line in WRONG[what].split("|"))
    with pytest.raises(InternalError, match=what):
        check_tree(parse_tree(HEAD + lines))


def test_a_guard_needs_another_form() -> None:
    with pytest.raises(InternalError, match="alone"):
        check_tree(parse_tree(HEAD + "  guard (p1 < 1.0)\n  pass\n"))
    check_tree(parse_tree(FORMS))
