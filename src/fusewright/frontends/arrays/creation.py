"""New arrays: from Python and NumPy objects, and constants and ranges that cost no memory."""

from __future__ import annotations

import math
from sys import getrefcount
from typing import Any

import numpy as np

from fusewright.base.errors import ArgumentError, DivisionError, ShapeError, ValueRangeError
from fusewright.frontends.arrays import core, layouts, record, sharing, trace
from fusewright.frontends.arrays import dtypes as rules
from fusewright.frontends.arrays.core import READ_ONLY, Handle, cast, wrap_array
from fusewright.frontends.arrays.dtypes import as_dtype, row_of, unsupported
from fusewright.ir.dtypes import BOOL, FLOAT64, INT64, DType
from fusewright.ir.graph import IOTA, VIEW, Node, scalar

Shape = tuple[int, ...]


def asarray(obj: Any, dtype: Any = None, *, copy: bool | None = None) -> Any:
    """An array from anything NumPy makes one of.

    A NumPy array is copied by default (later writes to it are not seen), unless nobody else can
    write to it; `copy=False` shares its memory.  One of our arrays is returned as it is, unless
    `copy=True` or another dtype is asked for.

    Args:
        obj: an array of any shape, nested lists, a number, or what has `__array__` or DLPack.
        dtype: of the result: bool, (u)int8 to 64, float16 to 64, complex64 or complex128; by
            default that of `obj`.
        copy: True: always copy; False: never, and then every statement on the array is complete
            when it returns; None: copy what somebody else could write to.

    Returns:
        An `Array` of any size; small arrays of `fusewright.numpy` are NumPy's own instead.

    Raises:
        FusewrightError: for other element types (FW102), and where `copy=False` cannot be.

    Examples:
        >>> import numpy, fusewright as fw
        >>> plain = numpy.zeros(3)
        >>> apart, shared = fw.asarray(plain), fw.asarray(plain, copy=False)
        >>> apart += 1.0
        >>> shared += 2.0
        >>> plain.tolist(), apart.tolist()
        ([2.0, 2.0, 2.0], [1.0, 1.0, 1.0])
    """
    if isinstance(obj, Handle):
        return _from_handle(obj, dtype, copy)
    if copy is False:
        return _shared(obj, dtype)
    # 2: this function's variable and the call's; nobody else holds the array
    temporary = SEES_VARIABLES and type(obj) is np.ndarray and getrefcount(obj) <= 2
    if isinstance(obj, list | tuple) and _holds_handles(obj):
        obj = _computed_nested(obj)
    try:
        array = sharing.numpy_array(obj, None if dtype is None else as_dtype(dtype).numpy)
    except TypeError:  # a tensor that NumPy has no type for
        if "bfloat16" not in str(getattr(obj, "dtype", "")):
            raise
        raise unsupported(obj.dtype) from None
    if temporary and array is obj and copy is None and _adoptable(array):
        return wrap_array(sharing.adopted(array))
    if array is not obj and array.base is None and not isinstance(obj, np.ndarray):
        row_of(array.dtype)
        if not hasattr(obj, "__array__") and not hasattr(obj, "__array_interface__"):
            return wrap_array(sharing.owned(array))
    return wrap_array(sharing.copied(array) if copy else sharing.snapshot(array))


def _references(obj: Any) -> int:
    return getrefcount(obj)


def _sees_variables() -> bool:
    variable = object()
    return _references(variable) > 2


SEES_VARIABLES = _sees_variables()
"""Whether a function can tell by its argument's references that a variable of its caller's holds
it: not from CPython 3.14 on, where calls borrow what variables hold.  All arrays are copied there.
"""


def _adoptable(array: Any) -> bool:
    return bool(array.flags.owndata and sharing.is_adoptable(array))


def array(obj: Any, dtype: Any = None, *, copy: bool | None = True, ndmin: int = 0) -> Any:
    """Like `asarray`, a new array by default."""
    result = asarray(obj, dtype, copy=True if copy and isinstance(obj, Handle) else copy or None)
    if copy is False:
        result = asarray(obj, dtype, copy=False)
    missing = ndmin - len(result._shape)
    return result[(None,) * missing] if missing > 0 else result


def _from_handle(handle: Handle, dtype: Any, copy: bool | None) -> Any:
    wanted = handle._dtype if dtype is None else as_dtype(dtype)
    scalar_handle = isinstance(handle, core.scalar_class)
    if wanted is handle._dtype and not copy and not scalar_handle:
        return handle
    if copy is False and not (scalar_handle and wanted is handle._dtype):
        raise ValueRangeError(
            "unable to avoid copy while creating an array as requested",
            help="leave out copy=False, or the dtype",
        )
    return layouts.copied(handle, sharing.duplicate(cast(handle._node, wanted)), "K")


def _shared(obj: Any, dtype: Any) -> Any:
    array = np.asarray(obj) if isinstance(obj, np.ndarray) else np.array(obj, copy=False)
    if dtype is not None and as_dtype(dtype).numpy != array.dtype:
        raise ValueRangeError(
            f"unable to share memory of {array.dtype} as {as_dtype(dtype)}",
            help="leave out copy=False, or the dtype",
        )
    handle = core.array_on(sharing.shared(array))
    if not sharing.is_writable(array):
        handle._flags |= READ_ONLY
    return handle


def _holds_handles(obj: Any) -> bool:
    return any(
        isinstance(item, Handle) or (isinstance(item, list | tuple) and _holds_handles(item))
        for item in obj
    )


def _computed_nested(obj: Any) -> Any:
    core.evaluate(*core.handles_in(obj))
    return _plain(obj)


def _plain(obj: Any) -> Any:
    if isinstance(obj, core.scalar_class):
        return sharing.content(obj)[()]  # NumPy refuses numbers out of range, not arrays of them
    if isinstance(obj, Handle):
        return sharing.content(obj)
    if isinstance(obj, list | tuple):
        return [_plain(item) for item in obj]
    return obj


def as_shape(shape: Any) -> Shape:
    """A shape argument: an integer or a sequence of them, not negative."""
    if type(shape) is int and 0 <= shape < 2**60:
        return (shape,)
    if type(shape) is bool:
        raise ArgumentError(f"expected a shape of integers, got {shape}", help="pass an int")
    if not isinstance(shape, tuple | list):
        shape = tuple(shape) if hasattr(shape, "__iter__") else (shape,)
    try:
        extents = tuple(n.__index__() for n in shape)
    except AttributeError:
        raise ArgumentError(
            f"expected a shape of integers, got {shape!r}", help="pass an int or a tuple of ints"
        ) from None
    if any(n < 0 for n in extents):
        raise ShapeError("negative dimensions are not allowed", why=f"the shape is {extents}")
    if math.prod(extents) >= 2**60:
        raise ShapeError("array is too big", why=f"the shape {extents} has no address space")
    return extents


def within_memory(shape: Shape, dtype: DType) -> None:
    """Refuse a shape that no memory can hold.  NumPy is not asked what it says: its `repeat` and
    `tile` count past the largest integer there, and end the process.
    """
    if math.prod(shape) >= 2**60:
        raise sharing.out_of_memory(math.prod(shape) * dtype.itemsize)


def full_node(shape: Shape, value: Node) -> Node:
    """One value repeated: a broadcast, which no memory holds."""
    return trace.record(Node(VIEW, "", (value,), value.dtype, shape, ())) if shape else value


def constant(shape: Any, value: Any, dtype: DType) -> Any:
    """An array of one Python number."""
    return wrap_array(full_node(as_shape(shape), rules.stored_scalar(value, dtype)))


def zeros(shape: Any, dtype: Any = float) -> Any:
    """An array of zeros."""
    return constant(shape, 0, as_dtype(dtype))


def ones(shape: Any, dtype: Any = float) -> Any:
    """An array of ones."""
    return constant(shape, 1, as_dtype(dtype))


def empty(shape: Any, dtype: Any = float) -> Any:
    """An array whose content does not matter yet (zeros: it costs nothing until it is written)."""
    return constant(shape, 0, as_dtype(dtype))


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """An array of one value, which may be an array that broadcasts."""
    extents = as_shape(shape)
    value = record.node_of(fill_value)
    wanted = value.dtype if dtype is None else as_dtype(dtype)
    if type(fill_value) in rules.DEFAULT and dtype is not None:
        value = rules.stored_scalar(fill_value, wanted)
    value = cast(value, wanted)
    if value.shape:
        return wrap_array(sharing.private(record.broadcast_node(value, extents, "full")))
    return wrap_array(full_node(extents, sharing.private(value)))


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    """Evenly spaced values: `start + i * delta` with NumPy's delta, `(start + step) - start` in
    the result's type.
    """
    if stop is None:
        start, stop = 0, start
    start, stop, step = (_number(value) for value in (start, stop, step))
    if step == 0:
        raise DivisionError("arange needs a step other than 0", help="pass a positive step")
    if dtype is None:
        wanted = as_dtype(np.result_type(*(_type_of(v) for v in (start, stop, step))))
    else:
        wanted = as_dtype(dtype)
    steps = (stop - start) / step
    if abs(steps) >= 2**63:
        raise ValueRangeError("Maximum allowed size exceeded", why=f"{start} to {stop} by {step}")
    # what is left of a step is one, even where the quotient is too small for a number
    count = 1 if steps == 0 and stop != start and math.copysign(1, steps) > 0 else math.ceil(steps)
    if all(isinstance(value, int) for value in (start, stop, step)):
        count = len(range(start, stop, step))
    (count,) = as_shape(max(int(count), 0))
    return wrap_array(_range_node(start, step, count, wanted))


def _range_node(start: Any, step: Any, count: int, dtype: DType) -> Node:
    if dtype is BOOL or dtype.is_complex:
        first = np.arange(start, start + step * count, step, dtype=dtype.numpy)[:count]
        return sharing.adopted(first)
    kind = dtype.numpy.type
    with np.errstate(all="ignore"):
        first = np.array(start).astype(dtype.numpy)
        delta = (np.array(start + step).astype(dtype.numpy) - first).astype(dtype.numpy)
    args = (scalar(first.item(), dtype), scalar(kind(delta).item(), dtype))
    return trace.record(Node(IOTA, "", args, dtype, (count,)))


def _number(value: Any) -> Any:
    if isinstance(value, Handle):
        return value.item()  # type: ignore[attr-defined]
    return value.item() if isinstance(value, np.generic | np.ndarray) else value


def _type_of(value: Any) -> Any:
    kind = type(value)
    if kind is int and 2**63 <= value < 2**64:
        return np.dtype(np.uint64)
    return rules.DEFAULT[kind].numpy if kind in rules.DEFAULT else np.asarray(value).dtype


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Numbers evenly spaced over an interval, by NumPy's formula `i * step + start` with the last
    one exact.
    """
    begin, end, count = _number_or_array(start), _number_or_array(stop), num.__index__()
    as_shape(max(count, 0))
    wanted = FLOAT64 if dtype is None else as_dtype(dtype)
    plain = all(isinstance(value, int | float) for value in (begin, end))
    parts = count - 1 if endpoint else count
    step = (end - begin) / parts if plain and parts > 0 else 0.0
    if not plain or step == 0.0 or wanted is not FLOAT64:
        spread: Any = np.linspace
        kind = None if dtype is None else wanted.numpy
        made = spread(begin, end, count, endpoint, True, kind, axis)
        return (asarray(made[0]), made[1]) if retstep else asarray(made[0])
    index = cast(record.iota(count), FLOAT64)
    node = record.map_node("add", record.map_node("multiply", index, step), float(begin))
    if endpoint:
        last = record.map_node("equal", record.iota(count), count - 1)
        node = record.map_node("where", last, float(end), node)
    return (wrap_array(node), np.float64(step)) if retstep else wrap_array(node)


def _number_or_array(value: Any) -> Any:
    return sharing.content(value)[()] if isinstance(value, Handle) else value


def eye(rows: int, columns: int | None = None, k: int = 0, dtype: Any = float) -> Any:
    """Ones on a diagonal, zeros elsewhere: a comparison of two index ranges."""
    wanted = as_dtype(dtype)
    n, m = as_shape((rows, rows if columns is None else columns))
    down = record.placed(record.iota(n), 0, 2)
    across = record.placed(record.iota(m), 1, 2)
    hit = record.map_node("equal", record.map_node("subtract", across, down), scalar(k, INT64))
    return wrap_array(cast(hit, wanted))


def like(prototype: Any, dtype: Any, shape: Any, fill: Any, order: str = "K") -> Any:
    """An array of one value with another array's shape, type and layout, where they are not
    given.
    """
    node = record.node_of(prototype)
    wanted = node.dtype if dtype is None else as_dtype(dtype)
    made = full(node.shape if shape is None else shape, fill, wanted)
    return layouts.alike(prototype, made._node, order)
