"""`pk.View`: a thin handle over an array of this package, laid out as the program asked.

A kernel gets the array, so that launches are as lazy as array statements.  Whoever reads
`view.data` gets the memory: while that loan is open every statement on the array is complete when
it returns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import fusewright.numpy as fnp
from fusewright.base.errors import ArgumentError
from fusewright.bridges.pykokkos import scalars
from fusewright.bridges.pykokkos.scalars import DataTypeClass
from fusewright.bridges.pykokkos.spaces import (
    ExecutionSpace,
    Layout,
    MemorySpace,
    Trait,
    get_default_layout,
    get_default_memory_space,
)
from fusewright.frontends.arrays import Array

NDArray = np.ndarray[Any, Any]
_LONG = {"int64": np.longlong, "uint64": np.ulonglong}
"""C++'s 64-bit integers come out as these."""


class ViewType:
    """What views and subviews have in common."""

    dtype: type[DataTypeClass]
    space: MemorySpace
    layout: Layout
    trait: Trait
    _array: Any

    __array_priority__ = 10.0
    __slots__ = ("__weakref__", "_array", "_lent", "dtype", "layout", "space", "trait")

    def _hold(self, array: Any) -> None:
        """Take an array of this package, or memory that NumPy holds."""
        self._array = array
        self._lent: NDArray | None = None

    @property
    def _memory(self) -> NDArray:
        """The view's memory for the host; kept until the next launch, which closes the loan."""
        if self._lent is None:
            array = self._array
            self._lent = array if isinstance(array, np.ndarray) else array.view(np.ndarray)
        return self._lent

    def _argument(self) -> Any:
        """What a kernel gets: the array; the host has seen its memory for now."""
        self._lent = None
        return self._array

    @property
    def array(self) -> Any:
        """The array behind the view."""
        return self._argument()

    @property
    def data(self) -> NDArray:
        """The view's memory as a NumPy array."""
        return self._memory

    @data.setter
    def data(self, value: Any) -> None:
        self._memory[...] = value

    @property
    def xp_array(self) -> NDArray:
        """See `data`."""
        return self._memory

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self._array.shape)

    @property
    def size(self) -> int:
        return int(self._array.size)

    @property
    def ndim(self) -> int:
        return int(self._array.ndim)

    def rank(self) -> int:
        """The number of dims."""
        return int(self._array.ndim)

    def extent(self, dimension: int) -> int:
        """The length of a dim."""
        if self.shape == () and dimension == 0:
            return 0
        if not 0 <= dimension < self._array.ndim:
            raise ValueError('"dimension" must be less than the view\'s rank')
        return int(self._array.shape[dimension])

    def fill(self, value: Any) -> None:
        """Set every element."""
        if self._lent is None:
            self._array[...] = value
        else:
            self._lent.fill(value)

    def __getitem__(self, key: Any) -> Any:
        memory = self._memory
        if memory.ndim == 0 and key == 0:
            return memory
        if isinstance(key, int):
            found = memory[key]
            wide = _LONG.get(memory.dtype.name)
            return wide(found) if wide is not None and memory.ndim == 1 else found
        if hasattr(key, "__index__") and not isinstance(key, ViewType):
            return self[key.__index__()]
        count = 1 if isinstance(key, slice) else len(key)
        if count != self.rank():
            raise ValueError("Please include slices for all dimensions")
        return Subview(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, ViewType):
            value = value._memory
        if hasattr(key, "__index__") and not isinstance(key, int):
            key = key.__index__()
        self._memory[key] = value

    def __len__(self) -> int:
        if not self.shape:
            return int(bool(self._memory != 0))
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter(()) if self._memory.ndim == 0 else iter(self._memory)

    def __str__(self) -> str:
        return str(self._memory)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._memory!r})"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray:
        if dtype is not None and np.dtype(dtype) != self._memory.dtype:
            return self._memory.astype(dtype)
        return self._memory.copy() if copy else self._memory

    def __bool__(self) -> bool:
        if self.shape in ((), (1,)):
            return bool(self._memory)
        raise ValueError("the truth value of a view of several elements is ambiguous")

    def _single(self) -> Any:
        if self.size != 1:
            raise TypeError("only single element arrays can be converted to Python scalars.")
        return self._memory.reshape(())[()]

    def __float__(self) -> float:
        return float(self._single())

    def __int__(self) -> int:
        return int(self._single())

    def __index__(self) -> int:
        return int(self._single())

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, ViewType | bool | int | float | np.generic):
            raise ValueError("unexpected types!")
        return wrapped(np.equal(self._memory, getattr(other, "_memory", other)))

    def __hash__(self) -> int:
        return id(self)

    def __deepcopy__(self, memo: Any) -> ViewType:
        return self

    def __pos__(self) -> View:
        return wrapped(+self._memory)

    def __add__(self, other: Any) -> Any:
        return _plain(self._memory + getattr(other, "_memory", other))

    def __mul__(self, other: Any) -> Any:
        return _plain(self._memory * getattr(other, "_memory", other))


def _plain(found: Any) -> Any:
    """One element is a number, more are a view."""
    return found.reshape(())[()] if found.size == 1 else wrapped(found)


class View(ViewType):
    """`View(shape, dtype, space, layout, trait)`: an array of zeros."""

    def __init__(
        self,
        shape: Sequence[int] | int,
        dtype: Any = scalars.real,
        space: MemorySpace = MemorySpace.MemorySpaceDefault,
        layout: Layout = Layout.LayoutDefault,
        trait: Trait = Trait.TraitDefault,
        array: Any = None,
        cp_array: Any = None,
    ) -> None:
        del cp_array
        extents = (shape,) if isinstance(shape, int) else tuple(map(int, shape))
        if len(extents) > 8:
            raise ArgumentError(f"a view of rank {len(extents)}", why="views have up to 8 dims")
        self.dtype = scalars.type_of(dtype)
        self.space = _memory_space(space)
        self.layout = get_default_layout(self.space) if layout is Layout.LayoutDefault else layout
        self.trait = trait
        self._hold(self._allocated(extents) if array is None else array)

    def _allocated(self, extents: tuple[int, ...]) -> Any:
        kind = self.dtype.np_equiv
        if self.layout is Layout.LayoutLeft:
            return fnp.zeros(extents[::-1], kind).T
        return fnp.zeros(extents, kind)

    def resize(self, dimension: int, size: int) -> None:
        """Change the length of a dim; what fits is kept."""
        shape = list(self.shape)
        if not shape and dimension == 0:
            shape.append(size)
        elif not 0 <= dimension < len(shape):
            raise ValueError(f"Cannot resize dimension {dimension} since rank = {self.rank()}")
        old = self._memory
        if dimension < old.ndim and old.shape[dimension] == size:
            return
        shape[dimension] = size
        self._hold(self._allocated(tuple(shape)))
        if old.ndim:
            common = tuple(slice(0, min(a, b)) for a, b in zip(old.shape, shape, strict=True))
            self._memory[common] = old[common]

    def set_precision(self, dtype: Any) -> None:
        """Convert the elements to another type, in new memory."""
        old = self._memory
        self.dtype = scalars.type_of(dtype)
        self._hold(self._allocated(old.shape))
        np.copyto(self._memory, old, casting="unsafe")


class Subview(ViewType):
    """A part of a view, on the same memory."""

    __slots__ = ("base_view", "parent_view")

    def __init__(self, parent_view: ViewType, data_slice: Any) -> None:
        self.parent_view = parent_view
        self.base_view = getattr(parent_view, "base_view", parent_view)
        self.dtype, self.space = parent_view.dtype, parent_view.space
        self.layout, self.trait = parent_view.layout, parent_view.trait
        key = data_slice if isinstance(data_slice, tuple) else (data_slice,)
        parent = parent_view._array
        self._hold(parent[(*key, ...)])


def _memory_space(space: MemorySpace) -> MemorySpace:
    if space is MemorySpace.MemorySpaceDefault:
        return get_default_memory_space(ExecutionSpace.Default)
    return MemorySpace.HostSpace


def wrapped(array: Any, layout: Layout | None = None) -> View:
    """A view on existing memory, or on an array of this package."""
    memory = array if isinstance(array, np.ndarray | Array) else np.asarray(array)
    if isinstance(memory, np.ndarray) and memory.dtype == np.bool_ and memory.ndim:
        memory = memory.view(np.uint8)
    kind = scalars.class_of(np.dtype(str(memory.dtype)))
    if layout is None:
        left = isinstance(memory, np.ndarray) and memory.ndim > 1 and memory.flags.f_contiguous
        layout = Layout.LayoutLeft if left else Layout.LayoutRight
    return View(memory.shape, kind, layout=layout, trait=Trait.Unmanaged, array=memory)


def from_numpy(
    array: NDArray, space: MemorySpace | None = None, layout: Layout | None = None
) -> View:
    """A view on a NumPy array's own memory."""
    del space
    return wrapped(np.asarray(array), layout)


def array(data: Any, space: MemorySpace | None = None, layout: Layout | None = None) -> Any:
    """A view of anything array-like: NumPy arrays and tensors share their memory, lists do not."""
    if isinstance(data, ViewType):
        return data
    if isinstance(data, np.ndarray) or np.isscalar(data):
        return from_numpy(np.asarray(data), space, layout)
    if hasattr(data, "__dlpack__"):
        return from_numpy(np.from_dlpack(data), space, layout)
    return from_numpy(np.asarray(data), space, layout)


def asarray(obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Any:
    """The array API's `asarray`."""
    del device
    kind = None if dtype is None else scalars.type_of(dtype).np_equiv
    if isinstance(obj, float) and (kind is None or np.dtype(kind).kind == "f"):
        view = View([1], scalars.double if dtype is None else dtype)
        view.fill(obj)
        return view
    found = np.asarray(obj, dtype=kind)
    return wrapped(found.copy() if copy else found)


def astype(view: ViewType, dtype: Any) -> View:
    """A copy with elements of another type."""
    fresh = View(view.shape, dtype)
    fresh._memory[...] = view._memory
    return fresh
