"""An operation that runs alone has the bits of compiled code, of all types and extents."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp

TYPES = (
    "bool",
    "int8",
    "uint8",
    "int16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float32",
    "float64",
)
ONE = (
    "bitwise_count", "sign", "invert", "absolute", "conjugate", "reciprocal", "exp", "sin", "log1p",
    "cbrt", "spacing", "tanh", "square",
)  # fmt: skip
TWO = (
    "power", "floor_divide", "remainder", "fmod", "left_shift", "right_shift", "gcd", "lcm", "fmax",
    "arctan2", "hypot", "float_power", "copysign", "heaviside", "logaddexp", "ldexp", "less",
)  # fmt: skip


def same(name: str, *given: Any) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            dtype = getattr(np, name)(*given).dtype
    except (TypeError, ValueError):
        return  # NumPy has no such function, or refuses the values
    found = []
    for interpret in (True, False):
        with fw.options(interpret=interpret):
            found.append(np.asarray(getattr(fnp, name)(*map(fw.asarray, given))))
    alone, compiled = found
    assert alone.dtype == compiled.dtype == dtype, name
    assert alone.shape == compiled.shape and alone.tobytes() == compiled.tobytes(), name


@pytest.mark.parametrize("dtype", TYPES)
def test_one_operand(dtype: str) -> None:
    for name in ONE:
        same(name, np.arange(-9, 591).astype(dtype))


@pytest.mark.parametrize("second", TYPES)
@pytest.mark.parametrize("first", TYPES)
def test_two_operands(first: str, second: str) -> None:
    a, b = (np.arange(-3, 597) % 9).astype(first), (np.arange(600) % 5 + 1).astype(second)
    for name in TWO:
        same(name, a, b)
    for name in ("power", "arctan2", "remainder"):
        same(name, a.reshape(20, 30), b[:30])
        same(name, a[:20, None], b[None, :30])
