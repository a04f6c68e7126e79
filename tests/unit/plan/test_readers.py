"""What a loop nest computes once and keeps: a dear row that a view shows to many rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.bridges.torch import nodes
from fusewright.ir.dtypes import FLOAT64
from fusewright.ir.graph import LEAF, MAP, Node, operands_first
from fusewright.plan.readers import choose_stored

ROWS, COLUMNS = 40, 30


def leaf(*shape: int) -> Node:
    return Node(LEAF, "", (), FLOAT64, shape)


def row(x: Node) -> Node:
    """`x[None, :]`."""
    return nodes.viewed(x, [(1, 0, 1)], (1, *x.shape))


def column(x: Node) -> Node:
    """`x[:, None]`."""
    return nodes.viewed(x, [(0, 0, 1)], (*x.shape, 1))


CASES: dict[str, tuple[Callable[[Node], Node], tuple[int, ...], bool]] = {
    "a row": (row, (COLUMNS,), True),
    "a row by itself": (lambda x: x, (COLUMNS,), True),
    "a row, expanded": (lambda x: nodes.expanded(row(x), (ROWS, COLUMNS)), (COLUMNS,), True),
    "a row of a matrix": (lambda x: row(nodes.selected(x, 0, 2)), (7, COLUMNS), True),
    "part of a row": (lambda x: row(nodes.sliced(x, 0, 3, COLUMNS, 1)), (COLUMNS + 9,), True),
    "a column": (column, (ROWS,), False),
    "all of it": (lambda x: nodes.permuted(x, (1, 0)), (COLUMNS, ROWS), False),
    "one number": (lambda x: row(x), (1,), False),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("function, is_dear", [("exp", True), ("negative", False)])
def test_what_is_shown_to_many_rows_is_kept(name: str, function: str, is_dear: bool) -> None:
    view, shape, again = CASES[name]
    made = nodes.mapped(function, leaf(*shape))
    whole = Node(MAP, "multiply", (leaf(ROWS, COLUMNS), view(made)), FLOAT64, (ROWS, COLUMNS))
    order = list(operands_first((whole,)))
    stored = choose_stored(order, frozenset({order.index(whole)}), frozenset())
    assert (order.index(made) in stored) is (again and is_dear)


def test_the_bits_are_numpys() -> None:
    """Kept or computed again."""
    x, f = np.linspace(0, 3, 300), np.linspace(-1, 1, 500)
    want = np.sqrt(np.abs(f))[None, :] * x[:, None] + 1
    ours = fnp.sqrt(fnp.abs(fw.asarray(f)))[None, :] * fw.asarray(x)[:, None] + 1
    np.testing.assert_array_equal(np.asarray(ours), want)
