"""What an earlier request has computed on its way is stored where it is asked for again, and not
what it was made of: running operation by operation holds no more than compiled code would.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native
from fusewright.ir.graph import LEAF, Node, operands_first
from fusewright.runtime import buffers

SIZE = 1 << 19
STEPS = 24


@pytest.fixture(autouse=True)
def unlimited() -> Iterator[None]:
    """Freed memory waits for reuse: what is in use is counted."""
    with fw.options(background=True, interpret=True, memory_limit=1 << 30):
        yield


def steps(value: fnp.ndarray, count: int) -> fnp.ndarray:
    for step in range(count):
        value = value * 0.5 + float(step)
    return value


def computed_before(node: Node) -> None:
    """Mark all that a value is made of as an evaluation does that stores none of it."""
    for each in operands_first([node]):
        each.demands += each.kind != LEAF and bool(each.args)


@pytest.mark.skipif(native is None, reason="the core runs requests operation by operation")
def test_what_a_value_was_made_of_is_not_kept() -> None:
    given = np.arange(float(SIZE)) / SIZE
    start = fnp.asarray(given)
    middle = steps(start, STEPS)
    computed_before(middle._node)
    last = steps(middle, 2)
    gc.collect()
    before = buffers.statistics().in_use
    buffers.large_blocks.peak = 0
    fw.evaluate(last)
    assert middle._node.kind == LEAF  # whoever asks next finds it
    assert buffers.statistics().peak - before <= 8 * given.nbytes  # of 50 that were computed
    expected = steps(steps(given, STEPS), 2)
    assert np.array_equal(np.asarray(last), expected)
    assert np.array_equal(np.asarray(middle), steps(given, STEPS))


@pytest.mark.skipif(native is None, reason="the core runs requests operation by operation")
def test_values_with_a_name_are_kept_on_the_way() -> None:
    given = np.arange(float(SIZE)) / SIZE
    named = [fnp.asarray(given)]
    for step in range(STEPS):
        named.append(named[-1] * 0.5 + float(step))
    computed_before(named[-1]._node)
    fw.evaluate(named[-1] + 1.0)
    runs = buffers.statistics()
    for step, value in enumerate(named):
        assert np.array_equal(np.asarray(value), steps(given, step))
    assert buffers.statistics()[3] - runs[3] <= len(named)
