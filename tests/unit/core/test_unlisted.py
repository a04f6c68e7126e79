"""Values that have left the pending list are held by their handles alone: nothing may be written
into what such a handle sees.
"""

from __future__ import annotations

import numpy as np
import pytest

import fusewright as fw
from fusewright.frontends.arrays import trace


@pytest.mark.parametrize("writes", range(1, 8))
@pytest.mark.parametrize("times", [1, 3])
def test_a_held_version_stays(writes: int, times: int) -> None:
    for _ in range(times):
        x = fw.evaluate(fw.asarray(np.arange(8.0)) + 1)
        expected = np.arange(8.0) + 1
        for k in range(writes):
            x[k : k + 2] = x[k : k + 2] * 2.0
            expected[k : k + 2] *= 2.0
        trace.pending.clear()  # as after a flush that left it alone
        held = x.copy()
        x[2:6] = x[2:6] * 3.0
        fw.evaluate(x)
        np.testing.assert_array_equal(np.asarray(held), expected)
        expected[2:6] *= 3.0
        np.testing.assert_array_equal(np.asarray(x), expected)
