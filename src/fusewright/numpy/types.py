"""Questions about dtypes and memory, answered without computing a value."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from fusewright.base.errors import ValueRangeError
from fusewright.frontends.arrays import Scalar, layouts, opaque, views
from fusewright.frontends.arrays.core import Handle
from fusewright.numpy.filling import asarray
from fusewright.numpy.operands import Function, asking


def _by_type(original: Callable[..., Any]) -> Function:
    """Our arrays stand for their dtype (a lazy scalar too: its type is that of a NumPy scalar)."""

    @wraps(original)
    def function(*args: Any, **kwargs: Any) -> Any:
        plain = (arg.dtype if isinstance(arg, Handle) else arg for arg in args)  # type: ignore[attr-defined]
        return original(*plain, **kwargs)

    return function


@asking(np.common_type)
def common_type(*arrays: Any) -> Any:
    """The floating type all arrays fit."""
    return np.common_type(*(np.empty(0, asarray(a).dtype) for a in arrays))


def isscalar(element: Any) -> bool:
    """Whether something is a number (or text): a lazy scalar is one."""
    return isinstance(element, Scalar) or np.isscalar(element)


@asking(np.shares_memory)
def shares_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether two arrays have an element in common."""
    return _overlap(np.shares_memory, a, b)


@asking(np.may_share_memory)
def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether two arrays might have an element in common."""
    return _overlap(np.may_share_memory, a, b)


def _overlap(original: Callable[..., bool], a: Any, b: Any) -> bool:
    if isinstance(a, Handle) and isinstance(b, Handle):
        if views.root_of(a) is not views.root_of(b):
            return False
        return original(np.asarray(a), np.asarray(b))
    return original(np.asarray(a), np.asarray(b))


def isfortran(a: Any) -> bool:
    """Whether an array lies in Fortran order and not in C order."""
    return bool(a.flags.f_contiguous and not a.flags.c_contiguous)


def iterable(y: Any) -> bool:
    """Whether something can be iterated over."""
    return bool(y._shape) if isinstance(y, Handle) else np.iterable(y)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """An array in another element type."""
    if device not in (None, "cpu"):
        raise ValueRangeError(
            f"Device not understood. Only 'cpu' is allowed, got: {device}", help="use 'cpu'"
        )
    if not isinstance(x, Handle):
        return opaque.from_numpy_result(np.astype(x, dtype, copy=copy))
    return x.astype(dtype, copy=copy)  # type: ignore[attr-defined]


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    """An array that meets requirements; ours are aligned and writable as they are made."""
    made = asarray(a, dtype)
    wanted = {
        str(r)[0].upper()
        for r in ([requirements] if isinstance(requirements, str) else requirements or [])
    }
    if not isinstance(made, Handle) or "E" in wanted or wanted >= {"C", "F"}:
        return np.require(np.asarray(made), None, requirements)
    order = "F" if "F" in wanted else "C" if "C" in wanted else "A"
    laid: Any = layouts.asked(made, order, None)
    fits = all(laid.flags[letter] for letter in wanted if letter in "WO")
    return laid if fits else laid.copy(order)


EXPORTS: dict[str, Function] = {
    "result_type": _by_type(np.result_type), "can_cast": _by_type(np.can_cast),
    "min_scalar_type": _by_type(np.min_scalar_type), "isdtype": _by_type(np.isdtype),
    "common_type": common_type, "isscalar": isscalar, "shares_memory": shares_memory,
    "may_share_memory": may_share_memory, "isfortran": isfortran, "iterable": iterable,
    "astype": astype, "require": require,
}  # fmt: skip
