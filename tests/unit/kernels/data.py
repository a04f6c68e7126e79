"""Arrays to call kernels with."""

from __future__ import annotations

from typing import Any

import numpy as np

RNG = np.random.default_rng(7)


def reals(*shape: int, dtype: Any = np.float64) -> Any:
    return RNG.normal(size=shape).astype(dtype)


def whole(*shape: int, dtype: Any = np.int64, low: int = -9, high: int = 9) -> Any:
    return RNG.integers(low, high, shape).astype(dtype)


def below(high: int, *shape: int) -> Any:
    return RNG.integers(0, high, shape)
