"""Axis arguments: integers and tuples, negative ones wrapped, refused at the user's line."""

from __future__ import annotations

from operator import index as as_index
from typing import Any

from fusewright.base.errors import ArgumentError, AxisError, ValueRangeError

Shape = tuple[int, ...]


def one_axis(axis: Any, ndim: int) -> int:
    """A single axis in [0, ndim)."""
    try:
        value = as_index(axis)
    except TypeError:
        raise ArgumentError(
            f"an axis must be an integer, not {type(axis).__name__}", help="pass axis=0, 1, ..."
        ) from None
    if not -ndim <= value < ndim:
        shown = f"use an axis from {-ndim} to {ndim - 1}" if ndim else "the array has no axes"
        raise AxisError(value, ndim, help=shown)
    return value + ndim if value < 0 else value


def many_axes(axis: Any, ndim: int, lenient: bool = False) -> tuple[int, ...]:
    """Axes in ascending order; None means all.  NumPy's ufuncs are `lenient`: a 0-d array has an
    axis 0.
    """
    if axis is None:
        return tuple(range(ndim))
    if not isinstance(axis, tuple | list):
        if lenient and ndim == 0 and axis in (0, -1):
            return ()
        return (one_axis(axis, ndim),)
    found = [one_axis(a, ndim) for a in axis]
    if len(set(found)) != len(found):
        raise ValueRangeError("duplicate value in 'axis'", why=f"axis={axis} names an axis twice")
    return tuple(sorted(found))


def reduced_shape(shape: Shape, axes: tuple[int, ...], keepdims: bool) -> Shape:
    """The shape after a reduction."""
    if keepdims:
        return tuple(1 if dim in axes else n for dim, n in enumerate(shape))
    return tuple(n for dim, n in enumerate(shape) if dim not in axes)


def count_over(shape: Shape, axes: tuple[int, ...]) -> int:
    """How many elements one result element is made of."""
    count = 1
    for axis in axes:
        count *= shape[axis]
    return count
