"""Writing: what `a += b`, `a[...] = b` and `out=` have in common.

A write makes a new version of the value.  Where the memory is shared with NumPy the version lands
in that very memory before the statement ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusewright.base.errors import DTypeError, ReadOnlyError, ShapeError
from fusewright.frontends.arrays import core, layouts, record, sharing, trace
from fusewright.frontends.arrays import dtypes as rules
from fusewright.frontends.arrays.core import READ_ONLY, Handle, cast
from fusewright.ir.dtypes import DType
from fusewright.ir.graph import VIEW, Node, is_shared

Shape = tuple[int, ...]


def write_root(handle: Handle, node: Node) -> None:
    """A root's new value."""
    old = handle._node
    if is_shared(old):
        sharing.land(handle, old, node)
    else:
        handle._node = layouts.plain(sharing.private(node))


def check_writable(handle: Handle) -> None:
    """Refuse to write into a read-only array, or into a number, which is no place."""
    if isinstance(handle, core.scalar_class):
        raise DTypeError(
            "a number does not support item assignment, nor is it an output",
            why="what one subscript for each dim, or a reduction, gives is a number, as in NumPy",
            help="write to the array: x[i, ...] = value, or x[i:i + 1] as out=",
        )
    if handle._flags & READ_ONLY:
        raise ReadOnlyError(
            "assignment destination is read-only",
            why="the array is a broadcast view, shares read-only memory, or was locked",
            help="write to a copy: x = x.copy()",
        )


def store(handle: Handle, node: Node, casting: str = "same_kind") -> None:
    """Make a computed value the content of a handle, if shape and type allow it."""
    check_writable(handle)
    shape, dtype = handle._shape, handle._dtype
    if node.dtype is not dtype:
        rules.check_cast(node.dtype, dtype, casting)
        node = cast(node, dtype)
    if node.shape != shape:
        node = fitted(node, shape)
    handle._write(node)


def fitted(node: Node, shape: Shape) -> Node:
    """The value broadcast to the shape of the place it goes to."""
    if record.broadcast_shapes("output", [node.shape, shape]) != shape:
        raise ShapeError(
            f"non-broadcastable output operand with shape {shape} doesn't match the "
            f"broadcast shape {node.shape}",
            why="the result has more elements than the array it is written to",
            help="write x = x + y instead of x += y to make a new array",
        )
    return record.broadcast_node(node, shape)


def value_node(value: Any, dtype: DType) -> Node:
    """What is stored when `value` is assigned to elements of a type: NumPy casts without asking
    here.
    """
    if _may_be_refused(value, dtype):
        return rules.stored_scalar(sharing.content(value)[()], dtype)
    if isinstance(value, Handle):
        return cast(value._node, dtype)
    if isinstance(value, Node):
        return cast(value, dtype)
    if type(value) in rules.DEFAULT or (isinstance(value, np.generic) and dtype.is_integer):
        return rules.stored_scalar(value, dtype)
    if type(value) in (list, tuple) and dtype.is_integer:
        value = _known(value, dtype)
    if type(value) in (list, tuple) and not _holds_handles(value):
        value = np.array(value, dtype.numpy)  # each number is stored as one: some are refused
    return cast(record.node_of(value), dtype)


def _may_be_refused(value: Any, dtype: DType) -> bool:
    """Whether a lazy number has to be known before it is stored: NumPy refuses NaN, infinities and
    numbers out of range, and drops imaginary parts of no number, where they go to integers.  Of
    integers it refuses those that signed ones do not hold.
    """
    if type(value) is not core.scalar_class or not dtype.is_integer or trace.is_held():
        return False
    source = value._dtype
    return source.kind in "fc" or (dtype.kind == "i" and not np.can_cast(source.numpy, dtype.numpy))


def may_hold_refused(value: Any, dtype: DType) -> bool:
    """Whether a list holds lazy numbers that have to be known before they are stored."""
    if type(value) in (list, tuple):
        return any(may_hold_refused(item, dtype) for item in value)
    return _may_be_refused(value, dtype)


def _known(value: Any, dtype: DType) -> Any:
    """Lists without lazy numbers that may be refused: NumPy looks at each."""
    if type(value) in (list, tuple):
        return [_known(item, dtype) for item in value]
    return sharing.content(value)[()] if _may_be_refused(value, dtype) else value


def _holds_handles(value: Any) -> bool:
    return any(
        isinstance(item, Handle) or (type(item) in (list, tuple) and _holds_handles(item))
        for item in value
    )


def assigned(value: Any, dtype: DType, shape: Shape) -> Node:
    """A value for a region of the given type and shape."""
    node = value_node(value, dtype)
    if node.shape == shape:
        return node
    while len(node.shape) > len(shape) and node.shape[0] == 1:
        node = _without_first(node)
    try:
        return record.broadcast_node(node, shape)
    except ShapeError:
        raise ShapeError(
            f"could not broadcast input array from shape {node.shape} into shape {shape}",
            why=f"the place assigned to has shape {shape}, the value {node.shape}",
            help="make the extents equal, or 1 where the value shall be repeated",
        ) from None


def _without_first(node: Node) -> Node:
    from_shape = node.shape[1:]
    places = ((-1, 0, 0), *((dim, 0, 1) for dim in range(len(from_shape))))
    return trace.record(Node(VIEW, "", (node,), node.dtype, from_shape, places))
