"""The order of sums over dim 0 alone: blocks of rows, their size from the shape, then halves."""

from __future__ import annotations

import numpy as np
import pytest

import fusewright as fw

SHAPES = [(1000, 3), (65_536, 2), (70_001, 2), (300_007, 5), (2_100_000, 1), (40_000, 300)]
MODES = {"fused": {}, "apart": {"fuse": False}, "one thread": {"threads": 1}}


def block_of(rows: int, kept: int) -> int:
    """Rows in a block, as decision 0006 says."""
    blocks = min(max((1 << 20) // kept, 1), 64)
    return max(min(-(-rows // blocks), 1024), 1)


def in_blocks(values: np.ndarray) -> np.ndarray:
    """The sum over dim 0 in that order; NumPy adds rows of several elements one after the other."""
    size = block_of(*values.shape)
    parts = []
    for start in range(0, len(values), size):
        total = np.zeros(values.shape[1], values.dtype)
        for row in values[start : start + size]:
            total += row
        parts.append(total)
    while len(parts) > 1:
        half = (len(parts) + 1) // 2
        for number in range(half, len(parts)):
            parts[number - half] = parts[number - half] + parts[number]
        parts = parts[:half]
    return parts[0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_order_and_error(shape: tuple[int, int], dtype: str) -> None:
    values = np.random.default_rng(5).standard_normal(shape).astype(dtype)
    expected = in_blocks(values)
    for given in MODES.values():
        with fw.options(background=False, interpret=False, small=0, **given):
            ours = np.asarray(fw.asarray(values).sum(axis=0))
        np.testing.assert_array_equal(ours, expected)
    exact = values.astype(np.longdouble)
    bound = (1024 + np.log2(shape[0])) * np.finfo(dtype).eps / 2
    assert (np.abs(expected - exact.sum(axis=0)) <= bound * np.abs(exact).sum(axis=0)).all()


def test_without_compiling_first_the_bits_are_the_same() -> None:
    values = np.random.default_rng(6).random((300_007, 5))
    ours = np.asarray(fw.asarray(values).sum(axis=0))
    np.testing.assert_array_equal(ours, in_blocks(values))
