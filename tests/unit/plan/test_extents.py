"""Which extents are equal, or a small constant apart, for every shape of a structure."""

from __future__ import annotations

from fusewright.ir.dtypes import FLOAT64
from fusewright.ir.graph import LEAF, MAP, VIEW, Node
from fusewright.plan.extents import Extents, anchor, margin


def leaf(*shape: int) -> Node:
    return Node(LEAF, "", (), FLOAT64, shape)


def of(name: str, *args: Node) -> Node:
    return Node(MAP, name, args, FLOAT64, args[0].shape)


def part(x: Node, start: int, count: int) -> Node:
    return Node(VIEW, "", (x,), FLOAT64, (count,), ((0, start, 1),))


def test_operands_of_one_shape_have_equal_extents() -> None:
    a, b = leaf(40, 30), leaf(40, 30)
    found = Extents([a, b, of("add", a, b)])
    assert found.find(0, 0) == found.find(1, 0) == found.find(2, 0)
    assert found.find(0, 0) != found.find(0, 1)


def test_a_dim_that_is_repeated_is_another_extent() -> None:
    a, b = leaf(40, 30), leaf(1, 30)
    found = Extents([a, b, of("add", a, b)])
    assert found.find(0, 1) == found.find(1, 1)
    assert found.find(0, 0) != found.find(1, 0)


def test_a_slice_with_literal_margins_is_a_constant_shorter() -> None:
    a = leaf(40)
    found = Extents([a, part(a, 1, 37)])
    (key, whole), (same, shorter) = found.find(0, 0), found.find(1, 0)
    assert (same, whole - shorter) == (key, 3)


def test_where_a_slice_begins_far_inside_nothing_follows() -> None:
    a = leaf(40)
    found = Extents([a, part(a, 17, 13)])
    assert found.find(0, 0)[0] != found.find(1, 0)[0]


def test_positions_near_an_end_are_literal() -> None:
    assert [anchor(at, 40) for at in (0, 4, 5, 36, 40)] == [
        ("low", 0), ("low", 4), ("free", 0), ("high", 4), ("high", 0),
    ]  # fmt: skip
    assert (margin(1, 38, 40), margin(5, 30, 40)) == (2, None)
