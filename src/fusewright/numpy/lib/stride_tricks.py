"""`numpy.lib.stride_tricks`: views with steps of any size; no element is copied."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fusewright.frontends.arrays import axes as axis_rules
from fusewright.frontends.arrays import views
from fusewright.frontends.arrays.core import READ_ONLY, Handle
from fusewright.frontends.arrays.strided import Strided
from fusewright.frontends.arrays.views import Reshape, Slice, make_view
from fusewright.ir.graph import contiguous_strides
from fusewright.numpy.arranging import broadcast_arrays, broadcast_to
from fusewright.numpy.dispatch import in_front_of
from fusewright.numpy.modules import lookup
from fusewright.numpy.operands import NotRecorded, recorded, viewed

__all__ = [
    "as_strided",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "sliding_window_view",
]

Shape = tuple[int, ...]


@recorded(np.lib.stride_tricks.sliding_window_view, name="lib.stride_tricks.sliding_window_view")
def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    """Windows that slide over the elements, as a view: those along each given axis in a new dim."""
    x = viewed(x)
    sizes = tuple(n.__index__() for n in _listed(window_shape))
    rank = len(x._shape)
    given = range(rank) if axis is None else _listed(axis)
    axes = [axis_rules.one_axis(each, rank) for each in given]
    shape = list(x._shape)
    if len(sizes) != len(axes) or not rank:
        raise NotRecorded("NumPy refuses these windows")
    for at, size in zip(axes, sizes, strict=True):
        shape[at] -= size - 1
        if size < 0 or shape[at] <= 0:
            raise NotRecorded("NumPy refuses these windows")
    moves = tuple(((dim, 1),) for dim in (*range(rank), *axes))
    return _view(x, Strided((0,) * rank, (*shape, *sizes), moves), writeable)


@recorded(np.lib.stride_tricks.as_strided, name="lib.stride_tricks.as_strided")
def as_strided(
    x: Any, shape: Any = None, strides: Any = None, subok: bool = False, writeable: bool = True
) -> Any:
    """A view of any shape and steps within the memory of the array that `x` is a view of."""
    x = viewed(x)
    shape = x._shape if shape is None else tuple(n.__index__() for n in _listed(shape))
    if strides is None:
        strides = views.strides_of(x)
    else:
        strides = tuple(n.__index__() for n in _listed(strides))
    if len(shape) != len(strides) or any(extent <= 0 for extent in shape):
        raise NotRecorded("NumPy looks at this shape")
    root, offset = _position(x)
    size = x._dtype.itemsize
    steps = [stride // size for stride in strides]
    if any(stride % size for stride in (offset, *strides)):
        raise NotRecorded("steps of parts of elements")
    _check_inside(root, shape, steps, offset // size)
    flat = root
    if len(root._shape) != 1:
        flat = make_view(root, Reshape((math.prod(root._shape),), root._shape))
    moves = tuple(((0, step),) if step else () for step in steps)
    view = _view(flat, Strided((offset // size,), shape, moves), writeable)
    view._flags |= x._flags & READ_ONLY
    return view


def _listed(value: Any) -> Sequence[Any]:
    return tuple(value) if np.iterable(value) else (value,)


def _view(x: Handle, link: Strided, writeable: bool) -> Any:
    view = make_view(x, link)
    if not writeable:
        view._flags |= READ_ONLY
    return view


def _position(x: Handle) -> tuple[Handle, int]:
    """The array that a view's elements lie in, in C order, and the byte where the first of them
    stands there.
    """
    links = []
    root = x
    while root._base is not None:
        links.append(root._link)  # type: ignore[attr-defined]
        root = root._base
    strides = contiguous_strides(root._shape, root._dtype.itemsize)
    if root._dtype is not x._dtype or views.strides_of(root) != strides:
        raise NotRecorded("an array that does not lie in C order")
    offset = 0
    for link in reversed(links):
        if isinstance(link, Slice):
            pairs = zip(link.places, strides, strict=True)
            offset += sum(start * stride for (_, start, _), stride in pairs)
        elif isinstance(link, Strided):
            offset += sum(a * b for a, b in zip(link.starts, strides, strict=True))
        elif not isinstance(link, Reshape):
            raise NotRecorded("parts of elements")
        strides = link.strides(strides)
    return root, offset


def _check_inside(root: Handle, shape: Shape, steps: Sequence[int], first: int) -> None:
    """Leave to NumPy what reads outside of the array."""
    ends = [step * (extent - 1) for extent, step in zip(shape, steps, strict=True)]
    low = first + sum(end for end in ends if end < 0)
    high = first + sum(end for end in ends if end > 0)
    if low < 0 or high >= math.prod(root._shape):
        raise NotRecorded("it reaches beyond the array")


broadcast_shapes = np.broadcast_shapes
RECORDED: dict[str, Any] = {"sliding_window_view": sliding_window_view, "as_strided": as_strided}
EXPORTS = in_front_of(np.lib.stride_tricks, RECORDED)
BROADCASTS = {"broadcast_to": broadcast_to, "broadcast_arrays": broadcast_arrays}
__getattr__ = lookup("lib.stride_tricks", EXPORTS)
globals().update(EXPORTS | in_front_of(np, BROADCASTS))
