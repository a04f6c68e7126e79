"""Sums of more arrays than one loop reads."""

from __future__ import annotations

import numpy as np
import pytest

import fusewright as fw
from fusewright.frontends.arrays import trace
from fusewright.plan.readers import MOST_READ


@pytest.mark.parametrize("count", (MOST_READ, MOST_READ + 1, 3 * MOST_READ + 5))
def test_a_value_of_many_arrays_is_computed_in_parts(count: int) -> None:
    data = np.random.default_rng(count).random((count, 3000))
    arrays = [fw.asarray(row) for row in data]
    trace.hold(1)  # as a whole: a loop is flushed in turns
    try:
        total = sum(arrays[1:], arrays[0])
    finally:
        trace.hold(-1)
    kernels = -(-(count - 1) // (MOST_READ - 1))
    assert str(fw.explain(total)).startswith(f"{kernels} kernel")
    with fw.options(fuse=False):
        apart = np.asarray(sum(arrays[1:], arrays[0]))
    np.testing.assert_array_equal(np.asarray(total), sum(data[1:], data[0]))
    np.testing.assert_array_equal(apart, np.asarray(total))
