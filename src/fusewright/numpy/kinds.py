"""`ndarray` and the grids: names of NumPy's that are neither functions nor plain classes here.

The scalar classes (`float64`, `floating`, ...) are NumPy's own: `dtype.type`, `issubclass` and
third-party code rely on it, and our lazy scalars answer `isinstance` for them. `ndarray` stands
for two classes, ours and NumPy's: its own class answers for both.
"""

from __future__ import annotations

import builtins
import copyreg
import math
from abc import ABCMeta
from types import GenericAlias, GetSetDescriptorType, MethodDescriptorType, WrapperDescriptorType
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright._core import native
from fusewright.base.later import TYPE, later
from fusewright.frontends.arrays import Array, Scalar, core, creation, opaque
from fusewright.frontends.arrays.front import dispatched
from fusewright.numpy.dispatch import in_front
from fusewright.numpy.filling import meshgrid
from fusewright.numpy.operands import delegated, holds_array, nested

if TYPE_CHECKING:
    from fusewright.numpy import members
else:
    members = later("fusewright.numpy.members")


_MEMBERS = (GetSetDescriptorType, MethodDescriptorType, WrapperDescriptorType)


class ArrayType(ABCMeta):
    """The class of what `ndarray` names: both kinds of arrays in checks, our kind when called,
    NumPy's as a base class and for NumPy itself (`x.view(ndarray)`, `ndarray.__new__(kind, 3)`).

    An `ABCMeta`, so that abstract and generic classes are bases beside it.
    """

    def __new__(cls, name: str, bases: tuple[Any, ...], namespace: Any, **named: Any) -> Any:
        """A class of the program's derived from it has NumPy's own as its base."""
        if not any(type(base) is cls for base in bases):
            return super().__new__(cls, name, bases, namespace, **named)
        plain = tuple(np.ndarray if type(base) is cls else base for base in bases)
        return type(name, plain, namespace, **named)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, np.ndarray) or (
            isinstance(value, Array) and not isinstance(value, Scalar)
        )

    def __subclasscheck__(cls, kind: type) -> bool:
        ours = issubclass(kind, Array) and not issubclass(kind, Scalar)
        return ours or issubclass(kind, np.ndarray)

    def __call__(cls, shape: Any, dtype: Any = float, *args: Any, **kwargs: Any) -> Any:
        """A new array; on a buffer, NumPy's."""
        if dtype is float and not args and not kwargs:
            return _empty(shape)
        if args or kwargs or opaque.from_numpy_or_none(np.dtype(dtype)) is None:
            return np.ndarray(shape, dtype, *args, **kwargs)
        return _empty(shape, dtype)

    def __eq__(cls, other: object) -> bool:
        return other is cls or (isinstance(other, type) and other in _BOTH)

    def __hash__(cls) -> int:
        return hash(np.ndarray)

    def __getitem__(cls, parameters: Any) -> Any:
        return GenericAlias(cls, parameters)

    def __getattribute__(cls, name: str) -> Any:
        """Methods taken off the class work on both kinds."""
        if isinstance(vars(np.ndarray).get(name), _MEMBERS):
            return members.member(name)
        return type.__getattribute__(cls, name)

    def __dir__(cls) -> list[str]:
        return dir(np.ndarray)

    def __repr__(cls) -> str:
        return repr(np.ndarray)


class ndarray(np.ndarray, metaclass=ArrayType):
    """An array of numbers; see NumPy's `ndarray`."""

    __slots__ = ()
    __module__ = "numpy"


_BOTH = frozenset((np.ndarray, *core.handle_classes, core.masked_class)) - {Scalar}
"""The classes that `ndarray` names."""


shown: dict[type, type] = {**dict.fromkeys(_BOTH, ndarray), ArrayType: type}
"""What a program sees as the type of something; the class of a stand-in for a class is `type`."""


def type_of(value: Any) -> type:
    """`type(value)` in the user's modules: one class for both kinds of arrays, NumPy's for lazy
    numbers.
    """
    kind = type(value)
    if kind in shown:
        return shown[kind]
    return value.dtype.type if kind is Scalar else kind


def as_named(value: Any) -> Any:
    """`ndarray` for each class that it names, for `kind is ndarray`; everything else as it is."""
    return ndarray if isinstance(value, type) and value in _BOTH else value


def _the_class() -> ArrayType:
    return ndarray


copyreg.pickle(ArrayType, lambda kind: (_the_class, ()))
if hasattr(builtins, TYPE):  # `cli.redirect`
    setattr(builtins, TYPE, type_of)

if native is not None:  # else a view of NumPy's own array as this class is of a class derived
    native.make_instances_of(ndarray, np.ndarray)

_empty = dispatched(np.empty, creation.empty, makes="empty")


def _count(key: Any) -> int:
    """How many elements the grid of some ranges of integers has; -1 of others."""
    count = 1
    for each in key if type(key) is tuple else (key,):
        if type(each) is not slice or each.step is not None:
            return -1
        start, stop = each.start or 0, each.stop
        if type(start) is not int or type(stop) is not int:
            return -1
        count *= stop - start
    return count


class _Grid:
    """`mgrid` and `ogrid`: ranges along each axis, of which only the ranges take memory."""

    __slots__ = ("_original", "_sparse")

    def __init__(self, original: Any, sparse: bool) -> None:
        self._original, self._sparse = original, sparse

    def _is_small(self, key: Any, small: int) -> bool:
        count = _count(key)
        if count < 0:
            if holds_array(key):
                return False
            ranges = type(key) is tuple and not self._sparse
            count = math.prod(r.size for r in np.ogrid[key]) if ranges else 0
        return count <= small or self._sparse

    def __getitem__(self, key: Any) -> Any:
        small = 0 if native is None else native.small()
        if small and self._is_small(key, small):
            return self._original[key]
        key = opaque.to_numpy(key)
        if not isinstance(key, tuple):
            return opaque.from_numpy_result(self._original[key])
        ranges = [opaque.from_numpy_result(r.ravel()) for r in np.ogrid[key]]
        kind = np.result_type(*(r.dtype for r in ranges))
        ranges = [r.astype(kind, copy=False) for r in ranges]
        grids = meshgrid(*ranges, sparse=self._sparse, indexing="ij")
        return grids if self._sparse else nested(list(grids))


class _Joiner:
    """`r_` and `c_`: NumPy reads the subscript."""

    __slots__ = ("_call", "_original")

    def __init__(self, original: Any, name: str) -> None:
        self._original = original
        self._call = in_front(name, original.__getitem__, delegated(original.__getitem__, name))

    def __getitem__(self, key: Any) -> Any:
        return self._call(key)

    def __len__(self) -> int:
        return 0


EXPORTS: dict[str, Any] = {
    "ndarray": ndarray, "mgrid": _Grid(np.mgrid, False), "ogrid": _Grid(np.ogrid, True),
    "r_": _Joiner(np.r_, "r_"), "c_": _Joiner(np.c_, "c_"), "s_": np.s_,
    "index_exp": np.index_exp,
}  # fmt: skip
