"""The methods and attributes NumPy's arrays have."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterator
from sys import getrefcount
from typing import Any

import numpy as np

from fusewright._core import native
from fusewright.base.errors import (
    ArgumentError,
    DTypeError,
    ShapeError,
    UnsupportedError,
    ValueRangeError,
)
from fusewright.frontends.arrays import (
    core,
    exports,
    front,
    immediate,
    inplace,
    items,
    layouts,
    linalg,
    opaque,
    record,
    reducing,
    reductions,
    shaping,
    sharing,
    views,
)
from fusewright.frontends.arrays.agreement import Method, asked
from fusewright.frontends.arrays.attributes import Flags, FlatIterator
from fusewright.frontends.arrays.core import Handle, cast, wrap
from fusewright.frontends.arrays.dtypes import as_dtype, check_cast
from fusewright.frontends.arrays.reductions import quick

TYPE = type
"""The built-in, which a parameter of `view` hides."""


RANKED = frozenset(("argsort", "round", "trace"))
"""Library methods that are right for the real arrays where they are for stand-ins."""
UNROLLED = 16
"""Up to this length iterating records views; a longer array is computed first."""

functions: dict[str, Callable[..., Any]] = {}
"""NumPy functions with an implementation of ours, by name (`linalg.norm`): `fusewright.numpy`
registers them.
"""


def library(name: str) -> Callable[..., Any]:
    """The registered implementation of a NumPy function, or NumPy's own as a delegated step."""
    found = functions.get(name)
    if found is not None:
        return found
    target: Any = np
    for part in name.split("."):
        target = getattr(target, part)
    return lambda *args, **kwargs: opaque.delegate(name, target, args, kwargs)


def _library_method(name: str) -> Callable[..., Any]:
    @asked(name, ranked=name in RANKED)
    def method(self: Handle, *args: Any, **kwargs: Any) -> Any:
        return library(name)(self, *args, **kwargs)

    return method


class Methods(Handle):
    """Everything of an array but its operators and protocols."""

    __slots__ = ()

    sum, prod = quick("sum", reducing.reduction("sum")), quick("prod", reducing.reduction("prod"))
    min = quick("min", reducing.typeless_reduction("min"))
    max = quick("max", reducing.typeless_reduction("max"))
    any, all = (
        quick("any", reducing.logical_reduction("any")),
        quick("all", reducing.logical_reduction("all")),
    )
    argmin, argmax = reducing.arg_reduction("argmin"), reducing.arg_reduction("argmax")
    cumsum, cumprod = reducing.scan("cumsum"), reducing.scan("cumprod")
    mean = quick("mean", asked("mean", ranked=True)(reductions.mean))
    var = asked("var", ranked=True)(reductions.var)
    std = asked("std", ranked=True)(reductions.std)
    swapaxes, squeeze = asked("swapaxes")(shaping.swapaxes), asked("squeeze")(shaping.squeeze)
    ravel = asked("ravel", ranked=True)(shaping.ravel)
    diagonal = asked("diagonal")(shaping.diagonal)
    dot = front.at_once(np.dot, asked("dot")(linalg.dot), linalg.SMALL)
    __matmul__ = front.at_once(
        np.matmul, asked("matmul", function=operator.matmul)(linalg.matmul), linalg.SMALL
    )
    __getitem__, __setitem__ = items.getitem, items.setitem
    __delitem__ = items.delitem
    argsort, argpartition = _library_method("argsort"), _library_method("argpartition")
    choose = _library_method("choose")
    take, repeat = _library_method("take"), _library_method("repeat")
    round, trace = _library_method("round"), _library_method("trace")
    searchsorted, nonzero = _library_method("searchsorted"), _library_method("nonzero")

    @asked("clip", ranked=True)
    def clip(self, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any) -> Any:
        """Limited to an interval: unlike NumPy's function, its method needs but one bound."""
        return library("clip")(self, min, max, out, **kwargs)

    @asked("matmul", function=lambda self, other: other @ self)
    def __rmatmul__(self, other: Any) -> Any:
        return linalg.matmul(other, self)

    @asked("matmul", writes=True, function=operator.imatmul)
    def __imatmul__(self, other: Any) -> Any:
        product = record.node_of(linalg.matmul(self, other))
        if product.shape != self._shape:
            raise ShapeError(
                f"the product has shape {product.shape}, the array it is written to {self._shape}",
                help="write x = x @ y instead of x @= y to make a new array",
            )
        inplace.store(self, product)
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        shaping.set_shape(self, shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._dtype.numpy

    @dtype.setter
    def dtype(self, dtype: Any) -> None:
        shaping.set_dtype(self, as_dtype(dtype))

    @property
    def ndim(self) -> int:
        return len(self._shape)

    @property
    def size(self) -> int:
        return math.prod(self._shape)

    @property
    def itemsize(self) -> int:
        return self._dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self._dtype.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        return views.strides_of(self)

    @property
    def base(self) -> Handle | None:
        return None if layouts.owns(self) else views.root_of(self)

    @property
    def flags(self) -> Flags:
        return Flags(self)

    def setflags(self, write: Any = None, align: Any = None, uic: Any = None) -> None:
        """Lock or unlock the array for writing."""
        del align, uic
        if write is not None:
            self.flags.writeable = write

    @property
    def T(self) -> Any:
        return shaping.transpose(self)

    @property
    def mT(self) -> Any:
        if len(self._shape) < 2:
            raise ShapeError(
                "matrix transpose with ndim < 2 is undefined", why=f"the shape is {self._shape}"
            )
        return shaping.swapaxes(self, -1, -2)

    @property
    def real(self) -> Any:
        return shaping.part(self, "real")

    @real.setter
    def real(self, value: Any) -> None:
        # an array: it is cast whatever it holds
        self.real[...] = value if isinstance(value, Handle) else np.asarray(value)

    @property
    def imag(self) -> Any:
        return shaping.part(self, "imag")

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag[...] = value if isinstance(value, Handle) else np.asarray(value)

    @property
    def flat(self) -> FlatIterator:
        return FlatIterator(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        FlatIterator(self).fill(value)

    @property
    def data(self) -> memoryview:
        return exports.writable(self).data

    @property
    def ctypes(self) -> Any:
        return exports.pinned(self).ctypes

    @property
    def device(self) -> str:
        """Where the elements are: always `"cpu"`."""
        return "cpu"

    def to_device(self, device: str, /, *, stream: Any = None) -> Any:
        """The array itself: there is one device."""
        del stream
        if device != "cpu":
            raise ValueRangeError(f"unsupported device {device!r}", help="use 'cpu'")
        return self

    @asked("reshape")
    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Any:
        """The same elements in another shape: a view where no element has to move."""
        if not shape or order == "K":
            raise ArgumentError("reshape needs a shape, and one of the orders C, F and A")
        wanted = shape[0] if len(shape) == 1 else shape
        return shaping.reshape(self, wanted, order, copy)

    @asked("transpose")
    def transpose(self, *axes: Any) -> Any:
        """Dims in another order."""
        if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], tuple | list)):
            return shaping.transpose(self, axes[0])
        return shaping.transpose(self, axes or None)

    @asked("flatten", ranked=True)
    def flatten(self, order: str = "C") -> Any:
        """A one-dimensional copy."""
        return shaping.ravel(self, order, copy=True)

    def view(self, dtype: Any = None, type: Any = None) -> Any:
        """The same bytes, as another element type, or as a subclass of NumPy's array."""
        for kind in (dtype, type):
            if not isinstance(kind, TYPE) or kind is object:
                continue
            if issubclass(kind, Handle) or issubclass(
                core.array_class, kind
            ):  # ours, or what the drop-in calls `ndarray`
                return self[...]
            if issubclass(kind, np.ndarray):
                return exports.writable(self).view(kind)
        try:
            row = self._dtype if dtype is None else as_dtype(dtype)
        except UnsupportedError:  # records, strings: NumPy's array on the same memory
            return exports.writable(self).view(dtype)
        return shaping.reinterpreted(self, row)

    @asked("astype", ranked=True, known=2)
    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Any:
        """The values in another element type; as strings or objects they are NumPy's."""
        try:
            wanted = as_dtype(dtype)
        except UnsupportedError:
            return opaque.delegate(
                "astype", Method("astype"), (self, dtype, order, casting, subok, copy),
                why=opaque.foreign(np.empty(0, dtype)),
            )  # fmt: skip
        if casting != "unsafe":
            check_cast(self._dtype, wanted, casting)
        if wanted is self._dtype and not copy and layouts.is_as_asked(self, order):
            return self
        node = sharing.duplicate(cast(self._node, wanted))
        return layouts.copied(self, node, order)

    @asked("copy", ranked=True)
    def copy(self, order: str = "C") -> Any:
        """A new array with the same values: they are shared until one side is written."""
        return layouts.copied(self, sharing.duplicate(self._node), order)

    @asked("fill", writes=True)
    def fill(self, value: Any) -> None:
        """Set every element."""
        if type(value) in (list, tuple) or np.ndim(value):
            raise ValueRangeError("fill takes one number", why=f"it is a {type(value).__name__}")
        self[...] = value

    def resize(self, *shape: Any, refcheck: bool = True) -> None:
        """Another shape in place, cut or filled with zeros; refused where somebody else holds the
        array.
        """
        seen = getrefcount(self) if refcheck else 0
        shaping.resize(self, shape[0] if len(shape) == 1 else shape, seen)

    @asked("compress")
    def compress(self, condition: Any, axis: Any = None, out: Any = None) -> Any:
        """The parts along an axis where a condition holds."""
        return library("compress")(condition, self, axis, out)

    def conj(self) -> Any:
        """The complex conjugate."""
        return wrap(record.map_node("conjugate", self)) if self._dtype.is_complex else self

    conjugate = conj

    @asked("item")
    def item(self, *args: Any) -> Any:
        """One element as a Python number."""
        value = None if args or self._shape else immediate.number(self._node)
        return sharing.content(self).item(*args) if value is None else value

    def byteswap(self, inplace: bool = False) -> Any:
        """The elements with their bytes in reverse order."""
        swapped = opaque.delegate("byteswap", np.ndarray.byteswap, (self,))
        if not inplace:
            return swapped
        self[...] = swapped
        return self

    def tolist(self) -> Any:
        """Nested lists of Python numbers."""
        return sharing.content(self).tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        """The elements' bytes."""
        return sharing.content(self).tobytes(order)

    def dumps(self) -> bytes:
        """The array as a pickle of NumPy's."""
        return sharing.content(self).dumps()

    def dump(self, file: Any) -> None:
        """Write a pickle of NumPy's to a file."""
        sharing.content(self).dump(file)

    def tofile(self, fid: Any, sep: str = "", format: str = "%s") -> None:
        """Write the elements to a file, as NumPy does."""
        sharing.content(self).tofile(fid, sep, format)

    @asked("sort", writes=True, ranked=True)
    def sort(self, axis: int = -1, kind: Any = None, order: Any = None) -> None:
        """Sort in place."""
        inplace.check_writable(self)
        inplace.store(self, library("sort")(self, axis, kind, order)._node)

    @asked("partition", writes=True)
    def partition(self, kth: Any, axis: int = -1, kind: str = "introselect") -> None:
        """Partially sort in place."""
        inplace.check_writable(self)
        inplace.store(self, library("partition")(self, kth, axis, kind)._node)

    @asked("put", writes=True)
    def put(self, indices: Any, values: Any, mode: Any = "raise") -> None:
        """Set elements by their flat index."""
        flat = sharing.content(self).copy()
        given = opaque.to_numpy(indices), opaque.to_numpy(values), mode
        opaque.in_numpy("put", np.put, flat, *given)
        inplace.store(self, sharing.copied(flat))

    def __len__(self) -> int:
        if not self._shape:
            raise DTypeError("len() of unsized object")
        return self._shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self._shape:
            raise DTypeError("iteration over a 0-d array")
        if self._shape[0] > UNROLLED:
            sharing.content(self)
        if native is not None:
            return native.rows(self, self._shape[0])  # type: ignore[no-any-return]
        return map(operator.getitem, itertools.repeat(self), range(self._shape[0]))

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).any())
