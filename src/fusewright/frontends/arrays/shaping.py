"""Other arrangements of the same elements: reshape, transpose, squeeze, broadcast."""

from __future__ import annotations

import gc
import math
import operator
import sys
from sys import getrefcount
from typing import Any

from fusewright.base.errors import ShapeError, ValueRangeError
from fusewright.frontends.arrays import axes as axis_rules
from fusewright.frontends.arrays import core, layouts, record, sharing
from fusewright.frontends.arrays.core import READ_ONLY, Handle, wrap_array
from fusewright.frontends.arrays.views import (
    Reshape,
    Slice,
    Window,
    assemble,
    identity,
    make_view,
    reshape_node,
    reshaped_strides,
    strides_of,
    transposed,
    view_node,
)
from fusewright.ir.dtypes import DType
from fusewright.ir.dtypes import component as part_of
from fusewright.ir.graph import scalar

Shape = tuple[int, ...]


def as_base(handle: Handle) -> Handle:
    """What a view can be made of: scalars are values, a view of one is a view of a copy."""
    return wrap_array(handle._node) if isinstance(handle, core.scalar_class) else handle


def resolved_shape(wanted: Any, shape: Shape) -> Shape:
    """A new shape with at most one -1 filled in."""
    if not isinstance(wanted, tuple | list):
        wanted = (wanted,)
    extents = [n.__index__() for n in wanted]
    size = math.prod(shape)
    if extents.count(-1) > 1:
        raise ValueRangeError("can only specify one unknown dimension")
    if -1 in extents:
        rest = math.prod(n for n in extents if n != -1)
        if rest <= 0 or size % rest:
            raise _cannot_reshape(size, tuple(extents), shape)
        extents[extents.index(-1)] = size // rest
    if math.prod(extents) != size or any(n < 0 for n in extents):
        raise _cannot_reshape(size, tuple(extents), shape)
    return tuple(extents)


def _cannot_reshape(size: int, wanted: Shape, shape: Shape) -> ShapeError:
    spelled = f"({wanted[0]},)" if len(wanted) == 1 else str(wanted)
    return ShapeError(
        f"cannot reshape array of size {size} into shape {spelled}",
        why=f"the array has shape {shape}: {size} elements; {spelled} does not hold as many",
        help="use -1 for one extent to have it computed",
    )


def reshape(handle: Handle, wanted: Any, order: str = "C", copy: bool | None = None) -> Any:
    """A view where no element has to move, else a new array."""
    if order in ("A", "a"):
        as_is = is_straight(handle) or not layouts.is_as_asked(handle, "F")
        order = "C" if as_is else "F"
    if order in ("F", "f"):
        extents = resolved_shape(wanted, handle._shape)
        turned = transposed(as_base(handle), tuple(reversed(range(len(handle._shape)))))
        back = reshape(turned, tuple(reversed(extents)), copy=copy)
        return transposed(back, tuple(reversed(range(len(extents)))))
    shape = resolved_shape(wanted, handle._shape)
    if copy:
        return _reshaped_copy(handle, shape)
    base = as_base(handle)
    if is_straight(base) or _moves_nothing(base, shape):
        return make_view(base, Reshape(shape, base._shape))
    if copy is False:
        raise ValueRangeError("unable to avoid creating a copy while reshaping")
    return _reshaped_copy(base, shape)


def _reshaped_copy(handle: Handle, shape: Shape) -> Any:
    node = reshape_node(handle._node, shape)
    return core.array_on(layouts.plain(sharing.private(node)))


def set_shape(handle: Any, wanted: Any) -> None:
    """`x.shape = ...`: refused where elements would have to move."""
    before, after = handle._shape, reshape(handle, wanted, copy=False)._shape
    if before == after:
        return
    if handle._base is None:
        handle._node = reshape_node(handle._node, after)
    else:
        _become(handle, reshape(make_view(handle._base, handle._link), after, copy=False))
    _move_views(handle, Reshape(before, after))


def set_dtype(handle: Any, row: DType) -> None:
    """`x.dtype = ...`: the same bytes, from now on read as another element type."""
    old, shape = handle._dtype, handle._shape
    if row is old:
        return
    if handle._base is None:
        handle._node = reinterpreted(handle, row)._node
    else:
        _become(handle, reinterpreted(make_view(handle._base, handle._link), row))
    last = old.itemsize if row.itemsize != old.itemsize else 0
    _move_views(handle, Window(old, shape, 0, last))


def _become(handle: Any, view: Any) -> None:
    """A view names what another one does."""
    handle._base, handle._link = view._base, view._link
    handle._version = handle._cached = None


def _move_views(handle: Any, link: Reshape | Window) -> None:
    """Views of a handle that has another shape or element type now: they see it as it was."""
    known = [each for each in gc.get_referrers(handle) if type(each) is core.view_class]
    as_before = make_view(handle, link)
    for view in known:
        view._base, view._version, view._cached = as_before, None, None


class _Probe:
    def count(self) -> int:
        return getrefcount(self)


def _alone() -> int:
    probe = _Probe()
    return probe.count()


ALONE = _alone()
"""What a method sees of an object that one variable holds."""


def resize(handle: Any, wanted: Any, seen: int) -> None:
    """`x.resize(...)` of an array its method has `seen` so many references to."""
    shape = tuple(
        n.__index__() for n in (wanted if isinstance(wanted, tuple | list) else (wanted,))
    )
    have, want = math.prod(handle._shape), math.prod(shape)
    if have == want:  # nothing is gained or lost: who else sees the memory does not matter
        set_shape(handle, shape)
        return
    if handle._base is not None:
        raise ValueRangeError(
            "cannot resize this array: it does not own its data", help="use np.resize(x, shape)"
        )
    if seen > ALONE:
        raise ValueRangeError(
            "cannot resize an array that references or is referenced by another array",
            why="a view of it may exist",
            help="use np.resize(x, shape), or refcheck=False where there is none",
        )
    places, kept = ((0, 0, 1),), (min(have, want),)
    flat = view_node(reshape_node(handle._node, (have,)), places, kept)
    if want > have:
        zeros = record.broadcast_node(scalar(0, handle._dtype), (want,))
        flat = assemble(zeros, places, kept, flat)
    handle._node = sharing.private(reshape_node(flat, shape))


def is_straight(handle: Handle) -> bool:
    """Whether the elements lie in C order without gaps."""
    return layouts.is_straight(handle._shape, strides_of(handle), handle._dtype.itemsize)


def _moves_nothing(handle: Handle, shape: Shape) -> bool:
    return reshaped_strides(handle._shape, strides_of(handle), shape) is not None


def ravel(handle: Handle, order: str | None = "C", copy: bool = False) -> Any:
    """One-dimensional; a view where the elements lie side by side in that order, else a copy."""
    base = as_base(handle)
    letter = (order or "C").upper()
    if letter not in "CFAK" or len(letter) != 1:
        raise ValueRangeError(f"order must be one of 'C', 'F', 'A', or 'K' (got '{order}')")
    shape, strides, size = base._shape, strides_of(base), base._dtype.itemsize
    if letter == "K":
        steps = tuple(0 if n == 1 else s for n, s in zip(shape, strides, strict=True))
        dims = layouts.elementwise_order([steps], len(shape))
    else:
        dims = layouts.copy_order(shape, strides, size, letter)
    turned = base if layouts.is_in_order(dims) else transposed(base, dims)
    wanted = (-1,) if 0 not in shape else (0,)
    return reshape(turned, wanted, copy=copy or not is_straight(turned) or None)


def transpose(handle: Handle, axes: Any = None) -> Any:
    """Dims in another order, reversed by default."""
    rank = len(handle._shape)
    if axes is None:
        order = tuple(reversed(range(rank)))
    else:
        order = tuple(axis_rules.one_axis(a, rank) for a in axes)
        if sorted(order) != list(range(rank)):
            raise ValueRangeError(
                "axes don't match array",
                why=f"{tuple(axes)} is not a permutation of the {rank} axes",
            )
    return handle if isinstance(handle, core.scalar_class) else transposed(handle, order)


def swapaxes(handle: Handle, first: int, second: int) -> Any:
    """Two dims exchanged."""
    rank = len(handle._shape)
    order = list(range(rank))
    a, b = axis_rules.one_axis(first, rank), axis_rules.one_axis(second, rank)
    order[a], order[b] = order[b], order[a]
    return transposed(as_base(handle), tuple(order))


def squeeze(handle: Handle, axis: Any = None) -> Any:
    """Dims of extent 1 dropped."""
    shape = handle._shape
    if axis is None:
        gone = tuple(dim for dim, n in enumerate(shape) if n == 1)
    else:
        gone = axis_rules.many_axes(axis, len(shape))
        if any(shape[dim] != 1 for dim in gone):
            raise ShapeError(
                "cannot select an axis to squeeze out which has size not equal to one",
                why=f"the shape is {shape}, axis={axis}",
            )
    if not gone:
        return handle
    return _kept(as_base(handle), gone)


def _kept(base: Handle, gone: tuple[int, ...]) -> Any:
    places: list[tuple[int, int, int]] = []
    out: list[int] = []
    for dim, extent in enumerate(base._shape):
        if dim in gone:
            places.append((-1, 0, 0))
        else:
            places.append((len(out), 0, 1))
            out.append(extent)
    return make_view(base, Slice(tuple(places), tuple(out)))


def expand_dims(handle: Handle, axis: Any) -> Any:
    """New dims of extent 1 at the given places of the result."""
    count = len(axis) if isinstance(axis, tuple | list) else 1
    rank = len(handle._shape) + count
    fresh = axis_rules.many_axes(axis, rank)
    old = [dim for dim in range(rank) if dim not in fresh]
    shape = [1] * rank
    for dim, extent in zip(old, handle._shape, strict=True):
        shape[dim] = extent
    places = tuple((dim, 0, 1) for dim in old)
    return make_view(as_base(handle), Slice(places, tuple(shape)))


def flip(handle: Handle, axis: Any = None) -> Any:
    """Elements in reverse order along axes: a view."""
    shape = handle._shape
    if axis is None and not shape:
        return handle[()]  # type: ignore[index]
    if axis is None and len(shape) == 1:
        return handle[::-1]  # type: ignore[index]
    turned = axis_rules.many_axes(axis, len(shape))
    places = tuple(
        (dim, n - 1, -1) if dim in turned and n else (dim, 0, 1) for dim, n in enumerate(shape)
    )
    return make_view(as_base(handle), Slice(places, shape))


def broadcast_to(x: Any, shape: Any) -> Any:
    """A read-only view repeated to a shape."""
    handle = as_base(x) if isinstance(x, Handle) else wrap_array(record.node_of(x))
    have, want = handle._shape, tuple(n.__index__() for n in _as_tuple(shape))
    lead = len(want) - len(have)
    if lead < 0 or any(a not in (1, b) for a, b in zip(have, want[lead:], strict=True)):
        raise record.mismatch("broadcast_to", [have, want])
    if math.prod(filter(None, want)) > sys.maxsize // handle._dtype.itemsize:
        raise ValueRangeError("Maximum allowed dimension exceeded", why=f"the shape is {want}")
    places = tuple(
        (-1, 0, 0) if n == 1 and want[lead + dim] != 1 else (lead + dim, 0, 1)
        for dim, n in enumerate(have)
    )
    view = make_view(handle, Slice(places, want))
    view._flags |= READ_ONLY
    return view


def _as_tuple(shape: Any) -> tuple[Any, ...]:
    return tuple(shape) if isinstance(shape, tuple | list) else (shape,)


def diagonal(handle: Handle, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """A read-only view of a diagonal, as the last dim."""
    shape = handle._shape
    if len(shape) < 2:
        raise ShapeError("diag requires an array of at least two dimensions", why=f"shape {shape}")
    offset = operator.index(offset)  # NumPy's small integers would wrap around
    first = axis_rules.one_axis(axis1, len(shape))
    second = axis_rules.one_axis(axis2, len(shape))
    if first == second:
        raise ValueRangeError("axis1 and axis2 cannot be the same")
    down, across = max(-offset, 0), max(offset, 0)
    length = max(min(shape[first] - down, shape[second] - across), 0)
    rest = [dim for dim in range(len(shape)) if dim not in (first, second)]
    places = [(0, 0, 1)] * len(shape)
    for number, dim in enumerate(rest):
        places[dim] = (number, 0, 1)
    last = len(rest)
    places[first] = (last, down if length else 0, 1)
    places[second] = (last, across if length else 0, 1)
    view_shape = (*(shape[dim] for dim in rest), length)
    view = make_view(as_base(handle), Slice(tuple(places), view_shape))
    view._flags |= READ_ONLY
    return view


def part(handle: Handle, name: str) -> Any:
    """`real` or `imag`: a writable view of a complex array; of a real one itself or read-only
    zeros.
    """
    dtype = handle._dtype
    if not dtype.is_complex:
        if name == "real":
            return handle
        zero = scalar(False if dtype.kind == "b" else 0, dtype)
        if isinstance(handle, core.scalar_class):
            return core.wrap(zero)
        return broadcast_to(wrap_array(zero), handle._shape)
    if isinstance(handle, core.scalar_class):
        return core.wrap(record.map_node(name, handle))
    half = part_of(dtype)
    return make_view(handle, Window(half, handle._shape, half.itemsize * (name == "imag"), 0))


def _lies_in_elements(handle: Handle, itemsize: int) -> bool:
    """Whether the last dim holds whole elements of that size side by side."""
    length, size = handle._shape[-1], handle._dtype.itemsize
    side_by_side = length == 1 or 0 in handle._shape or strides_of(handle)[-1] == size
    return side_by_side and length * size % itemsize == 0


def reinterpreted(handle: Handle, dtype: DType) -> Any:
    """The same bytes as another element type."""
    old, shape = handle._dtype, handle._shape
    if dtype is old:
        return make_view(as_base(handle), Slice(identity(shape), shape))
    if dtype.itemsize == old.itemsize:
        return make_view(as_base(handle), Window(dtype, shape, 0, 0))
    if not shape or not _lies_in_elements(handle, dtype.itemsize):
        raise ValueRangeError(
            "to change to a dtype of a different size, the last axis must be contiguous",
            why=f"the array has shape {shape} of {old}, asked for {dtype}",
        )
    last = shape[-1] * old.itemsize // dtype.itemsize
    return make_view(as_base(handle), Window(dtype, (*shape[:-1], last), 0, dtype.itemsize))
