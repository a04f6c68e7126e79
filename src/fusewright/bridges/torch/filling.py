"""Arrays of one number, of counted numbers, and corners of matrices: what is computed with them
needs no memory for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fusewright.bridges.torch import nodes
from fusewright.bridges.torch.call import AtenCall, Declined
from fusewright.ir.dtypes import BOOL, INT64
from fusewright.ir.graph import IOTA, Node


def filled(value: float) -> Callable[..., Node]:
    """A number that the operation's name says; operands say only the shape."""

    def record(call: AtenCall, *given: Any, **options: Any) -> Node:
        return of(call, value)

    return record


def given(place: int) -> Callable[..., Node]:
    """The number is the operand at a place."""

    def record(call: AtenCall, *operands: Any, **options: Any) -> Node:
        return of(call, operands[place])

    return record


def of(call: AtenCall, value: Any) -> Node:
    """A number everywhere."""
    if not isinstance(value, bool | int | float):
        raise Declined(f"an operand is a {type(value).__name__}")
    number = call.operand(value)
    how = "cast" if call.dtype.kind == "b" else "positive"
    return nodes.mapped(how, nodes.expanded_number(number, call.shape))


def counted(call: AtenCall, *bounds: Any, **options: Any) -> Node:
    """Integers from a first one on, in equal steps: `end`, `start, end` or `start, end, step`."""
    if not call.dtype.is_integer or any(type(each) is not int for each in bounds):
        raise Declined("numbers that are counted in floating point")
    first = bounds[0] if len(bounds) > 1 else 0
    step = bounds[2] if len(bounds) > 2 else 1
    numbers = _line(first, step, call.shape[0])
    return nodes.mapped("positive", nodes.cast(numbers, call.dtype))


def _line(first: int, step: int, count: int) -> Node:
    ends = (nodes.number(first, INT64), nodes.number(step, INT64))
    return Node(IOTA, "", ends, INT64, (count,))


def corner(is_lower: bool) -> Callable[..., Node]:
    """The lower or the upper corner of matrices, from a diagonal on; zeros elsewhere."""

    def record(call: AtenCall, x: Node, diagonal: int = 0) -> Node:
        *_, rows, columns = x.shape
        down = nodes.viewed(_line(diagonal, 1, rows), [(0, 0, 1)], (rows, 1))
        along = _line(0, 1, columns)
        pair = (along, down) if is_lower else (down, along)
        inside = nodes.mapped("less_equal", *pair, dtype=BOOL)
        return nodes.mapped("where", inside, x, call.constant(0))

    return record
