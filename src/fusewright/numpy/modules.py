"""Names the drop-in has no code of its own for: NumPy's classes and constants as they are, its functions as named steps."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from fusewright.numpy.operands import delegated
from fusewright.numpy.ufuncs import Ufunc

PACKAGE = "fusewright.numpy"


def stand_in(name: str, value: Any) -> Any:
    """What a name of NumPy's means here: functions are wrapped, everything else is NumPy's own.

    Functions that never meet an array value (`errstate`, `set_printoptions`, `dtype` tools) lose nothing by it.
    """
    if isinstance(value, np.ufunc):
        return Ufunc(value)
    if isinstance(value, type | ModuleType) or not callable(value):
        return value
    return delegated(value, name)


def lookup(module: str, exports: Mapping[str, Any] | None = None) -> Callable[[str], Any]:
    """A module's `__getattr__`: its own names first, then what NumPy's module of the same name has.

    `module` is the part after `numpy.`; what is found is remembered by the caller's import system, not here.
    """
    full = f"numpy.{module}" if module else "numpy"

    def find(name: str) -> Any:
        if exports is not None and name in exports:
            return exports[name]
        original = getattr(importlib.import_module(full), name)
        if isinstance(original, ModuleType):
            return importlib.import_module(_ours(original))
        label = f"{module}.{name}" if module else name
        return stand_in(label, original)

    return find


def _ours(original: ModuleType) -> str:
    """The drop-in's module for one of NumPy's, or NumPy's where the drop-in has none."""
    name = original.__name__
    ours = PACKAGE + name.removeprefix("numpy")
    return ours if importlib.util.find_spec(ours) is not None else name
