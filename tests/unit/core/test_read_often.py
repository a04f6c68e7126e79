"""Elements of pending values that are read one by one: a value that is read often gets memory,
where that costs less than the reads did.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native
from fusewright.ir.graph import LEAF

pytestmark = pytest.mark.skipif(native is None, reason="what the core reads without computing")

PENDING: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda xp: xp.zeros((30, 40)),
    "full": lambda xp: xp.full(900, 2.5, dtype="f4"),
    "range": lambda xp: xp.arange(3, 900, dtype="i2"),
    "repeated": lambda xp: xp.broadcast_to(xp.arange(40.0), (30, 40)),
    "turned": lambda xp: xp.ones((30, 40)).T,
}


@pytest.mark.parametrize("name", PENDING)
def test_elements_are_numpys(name: str) -> None:
    ours, plain = PENDING[name](fnp), PENDING[name](np)
    view, seen = ours[::-2], plain[::-2]
    for k in range(600):
        place = tuple(7 * k % extent for extent in plain.shape)
        within = tuple(k % extent for extent in seen.shape)
        assert type(ours[place]) is type(plain[place])
        assert ours[place] == plain[place]
        assert view[within] == seen[within]
        if k == 450 and plain.flags.writeable:
            ours[place] = plain[place] = 77
    np.testing.assert_array_equal(np.asarray(ours), plain)


def test_memory_comes_with_the_reads() -> None:
    small, large = fnp.zeros((30, 40)), fnp.zeros((4000, 4000))
    assert small._node.kind != LEAF
    for _ in range(300):
        assert small[3, 4] == 0.0 == large[5, 6]
    assert small._node.kind == LEAF
    assert large._node.kind != LEAF  # 128 MB for 300 elements


def test_memory_comes_with_gathers() -> None:
    """Each of them would be recorded, in the time that 30 elements are read in."""
    plain = np.arange(1_000_000)
    plain[4] = 3
    ours = fnp.arange(1_000_000)
    ours[4] = 3
    places = np.arange(4, 1_000_000, 30_011)
    with fw.options(interpret=True, small=512):
        for _ in range(120):
            assert np.array_equal(np.asarray(ours[places]), plain[places])
    assert ours._node.kind == LEAF
