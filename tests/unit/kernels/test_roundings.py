"""A call of a kernel that waits has the rounding of the block it was called in, whenever its result
is asked for.
"""

from __future__ import annotations

import numpy
import pytest

import fusewright as fw
import fusewright.numpy as np


@fw.kernel
def sums(x, out):
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += x[i, j] * 1.1
        out[i] = s


GIVEN = numpy.random.default_rng(0).random((50, 3001))


def at_once(reassociate: bool) -> numpy.ndarray:
    out = numpy.zeros(50)
    with fw.options(reassociate=reassociate):
        sums(GIVEN.copy(), out)
    return out


def pending() -> np.ndarray:
    """A call that is recorded: nothing of it is NumPy's."""
    out = np.zeros(50)
    sums(np.asarray(GIVEN) + 0.0, out)
    return out


@pytest.mark.parametrize("outside", [False, True])
@pytest.mark.parametrize("inside", [False, True])
def test_a_call_before_and_a_call_in_a_block(outside: bool, inside: bool) -> None:
    with fw.options(reassociate=outside):
        before = pending()
        with fw.options(reassociate=inside):
            within = pending()
            threads = fw.options(threads=1)
            with threads:
                read_in_another_block = pending()
        after = pending()
        found = [numpy.asarray(each) for each in (before, within, read_in_another_block, after)]
    wanted = [at_once(each) for each in (outside, inside, inside, outside)]
    assert [each.tobytes() for each in found] == [each.tobytes() for each in wanted]
    assert at_once(True).tobytes() != at_once(False).tobytes()


def test_other_settings_compute_nothing() -> None:
    with fw.options(threads=2):
        out = pending()
        with fw.options(strict=True, spans=True):
            assert out._node.args
        assert out._node.args
