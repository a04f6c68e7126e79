"""One operation of torch's while it is recorded: its result's type and shape, and its operands in
the type that it computes in.
"""

from __future__ import annotations

from typing import Any

from fusewright.base.values import dataclass
from fusewright.bridges.torch import nodes
from fusewright.ir.dtypes import DType
from fusewright.ir.graph import Node


class Declined(Exception):
    """Why torch runs an operation."""


@dataclass(frozen=True, slots=True)
class AtenCall:
    """`dtype` and `shape` are those of the (first) result as torch's own rules have them, `common`
    is what the operands are promoted to.
    """

    dtype: DType
    shape: tuple[int, ...]
    common: DType
    stored: DType
    """The type that the operands are stored in, where they are computed in another."""

    def operand(self, value: Any, dtype: DType | None = None) -> Node:
        """An array or a number in the type that is computed in: the result's unless given.

        Beside arrays that are stored in another type, a number is rounded to that type first.
        """
        dtype = dtype or self.dtype
        if isinstance(value, Node):
            return nodes.cast(value, dtype)
        if isinstance(value, bool | int | float):
            stored = self.stored if self.stored.is_stored_only else dtype
            return _number(_number(value, stored).value, dtype)
        raise Declined(f"an operand is a {type(value).__name__}")

    def constant(self, value: float) -> Node:
        """A number in the type that is computed in."""
        return _number(value, self.dtype)

    def need_float(self) -> None:
        """Refuses where the result is no floating-point array."""
        if not self.dtype.is_float:
            raise Declined(f"{self.dtype} is not computed in floating point")


def _number(value: Any, dtype: DType) -> Node:
    """A number in a type that has it."""
    try:
        return nodes.number(value, dtype)
    except OverflowError:
        raise Declined(f"{dtype} has no {value}") from None
