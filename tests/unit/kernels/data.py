"""Arrays to call kernels with."""

from __future__ import annotations

from typing import Any

import numpy as np


class Numbers:
    """Random arrays, the same for the same seed and calls."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def reals(self, *shape: int, dtype: Any = np.float64) -> Any:
        return self.rng.normal(size=shape).astype(dtype)

    def whole(self, *shape: int, dtype: Any = np.int64, low: int = -9, high: int = 9) -> Any:
        return self.rng.integers(low, high, shape).astype(dtype)

    def below(self, high: int, *shape: int) -> Any:
        return self.rng.integers(0, high, shape)
