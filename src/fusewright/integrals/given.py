"""What callers give to the functions of integrals, checked before it is used."""

from __future__ import annotations

import operator as python
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from fusewright.base.errors import ArgumentError, DTypeError, ShapeError, ValueRangeError
from fusewright.integrals.operators import Operator
from fusewright.ir.fused import Array

REAL: Final = "biuf"
"""Kinds of dtypes that are real numbers."""


def reals(value: Any, what: str) -> Array:
    """Real numbers as float64, copied."""
    array = np.array(value)
    if array.size and array.dtype.kind not in REAL:
        raise DTypeError(f"{what} have elements of type {array.dtype}, not real numbers")
    return array.astype(np.float64)


def points(value: Any, what: str) -> Array:
    """Places (n, 3), which may be none."""
    array = reals(value, what)
    if array.size and (array.ndim != 2 or array.shape[1] != 3):
        raise ShapeError(f"{what} have the shape {array.shape}", help="(n, 3): x, y, z of each")
    return array.reshape(-1, 3)


def point(value: Any, what: str) -> Array:
    """One place."""
    array = reals(value, what)
    if array.shape != (3,) or not np.all(np.isfinite(array)):
        raise ValueRangeError(f"{what} are {array.tolist()}", help="three finite numbers: x, y, z")
    return array


def whole(value: Any, what: str) -> int:
    """An integer."""
    try:
        return python.index(value)
    except TypeError:
        raise ArgumentError(f"{what} is {value!r}, not an integer") from None


def kind_of(value: Any) -> str:
    """What is told of an object of a wrong class."""
    return "None" if value is None else f"an object of the class {type(value).__name__}"


def sequence(value: Any, what: str) -> Any:
    """What can be gone through."""
    if not isinstance(value, Iterable):
        raise ArgumentError(f"{what} are {value!r}, not a sequence")
    return value


def an_operator(value: Any) -> Operator:
    """An operator of ours."""
    if not isinstance(value, Operator):
        raise ArgumentError(
            f"the operator is {value!r}", help="Operator(), long_range(w) or short_range(w)"
        )
    return value


def tolerance(value: Any) -> float:
    """What contributions are compared with."""
    if not isinstance(value, int | float | np.number) or not 0 <= value < np.inf:
        raise ValueRangeError(f"the tolerance is {value!r}", help="a number from 0 on")
    return float(value)


def densities(value: Any, functions: int, hermi: Any) -> Array:
    """Density matrices, (functions, functions) or more of them."""
    if hermi not in (0, 1, 2):
        raise ValueRangeError(
            f"hermi is {hermi!r}", help="1 symmetric, 2 antisymmetric, 0 neither of both"
        )
    array = np.asarray(value)
    if array.dtype.kind not in REAL:
        raise DTypeError(f"density matrices of {array.dtype}", help="one of each real part")
    if array.ndim < 2 or array.shape[-2:] != (functions, functions):
        raise ShapeError(
            f"density matrices of the shape {array.shape}, for {functions} functions",
            help="(functions, functions) or (n, functions, functions)",
        )
    return np.ascontiguousarray(array, np.float64)
