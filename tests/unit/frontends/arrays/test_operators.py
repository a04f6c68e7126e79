"""What an operation has learnt of a kind of operands gives what it gave before: every function of
two operands, with every kind of number on either side, several times.
"""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.ir import ops

TWO = sorted(
    name for name, row in ops.MAP.items()
    if isinstance(row.meaning, np.ufunc) and row.meaning.nin == 2 and row.meaning.nout == 1
)  # fmt: skip
NUMBERS: list[Any] = [
    2, -0.25, 0.5j, np.float64(-0.25), np.float64("nan"), np.float16(0.5), np.complex64(0.25j),
    np.int64(2), np.bool_(True),
]  # fmt: skip
TIMES = 3
"""The first call finds the rule, the second uses what was learnt, the third the core's recipe."""
RTOL = {"e": 1e-2, "f": 1e-5, "F": 1e-5, "d": 1e-11, "D": 1e-11}


def _same(mine: Any, wanted: Any) -> bool:
    if mine.dtype != wanted.dtype or mine.shape != wanted.shape:
        return False
    if wanted.dtype.kind in "fc":
        return np.allclose(mine, wanted, rtol=RTOL[wanted.dtype.char], atol=0, equal_nan=True)
    return np.array_equal(mine, wanted)


@pytest.mark.parametrize("dtype", "?bHfdD")
@pytest.mark.parametrize("name", TWO)
def test_numbers_beside_arrays(name: str, dtype: str) -> None:
    array = (np.arange(600) % 3 + 0.75).astype(dtype)
    ours = fw.asarray(array)
    for number, is_first in product(NUMBERS, (False, True)):
        left, right = (number, array) if is_first else (array, number)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                wanted = getattr(np, name)(left, right)
            except (TypeError, ValueError, OverflowError):
                continue
            for time in range(TIMES):
                mine = getattr(fnp, name)(*((number, ours) if is_first else (ours, number)))
                assert _same(np.asarray(mine), wanted), (number, type(number), is_first, time)
