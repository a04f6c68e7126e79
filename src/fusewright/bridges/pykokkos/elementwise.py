"""PyKokkos' functions of whole views, on this package's lazy arrays: element by element.

The result is a view of its own.  Types are NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import fusewright.numpy as fnp
from fusewright.bridges.pykokkos.views import View, ViewType, wrapped

ONE = (
    "reciprocal", "log", "log2", "log10", "log1p", "sqrt", "sign", "negative", "positive", "square",
    "sin", "cos", "tan", "tanh", "exp", "exp2", "logical_not", "isnan", "isinf", "isfinite",
    "round", "trunc", "ceil", "floor",
)  # fmt: skip
TWO = (
    "add", "subtract", "multiply", "divide", "true_divide", "floor_divide", "power", "fmod",
    "greater", "equal", "logaddexp", "logaddexp2", "logical_and", "logical_or", "logical_xor",
    "fmax", "fmin",
)  # fmt: skip
_NAMES = {"round": "rint", "power": "power"}


def operand(value: Any) -> Any:
    """A view's array, or a number as it is."""
    return value.array if isinstance(value, ViewType) else value


def _function(name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(fnp, _NAMES.get(name, name))
    return found


def _one(name: str) -> Callable[..., View]:
    compute = _function(name)

    def function(view: Any, profiler_name: str | None = None) -> View:
        del profiler_name
        return _view(compute(_whole(name, operand(view))))

    return _named(function, name)


def _two(name: str) -> Callable[..., View]:
    compute = _function(name)

    def function(viewA: Any, viewB: Any, profiler_name: str | None = None) -> View:
        del profiler_name
        return _view(compute(operand(viewA), operand(viewB)))

    return _named(function, name)


def _whole(name: str, array: Any) -> Any:
    """Rounding an integer leaves it as it is."""
    rounds = name in ("round", "trunc", "ceil", "floor")
    integral = rounds and np.dtype(str(array.dtype)).kind in "uib"
    return array.astype("float64") if integral else array


def _view(found: Any) -> View:
    return wrapped(found if hasattr(found, "shape") else np.asarray(found))


def _named(function: Callable[..., View], name: str) -> Callable[..., View]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`{name}` of views, element by element."
    return function


FUNCTIONS: dict[str, Callable[..., View]] = {
    **{name: _one(name) for name in ONE},
    **{name: _two(name) for name in TWO},
}
