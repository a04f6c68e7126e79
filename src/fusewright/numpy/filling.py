"""New arrays: constants, ranges, grids, masks of triangles; none of them costs a pass over
memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from fusewright.base.errors import (
    DTypeError,
    ShapeError,
    UnsupportedError,
    ValueRangeError,
)
from fusewright.frontends.arrays import core, creation, inplace, layouts, opaque, record, sharing
from fusewright.frontends.arrays.core import Handle, wrap_array
from fusewright.frontends.arrays.dtypes import as_dtype
from fusewright.frontends.arrays.views import Slice, make_view
from fusewright.ir.dtypes import INT64
from fusewright.ir.graph import Node, scalar
from fusewright.numpy.operands import (
    Function,
    NotRecorded,
    handle_of,
    holds_array,
    is_foreign,
    nested,
    node_of,
    recorded,
)

_COPIES = {np._CopyMode.ALWAYS: True, np._CopyMode.IF_NEEDED: None, np._CopyMode.NEVER: False}
"""The other names of what `copy=` says."""


def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    ndmax: int = 0,
    like: Any = None,
) -> Any:
    """A new array of ours; of types Fusewright does not know (text, dates, objects) one of
    NumPy's.
    """
    if copy is True and dtype is None and order == "K" and not ndmin and _is_line(object):
        return object.copy()
    del like
    copy = _COPIES[copy] if type(copy) is np._CopyMode else copy
    if subok and isinstance(object, np.ndarray) and type(object) is not np.ndarray:
        return np.array(object, dtype, copy=copy, order=order, subok=True, ndmin=ndmin)
    object = _plain(object)
    if not _is_numeric(object, dtype):
        limit = {"ndmax": ndmax} if ndmax else {}
        return np.array(object, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin, **limit)  # type: ignore[call-overload]
    try:
        result = _converted(object, dtype, copy if copy is False else None)
        if copy and isinstance(object, Handle):
            result = layouts.copied(object, sharing.private(result._node), order)
        else:
            result = layouts.asked(result, order, copy)
    except UnsupportedError:
        return np.array(opaque.to_numpy(object), dtype, order=order, subok=subok, ndmin=ndmin)
    missing = ndmin - len(result._shape)
    return result[(None,) * missing] if missing > 0 else result


def _is_line(object: Any) -> bool:
    """Whether it is an array of ours in one dim: its copy in any order is the same."""
    return type(object) in core.handle_classes and len(object._shape) == 1


def _plain(object: Any) -> Any:
    """A subclass of NumPy's array, or an object of another library, as a plain array."""
    if isinstance(object, np.ndarray | np.generic | Handle):
        subclass = isinstance(object, np.ndarray) and type(object) is not np.ndarray
        return np.asarray(object) if subclass else object
    return np.asarray(object) if is_foreign(object) else object


def _is_numeric(object: Any, dtype: Any) -> bool:
    """Whether an array of ours can hold this."""
    if dtype is not None and opaque.from_numpy_or_none(np.dtype(dtype)) is None:
        return False
    return not isinstance(object, str | bytes) and not (is_foreign(object) and dtype is None)


def _converted(object: Any, dtype: Any, copy: Any) -> Any:
    if type(object) in (list, tuple) and holds_array(object):
        if dtype is None:
            return nested(object)
        if not inplace.may_hold_refused(object, as_dtype(dtype)):
            return nested(object).astype(dtype, copy=False)
    if isinstance(object, np.ndarray) and copy is not False:
        copy = None  # a snapshot is a copy already
    return creation.array(object, dtype, copy=copy)


def asarray(
    a: Any,
    dtype: Any = None,
    order: Any = None,
    *,
    device: Any = None,
    copy: Any = None,
    like: Any = None,
) -> Any:
    """An array of ours; one that is ours already, or NumPy's own, comes back as it is."""
    del like
    _check_device(device)
    if isinstance(a, Handle) and (dtype is None or opaque.from_numpy_or_none(np.dtype(dtype))):
        return _asked(creation.asarray(a, dtype, copy=copy), order, copy)
    a = _plain(a)
    if not _is_numeric(a, dtype):
        return np.asarray(a, dtype, order)
    try:
        if isinstance(a, np.ndarray) and copy is None and dtype in (None, a.dtype):
            return _asked(creation.asarray(a, copy=False), order, copy)
        return _asked(_converted(a, dtype, copy), order, copy)
    except UnsupportedError:
        return np.asarray(opaque.to_numpy(a), dtype, order)


def _asked(made: Any, order: Any, copy: Any) -> Any:
    """What was made, in the order asked for."""
    return layouts.asked(made, order, copy) if isinstance(made, Handle) and order else made


def asanyarray(a: Any, dtype: Any = None, order: Any = None, **kwargs: Any) -> Any:
    """Like `asarray`; a subclass of NumPy's array comes back as it is."""
    if isinstance(a, np.ndarray) and type(a) is not np.ndarray:
        return np.asanyarray(a, dtype, order, **kwargs)
    return asarray(a, dtype, order, **kwargs)


def _check_device(device: Any) -> None:
    if device not in (None, "cpu"):
        raise ShapeError(f"Device not understood. Only 'cpu' is allowed, got: {device}")


def copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    """A new array with the same values."""
    return array(a, order=order, subok=subok, copy=True)


def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """The array itself where it lies in C order, else a copy; at least one dim."""
    del like
    made = asarray(a, dtype)
    if not isinstance(made, Handle):
        return np.ascontiguousarray(made, dtype)
    whole: Any = made if made._shape else made.reshape(1)  # type: ignore[attr-defined]
    return layouts.asked(whole, "C", None)


def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """The array itself where its first dim runs fastest, else a copy of which that is true."""
    made = asarray(a, dtype)
    if not isinstance(made, Handle):
        return np.asfortranarray(made, dtype, like=like)
    whole: Any = made if made._shape else made.reshape(1)  # type: ignore[attr-defined]
    return layouts.asked(whole, "F", None)


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    """An array, once it is known that no element is NaN or infinite."""
    made = asarray(a, dtype, order)
    np.asarray_chkfinite(opaque.to_numpy(made))
    return made


def _check_order(order: Any) -> None:
    if order not in ("C", "F", "A", None):
        raise ValueRangeError(f"order must be 'C' or 'F', not {order!r}")


def _constant(fill: int, name: str) -> Function:
    def function(
        shape: Any, dtype: Any = float, order: str = "C", *, device: Any = None, like: Any = None
    ) -> Any:
        original: Any = np.ones if fill else np.zeros
        if like is not None or device not in (None, "cpu"):
            return original(shape, dtype, order, device=device, like=like)
        _check_order(order)
        dtype = float if dtype is None else dtype
        try:
            row = as_dtype(dtype)
        except UnsupportedError:
            return original(shape, dtype, order)
        plain = shape if type(shape) is int else opaque.to_numpy(shape)
        return layouts.new(creation.constant(plain, fill, row)._node, order)

    function.__name__ = name
    function.__doc__ = f"An array of {'ones' if fill else 'zeros'}."
    return function


def _like(fill: int, original: Function) -> Function:
    @recorded(original)
    def function(
        a: Any,
        dtype: Any = None,
        order: str = "K",
        subok: bool = True,
        shape: Any = None,
        *,
        device: Any = None,
    ) -> Any:
        _check_device(device)
        if dtype is not None and opaque.from_numpy_or_none(np.dtype(dtype)) is None:
            raise NotRecorded("a dtype without a compiled form")
        return creation.like(handle_of(a), dtype, shape, fill, order)

    return function


@recorded(np.full)
def full(
    shape: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Any:
    """An array of one value."""
    _check_device(device)
    value = handle_of(fill_value) if type(fill_value) in (list, tuple) else fill_value
    return layouts.new(creation.full(opaque.to_numpy(shape), value, dtype)._node, order)


@recorded(np.full_like)
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
    *,
    device: Any = None,
) -> Any:
    """An array of one value with another's shape and type."""
    _check_device(device)
    value = handle_of(fill_value) if type(fill_value) in (list, tuple) else fill_value
    return creation.like(handle_of(a), dtype, shape, value, order)


@recorded(np.arange)
def arange(
    start: Any = None,
    stop: Any = None,
    step: Any = None,
    dtype: Any = None,
    *,
    device: Any = None,
    like: Any = None,
) -> Any:
    """Evenly spaced values in a half-open interval."""
    _check_device(device)
    if start is None:
        start, stop = (0, stop) if stop is not None else (None, None)
    if start is None:
        raise DTypeError("arange() requires stop to be specified.")
    return creation.arange(start, stop, 1 if step is None else step, dtype)


@recorded(np.linspace)
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """Numbers evenly spaced over an interval."""
    _check_device(device)
    if num < 0:
        raise ShapeError(f"Number of samples, {num}, must be non-negative.")
    return creation.linspace(start, stop, num, endpoint, retstep, dtype, axis)


def _host(original: Function) -> Function:
    """Small things NumPy makes at once: the result is adopted without a copy."""

    @wraps(original)
    def function(*args: Any, **kwargs: Any) -> Any:
        args = tuple(map(opaque.to_numpy, args))
        kwargs = {key: opaque.to_numpy(value) for key, value in kwargs.items()}
        return opaque.from_numpy_result(original(*args, **kwargs))

    return function


@recorded(np.eye)
def eye(
    N: Any,
    M: Any = None,
    k: int = 0,
    dtype: Any = float,
    order: str = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Any:
    """Ones on a diagonal."""
    del like
    _check_device(device)
    _check_order(order)
    return layouts.new(creation.eye(N, M, k, dtype)._node, order)


@recorded(np.identity)
def identity(n: int, dtype: Any = None, *, like: Any = None) -> Any:
    """The identity matrix."""
    del like
    return creation.eye(n, n, 0, float if dtype is None else dtype)


def below(rows: int, columns: int, k: int) -> Node:
    """Which elements of a matrix lie on or below a diagonal."""
    down = record.placed(record.iota(rows), 0, 2)
    across = record.placed(record.iota(columns), 1, 2)
    return record.map_node(
        "less_equal", record.map_node("subtract", across, down), scalar(k, INT64)
    )


@recorded(np.tri)
def tri(N: Any, M: Any = None, k: int = 0, dtype: Any = float, *, like: Any = None) -> Any:
    """Ones on and below a diagonal."""
    mask = below(N, N if M is None else M, k)
    return wrap_array(core.cast(mask, as_dtype(dtype)))


def _triangle(original: Function, lower: bool) -> Function:
    @recorded(original)
    def function(m: Any, k: int = 0) -> Any:
        node = node_of(m)
        if len(node.shape) < 2:
            raise NotRecorded("NumPy's rule for one dimension")
        rows, columns = node.shape[-2:]
        mask = below(rows, columns, k if lower else k - 1)
        zero = core.cast(record.node_of(0), node.dtype)
        return wrap_array(
            record.map_node("where", mask, *((node, zero) if lower else (zero, node)))
        )

    return function


@recorded(np.meshgrid)
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    """Coordinate grids: no memory is filled; without `copy` they are views of the vectors."""
    if indexing not in ("xy", "ij"):
        raise ShapeError("Valid values for `indexing` are 'xy' and 'ij'.")
    vectors = [handle_of(x).reshape(-1) for x in xi]
    flat = [vector._node for vector in vectors]
    rank = len(flat)
    order = list(range(rank))
    if indexing == "xy" and rank > 1:
        order[:2] = [1, 0]
    if not copy:
        return _grid_views(vectors, order, sparse)
    grids = [record.placed(node, at, rank) for node, at in zip(flat, order, strict=True)]
    if not sparse and grids:
        shape = record.broadcast_shapes("meshgrid", [grid.shape for grid in grids])
        grids = [record.broadcast_node(grid, shape) for grid in grids]
    return tuple(wrap_array(sharing.private(grid)) for grid in grids)


def _grid_views(vectors: list[Any], order: list[int], sparse: bool) -> tuple[Any, ...]:
    """Each vector along its own dim, repeated along the others."""
    lengths = dict(zip(order, (vector._shape[0] for vector in vectors), strict=True))
    full_shape = tuple(lengths[dim] for dim in range(len(order)))
    grids = []
    for vector, at in zip(vectors, order, strict=True):
        alone = tuple(n if dim == at else 1 for dim, n in enumerate(full_shape))
        grids.append(make_view(vector, Slice(((at, 0, 1),), alone if sparse else full_shape)))
    return tuple(grids)


@recorded(np.indices)
def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """The index grids of a shape."""
    if not all(type(n) is int and n >= 0 for n in dimensions):
        raise NotRecorded("unusual extents")
    ranges = [creation.arange(n, dtype=as_dtype(dtype)) for n in dimensions]
    grids = meshgrid(*ranges, sparse=sparse, indexing="ij")
    if sparse or not grids:
        return grids if sparse else creation.zeros((0,), dtype)
    return nested(list(grids))


def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any
) -> Any:
    """A function of the index grids."""
    del like
    return function(*indices(shape, dtype), **kwargs)


HOST: tuple[Function, ...] = (
    np.logspace, np.geomspace, np.hanning, np.hamming, np.blackman, np.bartlett, np.kaiser,
    np.vander, np.tril_indices, np.triu_indices, np.diag_indices, np.mask_indices,
    np.frombuffer, np.fromiter, np.fromfile, np.fromstring, np.from_dlpack,
)  # fmt: skip
"""Small arrays that NumPy makes."""
EXPORTS: dict[str, Function] = {
    "array": array, "asarray": asarray, "asanyarray": asanyarray, "copy": copy,
    "ascontiguousarray": ascontiguousarray, "asfortranarray": asfortranarray,
    "asarray_chkfinite": asarray_chkfinite,
    "zeros": _constant(0, "zeros"), "ones": _constant(1, "ones"), "empty": _constant(0, "empty"),
    "zeros_like": _like(0, np.zeros_like), "ones_like": _like(1, np.ones_like),
    "empty_like": _like(0, np.empty_like), "full": full, "full_like": full_like,
    "arange": arange, "linspace": linspace,
    **{f.__name__: _host(f) for f in HOST},
    "eye": eye, "identity": identity, "tri": tri, "tril": _triangle(np.tril, True),
    "triu": _triangle(np.triu, False), "meshgrid": meshgrid, "indices": indices,
    "fromfunction": fromfunction,
}  # fmt: skip
