"""The order in which compiled code adds floats along a last dim (decision 0006), for those who add
a few at once without compiling.

Element i goes to lane i mod lanes; the upper half of the lanes is added to the lower until one is
left.  Lanes begin with 0.0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusewright.ir.dtypes import FLOAT32, FLOAT64, DType

NDArray = np.ndarray[Any, np.dtype[Any]]

LANES: dict[DType, int] = {FLOAT64: 16, FLOAT32: 32}
"""128 bytes of accumulators."""
SHORT = 4096
"""Elements: fewer than a chunk of compiled code."""


def sum_last(values: NDArray, lanes: int) -> NDArray:
    """Sums over the last dim, of at most `SHORT` elements; of none 0.0.

    >>> sum_last(np.arange(6.0).reshape(2, 3), 16)
    array([ 3., 12.])
    """
    count = values.shape[-1]
    rows = np.full((*values.shape[:-1], -(-count // lanes) * lanes), 0.0, values.dtype)
    rows[..., :count] = values
    lane = np.full((*values.shape[:-1], lanes), 0.0, values.dtype)
    for start in range(0, rows.shape[-1], lanes):
        lane += rows[..., start : start + lanes]
    while lane.shape[-1] > 1:
        half = lane.shape[-1] // 2
        lane = lane[..., :half] + lane[..., half:]
    return lane[..., 0]
