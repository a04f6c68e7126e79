"""Small arrays are NumPy's own (decision 0016): in front of each function stands a look at its
operands.  NumPy runs the call where none is ours; the drop-in's own function elsewhere.
"""

from __future__ import annotations

import functools
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from fusewright.frontends.arrays import opaque
from fusewright.frontends.arrays.front import MADE, complete, dispatched, margin_of
from fusewright.ir import ops
from fusewright.numpy import standard
from fusewright.numpy.operands import KEEPS

FUNCTIONS = (FunctionType, BuiltinFunctionType, type(np.sum))
"""What has nothing but its call; other objects have methods (`reduce`)."""

HEADING = "Note of Fusewright"
_ROUNDED = """\
Large arrays are computed by Fusewright's own formulas, within a few units in the last place of the
exact value: the last digit may differ from NumPy's, and no floating-point warning is raised."""
_ADDED = """\
Large arrays of floats are added in blocks of a fixed size, in an order that depends on neither
threads nor vectors and is not NumPy's: the last digits may differ."""
_MULTIPLIED = """\
Large products of float32 or of float64 matrices are added in an order that depends on neither
threads nor vectors and is not NumPy's: the last digits may differ."""
NOTES: dict[str, str] = {
    **dict.fromkeys(("dot", "matmul"), _MULTIPLIED),
    **dict.fromkeys(
        (
            "acos", "acosh", "angle", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
            "arctanh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "exp",
            "exp2", "expm1", "float_power", "hypot", "log", "log10", "log1p", "log2", "logaddexp",
            "logaddexp2", "pow", "power", "sin", "sinc", "sinh", "tan", "tanh",
        ),
        _ROUNDED,
    ),
    **dict.fromkeys(
        (
            "average", "linalg.norm", "linalg.trace", "linalg.vector_norm", "mean", "nanmean",
            "nansum", "nanstd", "nanvar", "std", "sum", "trace", "trapezoid", "var",
        ),
        _ADDED,
    ),
    **dict.fromkeys(("empty", "empty_like"), "The elements are zero."),
}  # fmt: skip
"""Where the results of a name differ from NumPy's: told at the end of its docstring."""

MEANINGS = {
    "erf": "The error function",
    "erfc": "The complementary error function",
    "gamma": "The gamma function",
    "lgamma": "The logarithm of the gamma function's magnitude",
    "j0": "The Bessel function of the first kind of order 0",
    "j1": "The Bessel function of the first kind of order 1",
}
"""What each of `ops.SPECIAL` computes, for its docstring and for the stub."""
_SPECIAL = """{meaning} of each element.

Args:
    x: real numbers: an array of any shape, nested lists, or a number.
    out, where, casting, order, dtype, subok, signature: as those of NumPy's ufuncs.

Returns:
    An array of the shape of `x`, a number for a number.  Integers give the type that `exp` gives of
        them.

Raises:
    TypeError: for complex numbers and what is no number (FW102).

Examples:
    >>> import fusewright.numpy as np
    >>> x = np.linspace(0.5, 2.0, 10_000)
    >>> np.special.{name}(x).shape
    (10000,)
"""

SAME = frozenset(("asarray", "asanyarray"))
"""Functions that give one array of ours alone back."""


def in_front(name: str, original: Any, ours: Any) -> Any:
    """One function of a table with NumPy's in front; classes, constants and NumPy's own functions
    as they are.
    """
    if isinstance(ours, type | ModuleType | np.ufunc) or isinstance(original, type):
        return ours
    if ours is original or not callable(ours) or not callable(original):
        return ours
    made = dispatched(
        original,
        ours,
        makes=name if name in MADE else "",
        keeps=name in KEEPS,
        gives_same=name in SAME,
        extra=standard.EXTRA.get(name, ""),
    )
    if type(original) not in FUNCTIONS:  # ufuncs of whole vectors (`matmul`), `ma.minimum`
        fields = (field for field in dir(original) if not field.startswith("_"))
        vars(made).update({field: getattr(original, field) for field in fields})
    made.__name__ = getattr(original, "__name__", name)
    # What is asked for a function's source or signature follows `__wrapped__`; programs that look
    # for functions which can be overridden look for it.
    vars(made)["own"], vars(made)["__wrapped__"] = ours, original
    if not isinstance(original, FunctionType) and not hasattr(original, "__wrapped__"):
        del vars(made)["__wrapped__"]
    if hasattr(original, "_implementation"):  # `__array_function__` of classes calls it
        made._implementation = _crossing(original._implementation)  # type: ignore[attr-defined]
    return made


def _crossing(implementation: Any) -> Any:
    """NumPy's function without its look for overrides: of our arrays it gets the memory."""

    @functools.wraps(implementation)
    def call(*args: Any, **kwargs: Any) -> Any:
        return implementation(*opaque.lent(args), **opaque.lent(kwargs))

    return call


def in_front_of(module: Any, exports: dict[str, Any]) -> dict[str, Any]:
    """A module's functions, those that NumPy has with NumPy's in front."""
    return {
        name: in_front(name, getattr(module, name), ours) if hasattr(module, name) else ours
        for name, ours in exports.items()
    }


def annotate(prefix: str, exports: dict[str, Any], original: Any) -> None:
    """Give each name NumPy's words, after ours where there are any, and say where results differ
    from NumPy's.
    """
    for name, ours in exports.items():
        if callable(ours):
            complete(ours, getattr(original, name, None), f"np.{prefix}{prefix and '.'}{name}")
    for name, note in NOTES.items():
        module, _, own = name.rpartition(".")
        if module == prefix:
            function = exports[own]
            words, margin = function.__doc__, margin_of(function.__doc__)
            told = f"{HEADING}\n------------------\n{note}".replace("\n", f"\n{margin}")
            function.__doc__ = f"{words}\n\n{margin}{told}"


def words_on(special: str) -> str:
    """The docstring of one of `ops.SPECIAL`."""
    return _SPECIAL.format(meaning=MEANINGS[special], name=ops.PUBLIC.get(special, special))
