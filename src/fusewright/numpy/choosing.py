"""Elements picked out, put back, or thrown away."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright.base.errors import BoundsError, ShapeError, UnsupportedError, ValueRangeError
from fusewright.base.later import later
from fusewright.frontends.arrays import axes as axis_rules
from fusewright.frontends.arrays import (
    inplace,
    items,
    layouts,
    opaque,
    record,
    sharing,
    trace,
)
from fusewright.frontends.arrays.core import Handle, cast, wrap_array
from fusewright.frontends.arrays.dtypes import check_cast
from fusewright.ir.dtypes import BOOL, INT64
from fusewright.numpy.calculus import along, joined
from fusewright.numpy.elementwise import placed, select
from fusewright.numpy.operands import (
    LIBRARY,
    Function,
    NotRecorded,
    asking,
    delegated,
    hand_over,
    handle_of,
    library,
    ndim_of,
    node_of,
    recorded,
)
from fusewright.numpy.ufuncs import u

if TYPE_CHECKING:
    from fusewright.frontends.arrays import standins
else:
    standins = later("fusewright.frontends.arrays.standins")


@recorded(np.take)
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """Elements at indices along an axis."""
    a = handle_of(a)
    if axis is None:
        a, axis = a if len(a._shape) == 1 else a.ravel(), 0
    at = axis_rules.one_axis(axis, len(a._shape))
    if type(indices) is not int:
        indices = handle_of(indices)
        if not indices._dtype.is_integer:
            raise NotRecorded("indices that are no integers")
    if mode != "raise":
        extent = a._shape[at]
        if mode not in ("wrap", "clip") or extent == 0:
            raise NotRecorded("this mode of take")
        if mode == "wrap":
            indices = u.remainder(indices, extent)
        else:
            indices = u.minimum(u.maximum(indices, 0), extent - 1)
    found = a[along(at, len(a._shape), indices)]
    if out is not None:
        return placed(found, out)
    return found if found.base is None and found.flags.c_contiguous else found.copy()


@recorded(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    """For each place along an axis the element its index names."""
    arr, indices = handle_of(arr), handle_of(indices)
    if axis is None:
        arr, axis = arr.ravel(), 0
    return arr[_fancy(arr, indices, axis)]


def _fancy(arr: Any, indices: Any, axis: int) -> tuple[Any, ...]:
    """The subscript that varies along an axis by index and along the others by place."""
    rank = len(arr._shape)
    at = axis_rules.one_axis(axis, rank)
    if indices._dtype.kind not in "iu":
        raise _not_integers(indices)
    if len(indices._shape) != rank:
        raise ShapeError("`indices` and `arr` must have the same number of dimensions")
    return tuple(
        indices if dim == at else wrap_array(record.placed(record.iota(n), dim, rank))
        for dim, n in enumerate(arr._shape)
    )


def _not_integers(indices: Any) -> BoundsError:
    return BoundsError(
        "`indices` must be an integer array",
        why=f"it holds {indices._dtype}",
        help="convert it with .astype(int)",
    )


def in_place(name: str, original: Function, target: Any, *args: Any, **kwargs: Any) -> Any:
    """A function that writes into its first argument: NumPy works on a copy, which becomes the
    new content.
    """
    if not isinstance(target, Handle):
        return original(target, *map(opaque.to_numpy, args), **kwargs)
    inplace.check_writable(target)
    work = np.array(sharing.content(target), order="C")
    plain = [opaque.to_numpy(arg) for arg in args]
    try:
        hand_over(name, lambda: original(work, *plain, **kwargs), (), {}, LIBRARY)
    finally:  # NumPy keeps what it has written before an error, too
        inplace.store(target, sharing.adopted(work))


def _writer(original: Function) -> Function:
    def function(arr: Any, *args: Any, **kwargs: Any) -> Any:
        kwargs = {key: opaque.to_numpy(value) for key, value in kwargs.items()}
        return in_place(original.__name__, original, arr, *args, **kwargs)

    function.__name__, function.__doc__ = original.__name__, original.__doc__
    return function


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """Set elements by flat index."""
    in_place("put", np.put, a, ind, v, mode=mode)


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Copy values into an array, where a mask says so."""
    if dst is src and isinstance(dst, Handle):  # NumPy looks at the type of the mask only
        same = np.empty(0)
        np.copyto(same, same, where=opaque.to_numpy(where))
        return
    if not isinstance(dst, Handle):
        np.copyto(dst, opaque.to_numpy(src), casting=casting, where=opaque.to_numpy(where))  # type: ignore[arg-type]
        return
    if where is not True and getattr(where, "dtype", None) is not BOOL.numpy:
        chosen = np.zeros(dst._shape, bool)
        np.copyto(chosen, True, where=opaque.to_numpy(where))  # NumPy says whether it is a mask
        where = chosen
    is_number = type(src) in (int, float, complex, bool)
    if is_number:  # NumPy says whether it may be cast
        np.copyto(np.empty(0, dst.dtype), src, casting=casting)  # type: ignore[attr-defined,arg-type]
    try:
        node = inplace.value_node(src, dst._dtype) if is_number else node_of(src)
    except UnsupportedError:
        in_place("copyto", np.copyto, dst, src, casting=casting, where=opaque.to_numpy(where))
        return
    check_cast(node.dtype, dst._dtype, casting)
    node = record.broadcast_node(cast(node, dst._dtype), dst._shape, "copyto")
    if where is not True:
        mask = record.broadcast_node(cast(node_of(where), BOOL), dst._shape, "copyto")
        inplace.check_writable(dst)
        with trace.lock:  # another thread's write meanwhile would be lost
            items.choose(dst, mask, node)
    else:
        inplace.store(dst, node, casting)


def putmask(a: Any, mask: Any, values: Any) -> None:
    """Set the elements under a mask, from values of the same shape or repeated."""
    if isinstance(a, Handle) and ndim_of(values) == 0 and np.shape(mask) == a._shape:
        value = standins.Standins()(values)
        np.putmask(np.empty(0, a._dtype.numpy), [], value)  # NumPy says whether it may be cast
        chosen = mask if isinstance(mask, Handle) else np.asarray(mask, bool)
        a[handle_of(chosen).astype(bool)] = values  # type: ignore[index]
    else:
        in_place("putmask", np.putmask, a, mask, values)


def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """Set for each place along an axis the element its index names."""
    in_place("put_along_axis", np.put_along_axis, arr, indices, values, axis)


@recorded(np.compress)
def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    """The parts along an axis where a condition holds."""
    a, mask = handle_of(a), node_of(condition)
    if len(mask.shape) != 1 or mask.dtype is not BOOL or out is not None:
        raise NotRecorded("unusual conditions")
    if axis is None:
        a, axis = a.ravel(), 0
    chosen = opaque.in_numpy("flatnonzero", np.flatnonzero, sharing.content_of(mask))
    found = a[along(axis_rules.one_axis(axis, len(a._shape)), len(a._shape), chosen)]
    return layouts.new(found._node, "C")


@recorded(np.extract)
def extract(condition: Any, arr: Any) -> Any:
    """The elements where a condition holds."""
    return compress(handle_of(condition).ravel(), handle_of(arr).ravel())


@recorded(np.choose)
def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """For each element the choice its index names."""
    index = handle_of(a)
    count = len(choices)
    whole = index._dtype.is_integer or index._dtype is BOOL
    if not whole or not index.size or out is not None or mode not in ("raise", "wrap", "clip"):
        raise NotRecorded("unusual choices")
    if mode == "wrap":
        index = u.remainder(index, count)
    elif mode == "clip":
        index = u.minimum(u.maximum(index, 0), count - 1)
    elif index.size and (int(index.min()) < 0 or int(index.max()) >= count):
        raise ValueRangeError("invalid entry in choice array")
    if count == 1:
        raise NotRecorded("one choice")
    *others, last = choices  # a number beside them would take part in their common type
    result = select([u.equal(index, number) for number in range(count - 1)], others, last)
    return result if result._shape else result[()]


@recorded(np.delete)
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """The array without the parts named."""
    arr = handle_of(arr)
    if axis is None:
        arr, axis = arr.ravel(), 0
    at = axis_rules.one_axis(axis, len(arr._shape))
    kept = np.delete(np.arange(arr._shape[at]), opaque.to_numpy(obj))
    if isinstance(obj, int | np.integer):
        cut = int(obj) % arr._shape[at]
        rank = len(arr._shape)
        parts = [arr[along(at, rank, slice(cut))], arr[along(at, rank, slice(cut + 1, None))]]
        return layouts.alike(arr, joined(parts, at)._node, "A")
    return arr[along(at, len(arr._shape), kept)]


def _found(original: Function) -> Function:
    """`nonzero`, `flatnonzero`, `argwhere`: how many there are depends on the data, so they
    compute.
    """
    name = original.__name__
    return recorded(original)(
        lambda a: opaque.delegate(name, original, (handle_of(a),), why=LIBRARY, written=None)
    )


@recorded(np.searchsorted)
def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    """Where to insert values to keep the order: a library step of known shape."""
    if sorter is not None or side not in ("left", "right"):
        raise NotRecorded("a sorter")
    nodes = (node_of(a), node_of(v))
    if len(nodes[0].shape) != 1:
        raise ValueRangeError("object of too small depth for desired array")
    return opaque.opaque(
        "searchsorted", lambda x, y: np.searchsorted(x, y, side), nodes, INT64, nodes[1].shape
    )


@recorded(np.digitize)
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """The bin of each value; the bins are looked at."""
    edges = sharing.content_of(node_of(bins))
    node = node_of(x)
    np.digitize(np.zeros(0), edges, right)  # refuses bins that are not monotonic
    if node.dtype.is_complex:
        raise NotRecorded("complex numbers")
    edges = edges.copy()
    return opaque.opaque(
        "digitize", lambda values: np.digitize(values, edges, right), (node,), INT64, node.shape
    )


@asking(np.ix_)
def ix_(*args: Any) -> Any:
    """Index arrays that span an open mesh: views of what is given."""
    rank = len(args)
    return tuple(_along(each, dim, rank) for dim, each in enumerate(args))


def _along(given: Any, dim: int, rank: int) -> Any:
    vector = handle_of(given)
    if len(vector._shape) != 1:
        raise ValueRangeError("Cross index must be 1 dimensional")
    if 0 in vector._shape and not isinstance(given, Handle | np.ndarray):
        vector = vector.astype(np.int64)
    if vector._dtype is BOOL:
        (vector,) = vector.nonzero()
    return vector.reshape(*(-1 if at == dim else 1 for at in range(rank)))


@recorded(np.trim_zeros)
def trim_zeros(filt: Any, trim: Any = "fb", *args: Any, **kwargs: Any) -> Any:
    """The array without the zeros at its ends: a view."""
    if not isinstance(filt, Handle):
        raise NotRecorded
    content = sharing.content(filt)
    left = np.trim_zeros(content, trim, *args, **kwargs).shape
    found = opaque.in_numpy("nonzero", np.nonzero, content)
    first = [int(at.min()) if len(at) else 0 for at in found]
    cut = "f" in trim.lower()
    starts = (
        at if cut and n != m else 0 for at, n, m in zip(first, left, filt._shape, strict=True)
    )
    return filt[tuple(slice(at, at + n) for at, n in zip(starts, left, strict=True))]  # type: ignore[index]


def ordinary(names: str, make: Callable[[Function], Function]) -> dict[str, Function]:
    """NumPy's functions of these names, each made ours."""
    return {name: make(getattr(np, name)) for name in names.split()}


EXPORTS: dict[str, Function] = {
    "take": take, "take_along_axis": take_along_axis, "put": put, "copyto": copyto,
    "putmask": putmask, "put_along_axis": put_along_axis, "place": _writer(np.place),
    "fill_diagonal": _writer(np.fill_diagonal), "compress": compress, "extract": extract,
    "choose": choose, "delete": delete, "searchsorted": searchsorted, "digitize": digitize,
    "ix_": ix_, "trim_zeros": trim_zeros, **ordinary("nonzero flatnonzero argwhere", _found),
    **ordinary("insert piecewise apply_along_axis apply_over_axes", delegated),
    **ordinary("unravel_index ravel_multi_index packbits unpackbits", library),
    **ordinary("tril_indices_from triu_indices_from diag_indices_from", library),
}  # fmt: skip
