"""Numbers written into elements: what NumPy writes, of every kind into every type."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest

import fusewright as fw

TYPES = ["?", "i1", "i4", "i8", "u1", "u2", "u8", "f2", "f4", "f8", "c8", "c16"]
NUMBERS: list[Any] = [
    True, False, 0, 1, -1, 200, 2**24 + 1, 2**40 + 1, 2**53 + 1, 2**63, 2.0**60 + 2.0**8, 0.1, -0.0,
    1e300, -1e300, float("inf"), float("nan"), 1.5 + 2.5j, complex(-0.0, float("nan")), 1e300j,
    np.bool_(True), np.int8(-3), np.int32(2**30 + 1), np.int64(2**62 + 2**9 + 1), np.uint8(250),
    np.uint64(2**63 + 1), np.float16(0.1), np.float32(0.1), np.float32(3e38), np.float64(0.1),
    np.float64(1e300), np.complex64(0.1 - 2j), np.complex128(1e-300 + 1e300j),
]  # fmt: skip


def _builtin(kind: type) -> type:
    """Python's own class of an error; ours are classes of these."""
    return next(each for each in kind.__mro__ if each.__module__ == "builtins")


def _written(array: Any, number: Any) -> Any:
    """The bytes afterwards, or what was raised, and the warnings' classes."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            array[3] = number
            array[1:2] = number
        except (TypeError, ValueError, OverflowError) as error:
            return _builtin(type(error)), ()
    return np.asarray(array).tobytes(), tuple(each.category for each in told)


@pytest.mark.parametrize("dtype", TYPES)
def test_as_numpy_writes_them(dtype: str) -> None:
    for number, many in product(NUMBERS, (5, 700)):
        plain = np.zeros(many, dtype)
        ours = fw.asarray(np.zeros(many, dtype))
        theirs = _written(plain, number)
        assert _written(ours, number)[0] == theirs[0], (dtype, number, many)
