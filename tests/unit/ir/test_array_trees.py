"""Loop trees of kernels of arrays that are not well formed are refused, with what is wrong; a small
one is run part by part.
"""

from __future__ import annotations

import numpy as np
import pytest

from fusewright.base.errors import InternalError
from fusewright.ir.tree.interpret_arrays import UnitCalls, run_array_tree
from fusewright.ir.tree.nodes import Tree
from fusewright.ir.tree.parse import parse_tree
from fusewright.ir.tree.text import tree_text
from fusewright.ir.tree.verify import check_tree
from fusewright.ir.tree.verify_arrays import check_array_tree

TEXT = """\
kernel arrays
  param p0: int64 = scalar 0
  param p1: int64 = scalar 1
  buffer b0: float64[p0]
  buffer b1: float64[p0, p1]
  scratch b2: float64[p0, p1]
  buffer b3: float64[]
  stream b1
  units p0 read (p0:int64, p1:int64)
  keep b2 rows 2 dropped 1
  blocks b3 by max parts 1 of 16 in lanes 16
  for i104 in [i100, i101):
    i0 = (i104 + 0)
    if (i0 < p0):
      for i1 in [0, p1) in lanes of 4:
        together:
          b2[i0, i1] = (b1[i0, i1] * 2.0)
    reduce by lanes over (1) of (p0, p1) in ([0, p0) x [0, p1)) from 1 in lanes of 16 chunk 32:
      b0[i0] sum= b2[i0, i1]
    reduce by lanes over (0, 1) of (p0, p1) in ([0, p0) x [0, p1)) from 1 in lanes of 16 chunk 32 unit i0:
      b3[] max= b2[i0, i1]
"""  # noqa: E501


def tree(old: str = "", new: str = "") -> Tree:
    """The tree, with something else in one place."""
    assert old in TEXT
    return parse_tree(TEXT.replace(old, new, 1) if old else TEXT)


def test_the_tree_is_right_and_its_text_is_the_same() -> None:
    check_array_tree(tree())
    assert tree_text(tree()) == TEXT


@pytest.mark.parametrize("block", [1, 2, 5])
def test_it_runs_part_by_part(block: int) -> None:
    given = np.random.default_rng(0).standard_normal((10, 70))
    sums, greatest = np.empty(10), np.empty(())
    parts = [(0, 5 // block * block), (5 // block * block, 10)]
    run_array_tree(tree(), [sums, given, greatest], [10, 70], UnitCalls(parts, block))
    np.testing.assert_allclose(sums, (given * 2).sum(axis=1), rtol=1e-13)
    assert greatest == (given * 2).max()


WRONG = {
    "an index outside its loop": ("b1[i0, i1] * 2.0", "b1[i0, i2] * 2.0", "i2 outside"),
    "a row buffer that is none": ("keep b2", "keep b1", "row buffers"),
    "an order that does not fit": ("by lanes over (1)", "by lanes over (0)", "lanes over"),
    "a reduction without chunks": (" chunk 32:", ":", "chunks"),
    "an unknown reduction": ("b0[i0] sum=", "b0[i0] add=", "no op add"),
    "a fold that replaces nothing": ("b0[i0] sum= b2", "b0[i0] = b2", "nothing is reduced"),
    "too few indices": ("b2[i0, i1] = (b1", "b2[] = (b1", "rank"),
    "a value of another dtype": ("(b1[i0, i1] * 2.0)", "3", "dtype of the value"),
    "a window of an array": ("    i0 = (i104 + 0)", "    window b1 from i104", "no row buffer"),
    "lanes inside lanes": ("        together:\n          b2[i0, i1] = (b1[i0, i1] * 2.0)",
                           "        for i7 in [0, 4) in lanes of 4:\n"
                           "          b2[i0, i1] = 0.0", "lanes inside lanes"),
    "three lanes": ("in lanes of 4", "in lanes of 3", "3 lanes"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name: str) -> None:
    old, new, why = WRONG[name]
    with pytest.raises(InternalError, match=why.replace("(", r"\(")):
        check_array_tree(tree(old, new))


def test_a_kernel_of_loops_has_no_such_nodes() -> None:
    with pytest.raises(InternalError, match=r"in a kernel of loops|outside its loop"):
        check_tree(tree())
