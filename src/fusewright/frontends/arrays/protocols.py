"""How other libraries see our arrays: NumPy's protocols, DLPack, the array API, pickling,
printing.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from fusewright._core import native
from fusewright.base.errors import ArgumentError, ValueRangeError
from fusewright.frontends.arrays import (
    core,
    exports,
    immediate,
    layouts,
    methods,
    opaque,
    sharing,
    ufuncs,
    views,
)
from fusewright.frontends.arrays.core import Handle, wrap, wrap_array
from fusewright.frontends.arrays.operators import op_of
from fusewright.frontends.arrays.strangers import STRANGER, asked, is_stranger, overrides
from fusewright.ir.ops import MAP as ROWS

_WRITABLE = 1
"""The bit of a request for a buffer that is to be written (`inspect.BufferFlags`)."""
HAS_BUFFERS = native is not None or sys.version_info >= (3, 12)
"""Whether arrays have the buffer protocol: CPython asks classes of Python from 3.12 on."""

namespace: list[Any] = []
"""The module `__array_namespace__` answers with: `fusewright.numpy` puts itself here."""


OPERATORS: dict[Callable[..., Any], Callable[[Any, Any], Any]] = {
    ROWS[name].meaning: op_of(name)
    for name in (
        "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power", "less",
        "less_equal", "equal", "not_equal", "greater", "greater_equal", "bitwise_and", "bitwise_or",
        "bitwise_xor", "left_shift", "right_shift",
    )
}  # fmt: skip
OPERATORS[np.matmul] = methods.Methods.__matmul__
"""What a number or an array of NumPy's to the left of ours leaves to us, as NumPy's ufuncs, and who
takes the two operands.
"""


def _quick(general: Callable[..., Any]) -> Callable[..., Any]:
    """The same method with the native core in front of it, where there is one."""
    return general if native is None else native.Override(OPERATORS, general)


class Protocols(Handle):
    """The dunder methods of the protocols."""

    __slots__ = ()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        wanted = None if dtype is None else np.dtype(dtype)
        converts = wanted is not None and wanted != self._dtype.numpy
        if converts or copy or isinstance(self, core.scalar_class):
            if copy is False:
                raise ValueRangeError(
                    "unable to avoid copy while creating an array as requested",
                    why="a conversion to another dtype, or a scalar, needs new memory",
                )
            return np.array(sharing.content(self), dtype=wanted, copy=True)
        return exports.readable(self)

    if native is None:  # else the core answers

        def __buffer__(self, flags: int) -> memoryview:
            return exports.buffer(self, bool(flags & _WRITABLE)).data

    if HAS_BUFFERS:  # else NumPy would convert by these addresses, and could write there

        @property
        def __array_interface__(self) -> dict[str, Any]:
            return exports.pinned(self).__array_interface__

        @property
        def __array_struct__(self) -> Any:
            return exports.pinned(self).__array_struct__

    @_quick
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "__call__" and not kwargs and len(inputs) == 2 and ufunc in OPERATORS:
            left, array = inputs  # `np.float64(2) * x`
            if (isinstance(left, np.generic) or type(left) is np.ndarray) and type(
                array
            ) in core.handle_classes:
                return OPERATORS[ufunc](left, array)
        if any(map(overrides, inputs)):
            return asked(ufunc, method, inputs, kwargs)
        if any(map(is_stranger, inputs)):
            return opaque.delegate(
                ufunc.__name__, getattr(ufunc, method), inputs, kwargs, why=STRANGER
            )
        return ufuncs.call(ufunc, method, inputs, kwargs)

    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any
    ) -> Any:
        if not all(issubclass(kind, Handle | np.ndarray) for kind in types):
            return NotImplemented
        home, _, rest = func.__module__.partition(".")
        if home != "numpy":
            return getattr(func, "_implementation", func)(*args, **kwargs)
        name = f"{rest}.{func.__name__}" if rest else func.__name__
        ours = methods.functions.get(name)
        if ours is not None:
            return ours(*args, **kwargs)
        return opaque.delegate(name, func, args, kwargs)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        if api_version is not None and api_version > "2025.12":
            raise ValueRangeError(f"array API version {api_version} is not supported")
        return namespace[0] if namespace else np

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        array: Any = exports.writable(_root_array(self))
        return array.__dlpack__(
            stream=stream, max_version=max_version, dl_device=dl_device, copy=copy
        )

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __copy__(self) -> Any:
        return layouts.copied(self, sharing.duplicate(self._node), "K")

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return self.__reduce_ex__(2)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """In C or Fortran order; from protocol 5 on what lies without gaps stays as it lies, and
        locked.
        """
        content = sharing.content(self)
        steps = views.strides_of(self)
        dims = sorted(range(len(steps)), key=lambda dim: -steps[dim])
        shape, steps = tuple(self._shape[dim] for dim in dims), tuple(steps[dim] for dim in dims)
        stays = protocol >= 5 and layouts.is_straight(shape, steps, content.itemsize)
        flags = self._flags & core.READ_ONLY if stays else 0
        copy = np.array(content, order="K" if stays else "A")
        return rebuild, (copy, isinstance(self, core.scalar_class), flags)

    def __sizeof__(self) -> int:
        """NumPy's bytes for such an array, elements included where it owns them; `sys.getsizeof`
        adds the head of what is garbage-collected, which NumPy's arrays have not.
        """
        head = sys.getsizeof(self._shape) - self._shape.__sizeof__()
        bare = np.empty((0,) * len(self._shape), np.bool_).__sizeof__()
        elements = math.prod(self._shape) if layouts.owns(self) else 0
        return bare - head + elements * self._dtype.itemsize

    def __bool__(self) -> bool:
        return bool(self._single("truth value"))

    def __int__(self) -> int:
        return int(self._number("conversion to int"))

    def __float__(self) -> float:
        return float(self._number("conversion to float"))

    def __complex__(self) -> complex:
        return complex(self._number("conversion to complex"))

    def __index__(self) -> int:
        if self._shape or not self._dtype.is_integer:
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(sharing.content(self).item())

    def _number(self, what: str) -> Any:
        """NumPy's number where there are no dims: it says what it converts to."""
        if self._shape:
            raise _ambiguous(what, self._shape)
        value = immediate.number(self._node)
        if value is None or type(value) is complex:
            content = sharing.content(self)
            return content[()] if type(self) is core.scalar_class else content
        return value

    def _single(self, what: str) -> Any:
        shape = self._shape
        if not shape:
            value = immediate.number(self._node)
            if value is not None:
                return value
        if any(n != 1 for n in shape):
            raise _ambiguous(what, shape)
        return sharing.content(self).item()

    def __repr__(self) -> str:
        return repr(sharing.content(self))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        # Imported here: only notebooks ask.
        from fusewright.frontends.arrays.pages import bundle

        return bundle(self)

    def __str__(self) -> str:
        return str(sharing.content(self))

    def __format__(self, spec: str) -> str:
        if self._shape:
            return format(sharing.content(self), spec)
        return format(sharing.content(self).item(), spec) if spec else str(self)


def _ambiguous(what: str, shape: tuple[int, ...]) -> Exception:
    """An array of several elements where one number is needed."""
    if what == "truth value":
        kind = "an empty array" if 0 in shape else "an array with more than one element"
        return ValueRangeError(
            f"The truth value of {kind} is ambiguous.",
            why=f"the array has shape {shape}",
            help="use x.any(), x.all() or x.size",
        )
    return ArgumentError(
        "only 0-dimensional arrays can be converted to Python scalars",
        why=f"{what} of an array of shape {shape}",
        help="index one element, or use .astype(...)",
    )


def _root_array(handle: Handle) -> Handle:
    return wrap_array(handle._node) if isinstance(handle, core.scalar_class) else handle


def rebuild(array: Any, scalar: bool, flags: int) -> Any:
    """An array out of a pickle."""
    handle = (wrap if scalar else wrap_array)(sharing.owned(array))
    handle._flags |= flags
    return handle
