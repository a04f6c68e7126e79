"""Reading and writing `a[...]`."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright.base.errors import ArgumentError, ShapeError, ValueRangeError
from fusewright.base.figures import KERNEL_ELEMENTS
from fusewright.base.later import later
from fusewright.frontends.arrays import (
    agreement,
    core,
    immediate,
    indexing,
    inplace,
    masking,
    opaque,
    record,
    sharing,
    trace,
)
from fusewright.frontends.arrays.core import OWNS, Handle, cast, wrap, wrap_array
from fusewright.frontends.arrays.indexing import PLAIN, Basic, Fancy
from fusewright.frontends.arrays.views import Slice, make_view, nearest, transposed, view_node
from fusewright.ir.dtypes import BOOL
from fusewright.ir.graph import LEAF, MAP, VIEW, Node

if TYPE_CHECKING:
    from fusewright.frontends.arrays import strided
else:
    strided = later("fusewright.frontends.arrays.strided")

NDArray = np.ndarray[Any, np.dtype[Any]]


def getitem(handle: Handle, key: Any) -> Any:
    """`handle[key]`: a view for slices, a gather for index arrays, for a single element NumPy's
    number, or a lazy one where it is not computed yet.
    """
    try:
        return _get(handle, key)
    except agreement.REFUSALS as error:
        raise agreement.caught_alike(error, "getitem", operator.getitem, (handle, key)) from None


def _get(handle: Handle, key: Any) -> Any:
    if type(key) is int:
        read = immediate.item(handle, key)
        if read is not None:
            return read
    what: Basic | Fancy | None = plain(key, handle)
    if what is None:
        if type(key) in core.handle_classes and _is_looked_at(key):
            chosen = immediate.library(operator.getitem, handle, key)
            if chosen is not None:
                return chosen
        part = _masked_part(handle, key)
        if part is not None:
            trace.evaluate(handle._node)  # whose other parts will be read, too
            return wrap_array(masking.picked(part[0]._node, part[1]))
        mask = full_mask(key, handle)
        if mask is not None and not (handle._node.layout and len(mask.shape) < len(handle._shape)):
            return masking.select(handle._node, mask)
        what = indexing.parse(key, handle._shape)
    if isinstance(what, Fancy):
        return _gathered(handle._node, what)
    if what.element:
        number = immediate.element(handle._node, what.places)
        if number is not None:
            return number
        return wrap(sharing.private(view_node(handle._node, what.places, what.shape)))
    if isinstance(handle, core.scalar_class):
        handle = wrap_array(handle._node)
    return make_view(handle, Slice(what.places, what.shape))


def _is_mask(entry: Any) -> bool:
    if isinstance(entry, np.ndarray):
        return entry.dtype == np.bool_ and entry.ndim > 0
    return isinstance(entry, Handle) and entry._dtype is BOOL and bool(entry._shape)


def _masked_part(handle: Handle, key: Any) -> tuple[Handle, Node] | None:
    """`x[i, mask]` as the part `x[i]` and its mask; None of any other subscript.  NumPy walks the
    part then, and else lists the places first, in eight times the time where few are selected.
    """
    if type(key) is not tuple or len(key) == 1:
        return None
    mask: Any = None
    entries: list[Any] = []
    for entry in key:
        if type(entry) in (int, np.int64):
            entries.append(entry)
        elif mask is None and _is_mask(entry):
            mask = entry
            entries += [slice(None)] * mask.ndim
        else:
            return None
    if mask is None or len(entries) != len(handle._shape):
        return None
    what = indexing.parse_basic(tuple(entries), handle._shape)
    if what.shape != mask.shape:
        return None  # NumPy says so
    return make_view(handle, Slice(what.places, what.shape)), indexing.index_node(mask)


def _gathered(source: Node, what: Fancy) -> Any:
    """What index arrays name: as in NumPy, their dims are the outermost in memory."""
    outermost = Fancy(what.places, what.shape, what.arrays, what.index_shape, 0)
    first = wrap_array(indexing.gather(source, outermost))
    if what.position == 0:
        return first
    count, rank = len(what.index_shape), len(what.result_shape)
    order = [*range(count, rank)]
    order[what.position : what.position] = range(count)
    moved = transposed(first, tuple(order))
    moved._flags |= OWNS
    return moved


def _is_looked_at(key: Handle) -> bool:
    """Whether an index array is looked at now, if its values are known: masks are, if small."""
    is_mask = key._dtype is BOOL and math.prod(key._shape) <= KERNEL_ELEMENTS
    return key._dtype.is_integer or is_mask


def plain(key: Any, handle: Handle) -> Basic | None:
    """A subscript of nothing but slices, integers, ellipsis and new axes; None for any other."""
    if type(key) is not tuple:
        return indexing.parse_basic((key,), handle._shape) if type(key) in PLAIN else None
    for entry in key:
        if type(entry) not in PLAIN:
            return None
    return indexing.parse_basic(key, handle._shape)


def full_mask(key: Any, handle: Handle) -> Node | None:
    """A subscript that is one boolean array over leading dims, as a recorded value."""
    if isinstance(key, tuple) and len(key) == 1:
        key = key[0]
    if isinstance(key, Handle):
        node = key._node
        if node.dtype is not BOOL:
            return None
    elif isinstance(key, np.ndarray) and key.dtype == np.bool_:
        node = sharing.snapshot(key)
    elif isinstance(key, bool | np.bool_):
        node = record.node_of(bool(key))
    elif isinstance(key, list) and _is_bool_list(key):
        node = sharing.snapshot(np.asarray(key))
    else:
        return None
    return indexing.fitting_mask(node, handle._shape[: len(node.shape)], 0)


def _is_bool_list(key: list[Any]) -> bool:
    return bool(key) and np.asarray(key).dtype == np.bool_


def delitem(handle: Handle, key: Any) -> None:
    """`del handle[key]`, which NumPy has no meaning for."""
    raise ValueRangeError(
        "cannot delete array elements",
        why="an array keeps its shape",
        help="np.delete makes a new array without them",
    )


def setitem(handle: Handle, key: Any, value: Any) -> None:
    """`handle[key] = value`."""
    if type(value) is str and handle._dtype.kind == "f":  # a word of a file that was split
        target: Any = handle
        target[key] = float(value)
        return
    try:
        inplace.check_writable(handle)
        with trace.lock:  # another thread's write meanwhile would be lost
            _set(handle, key, value)
    except agreement.REFUSALS as error:
        agreement.settled(error, "setitem", operator.setitem, (handle, key, value), {}, (0,))


def _set(handle: Handle, key: Any, value: Any) -> None:
    if immediate.write(handle, key, value):
        return None
    what: Basic | Fancy | None = plain(key, handle)
    if what is None:
        part = _masked_part(handle, key)
        if part is not None:
            return _set_picked(*part, value)
        mask = full_mask(key, handle)
        if mask is not None and masking.is_picked_for(handle, value):
            masking.node_of(value)
            target: Any = handle
            target[key] = value
            return None
        if mask is not None:
            return _set_masked(handle, mask, value)
        what = indexing.parse(key, handle._shape)
    if isinstance(what, Fancy):
        return _set_fancy(handle, what, value)
    return _set_slice(handle, what, value)


def _set_slice(handle: Handle, what: Basic, value: Any) -> None:
    link = Slice(what.places, what.shape)
    if isinstance(value, core.view_class) and _is_view_of(value, handle, link):
        return  # the last act of `a[1:] += b`: the view has written already
    node = inplace.value_node(value, handle._dtype)
    if what.element and node.shape and not (node.dtype is BOOL and _is_single(node)):
        raise ShapeError(
            "setting an array element with a sequence.",
            why=f"the subscript names one element, the value has shape {node.shape}",
            help="assign to a slice, or use value.item()",
        )
    spread = inplace.assigned(node, handle._dtype, what.shape)
    if _strided(handle):
        sharing.forget_value(handle)  # it would see what its memory held
        write_through(make_view(handle, link), (node,), strided.write_all)
    else:
        handle._write(link.put(handle._node, spread))


def _is_view_of(view: Any, handle: Handle, link: Slice) -> bool:
    base, found = nearest(view._base, view._link)
    where, wanted = nearest(handle, link)
    return base is where and found == wanted


def _set_masked(handle: Handle, mask: Node, value: Any) -> None:
    shape = handle._shape
    full = masking.full_size(value, mask)
    if full is not None and mask.shape == shape:
        return choose(handle, mask, cast(full, handle._dtype))
    node = inplace.value_node(value, handle._dtype)
    if len(mask.shape) == len(shape) and len(node.shape) > 1:
        raise ArgumentError(
            "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input "
            f"has {len(node.shape)} dimensions",
            help="use value.ravel(), or np.where(mask, value, x)",
        )
    is_list = bool(node.shape) and mask.kind == LEAF  # as many as are selected, by chance one
    if is_list or not _is_single(node):
        return _set_picked(handle, mask, node)
    if node.shape:
        node = view_node(node, tuple((-1, 0, 0) for _ in node.shape), ())
    if mask.shape != shape:
        places = tuple((dim, 0, 1) for dim in range(len(mask.shape)))
        mask = trace.record(Node(VIEW, "", (mask,), BOOL, shape, places))
    return choose(handle, mask, node)


def _set_picked(handle: Handle, mask: Node, value: Any) -> None:
    """Write as many elements as a mask selects."""
    count = int(np.count_nonzero(sharing.content_of(mask)))
    selected = (count, *handle._shape[len(mask.shape) :])
    node = inplace.assigned(value, handle._dtype, selected)
    write_through(handle, (node, mask), _write_mask)


def choose(handle: Handle, mask: Node, node: Node) -> None:
    """Write a value's elements where a mask holds."""
    if _strided(handle):
        write_through(handle, (node, mask), strided.write_where)
    else:
        old = handle._node
        chosen = Node(MAP, "where", (mask, node, old), old.dtype, handle._shape)
        handle._write(trace.record(chosen))


def _is_single(node: Node) -> bool:
    return all(extent == 1 for extent in node.shape)


UNCOMPILED = "assignment through index arrays has no compiled form"


def write_through(handle: Handle, operands: tuple[Node, ...], write: strided.Write) -> None:
    """NumPy writes: into the memory itself where nobody else sees it, else into a copy."""
    opaque.refuse_if_strict("a[...] = b", UNCOMPILED)
    if not trace.is_lazy() and immediate.gets_alone(handle, operands):
        others = [sharing.content_of(node) for node in operands]
        opaque.delegate("setitem", lambda: write(handle._node, *others), why=UNCOMPILED)
        sharing.forget_value(handle)
        return
    base, link = _strided(handle) or (handle, _whole(handle))
    base._write(link.written(base._node, operands, write))


def _strided(handle: Handle) -> tuple[Handle, strided.Strided] | None:
    """Of a view with elements in several places: what it is a view of, and how."""
    if isinstance(handle, core.view_class):
        base, link = nearest(handle._base, handle._link)
        if link.writes_through:
            return base, link  # type: ignore[return-value]
    return None


def _whole(handle: Handle) -> strided.Strided:
    """The view that changes nothing."""
    shape = handle._shape
    return strided.Strided(
        (0,) * len(shape), shape, tuple(((dim, 1),) for dim in range(len(shape)))
    )


def _write_mask(target: Node, value: NDArray, mask: NDArray) -> None:
    sharing.window(target)[mask] = value


def _set_fancy(handle: Handle, what: Fancy, value: Any) -> None:
    node = inplace.assigned(value, handle._dtype, what.result_shape)
    write = _FancyWrite(what)
    write_through(handle, (node, *write.indices), write)


class _FancyWrite:
    """Writes through index arrays on an ndarray, as NumPy orders the writes (the last of equal
    indices wins).
    """

    __slots__ = ("indices", "order", "places", "position", "rank", "shape", "ufunc")

    def __init__(self, what: Fancy, ufunc: np.ufunc | None = None) -> None:
        indexed = sorted(what.arrays)
        self.indices = tuple(what.arrays[dim] for dim in indexed)
        self.order = (*indexed, *(d for d in range(len(what.shape)) if d not in what.arrays))
        self.places, self.shape = what.places, what.shape
        self.position, self.rank = what.position, len(what.index_shape)
        self.ufunc = ufunc

    def __call__(self, target: Node, value: NDArray, *indices: NDArray) -> None:
        region = sharing.window(view_node(target, self.places, self.shape))
        place = region.transpose(self.order)
        spread = range(self.position, self.position + self.rank)
        moved = np.moveaxis(value, spread, range(self.rank))
        if self.ufunc is None:
            place[indices] = moved
        else:
            self.ufunc.at(place, indices, moved)


def update_at(ufunc: np.ufunc, handle: Handle, key: Any, value: Any) -> None:
    """`ufunc.at(handle, key, value)`: unbuffered, so equal indices accumulate."""
    inplace.check_writable(handle)
    mask = full_mask(key, handle)
    what = indexing.parse(
        key if mask is None else opaque.in_numpy("nonzero", np.nonzero, sharing.content_of(mask)),
        handle._shape,
    )
    if isinstance(what, Basic):
        what = Fancy(what.places, what.shape, {}, (), 0)
    node = record.node_of(value)
    node = record.broadcast_node(node, what.result_shape)
    write = _FancyWrite(what, ufunc)
    with trace.lock:  # as above
        write_through(handle, (node, *write.indices), write)
