"""Methods and attributes that are taken off the class `ndarray`, which stands for two classes.

np.ndarray.__getitem__(self, key)   # in a class derived from it: NumPy's
np.ndarray.sum(x)                   # of an array of ours: ours
map(np.ndarray.copy, arrays)        # each by its kind
"""

from __future__ import annotations

from functools import cache
from types import GetSetDescriptorType
from typing import Any

import numpy as np

from fusewright.frontends.arrays import Array, exports, opaque
from fusewright.frontends.arrays.core import Handle
from fusewright.frontends.arrays.front import dispatched


class _Member:
    """Something of NumPy's class, with what ours has by the same name."""

    def __init__(self, name: str, theirs: Any) -> None:
        self.__name__, self.__qualname__ = name, f"ndarray.{name}"
        self.__module__ = "fusewright.numpy"
        self.__doc__ = theirs.__doc__
        self.theirs = theirs

    def of(self, value: Any) -> Any:
        """The member of a value's class; of our arrays None where ours has none."""
        return getattr(Array, self.__name__, None) if isinstance(value, Handle) else self.theirs

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "theirs"), name)

    def __repr__(self) -> str:
        return repr(self.theirs)


class _Routine(_Member):
    """A method, called with an array."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Of the first argument, by its kind."""
        found = self.of(args[0]) if args else self.theirs
        if found is not None:
            return found(*args, **kwargs)
        lent = [exports.writable(arg) if isinstance(arg, Handle) else arg for arg in args]
        return opaque.from_numpy_result(self.theirs(*lent, **kwargs))


class _Attribute(_Member):
    """An attribute, which is read with `__get__` and assigned to with `__set__`."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        own = isinstance(instance, Handle)
        return getattr(instance, self.__name__) if own else self.theirs.__get__(instance, owner)

    def __set__(self, instance: Any, value: Any) -> None:
        setattr(instance, self.__name__, value)


@cache
def member(name: str) -> Any:
    """A method or an attribute of `ndarray`."""
    theirs = vars(np.ndarray)[name]
    if isinstance(theirs, GetSetDescriptorType):
        return _Attribute(name, theirs)
    return dispatched(theirs, _Routine(name, theirs), keeps=True, is_method=True)
