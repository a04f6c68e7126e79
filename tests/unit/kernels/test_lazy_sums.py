"""Integer sums and extremes over loops are reductions of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import assert_same

import fusewright as fw


@fw.kernel
def count(x, low):
    n = 3
    for i in range(x.shape[0]):
        if x[i] > low:
            n += 1
    return n


@fw.kernel
def rows(m, x):
    for i in range(m.shape[0]):
        s = np.int32(0)
        for j in range(m.shape[1]):
            s += m[i, j]
        x[i] = s


@fw.kernel
def total(m):
    s = m[0, 0]
    best = m[0, 0]
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            s = m[i, j] + s
            best = np.maximum(best, m[i, j])
    return s, best


@fw.kernel
def prefix(x, y):
    s = 0
    for i in range(x.shape[0]):
        s += x[i]
        y[i] = s


@fw.kernel
def two_updates(x):
    s = 0
    for i in range(x.shape[0]):
        s += x[i]
        s += 1
    return s


MATRIX = (np.arange(35, dtype=np.int32) * 7919 % 1000 - 300).reshape(5, 7)
HUGE = np.array([2**31 - 5, 17, -3, 2**31 - 1], np.int32).reshape(2, 2)
CALLS: dict[str, tuple[Any, tuple[Any, ...], bool]] = {
    "counted": (count, (np.arange(9.0), 4), True),
    "nothing": (count, (np.zeros(0), 4), True),
    "empty rows": (rows, (np.zeros((3, 0), np.int32), np.ones(3, np.int32)), True),
    "rows": (rows, (MATRIX, np.zeros(5, np.int32)), True),
    "all": (total, (MATRIX,), True),
    "wrapped": (total, (HUGE,), True),
    "used in between": (prefix, (np.arange(5), np.zeros(5, np.int64)), False),
    "two updates": (two_updates, (np.arange(5),), False),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("target", ["cpu", "reference"])
def test_sums(name: str, target: str) -> None:
    kernel, arguments, raised = CALLS[name]
    plain = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    mine = [fw.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments]
    before = kernel.stats.raised
    with fw.options(target=target), np.errstate(over="ignore"):
        found, wanted = kernel(*mine), kernel.__wrapped__(*plain)
        assert kernel.stats.raised - before == raised
        for a, b in zip(plain, mine, strict=True):
            if isinstance(a, np.ndarray):
                assert_same(np.array(b), a, name)
        results = found if isinstance(found, tuple) else (found,)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        for a, b in zip(results, wanted, strict=True):
            assert int(a) == int(b) if a is not None else b is None
