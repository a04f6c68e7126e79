"""Arrays put together and taken apart along an axis; pieces are placed, never copied twice."""

from __future__ import annotations

import math
import operator
from itertools import pairwise
from typing import Any

import numpy as np

from fusewright.base.errors import ArgumentError, DTypeError, ShapeError, ValueRangeError
from fusewright.frontends.arrays import axes as axis_rules
from fusewright.frontends.arrays import core, creation, opaque, record, reductions, scans
from fusewright.frontends.arrays.core import Handle, wrap_array
from fusewright.frontends.arrays.dtypes import as_dtype, check_cast
from fusewright.frontends.arrays.views import root_of
from fusewright.ir.dtypes import DType
from fusewright.ir.graph import Node
from fusewright.numpy.arranging import widened
from fusewright.numpy.operands import (
    Function,
    NotRecorded,
    handle_of,
    is_foreign,
    ndim_of,
    node_of,
    recorded,
    stacked,
    viewed,
)


def _parts(arrays: Any, name: str) -> list[Any]:
    """The operands as arrays; an array is its rows."""
    if any(map(is_foreign, arrays)):
        raise NotRecorded(opaque.FOREIGN)
    parts = [handle_of(array) for array in arrays]
    if not parts:
        raise ValueRangeError(f"need at least one array to {name}")
    return parts


def _wanted(nodes: list[Node], dtype: Any, casting: str, out: Any) -> DType:
    """The result's type: `out`'s or the one asked for, which every operand may be converted to."""
    if dtype is not None and out is not None:
        raise DTypeError("only one of out= and dtype= says what the result's type is")
    chosen = dtype if out is None else out.dtype
    wanted = as_dtype(chosen or np.result_type(*(node.dtype.numpy for node in nodes)))
    for node in nodes:
        if chosen is not None:
            check_cast(node.dtype, wanted, casting)
    return wanted


def _given(joined: Node, out: Any) -> Any:
    """The result, or `out` with it."""
    if out is None:
        return wrap_array(joined)
    if tuple(out.shape) != joined.shape:
        raise ShapeError(f"out= has shape {out.shape}, the result has shape {joined.shape}")
    return reductions.into(out, joined)


def _finish(parts: list[Any], axis: int, dtype: Any, casting: str, out: Any) -> Any:
    nodes = [part._node for part in parts]
    wanted = _wanted(nodes, dtype, casting, out)
    joined = scans.concatenated([core.cast(node, wanted) for node in nodes], axis)
    if out is None or not _meets(out, parts) or tuple(out.shape) != joined.shape:
        return _given(joined, out)
    begin = 0
    for part in parts:  # as NumPy: a part that `out` lies over is read when its turn comes
        end = begin + part.shape[axis]
        out[(slice(None),) * axis + (slice(begin, end),)] = part
        begin = end
    return out


def _meets(out: Any, parts: list[Any]) -> bool:
    """Whether `out` may lie over one of the parts."""
    return isinstance(out, Handle) and any(root_of(part) is root_of(out) for part in parts)


@recorded(np.concatenate)
def concatenate(
    arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    """Arrays one after the other along an axis they have."""
    parts = _parts(arrays, "concatenate")
    if axis is None:
        return _finish([part.reshape(-1) for part in parts], 0, dtype, casting, out)
    first = parts[0].shape
    if not first:
        raise ShapeError("zero-dimensional arrays cannot be concatenated")
    at = axis_rules.one_axis(axis, len(first))
    for number, part in enumerate(parts):
        if len(part.shape) != len(first):
            raise ShapeError(
                "all the input array dimensions except for the concatenation axis must match "
                f"exactly, but array 0 has {len(first)} dimension(s) and array {number} has "
                f"{len(part.shape)}"
            )
        for dim, (want, have) in enumerate(zip(first, part.shape, strict=True)):
            if dim != at and want != have:
                raise ShapeError(
                    "all the input array dimensions except for the concatenation axis must match "
                    f"exactly, but along dimension {dim}, the array at index 0 has size {want} "
                    f"and the array at index {number} has size {have}"
                )
    return _finish(parts, at, dtype, casting, out)


@recorded(np.stack)
def stack(
    arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    """Arrays of one shape along a new axis."""
    parts = _parts(arrays, "stack")
    nodes = [part._node for part in parts]
    if any(node.shape != nodes[0].shape for node in nodes):
        raise ShapeError(
            "all input arrays must have the same shape",
            why=f"the shapes are {', '.join(str(node.shape) for node in nodes)}",
        )
    at = axis_rules.one_axis(axis, len(nodes[0].shape) + 1)
    if out is not None and _meets(out, parts):
        rows = [part[(slice(None),) * at + (None,)] for part in parts]
        return _finish(rows, at, dtype, casting, out)
    wanted = _wanted(nodes, dtype, casting, out)
    return _given(stacked([core.cast(node, wanted) for node in nodes], at), out)


def _stacking(original: Function, rank: int, axis: int | None) -> Function:
    """`vstack`, `hstack`, `dstack`: at least so many dims, then joined."""

    @recorded(original)
    def function(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
        parts = [widened(part, rank) for part in _parts(tup, "stack")]
        at = axis if axis is not None else int(len(parts[0]._shape) > 1)
        return concatenate(parts, at, dtype=dtype, casting=casting)

    return function


@recorded(np.column_stack)
def column_stack(tup: Any) -> Any:
    """One-dimensional arrays as the columns of a matrix."""
    parts = [p if len(p._shape) > 1 else p.reshape(-1, 1) for p in _parts(tup, "stack")]
    return concatenate(parts, 1)


@recorded(np.block)
def block(arrays: Any) -> Any:
    """An array of nested lists of blocks, joined from the innermost (the last axis) outwards."""
    depth = _depth(arrays)
    rank = max(depth, _rank(arrays))
    return _blocks(arrays, depth, rank)


def _depth(arrays: Any) -> int:
    if not isinstance(arrays, list):
        if isinstance(arrays, tuple):
            raise DTypeError("arrays is a tuple: use lists to arrange blocks")
        return 0
    if not arrays:
        raise ValueRangeError("List at arrays cannot be empty")
    depths = {_depth(item) for item in arrays}
    if len(depths) > 1:
        raise ValueRangeError("List depths are mismatched")
    return 1 + depths.pop()


def _rank(arrays: Any) -> int:
    if isinstance(arrays, list):
        return max(map(_rank, arrays))
    return len(node_of(arrays).shape)


def _blocks(arrays: Any, depth: int, rank: int) -> Any:
    if depth == 0:
        if is_foreign(arrays):
            raise NotRecorded(opaque.FOREIGN)
        part = handle_of(arrays)
        missing = rank - len(part._shape)
        return part[(None,) * missing] if missing else part.copy()
    return concatenate([_blocks(item, depth - 1, rank) for item in arrays], -depth)


@recorded(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Views of consecutive parts, as equal as possible."""
    ary = viewed(ary)
    at = axis_rules.one_axis(axis, len(ary._shape))
    extent = ary._shape[at]
    cuts = opaque.to_numpy(indices_or_sections)
    if ndim_of(cuts):
        edges = [0, *map(operator.index, cuts), extent]
    else:
        if cuts <= 0:
            raise ValueRangeError("number sections must be larger than 0.")
        creation.within_memory((int(cuts),), ary._dtype)  # each part is an array of its own
        size, extra = divmod(extent, int(cuts))
        edges = [0]
        for number in range(int(cuts)):
            edges.append(edges[-1] + size + (number < extra))
    lead = (slice(None),) * at
    return [ary[(*lead, slice(a, b))] for a, b in pairwise(edges)]


@recorded(np.split)
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    """Views of consecutive parts of equal size, or between cuts."""
    ary = viewed(ary)
    sections = opaque.to_numpy(indices_or_sections)
    extent = ary._shape[axis_rules.one_axis(axis, len(ary._shape))]
    if ndim_of(sections) == 0 and extent % int(sections):
        raise ValueRangeError(
            "array split does not result in an equal division",
            why=f"{extent} elements in {sections} parts",
            help="use array_split for unequal parts",
        )
    return array_split(ary, sections, axis)


def _splitting(original: Function, axis: int) -> Function:
    @recorded(original)
    def function(ary: Any, indices_or_sections: Any) -> Any:
        ary = viewed(ary)
        rank = len(ary._shape)
        need = max(axis + 1, 1 + (original is np.vsplit))
        if original is np.hsplit:
            if rank == 0:
                raise ValueRangeError("hsplit only works on arrays of 1 or more dimensions")
            return split(ary, indices_or_sections, 1 if rank > 1 else 0)
        if rank < need:
            raise ValueRangeError(
                f"{original.__name__} only works on arrays of {need} or more dimensions"
            )
        return split(ary, indices_or_sections, axis)

    return function


@recorded(np.unstack)
def unstack(x: Any, /, *, axis: int = 0) -> Any:
    """The parts along an axis, without it: views."""
    x = viewed(x)
    if not x._shape:
        raise ValueRangeError("Input array must be at least 1-d.")
    at = axis_rules.one_axis(axis, len(x._shape))
    lead = (slice(None),) * at
    return tuple(x[(*lead, number)] for number in range(x._shape[at]))


@recorded(np.append)
def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """Values after the array's."""
    arr, values = handle_of(arr), handle_of(values)
    if axis is None:
        return concatenate([arr.ravel(), values.ravel()], 0)
    return concatenate([arr, values], axis)


@recorded(np.resize)
def resize(a: Any, new_shape: Any) -> Any:
    """The elements over and over, as many as the new shape holds."""
    a = handle_of(a)
    shape = tuple(new_shape) if isinstance(new_shape, tuple | list) else (new_shape,)
    if any(type(n) is bool for n in shape):
        raise ArgumentError("`new_shape` is a tuple of integers")
    shape = tuple(map(operator.index, shape))
    count = math.prod(shape)
    size = a.size
    creation.within_memory(shape, a._dtype)
    if count < 0 or any(n < 0 for n in shape):
        raise ValueRangeError("all elements of `new_shape` must be non-negative")
    if size == 0 or count == 0:
        return wrap_array(record.broadcast_node(core.cast(record.node_of(0), a._dtype), shape))
    flat = a.ravel()
    whole, rest = divmod(count, size)
    parts = [flat] * whole + ([flat[:rest]] if rest else [])
    if whole > 64:
        raise NotRecorded("many repetitions")
    return concatenate(parts, 0).reshape(shape)


EXPORTS: dict[str, Function] = {
    "concatenate": concatenate, "concat": concatenate, "stack": stack,
    "vstack": _stacking(np.vstack, 2, 0), "row_stack": _stacking(np.vstack, 2, 0),
    "hstack": _stacking(np.hstack, 1, None), "dstack": _stacking(np.dstack, 3, 2),
    "column_stack": column_stack, "block": block, "array_split": array_split, "split": split,
    "hsplit": _splitting(np.hsplit, 1), "vsplit": _splitting(np.vsplit, 0),
    "dsplit": _splitting(np.dsplit, 2), "unstack": unstack, "append": append, "resize": resize,
}  # fmt: skip
