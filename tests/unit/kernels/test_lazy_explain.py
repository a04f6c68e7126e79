"""What `explain` says of calls with lazy arrays."""

from __future__ import annotations

import numpy as np

import fusewright as fw


def test_explain_says_what_was_recorded() -> None:
    @fw.kernel
    def own(x, y):
        for i in range(1, x.shape[0]):
            y[i] = y[i - 1] + x[i]

    @fw.kernel
    def both(x, y):
        for i in range(x.shape[0]):
            y[i] = x[i] + x[i]

    x, y = fw.asarray(np.ones(3)), fw.asarray(np.zeros(3))
    own(x, y)
    both(x, y)
    (record,) = own.explain().lazy
    assert not record.raised
    assert record.because[1] == own.__wrapped__.__code__.co_firstlineno + 3
    assert "y[i] = y[i - 1] + x[i]" in str(own.explain())
    (record,) = both.explain().lazy
    assert (record.raised, record.operations) == (True, 1)
