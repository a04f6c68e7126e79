"""The small objects behind `x.flags` and `x.flat`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from fusewright.base.errors import ReadOnlyError
from fusewright.frontends.arrays import (
    agreement,
    creation,
    exports,
    layouts,
    opaque,
    shaping,
    views,
)
from fusewright.frontends.arrays.core import READ_ONLY, Handle


class Flags:
    """What NumPy's `x.flags` tells."""

    __slots__ = ("_handle",)

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    @property
    def writeable(self) -> bool:
        return not self._handle._flags & READ_ONLY

    @writeable.setter
    def writeable(self, value: bool) -> None:
        handle = self._handle
        if not value:
            handle._flags |= READ_ONLY
            return
        node = views.root_of(handle)._node
        if not layouts.owns(handle) and views.root_of(handle)._flags & READ_ONLY:
            raise ReadOnlyError("cannot set WRITEABLE flag to True of this array")
        if isinstance(node.value, tuple) and node.value[0].external and not node.value[0].writable:
            raise ReadOnlyError(
                "cannot set WRITEABLE flag to True of this array",
                why="it shares memory that NumPy holds read-only",
            )
        handle._flags &= ~READ_ONLY

    @property
    def c_contiguous(self) -> bool:
        return shaping.is_straight(self._handle)

    @property
    def f_contiguous(self) -> bool:
        return layouts.is_as_asked(self._handle, "F")

    contiguous, fortran = c_contiguous, f_contiguous

    @property
    def owndata(self) -> bool:
        return layouts.owns(self._handle)

    aligned = True
    writebackifcopy = False

    @property
    def forc(self) -> bool:
        return self.c_contiguous or self.f_contiguous

    @property
    def fnc(self) -> bool:
        return self.f_contiguous and not self.c_contiguous

    @property
    def carray(self) -> bool:
        return self.writeable and self.c_contiguous

    @property
    def farray(self) -> bool:
        return self.writeable and self.fnc

    behaved = writeable

    def __getitem__(self, name: str) -> bool:
        return bool(getattr(self, _SHORT.get(name, name.lower())))

    def __setitem__(self, name: str, value: bool) -> None:
        setattr(self, _SHORT.get(name, name.lower()), value)


_SHORT = {
    "C": "c_contiguous",
    "F": "f_contiguous",
    "W": "writeable",
    "O": "owndata",
    "A": "aligned",
    "X": "writebackifcopy",
    "B": "behaved",
    "CA": "carray",
    "FA": "farray",
}


def _set_flat(array: Any, key: Any, value: Any) -> None:
    array.flat[key] = value


class FlatIterator:
    """`x.flat`: the elements in C order, to read, write, compare and iterate.

    NumPy's iterator walks over our memory (`_walk`); a subscript sends it back to the start.
    """

    __slots__ = ("_handle", "_walk")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._walk: Any = None

    def _flat(self) -> Any:
        return shaping.ravel(self._handle)

    def _walking(self) -> Any:
        if self._walk is None:
            self._walk = exports.readable(self._handle).flat
        return self._walk

    def __getitem__(self, key: Any) -> Any:
        self._walk = None
        found = self._flat()[key]
        return found.copy() if found.shape else found

    def __setitem__(self, key: Any, value: Any) -> None:
        self._walk = None
        try:
            self._set(key, value)
        except agreement.REFUSALS as error:
            arguments = (self._handle, key, value)
            agreement.settled(error, "flat", _set_flat, arguments, {}, (0,))

    def fill(self, value: Any) -> None:
        """`x.flat = value`, which NumPy does in another way than `x.flat[...] = value`."""
        if self._is_under(value):
            memory: Any = exports.writable(self._handle)
            memory.flat = exports.readable(value)
        else:
            self[...] = value

    def _is_under(self, value: Any) -> bool:
        """Whether a value may be of the same memory: NumPy reads its elements when it comes to
        them (`x.flat = x.T`).
        """
        return isinstance(value, Handle) and views.root_of(value) is views.root_of(self._handle)

    def _set(self, key: Any, value: Any) -> None:
        handle: Any = self._handle
        if self._is_under(value):
            exports.writable(handle).flat[key] = exports.readable(value)
            return
        flat = self._flat()
        many, have = math.prod(np.shape(value)), math.prod(flat[key].shape)
        if many > 1 and many != have:  # as often as needed, as far as needed
            value = np.resize(opaque.to_numpy(value), have)
        flat[key] = value if many == 1 else creation.asarray(value).reshape(-1)
        if flat.base is None:  # the elements had to move: bring them back
            handle[...] = flat.reshape(handle._shape)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._walking())

    @property
    def index(self) -> int:
        """The place of the next element."""
        return int(self._walking().index)

    @property
    def coords(self) -> tuple[int, ...]:
        """Its indices."""
        return tuple(self._walking().coords)

    def __lt__(self, other: Any) -> Any:
        return self._flat() < other

    def __le__(self, other: Any) -> Any:
        return self._flat() <= other

    def __eq__(self, other: Any) -> Any:
        return self._flat() == other

    def __ne__(self, other: Any) -> Any:
        return self._flat() != other

    def __gt__(self, other: Any) -> Any:
        return self._flat() > other

    def __ge__(self, other: Any) -> Any:
        return self._flat() >= other

    def __len__(self) -> int:
        return int(self._flat()._shape[0])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._flat().__array__(dtype, copy=copy)

    @property
    def base(self) -> Handle:
        return self._handle

    def copy(self) -> Any:
        """The elements as a new one-dimensional array."""
        return self._flat().copy()
