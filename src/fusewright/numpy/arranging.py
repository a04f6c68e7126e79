"""The same elements in another arrangement: views and index maps, no pass over memory."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from fusewright.base.errors import AxisError, ShapeError, ValueRangeError
from fusewright.frontends.arrays import axes as axis_rules
from fusewright.frontends.arrays import (
    core,
    creation,
    front,
    layouts,
    opaque,
    record,
    scans,
    shaping,
)
from fusewright.frontends.arrays.core import Handle, wrap_array
from fusewright.frontends.arrays.views import identity, reshape_node, transposed, view_node
from fusewright.ir.graph import ASSEMBLE, VIEW, Node
from fusewright.numpy.operands import Function, NotRecorded, handle_of, node_of, recorded, viewed

Run = tuple[int, int, int]
"""Start, step and count of consecutive indices with one distance."""
MAX_PIECES = 8
"""Copies of a tile that are placed one by one; more are read through a broadcast."""


@recorded(np.reshape)
def reshape(a: Any, /, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    """The elements in another shape."""
    return shaping.reshape(viewed(a), opaque.to_numpy(shape), order, copy)


@recorded(np.ravel)
def ravel(a: Any, order: str = "C") -> Any:
    """The elements in one dimension."""
    return shaping.ravel(viewed(a), order)


@recorded(np.transpose)
def transpose(a: Any, axes: Any = None) -> Any:
    """The axes in another order."""
    return shaping.transpose(viewed(a), axes)


@recorded(np.matrix_transpose)
def matrix_transpose(x: Any, /) -> Any:
    """The last two axes exchanged."""
    x = viewed(x)
    if len(x._shape) < 2:
        raise ShapeError(f"Input array must be at least 2-dimensional, but it is {len(x._shape)}")
    return shaping.swapaxes(x, -1, -2)


@recorded(np.swapaxes)
def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """Two axes exchanged."""
    return shaping.swapaxes(viewed(a), axis1, axis2)


@recorded(np.moveaxis)
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """Axes moved to other places, the others in their order."""
    a = viewed(a)
    rank = len(a._shape)
    old, new = (
        [axis_rules.one_axis(axis, rank) for axis in _as_list(axes)]
        for axes in (source, destination)
    )
    if len(old) != len(new):
        raise ValueRangeError(
            "`source` and `destination` arguments must have the same number of elements"
        )
    if len(set(old)) != len(old) or len(set(new)) != len(new):
        raise ValueRangeError("repeated axis in `source` or `destination` argument")
    order = [axis for axis in range(rank) if axis not in old]
    for place, axis in sorted(zip(new, old, strict=True)):
        order.insert(place, axis)
    return transposed(a, tuple(order))


def _as_list(axes: Any) -> list[Any]:
    return list(axes) if isinstance(axes, tuple | list) else [axes]


@recorded(np.rollaxis)
def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """One axis moved before another."""
    a = viewed(a)
    rank = len(a._shape)
    axis = axis_rules.one_axis(axis, rank)
    start = start + rank if start < 0 else start
    if not 0 <= start <= rank:
        raise AxisError(f"'start' arg requires {-rank} <= start < {rank + 1}")
    order = [dim for dim in range(rank) if dim != axis]
    order.insert(start - 1 if axis < start else start, axis)
    return transposed(a, tuple(order))


@recorded(np.expand_dims)
def expand_dims(a: Any, axis: Any) -> Any:
    """New axes of extent 1."""
    return shaping.expand_dims(viewed(a), axis)


@recorded(np.squeeze)
def squeeze(a: Any, axis: Any = None) -> Any:
    """Axes of extent 1 dropped."""
    return shaping.squeeze(viewed(a), axis)


@recorded(np.broadcast_to)
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    """A read-only view repeated to a shape."""
    array = viewed(array)
    return shaping.broadcast_to(array, opaque.to_numpy(shape))


@recorded(np.broadcast_arrays)
def broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    """All arrays as views of one shape."""
    handles = [viewed(arg) for arg in args]
    if not handles:
        return ()
    shape = record.broadcast_shapes("broadcast_arrays", [handle._shape for handle in handles])
    return tuple(h if h._shape == shape else shaping.broadcast_to(h, shape) for h in handles)


def _at_least(rank: int, original: Function) -> Function:
    @recorded(original)
    def function(*arys: Any) -> Any:
        made = tuple(widened(viewed(a), rank) for a in arys)
        return made[0] if len(made) == 1 else made

    return function


def widened(a: Any, rank: int) -> Any:
    """At least `rank` dims, placed as NumPy places them."""
    have = len(a._shape)
    if have >= rank:
        return a
    if rank == 3 and have == 2:
        return a[:, :, None]
    if rank == 3 and have == 1:
        return a[None, :, None]
    return a[(None,) * (rank - have)]


@recorded(np.flip)
def flip(m: Any, axis: Any = None) -> Any:
    """Elements in reverse order along axes; a number of an array without any, as in NumPy."""
    flipped = shaping.flip(viewed(m), axis)
    return flipped if flipped._shape else flipped[()]


def _flipped(original: Function, axis: int) -> Function:
    @recorded(original)
    def function(m: Any) -> Any:
        m = viewed(m)
        if len(m._shape) <= axis:
            raise ShapeError(f"Input must be >= {axis + 1}-d.")
        return shaping.flip(m, axis)

    return function


@recorded(np.rot90)
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """Turned by quarter turns in the plane of two axes."""
    m = viewed(m)
    rank = len(m._shape)
    if len(axes) != 2:
        raise ValueRangeError("len(axes) must be 2.")
    one, two = (axis_rules.one_axis(axis, rank) for axis in axes)
    if one == two:
        raise ValueRangeError("Axes must be different.")
    turned = m if k % 2 == 0 else shaping.swapaxes(m, one, two)
    flips = {0: (), 1: (one,), 2: (one, two), 3: (two,)}[k % 4]
    return shaping.flip(turned, flips) if flips else turned[...]


@recorded(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """Elements shifted round: two pieces along each axis."""
    node = node_of(a)
    shape = node.shape
    if axis is None:
        flat = reshape_node(node, (math.prod(shape),))
        return wrap_array(reshape_node(rolled(flat, int(opaque.to_numpy(shift)), 0), shape))
    shifts, axes = _as_list(opaque.to_numpy(shift)), _as_list(axis)
    if 1 not in (len(shifts), len(axes)) and len(shifts) != len(axes):
        raise ShapeError("'shift' and 'axis' should be scalars or 1D sequences of one length")
    count = max(len(shifts), len(axes))
    shifts = shifts * count if len(shifts) == 1 else shifts
    axes = axes * count if len(axes) == 1 else axes
    total: dict[int, int] = {}
    for amount, where in zip(shifts, axes, strict=True):
        at = axis_rules.one_axis(where, len(shape))
        total[at] = total.get(at, 0) + int(amount)
    for at, amount in total.items():
        node = rolled(node, amount, at)
    return layouts.alike(a, node, "K")


def rolled(node: Node, shift: int, axis: int) -> Node:
    """Shifted along an axis; what leaves at one end comes in at the other."""
    extent = node.shape[axis]
    shift = shift % extent if extent else 0
    if shift == 0:
        return node
    return by_runs(node, axis, [(extent - shift, 1, shift), (0, 1, extent - shift)])


def run_of(node: Node, axis: int, run: Run) -> Node:
    """The elements of one run of indices along an axis."""
    start, step, count = run
    shape = (*node.shape[:axis], count, *node.shape[axis + 1 :])
    places = list(identity(node.shape))
    places[axis] = (axis, start, step)
    return view_node(node, tuple(places), shape)


def by_runs(node: Node, axis: int, runs: list[Run]) -> Node:
    """The elements whose indices along an axis are the given runs, one after the other."""
    return scans.concatenated([run_of(node, axis, run) for run in runs], axis)


def runs_of(indices: Any) -> list[Run]:
    """Consecutive indices with one distance, as few runs as a greedy look finds.

    >>> runs_of([2, 1, 0, 1, 2, 2, 2])
    [(2, -1, 3), (1, 1, 2), (2, 0, 2)]
    """
    runs: list[Run] = []
    for index in map(int, indices):
        if runs:
            start, step, count = runs[-1]
            if count == 1 and abs(index - start) <= 1:
                runs[-1] = (start, index - start, 2)
                continue
            if count > 1 and index == start + step * count:
                runs[-1] = (start, step, count + 1)
                continue
        runs.append((index, 1, 1))
    return runs


@recorded(np.tile)
def tile(A: Any, reps: Any) -> Any:
    """The array repeated along its axes."""
    a = handle_of(A)
    reps = tuple(map(operator.index, _as_list(opaque.to_numpy(reps))))
    rank = max(len(reps), len(a._shape))
    reps = (1,) * (rank - len(reps)) + reps
    if min(reps, default=0) < 0:
        raise ShapeError("negative dimensions are not allowed", why=f"`reps` is {reps}")
    creation.within_memory((*reps, *a._shape), a._dtype)
    node = reshape_node(a._node, (1,) * (rank - len(a._shape)) + a._shape)
    for axis, count in enumerate(reps):
        node = _tiled(node, axis, count)
    return wrap_array(node)


def _tiled(node: Node, axis: int, count: int) -> Node:
    if count == 1:
        return node
    extent = node.shape[axis]
    shape = (*node.shape[:axis], extent * count, *node.shape[axis + 1 :])
    if 1 < count <= MAX_PIECES:
        return by_runs(node, axis, [(0, 1, extent)] * count)
    return reshape_node(_inserted(node, axis, count), shape)


def _inserted(node: Node, axis: int, count: int) -> Node:
    """A new axis along which the values repeat."""
    shape = (*node.shape[:axis], count, *node.shape[axis:])
    places = tuple((d if d < axis else d + 1, 0, 1) for d in range(len(node.shape)))
    return core.record(VIEW, (node,), node.dtype, shape, places)


@recorded(np.repeat)
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """Each element repeated; one number of repeats costs no pass, several are gathered."""
    a = handle_of(a)
    node = a._node if a._shape else reshape_node(a._node, (1,))
    if axis is None:
        node, axis = reshape_node(node, (math.prod(node.shape),)), 0
    at = axis_rules.one_axis(axis, len(node.shape))
    extent = node.shape[at]
    counts = np.asarray(opaque.to_numpy(repeats))
    if counts.ndim > 1 or (counts.size and counts.min() < 0) or counts.dtype.kind not in "iu":
        raise NotRecorded("NumPy refuses these repeats")
    if counts.size != 1:
        chosen = np.repeat(np.arange(extent), counts)
        whole: Any = wrap_array(node)
        return whole[(*(slice(None),) * at, chosen)]
    count = int(counts.reshape(()))
    shape = (*node.shape[:at], extent * count, *node.shape[at + 1 :])
    creation.within_memory(shape, node.dtype)
    if not 1 < count <= MAX_PIECES:
        return wrap_array(reshape_node(_inserted(node, at + 1, count), shape))
    attr = tuple(
        tuple((number, count) if dim == at else (0, 1) for dim in range(len(shape)))
        for number in range(count)
    )
    return wrap_array(core.record(ASSEMBLE, (node,) * count, node.dtype, shape, attr))


@recorded(np.diagonal)
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """A read-only view of a diagonal."""
    return shaping.diagonal(viewed(a), offset, axis1, axis2)


@recorded(np.trace)
def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Any:
    """The sum along a diagonal."""
    return shaping.diagonal(handle_of(a), offset, axis1, axis2).sum(-1, dtype, out)


_AT_ONCE: dict[Any, Function] = {
    np.shape: lambda shape: shape, np.ndim: len, np.size: lambda shape: math.prod(shape),
}  # fmt: skip
"""What is asked, of a shape."""


def _of_shape(original: Function) -> Function:
    known = _AT_ONCE[original]

    def function(a: Any, *args: Any, **kwargs: Any) -> Any:
        """Known without computing anything."""
        if not isinstance(a, Handle):
            a = handle_of(a) if type(a) in (list, tuple) and _nested(a) else a
            if not isinstance(a, Handle):
                return original(a, *args, **kwargs)
        if not args and not kwargs:
            return known(a._shape)
        return original(np.broadcast_to(np.empty((), np.int8), a._shape), *args, **kwargs)

    function.__name__ = original.__name__
    return function


def _nested(a: Any) -> bool:
    return any(isinstance(item, Handle) for item in a)


@recorded(np.diag)
def diag(v: Any, k: int = 0) -> Any:
    """A matrix with a given diagonal, or the diagonal of a matrix (a view)."""
    v, k = viewed(v), operator.index(k)
    if len(v._shape) == 2:
        return shaping.diagonal(v, k)
    if len(v._shape) != 1:
        raise ShapeError("Input must be 1- or 2-d.", why=f"the shape is {v._shape}")
    return _on_diagonal(v, k)


def _spread(v: Any, k: int) -> Any:
    n = v._shape[0] + abs(k)
    result = creation.zeros((n, n), v.dtype)
    flat = result.reshape(-1)
    start = k if k >= 0 else -k * n
    flat[start : start + v._shape[0] * (n + 1) : n + 1] = v
    return result


_on_diagonal = front.at_once(np.diag, _spread, limit=64)  # what it makes is that squared


@recorded(np.diagflat)
def diagflat(v: Any, k: int = 0) -> Any:
    """A matrix with the flat array on its diagonal."""
    return diag(handle_of(v).ravel(), k)


EXPORTS: dict[str, Function] = {
    "diag": diag, "diagflat": diagflat,
    "reshape": reshape, "ravel": ravel, "transpose": transpose, "permute_dims": transpose,
    "matrix_transpose": matrix_transpose, "swapaxes": swapaxes, "moveaxis": moveaxis,
    "rollaxis": rollaxis, "expand_dims": expand_dims, "squeeze": squeeze,
    "broadcast_to": broadcast_to, "broadcast_arrays": broadcast_arrays,
    "atleast_1d": _at_least(1, np.atleast_1d), "atleast_2d": _at_least(2, np.atleast_2d),
    "atleast_3d": _at_least(3, np.atleast_3d), "flip": flip, "flipud": _flipped(np.flipud, 0),
    "fliplr": _flipped(np.fliplr, 1), "rot90": rot90, "roll": roll, "tile": tile,
    "repeat": repeat, "diagonal": diagonal, "trace": trace,
    "shape": _of_shape(np.shape), "ndim": _of_shape(np.ndim), "size": _of_shape(np.size),
}  # fmt: skip
