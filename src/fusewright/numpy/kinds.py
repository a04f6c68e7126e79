"""`ndarray` and the grids: names of NumPy's that are neither functions nor plain classes here.

The scalar classes (`float64`, `floating`, ...) are NumPy's own: `dtype.type`, `issubclass` and
third-party code rely on it, and our lazy scalars answer `isinstance` for them. `ndarray` stands
for two classes, ours and NumPy's, which is not something a class can do; an object with
`__instancecheck__` can.
"""

from __future__ import annotations

import math
import typing
from typing import Any

import numpy as np

from fusewright._core import native
from fusewright.frontends.arrays import Array, Scalar, creation, opaque
from fusewright.frontends.arrays.front import dispatched
from fusewright.numpy.dispatch import in_front
from fusewright.numpy.filling import meshgrid
from fusewright.numpy.operands import delegated, holds_array, nested


class ArrayType:
    """What `ndarray` names: both kinds of arrays in checks, our kind when called, NumPy's as a
    base class.
    """

    __slots__ = ()
    __name__ = __qualname__ = "ndarray"
    __bases__ = (object,)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """Code that asks whether it is a class (`inspect`, `singledispatch`) takes it for one."""
        return type

    @property
    def __mro__(self) -> tuple[Any, ...]:
        return (self, object)

    def __subclasses__(self) -> list[type]:
        return []

    def __instancecheck__(self, value: Any) -> bool:
        return isinstance(value, np.ndarray) or (
            isinstance(value, Array) and not isinstance(value, Scalar)
        )

    def __subclasscheck__(self, kind: type) -> bool:
        ours = issubclass(kind, Array) and not issubclass(kind, Scalar)
        return ours or issubclass(kind, np.ndarray)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (np.ndarray,)

    def __call__(self, shape: Any, dtype: Any = float, *args: Any, **kwargs: Any) -> Any:
        """A new array; on a buffer, NumPy's."""
        if dtype is float and not args and not kwargs:
            return _empty(shape)
        if args or kwargs or opaque.from_numpy_or_none(np.dtype(dtype)) is None:
            return np.ndarray(shape, dtype, *args, **kwargs)
        return _empty(shape, dtype)

    def __eq__(self, other: object) -> bool:
        return other is self or (isinstance(other, type) and self.__subclasscheck__(other))

    def __hash__(self) -> int:
        return hash(np.ndarray)

    def __getitem__(self, parameters: Any) -> Any:
        return np.ndarray[parameters]

    def __or__(self, other: Any) -> Any:
        return typing.Union[self, other]  # noqa: UP007

    def __ror__(self, other: Any) -> Any:
        return typing.Union[other, self]  # noqa: UP007

    def __getattr__(self, name: str) -> Any:
        """Methods taken off the class work on both kinds."""
        found = getattr(Array, name, None)
        return getattr(np.ndarray, name) if found is None else found

    def __repr__(self) -> str:
        return repr(np.ndarray)

    def __reduce__(self) -> str:
        return "ndarray"

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __reduce_ex__(self, protocol: Any) -> str:
        return "ndarray"


_empty = dispatched(np.empty, creation.empty, makes="empty")
ndarray = ArrayType()


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
