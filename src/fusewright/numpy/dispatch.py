"""Small arrays are NumPy's own (decision 0016): in front of each function stands a look at its
operands.  NumPy runs the call where none is ours; the drop-in's own function elsewhere.
"""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from fusewright.frontends.arrays.front import MADE, dispatched
from fusewright.numpy import standard
from fusewright.numpy.operands import KEEPS

FUNCTIONS = (FunctionType, BuiltinFunctionType, type(np.sum))
"""What has nothing but its call; other objects have methods (`reduce`)."""

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
    if hasattr(original, "_implementation"):  # NumPy's arrays call it in `__array_function__`
        made._implementation = original._implementation  # type: ignore[attr-defined]
    return made


def in_front_of(module: Any, exports: dict[str, Any]) -> dict[str, Any]:
    """A module's functions, those that NumPy has with NumPy's in front."""
    return {
        name: in_front(name, getattr(module, name), ours) if hasattr(module, name) else ours
        for name, ours in exports.items()
    }
