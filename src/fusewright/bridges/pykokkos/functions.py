"""PyKokkos' other functions of views: creation, shapes, sums, products, look-ups."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import fusewright.numpy as fnp
from fusewright.bridges.pykokkos import scalars
from fusewright.bridges.pykokkos.elementwise import operand
from fusewright.bridges.pykokkos.views import View, ViewType, wrapped

e, pi, inf, nan = math.e, math.pi, math.inf, math.nan


def _shape(shape: int | Sequence[int]) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape)


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> View:
    """A view filled with one value."""
    del device
    kind = np.asarray(fill_value).dtype if dtype is None else dtype
    view = View(_shape(shape), kind)
    view.fill(float(fill_value) if isinstance(fill_value, ViewType) else fill_value)
    return view


def zeros(shape: Any, *, dtype: Any = None, device: Any = None) -> View:
    """A view of zeros."""
    return full(shape, 0, dtype=dtype or scalars.float64, device=device)


def ones(shape: Any, *, dtype: Any = None, device: Any = None) -> View:
    """A view of ones."""
    return full(shape, 1, dtype=dtype or scalars.float64, device=device)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> View:
    """A filled view of the same shape."""
    return full(x.shape, fill_value, dtype=dtype or x.dtype, device=device)


def zeros_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> View:
    """A view of zeros of the same shape."""
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(x: Any, /, *, dtype: Any = None, device: Any = None) -> View:
    """A view of ones of the same shape."""
    return full_like(x, 1, dtype=dtype, device=device)


def linspace(start: float, stop: float, num: int = 50) -> View:
    """Numbers at equal distances."""
    return wrapped(fnp.linspace(start, stop, num))


def logspace(start: float, stop: float, num: int = 50, base: float = 10) -> View:
    """Powers of `base` at equal distances of the exponents."""
    return wrapped(fnp.power(float(base), fnp.linspace(start, stop, num)))


# -- shapes ---------------------------------------------------------------------------------------


def reshape(x: Any, /, shape: Any, *, order: str = "C", copy: bool | None = None) -> View:
    """A copy in another shape."""
    del copy
    return wrapped(np.array(np.reshape(x.data, shape, order=order)))  # type: ignore[call-overload]


def ravel(view: Any, order: str = "C") -> View:
    """A copy with one dim."""
    return reshape(view, -1, order=order)


def expand_dims(view: Any, axis: int = 0) -> View:
    """A copy with a dim more."""
    return wrapped(np.array(np.expand_dims(view.data, axis)))


def transpose(view: Any) -> View:
    """Rows as columns."""
    if view.rank() == 1:
        return view  # type: ignore[no-any-return]
    if view.rank() != 2:
        raise RuntimeError("Transpose supports 2D views only")
    return wrapped(np.ascontiguousarray(view.data.T))


def hstack(viewA: Any, viewB: Any) -> View:
    """Two views of one shape side by side."""
    if viewA.shape != viewB.shape:
        raise RuntimeError(
            "All the input view dimensions for the concatenation axis must match exactly"
        )
    return wrapped(fnp.hstack((operand(viewA), operand(viewB))))


def broadcast_view(val: Any, viewB: Any) -> View:
    """A value or view stretched to the shape of `viewB`."""
    if len(viewB.shape) > 2:
        raise NotImplementedError("Broadcasting is only supported upto 2D views")
    data = val.data if isinstance(val, ViewType) else np.asarray(val, viewB.data.dtype)
    try:
        return wrapped(np.array(np.broadcast_to(data, viewB.shape)))
    except ValueError as error:
        raise ValueError(f"Incompatible broadcast: {error}") from None


def copyto(viewA: Any, viewB: Any, profiler_name: str | None = None) -> None:
    """Write the elements of `viewB` into `viewA`."""
    del profiler_name
    if not isinstance(viewA, ViewType):
        raise ValueError("copyto: Cannot copy to a non-view type")
    if not isinstance(viewB, ViewType):
        raise ValueError("copyto: Cannot copy from a non-view type")
    try:
        viewA.data[...] = viewB.data
    except ValueError:
        raise ValueError(
            "copyto: Views must be broadcastable or of the same size. "
            f"{viewA.shape} against {viewB.shape}"
        ) from None


# -- sums -----------------------------------------------------------------------------------------


def _number_or_view(found: Any) -> Any:
    return found.item() if found.ndim == 0 else wrapped(found)


def sum(viewA: Any, axis: int | None = None, profiler_name: str | None = None) -> Any:
    """The sum, or one for each row or column."""
    del profiler_name
    return _number_or_view(fnp.sum(operand(viewA), axis=axis))


def mean(view: Any, axis: int | None = None, profiler_name: str | None = None) -> Any:
    """The mean."""
    del profiler_name
    return _number_or_view(fnp.mean(operand(view), axis=axis))


def var(view: Any, axis: int | None = None, profiler_name: str | None = None) -> Any:
    """The variance of the population."""
    del profiler_name
    return _number_or_view(fnp.var(operand(view), axis=axis))


def all(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> View:
    """Whether every element is true."""
    return wrapped(np.asarray(np.all(np.asarray(x), axis=axis, keepdims=keepdims)))


def any(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> View:
    """Whether an element is true."""
    return wrapped(np.asarray(np.any(np.asarray(x), axis=axis, keepdims=keepdims)))


def find_max(viewA: Any) -> Any:
    """The greatest element."""
    return builtins.max(viewA)


def argmax(view: Any, axis: int | None = None) -> View:
    """Where the greatest element is."""
    return wrapped(np.asarray(np.argmax(view.data, axis=axis), np.int32))


def unique(view: Any) -> View:
    """The different elements, in order."""
    return wrapped(np.unique(view.data).astype(np.float64))


def in1d(viewA: Any, viewB: Any) -> View:
    """Which elements of `viewA` are in `viewB`."""
    return wrapped(np.isin(viewA.data, viewB.data).astype(np.int8))


def searchsorted(view: Any, ele: Any) -> Any:
    """Where an element belongs in an ordered view."""
    return np.searchsorted(view.data, ele)


def index(viewA: Any, viewB: Any) -> View:
    """The elements of `viewA` at the places in `viewB`."""
    if viewB.data.dtype != np.int32:
        raise RuntimeError("Incompatible Types")
    return wrapped(viewA.data[viewB.data])


def col(view: Any, col: int) -> View:
    """A copy of a column."""
    if view.rank() != 2:
        raise RuntimeError("Only 2d views are supported for col")
    return wrapped(np.array(view.data[:, col]))


# -- products -------------------------------------------------------------------------------------


def dot(viewA: Any, viewB: Any) -> Any:
    """The inner product of two vectors."""
    return _inner(viewA, viewB)


def matmul(viewA: Any, viewB: Any, profiler_name: str | None = None) -> Any:
    """A vector times a column: a number."""
    del profiler_name
    return _inner(viewA, viewB)


def _inner(viewA: Any, viewB: Any) -> Any:
    if len(viewA.shape) != 1 or viewA.shape[0] != viewB.shape[0]:
        raise RuntimeError(
            "Input operand 1 has a mismatch in its core dimension "
            f"(Size {viewA.shape[0]} is different from {viewB.shape[0]})"
        )
    if viewA.data.dtype != viewB.data.dtype:
        raise RuntimeError("Incompatible Types")
    right = operand(viewB)
    return fnp.sum(operand(viewA) * right.reshape(-1)).item()


def np_matmul(viewA: Any, viewB: Any, profiler_name: str | None = None) -> View:
    """The product of matrices, or of a matrix and a vector."""
    del profiler_name
    if viewA.shape[-1] != viewB.shape[0]:
        raise RuntimeError(
            "Matrix dimensions are not compatible for multiplication: "
            f"{viewA.shape} and {viewB.shape}"
        )
    return wrapped(fnp.matmul(operand(viewA), operand(viewB)))


PUBLIC = (
    "full", "zeros", "ones", "full_like", "zeros_like", "ones_like", "linspace", "logspace",
    "reshape", "ravel", "expand_dims", "transpose", "hstack", "broadcast_view", "copyto", "sum",
    "mean", "var", "all", "any", "find_max", "argmax", "unique", "in1d", "searchsorted", "index",
    "col", "dot", "matmul", "np_matmul", "e", "pi", "inf", "nan",
)  # fmt: skip
