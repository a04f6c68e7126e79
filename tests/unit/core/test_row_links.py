"""Rows of an array share what says where they lie: no row may name another one later."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fusewright.frontends.arrays as fa

SUBSCRIPTS: dict[str, Any] = {
    "first": lambda i: i,
    "last": lambda i: (..., i),
    "two": lambda i: (i, -1 - i),
    "two and a step": lambda i: (i, slice(None, None, 2), 3 - i),
    "new axis": lambda i: (slice(None), i, None),
    "slice beside": lambda i: (i, slice(i, None)),
    "from the end": lambda i: -1 - i,
}


@pytest.mark.parametrize("pending", [False, True])
@pytest.mark.parametrize("name", SUBSCRIPTS)
def test_rows_that_are_held_stay_what_they_are(name: str, pending: bool) -> None:
    x = np.arange(4 * 5 * 6.0).reshape(4, 5, 6)
    ours, theirs = fa.asarray(x) * 2.0, x * 2.0
    if not pending:
        np.asarray(ours)
    keys = [SUBSCRIPTS[name](i) for i in (0, 1, 2, 1, 3, 0, 2)]
    rows = [ours[key] for key in keys]
    sums = [ours[key] + ours[other] for key, other in zip(keys, keys[::-1], strict=True)
            if theirs[key].shape == theirs[other].shape]  # fmt: skip
    for key, row in zip(keys, rows, strict=True):
        np.testing.assert_array_equal(np.asarray(row), theirs[key])
    want = [theirs[key] + theirs[other] for key, other in zip(keys, keys[::-1], strict=True)
            if theirs[key].shape == theirs[other].shape]  # fmt: skip
    for got, wanted in zip(sums, want, strict=True):
        np.testing.assert_array_equal(np.asarray(got), wanted)


def test_rows_are_written_where_they_lie() -> None:
    x, held = np.zeros((50, 3)), []
    ours = fa.asarray(x.copy()) + 0.0
    for i in range(50):
        row = ours[i]
        held.append(ours[i - 1])
        row += i
        ours[i][1] = -i
        x[i] += i
        x[i][1] = -i
    np.testing.assert_array_equal(np.asarray(ours), x)
    for i, row in enumerate(held):
        np.testing.assert_array_equal(np.asarray(row), x[i - 1])
