"""What a kernel is called with: the kind of each argument (the key), its memory or its value."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from fusewright.base.errors import DTypeError, KernelCallError, OverflowIntError, UnsupportedError
from fusewright.frontends.arrays import Array, Scalar, core
from fusewright.frontends.arrays.core import READ_ONLY
from fusewright.frontends.arrays.views import strides_of
from fusewright.frontends.kernels.values import (
    ArrayKind,
    Kind,
    NumberKind,
    StaticKind,
    StructKind,
    TupleKind,
)
from fusewright.ir import dtypes
from fusewright.ir.dtypes import BOOL, COMPLEX128, FLOAT64, INT64, DType
from fusewright.ir.graph import contiguous_strides, is_shared

NDArray = np.ndarray[Any, Any]
_PYTHON = {
    bool: NumberKind(BOOL, True),
    int: NumberKind(INT64, True),
    float: NumberKind(FLOAT64, True),
    complex: NumberKind(COMPLEX128, True),
}
_STATIC = (
    str, bytes, type(None), type, np.dtype, FunctionType, BuiltinFunctionType, ModuleType, np.ufunc,
)  # fmt: skip
_arrays: dict[tuple[np.dtype[Any], int, str, bool, bool], ArrayKind] = {}
_scalars: dict[type, NumberKind] = {}


def kind_of(value: Any, name: str = "") -> Kind:
    """The part of an argument that code is compiled for."""
    found = _PYTHON.get(type(value))
    if found is not None:
        return found
    if type(value) is np.ndarray:
        return array_kind(value, name)
    if type(value) is Scalar:  # first: it says it is NumPy's
        return NumberKind(_row(value._dtype.numpy, name), False)
    if type(value) in core.handle_classes:
        return _lazy_kind(value, name)
    if isinstance(value, np.generic):
        return _scalar_kind(value, name)
    if isinstance(value, np.ndarray) and type(value) is not np.memmap:
        raise UnsupportedError(
            f"argument `{name}` is a {type(value).__name__}",
            why="a subclass of NumPy's array may mean something else by its elements",
            help="pass np.asarray(...) of it",
        )
    if isinstance(value, np.ndarray | Array) or hasattr(type(value), "__dlpack__"):
        return array_kind(memory_of(value), name)
    if isinstance(value, int | float):  # an `IntEnum`'s, say
        return _PYTHON[int if isinstance(value, int) else float]
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return TupleKind(tuple(kind_of(item, f"{name}[{n}]") for n, item in enumerate(value)))
    if isinstance(value, _STATIC) or hasattr(value, "__wrapped__"):
        return StaticKind(value)
    if isinstance(value, list | dict | set | bytearray | memoryview):
        raise UnsupportedError(
            f"argument `{name}` is a {type(value).__name__}",
            why="kernels take arrays, numbers, tuples, and objects with attributes of these",
            help="pass a NumPy array, or a tuple",
        )
    return StructKind(type(value))


def _scalar_kind(value: np.generic, name: str) -> NumberKind:
    found = _scalars.get(type(value))
    if found is None:
        found = _scalars[type(value)] = NumberKind(_row(value.dtype, name), False)
    return found


def _row(dtype: np.dtype[Any], name: str) -> DType:
    row = dtypes.from_numpy(dtype) if dtype.isnative else None
    if row is None:
        raise DTypeError(
            f"argument `{name}` has elements of type {dtype}",
            why="kernels take bools and numbers in this machine's byte order",
            help="convert it with .astype(...)",
        )
    return row


def array_kind(array: NDArray, name: str) -> ArrayKind:
    """Dtype, rank, layout class, and whether it may be written."""
    flags = array.flags
    layout = "c" if flags.c_contiguous else _layout(array.strides, array.itemsize)
    key = (array.dtype, array.ndim, layout, flags.writeable, flags.aligned)
    found = _arrays.get(key)
    if found is None:
        row = _row(array.dtype, name)
        if not flags.aligned:
            raise UnsupportedError(
                f"argument `{name}` is not aligned",
                why="its elements do not lie at multiples of their size",
                help="pass a copy",
            )
        found = _arrays[key] = ArrayKind(row, array.ndim, layout, flags.writeable)
    return found


def _lazy_kind(array: Array, name: str) -> ArrayKind:
    """The kind of an array of ours, which need not be computed for that."""
    shape, node = array._shape, array._node
    if is_shared(node):
        return array_kind(memory_of(array), name)
    row = _row(node.dtype.numpy, name)
    strides = strides_of(array)
    layout = "c"
    if strides != contiguous_strides(shape, row.itemsize):
        layout = _layout(strides, row.itemsize)
    return ArrayKind(row, len(shape), layout, not array._flags & READ_ONLY)


def _layout(strides: tuple[int, ...], itemsize: int) -> str:
    letters = ["0" if stride == 0 else "s" for stride in strides]
    if strides[-1] == itemsize:
        letters[-1] = "u"
    return "".join(letters)


def memory_of(value: Any) -> NDArray:
    """An array argument as a NumPy array on the same memory."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, Array):
        lent: NDArray = value.view(np.ndarray)
        return lent
    try:
        return np.from_dlpack(value)
    except (RuntimeError, BufferError, ValueError, TypeError) as error:
        raise KernelCallError(
            f"an argument of type {type(value).__name__} gives no memory to work on",
            why=str(error),
            help="pass what NumPy can share: on the CPU, detached from gradients",
        ) from None


def plain_number(value: Any, name: str) -> Any:
    """A number argument as Python's."""
    number = value.item() if isinstance(value, np.generic | Array) else value
    for plain in (int, float):
        if isinstance(number, plain) and type(number) not in _PYTHON:
            number = plain(number)
    if type(number) is int and not -(2**63) <= number < 2**64:
        raise OverflowIntError(
            f"argument `{name}` is {number}",
            why="Python's integers are int64 in a kernel",
            help="pass a float",
        )
    if type(number) is int and number >= 2**63 and type(value) is int:
        raise OverflowIntError(f"argument `{name}` is {number}", why="it does not fit int64")
    return number
