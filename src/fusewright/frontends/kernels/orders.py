"""What is known of how NumPy would lay an array out: its sums of floats and its `reshape` ask."""

from __future__ import annotations

from collections.abc import Sequence

from fusewright.frontends.kernels import elements
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.values import ArrayRef, Elementwise, Free, Order, Value
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const


def order_of(t: Translation, value: Value) -> Order:
    """The order of an array's elements in memory."""
    if isinstance(value, Elementwise):
        return max(value.order, Order.ROWS if len(value.shape) < 2 else Order.UNKNOWN)
    if not isinstance(value, ArrayRef) or not value.shape:
        return Order.CONTIGUOUS
    kind = t.inputs.buffer_kinds.get(value.buffer)
    if kind is not None and kind.layout != "c":
        return Order.ROWS if len(value.shape) < 2 else Order.UNKNOWN
    if not value.window:
        return Order.CONTIGUOUS
    return of_window(value.window, value.extents)


def of_window(window: Sequence[Expr | Free], extents: Sequence[Expr]) -> Order:
    """The order of a part of an array whose elements follow one another."""
    whole = True  # of the dims behind
    for part, extent in zip(reversed(window), reversed(extents), strict=True):
        if not isinstance(part, Free):
            whole = False
        elif not whole or part.stride != 1:
            return Order.ROWS
        else:
            whole = linear.distance(part.extent, extent) == 0
    return Order.CONTIGUOUS


def of_result(t: Translation, values: Sequence[Value]) -> Order:
    """The order of what an operation on arrays makes: that of what goes in."""
    known = all(order_of(t, value) for value in values)
    return Order.CONTIGUOUS if known else Order.UNKNOWN


def strides(value: ArrayRef) -> list[Expr]:
    """How many elements lie between neighbours along each dim of a part, in C order."""
    found: list[Expr] = []
    step: Expr = const(1, INT64)
    dims = zip(reversed(elements.window_of(value)), reversed(value.extents), strict=True)
    for part, extent in dims:
        if isinstance(part, Free):
            found.insert(0, linear.times(step, part.stride))
        step = linear.times(step, extent)
    return found
