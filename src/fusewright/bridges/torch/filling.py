"""Arrays of one number: what is computed with them needs no memory for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fusewright.bridges.torch import nodes
from fusewright.bridges.torch.call import AtenCall, Declined
from fusewright.ir.graph import Node


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
