"""`numpy.lib.stride_tricks`: windows as read-only views of NumPy's on computed memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusewright.frontends.arrays import axes as axis_rules
from fusewright.frontends.arrays.core import READ_ONLY
from fusewright.numpy.arranging import broadcast_arrays, broadcast_to
from fusewright.numpy.joining import stack
from fusewright.numpy.modules import lookup
from fusewright.numpy.operands import NotRecorded, delegated, handle_of, recorded

__all__ = [
    "as_strided",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "sliding_window_view",
]

MAX_WINDOW = 64
"""Elements of a window that are read as shifted slices; larger ones NumPy copies out."""


@recorded(np.lib.stride_tricks.sliding_window_view, name="lib.stride_tricks.sliding_window_view")
def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    """Windows of one axis, as shifted slices side by side (read-only: here a value, no view)."""
    x = handle_of(x)
    shape = window_shape if isinstance(window_shape, tuple | list) else (window_shape,)
    axes = tuple(range(len(x._shape))) if axis is None else axis
    axes = axes if isinstance(axes, tuple | list) else (axes,)
    if writeable or len(shape) != 1 or len(axes) != 1 or not 0 < shape[0] <= MAX_WINDOW:
        raise NotRecorded("windows of several axes, large or writable ones")
    at = axis_rules.one_axis(axes[0], len(x._shape))
    count = x._shape[at] - shape[0] + 1
    if count <= 0:
        raise NotRecorded("NumPy refuses these windows")
    lead = (slice(None),) * at
    result = stack([x[(*lead, slice(n, n + count))] for n in range(shape[0])], -1)
    result._flags |= READ_ONLY
    return result


as_strided = delegated(np.lib.stride_tricks.as_strided, "lib.stride_tricks.as_strided")
broadcast_shapes = np.broadcast_shapes
__getattr__ = lookup(
    "lib.stride_tricks",
    {"sliding_window_view": sliding_window_view, "as_strided": as_strided},
)
