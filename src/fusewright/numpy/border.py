"""What crosses the border between a program and an installed package, in both directions.

A package gets NumPy's own array on our array's memory, lent writable: `isinstance`, compiled code,
writes and kept references work as with NumPy.  It gets NumPy's number for ours, and NumPy's
function, ufunc or module for the drop-in's.  What it returns comes back as ours where nobody else
can see it; the very array that was lent comes back as the array it was lent for.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from sys import getrefcount
from types import BuiltinMethodType, ModuleType
from typing import Any

import numpy as np

from fusewright._core import native
from fusewright.base.options import current
from fusewright.frontends.arrays import Scalar, core, exports, opaque, sharing
from fusewright.frontends.arrays.core import Handle
from fusewright.numpy.kinds import ArrayType
from fusewright.numpy.ufuncs import Ufunc

DROP_IN = "fusewright.numpy"
MOST = 64
"""Results of a tuple or list that are looked at."""
known: set[type] = {str, bytes, int, float, complex, bool, dict, set, type(None), np.ndarray}
"""Types of results that nothing is done about."""
_complete: set[ModuleType] = set()
"""Modules of the drop-in that have all their names."""
met: list[Callable[[Any], Any]] = []
"""Called with a result of a type that is not known; says what the program gets for it."""


def lend(value: Any) -> Any:
    """What a package gets for an argument."""
    kind = type(value)
    if issubclass(kind, Handle):
        return sharing.content(value)[()] if kind is Scalar else exports.writable(value)
    if isinstance(value, list | tuple | dict):
        return opaque.mapped(lend, value)
    return behind(value)


def as_array(value: Any) -> Any:
    """What `__array__` of a program's class returns: an array of NumPy's."""
    lent = lend(value)
    return np.asarray(lent) if isinstance(value, Handle) else lent


def writing(method: Any) -> Any:
    """A method of an array of NumPy's that can write into one of ours; any other as it is."""
    of_numpy = type(method) is BuiltinMethodType
    if not of_numpy or not isinstance(method.__self__, np.ndarray | np.generic):
        return method

    def call(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        lent = lend(out) if isinstance(out, Handle) else out
        result = method(*map(lend, args), out=lent, **kwargs)
        return out if result is lent else result

    return call


def complete(value: Any) -> Any:
    """A module of the drop-in with all its names, most of which are made when they are used;
    anything else as it is.
    """
    if type(value) is ModuleType and value.__name__.startswith(DROP_IN) and value not in _complete:
        for name in dir(value):
            getattr(value, name, None)
        _complete.add(value)
    return value


def behind(value: Any) -> Any:
    """NumPy's own object for one of the drop-in's; everything else as it is."""
    if isinstance(value, Guarded):
        return object.__getattribute__(value, "_target")
    if type(value) is ArrayType:
        return np.ndarray
    if type(value) is ModuleType:
        return _original(value.__name__) or value
    if type(value) is Border:
        return value.__wrapped__
    home, name = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if isinstance(home, str) and home.startswith(DROP_IN) and isinstance(name, str):
        return getattr(_original(home) or np, name, value)
    return value


def in_front(function: Any) -> Any:
    """The drop-in's object for one of NumPy's, which NumPy hands to a protocol method (as
    `__array_function__`) of a program's class: there it is compared with the drop-in's.
    """
    home = "" if isinstance(function, np.ufunc) else getattr(function, "__module__", None)
    if home is None or not (home + ".").startswith(("numpy.", ".")):
        return function
    name = DROP_IN + home.removeprefix("numpy")
    found = getattr(sys.modules.get(name), getattr(function, "__name__", ""), function)
    return found if behind(found) is function or found == function else function


def _original(module: str) -> ModuleType | None:
    """NumPy's module for one of the drop-in's."""
    if module != DROP_IN and not module.startswith(DROP_IN + "."):
        return None
    try:
        return importlib.import_module("numpy" + module.removeprefix(DROP_IN))
    except ImportError:
        return None


def hand_back(cell: list[Any], lent: tuple[Any, ...] | None, ours: tuple[Any, ...] | None) -> Any:
    """What a program gets for a result, the one item of a list."""
    kind = type(cell[0])
    if kind is np.ndarray:
        return _returned(cell, 0, lent or (), ours or ())
    if len(cell[0]) > MOST or getrefcount(cell[0]) > 2:  # the list's reference and the call's
        return cell.pop()
    items = list(cell.pop()) if kind is tuple else cell.pop()
    for place in range(len(items)):
        items[place] = _returned(items, place, lent or (), ours or ())
    return tuple(items) if kind is tuple else items


def _returned(items: list[Any], place: int, lent: Sequence[Any], ours: Sequence[Any]) -> Any:
    """One result: the array of ours that was lent, or one that nobody else holds, as ours."""
    kind = type(items[place])
    if kind is not np.ndarray:
        return items[place] if kind in known else meet(items[place])
    for array, handle in zip(lent, ours, strict=True):
        if array is items[place]:
            return handle
    # 2: the list's reference and the call's.
    mine = getrefcount(items[place]) <= 2 and items[place].size > current().small
    array = items[place]
    mine = mine and array.base is None and array.flags.c_contiguous and array.flags.writeable
    if mine and array.dtype.isnative and opaque.from_numpy_or_none(array.dtype) is not None:
        return core.wrap_array(sharing.adopted(array))
    return array


def meet(value: Any) -> Any:
    """What a program gets for an object of a class that is not known yet."""
    for each in met:
        value = each(value)
    return value


class Guarded:
    """An object of a class that cannot be changed (a compiled one), whose methods are called
    through the border.
    """

    __slots__ = ("_target",)

    def __init__(self, target: Any) -> None:
        object.__setattr__(self, "_target", target)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(object.__getattribute__(self, "_target"))

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return object.__getattribute__(self, name)
        found = getattr(object.__getattribute__(self, "_target"), name)
        return Border(found) if type(found) is BuiltinMethodType else found

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(object.__getattribute__(self, "_target"), name, value)

    def __repr__(self) -> str:
        return repr(object.__getattribute__(self, "_target"))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the object does when it is called."""
        return Border(object.__getattribute__(self, "_target"))(*args, **kwargs)


Border: Any = None if native is None else native.Border
if native is not None:
    translated = (DROP_IN, native.Front, Ufunc, ArrayType, Guarded, ModuleType)
    native.set_border(lend, hand_back, meet, translated, known)
