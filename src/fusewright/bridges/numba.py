"""Numba reads the globals of the functions it compiles, and finds the drop-in's modules and
functions there: from here on it reads NumPy's own in their place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core.interpreter import Interpreter

from fusewright.numpy.border import behind


def _translating(original: Callable[..., Any]) -> Callable[..., Any]:
    def value(self: Any, key: Any) -> Any:
        return behind(original(self, key))

    return value


for _name in ("get_global_value", "get_closure_value"):
    setattr(Interpreter, _name, _translating(getattr(Interpreter, _name)))
