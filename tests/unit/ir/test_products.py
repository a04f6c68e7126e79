"""What a PRODUCT node says of its operands, and how many roundings an element has."""

from __future__ import annotations

import pytest

from fusewright.ir.dtypes import FLOAT32, FLOAT64, DType
from fusewright.ir.graph import PRODUCT, SCALAR, Node
from fusewright.ir.products import CHUNK, depth, is_compiled, multiplied, operations


def array(*shape: int, dtype: DType = FLOAT64) -> Node:
    return Node(SCALAR, "", (), dtype, shape)


def test_each_dim_has_a_role() -> None:
    node = multiplied("matmul", array(7, 2, 3, 5), array(2, 5, 4), (7, 2))
    assert (node.kind, node.attr, node.shape) == (PRODUCT, ("bbmk", "bkn"), (7, 2, 3, 4))
    assert operations(node) == 7 * 2 * 3 * 5 * 4


@pytest.mark.parametrize(
    ("k", "roundings"), [(0, 0), (1, 1), (CHUNK, CHUNK), (CHUNK + 1, CHUNK + 1), (10 * CHUNK, 521)]
)
def test_roundings_of_an_element(k: int, roundings: int) -> None:
    assert depth(k) == roundings


@pytest.mark.parametrize(
    ("left", "right", "compiled"),
    [
        ((128, 128), (128, 257), True),
        ((128, 128), (128, 256), False),
        ((127, 3000), (3000, 3000), False),
        ((300, 300), (300,), False),
        ((2, 300, 300), (300, 300), True),
        ((200_000, 6, 6), (200_000, 6, 6), True),
        ((200_000, 6, 7), (200_000, 7, 6), False),
        ((100, 6, 6), (100, 6, 6), False),
    ],
)
def test_shapes_and_dtypes_decide(
    left: tuple[int, ...], right: tuple[int, ...], compiled: bool
) -> None:
    assert is_compiled(array(*left), array(*right)) == compiled
    assert not is_compiled(array(*left), array(*right, dtype=FLOAT32))
