"""Names the drop-in has no code of its own for: NumPy's classes and constants as they are, its
functions as named steps.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType
from typing import Any, get_origin

import numpy as np

from fusewright._core import native
from fusewright.base.errors import ElsewhereError
from fusewright.ir import ops
from fusewright.numpy import dispatch
from fusewright.numpy.lending import opened, writing
from fusewright.numpy.operands import delegated, library
from fusewright.numpy.ufuncs import Ufunc

PACKAGE = "fusewright.numpy"


def stand_in(name: str, value: Any) -> Any:
    """What a name of NumPy's means here: functions are wrapped, everything else (annotations,
    `NDArray`, may be called, too) is NumPy's own.

    Functions that never meet an array value (`errstate`, `set_printoptions`, `dtype` tools)
    lose nothing by it.
    """
    if isinstance(value, np.ufunc):
        return Ufunc(value)
    if isinstance(value, type) and value is not np.ndarray:
        return opened(value)
    if isinstance(value, type | ModuleType) or not callable(value) or get_origin(value):
        return value
    if name.startswith(WRAPPING):
        return dispatch.in_front(name, value, writing(value))
    return dispatch.in_front(name.rpartition(".")[2], value, delegated(value, name))


OURS = "fusewright"
WRAPPING = "ma."
"""The module whose functions give objects on the memory of their arguments."""
_QUICK: tuple[type, ...] = (
    ()
    if native is None
    else (
        native.Reduction,
        native.Step,
        native.Dispatch,
        native.Agreed,
        native.Writer,
        native.Arrangement,
    )
)
"""What stands in front of a function of Python's."""


def named(module: str, exports: Mapping[str, Any]) -> None:
    """Let functions say where they are found, so that they can be pickled."""
    home = f"{PACKAGE}.{module}" if module else PACKAGE
    for name, value in exports.items():
        function = value
        while type(function) in _QUICK:
            own = vars(function)
            function = own["own"] if "own" in own else own["__wrapped__"]
        if type(function) is FunctionType and function.__globals__["__name__"].startswith(OURS):
            own = value.__name__
            value.__module__ = home
            value.__qualname__ = own if exports.get(own) is value else name


def lookup(module: str, exports: Mapping[str, Any] | None = None) -> Callable[[str], Any]:
    """A module's `__getattr__`: its own names first, then what NumPy's module of the same name
    has.

    `module` is the part after `numpy.`; what is found once is a plain attribute of the module.
    """
    full = f"numpy.{module}" if module else "numpy"
    home = vars(sys.modules[PACKAGE + full[len("numpy") :]])
    home["__dir__"] = listing(full, home)
    named(module, exports or {})
    own = {"__all__"} & home.keys()

    def find(name: str) -> Any:
        if name in own:  # asked for by a module that has copied `__getattr__`
            raise AttributeError(f"module {full!r} has no attribute {name!r}")
        value = home[name] = found(name)
        return value

    def found(name: str) -> Any:
        if exports is not None and name in exports:
            return exports[name]
        if not module and name in OWN_MODULES:
            return importlib.import_module(f"{PACKAGE}.{name}")
        try:
            original = getattr(importlib.import_module(full), name)
        except AttributeError:
            if not module and name[:1] != "_":
                _say_where(name)
            raise
        if isinstance(original, ModuleType):
            return importlib.import_module(_ours(original))
        label = f"{module}.{name}" if module else name
        value = stand_in(label, original)
        named(module, {name: value})
        return value

    return find


def listing(full: str, home: Mapping[str, Any]) -> Callable[[], list[str]]:
    """A module's `__dir__`: its public names, where it does not say them NumPy's, and those that
    every module has.
    """

    def names() -> list[str]:
        dunder = (n for n in home if n.startswith("__") and n.endswith("__"))
        theirs = (n for n in dir(sys.modules.get(full)) if not n.startswith("_"))
        return sorted({*home.get("__all__", theirs), *dunder})

    return names


OWN_MODULES = frozenset(("special",))
"""Modules NumPy does not have."""


def _say_where(name: str) -> None:
    """An error for what is looked for in the main namespace, and stands in `special`."""
    found = ops.PUBLIC.get(name, name)
    if found in importlib.import_module(f"{PACKAGE}.special").__all__:
        raise ElsewhereError(
            f"module {PACKAGE!r} has no attribute {name!r}, as NumPy has none",
            help=f"it is np.special.{found} ({PACKAGE}.special)",
        ) from None


def _ours(original: ModuleType) -> str:
    """The drop-in's module for one of NumPy's, or NumPy's where the drop-in has none."""
    name = original.__name__
    ours = PACKAGE + name.removeprefix("numpy")
    return ours if importlib.util.find_spec(ours) is not None else name


def _vectorized(function: Any, *args: Any, **kwargs: Any) -> Any:
    """A call with arrays of ours: they are computed first, and the result is ours."""
    name = f"vectorize({getattr(function.pyfunc, '__name__', '')})"
    return delegated(np.vectorize.__call__, name)(function, *args, **kwargs)


class vectorize(np.vectorize):
    """A Python function called for every element, as a named step."""

    __call__ = dispatch.in_front("vectorize", np.vectorize.__call__, _vectorized)


PASSED = [
    "geterr",
    "seterrcall",
    "geterrcall",
    "set_printoptions",
    "get_printoptions",
    "printoptions",
    "broadcast_shapes",
    "promote_types",
    "issubdtype",
    "typename",
    "mintypecode",
    "base_repr",
    "binary_repr",
    "info",
    "getbufsize",
    "setbufsize",
    "show_config",
    "show_runtime",
    "get_include",
    "einsum_path",
    "frompyfunc",
    "busday_count",
    "busday_offset",
    "is_busday",
    "datetime_as_string",
    "datetime_data",
    "test",
]
"""Functions that never see the value of an array of ours: NumPy's own."""
LIBRARY_NAMES = [
    "polyfit",
    "roots",
    "poly",
    "polyadd",
    "polysub",
    "polymul",
    "polydiv",
    "polyint",
    "polyder",
    "i0",
]
"""Library steps on small arrays."""
EXPORTS: dict[str, Any] = {
    "vectorize": vectorize,
    **{name: getattr(np, name) for name in PASSED if name not in ("einsum_path", "test")},
    **{name: library(getattr(np, name)) for name in LIBRARY_NAMES},
}
