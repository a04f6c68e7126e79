"""Operands whose own class decides what an operator means, and what NumPy's rules say of them."""

from __future__ import annotations

import operator as python
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusewright.frontends.arrays import agreement, core, opaque
from fusewright.frontends.arrays.core import Handle
from fusewright.frontends.arrays.dtypes import DEFAULT

STRANGER = opaque.STRANGER
_COMMON = frozenset((*DEFAULT, np.ndarray, list, tuple, str, bytes, type(None)))


def is_stranger(operand: Any) -> bool:
    """Whether NumPy's rules may let another class's method answer: a subclass of its arrays
    (`matrix`, masked arrays), or an array of a higher priority (SciPy's sparse arrays).
    """
    kind = type(operand)
    if kind in _COMMON or issubclass(kind, Handle | np.generic):
        return False
    if issubclass(kind, np.ndarray):
        return True
    if hasattr(kind, "__array_ufunc__"):
        return False
    return float(getattr(operand, "__array_priority__", -1.0)) > 0


def defers(other: Any) -> bool:
    """Whether Python shall ask the other operand's own method (NumPy's rule)."""
    kind = type(other)
    if kind in _COMMON or issubclass(kind, Handle | np.generic):
        return False
    return getattr(kind, "__array_ufunc__", _COMMON) is None


def is_repeated(number: Handle, other: Any) -> bool:
    """Whether a number meets a sequence that Python repeats so often, `[0] * n`: NumPy's numbers
    leave that to the sequence, arrays multiply its elements.
    """
    if not isinstance(number, core.scalar_class) or not isinstance(other, Sequence):
        return False
    return hasattr(type(other), "__mul__") and not isinstance(other, Handle)


def overrides(operand: Any) -> bool:
    """Whether another library decides what a ufunc of this operand means."""
    kind = type(operand)
    if kind in DEFAULT or issubclass(kind, Handle):
        return False
    protocol = getattr(kind, "__array_ufunc__", None)
    return protocol is not None and protocol is not np.ndarray.__array_ufunc__


def asked(ufunc: np.ufunc, method: str, inputs: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What the operands of other libraries make of a ufunc with arrays of ours.

    One that does not know our arrays (it tells by their class, or returns `NotImplemented`) is
    asked once more with NumPy's arrays on our memory, which is what it would see without us.
    """
    for operand in filter(overrides, inputs):
        result = operand.__array_ufunc__(ufunc, method, *inputs, **kwargs)
        if result is not NotImplemented:
            return result
    return opaque.delegate(
        ufunc.__name__, getattr(ufunc, method), inputs, kwargs, why=opaque.FOREIGN
    )


PYTHON: dict[str, Callable[..., Any]] = {
    "add": python.add, "subtract": python.sub, "multiply": python.mul, "divide": python.truediv,
    "floor_divide": python.floordiv, "remainder": python.mod, "power": python.pow,
    "bitwise_and": python.and_, "bitwise_or": python.or_, "bitwise_xor": python.xor,
    "left_shift": python.lshift, "right_shift": python.rshift, "less": python.lt,
    "less_equal": python.le, "equal": python.eq, "not_equal": python.ne, "greater": python.gt,
    "greater_equal": python.ge,
}  # fmt: skip
"""Operators by the name of the operation."""
IN_PLACE: dict[str, Callable[..., Any]] = {
    "add": python.iadd, "subtract": python.isub, "multiply": python.imul, "divide": python.itruediv,
    "floor_divide": python.ifloordiv, "remainder": python.imod, "power": python.ipow,
    "bitwise_and": python.iand, "bitwise_or": python.ior, "bitwise_xor": python.ixor,
    "left_shift": python.ilshift, "right_shift": python.irshift,
}  # fmt: skip


def refused_in_place(name: str, self: Handle, other: Any, error: Exception | None) -> Any:
    """What NumPy says to an in-place operator that ours refuses; without an error, what it makes of
    a stranger, and `NotImplemented` where the operand is none.
    """
    if error is not None:
        try:
            return agreement.settled(error, name, IN_PLACE[name], (self, other), {}, (0,))
        finally:
            del error  # its traceback holds this frame
    if not is_stranger(other) and not defers(other):
        return NotImplemented
    return opaque.delegate(name, IN_PLACE[name], (self, other), why=STRANGER, written=(0,))


def divided(left: Any, right: Any) -> Any:
    """`divmod(left, right)`: of what is neither array nor number NumPy says what is wrong."""
    if defers(left) or defers(right):
        return NotImplemented
    if all(map(_is_number, (left, right))):
        return left // right, left % right
    return opaque.delegate("divmod", np.divmod, (left, right))


def _is_number(value: Any) -> bool:
    """Whether a value is an array or a number of a type that is one of ours."""
    if isinstance(value, np.ndarray | np.generic):
        return opaque.from_numpy_or_none(value.dtype) is not None
    return isinstance(value, (*DEFAULT, Handle))


def divides(right: Any, left: Any) -> Any:
    """`divmod(left, right)`, asked of the second operand."""
    return divided(left, right)
