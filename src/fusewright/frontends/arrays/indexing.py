"""Subscripts: what `a[...]` names, by NumPy's rules.

`parse` turns a subscript into basic steps (slices, integers, new axes: a view) and, where arrays
index, into a gather.
"""

from __future__ import annotations

from operator import index as as_index
from typing import Any, NamedTuple

import numpy as np

from fusewright.base.errors import ArgumentError, BoundsError, ValueRangeError
from fusewright.frontends.arrays import opaque, record, sharing, trace
from fusewright.frontends.arrays.core import Handle, cast
from fusewright.frontends.arrays.views import Places, view_node
from fusewright.ir.dtypes import BOOL, INT64
from fusewright.ir.graph import GATHER, Node

Shape = tuple[int, ...]
Entry = Any


class Basic(NamedTuple):
    """A view: its places and shape, and whether it is one element (all indexed, no ellipsis)."""

    places: Places
    shape: Shape
    element: bool


class OnNewAxis(NamedTuple):
    """What a boolean scalar among other subscripts names: element 0 of a new axis, or none."""

    indices: Node


class Fancy:
    """A view first (`places`, `shape`), then index arrays on some of its dims, standing at
    `position`.

    `arrays` maps a dim of the view to its index array (wrapped, in range, all of shape
    `index_shape`).
    """

    __slots__ = ("arrays", "index_shape", "places", "position", "shape")

    def __init__(
        self,
        places: Places,
        shape: Shape,
        arrays: dict[int, Node],
        index_shape: Shape,
        position: int,
    ) -> None:
        self.places = places
        self.shape = shape
        self.arrays = arrays
        self.index_shape = index_shape
        self.position = position

    @property
    def result_shape(self) -> Shape:
        rest = [n for dim, n in enumerate(self.shape) if dim not in self.arrays]
        return (*rest[: self.position], *self.index_shape, *rest[self.position :])


def parse(key: Any, shape: Shape) -> Basic | Fancy:
    """What a subscript names in an array of a shape."""
    entries = tuple(key) if isinstance(key, tuple) else (key,)
    for entry in entries:
        if type(entry) not in PLAIN and is_array_index(entry):
            return _parse_fancy(_normalised(entries), shape)
    return parse_basic(entries, shape)


PLAIN = frozenset((int, slice, type(None), type(Ellipsis)))
"""The classes of subscripts that are never index arrays."""


def is_array_index(entry: Entry) -> bool:
    """Whether a subscript entry is an index array (a boolean scalar is one, an integer scalar is
    not).
    """
    if isinstance(entry, bool | np.bool_ | list | tuple | range):
        return True
    if isinstance(entry, np.ndarray):
        return entry.ndim > 0 or entry.dtype.kind == "b"
    if isinstance(entry, Handle):
        return bool(entry._shape) or entry._dtype is BOOL
    if entry is None or entry is Ellipsis or isinstance(entry, slice):
        return False
    if hasattr(entry, "__index__") or isinstance(entry, str | bytes):
        return False
    return hasattr(entry, "__array__") or (hasattr(entry, "__len__") and hasattr(entry, "__iter__"))


def parse_basic(entries: tuple[Entry, ...], shape: Shape) -> Basic:
    """What slices, integers, an ellipsis and new axes name."""
    places: list[tuple[int, int, int]] = []
    out: list[int] = []
    rank = len(shape)
    element = True
    for entry in entries:
        dim = len(places)
        if type(entry) is slice:
            if dim >= rank:
                raise too_many(entries, shape)
            start, stop, step = _slice_bounds(entry, shape[dim])
            places.append((len(out), start, step))
            out.append(len(range(start, stop, step)))
        elif entry is None:
            out.append(1)
        elif entry is Ellipsis:
            element = False
            skipped = _ellipsis_length(entries, shape)
            for offset in range(skipped):
                places.append((len(out), 0, 1))
                out.append(shape[dim + offset])
        else:
            if dim >= rank:
                raise too_many(entries, shape)
            places.append((-1, checked(entry, shape[dim], dim), 0))
    for dim in range(len(places), rank):
        places.append((len(out), 0, 1))
        out.append(shape[dim])
    return Basic(tuple(places), tuple(out), element and not out)


def _slice_bounds(entry: slice, extent: int) -> tuple[int, int, int]:
    try:
        return entry.indices(extent)
    except TypeError as error:
        why = f"the slice is {entry}"
        raise ArgumentError(str(error), why=why, help="convert with int(...), or use //") from None
    except ValueError as error:
        raise ValueRangeError(str(error), help="use a positive or negative step") from None


def checked(entry: Entry, extent: int, dim: int) -> int:
    """An integer subscript, wrapped if negative."""
    try:
        value = as_index(entry)
    except TypeError:
        raise _not_an_index(entry) from None
    if not -extent <= value < extent:
        raise out_of_bounds(value, extent, dim)
    return value + extent if value < 0 else value


def out_of_bounds(value: int, extent: int, dim: int) -> BoundsError:
    """An index outside a dim."""
    why = f"valid indices run from {-extent} to {extent - 1}" if extent else "the axis is empty"
    return BoundsError(
        f"index {value} is out of bounds for axis {dim} with size {extent}",
        why=why,
        help="check the loop bounds, or clip the indices",
    )


def _not_an_index(entry: Entry) -> BoundsError:
    return BoundsError(
        "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or "
        "boolean arrays are valid indices",
        why=f"the subscript holds {entry!r}",
        help="convert the index with int(...) or .astype(int)",
    )


def too_many(entries: tuple[Entry, ...], shape: Shape) -> BoundsError:
    """More subscripts than dims."""
    count = sum(_consumed(entry) for entry in entries)
    return BoundsError(
        f"too many indices for array: array is {len(shape)}-dimensional, but {count} were indexed",
        why=f"the array has shape {shape}",
        help="remove a subscript, or add an axis with None",
    )


def _consumed(entry: Entry) -> int:
    """The dims of the array an entry stands for."""
    if entry is None or entry is Ellipsis:
        return 0
    if isinstance(entry, Node | np.ndarray) and (entry.dtype is BOOL or entry.dtype == np.bool_):
        return len(entry.shape)
    return 1


def _ellipsis_length(entries: tuple[Entry, ...], shape: Shape) -> int:
    if sum(entry is Ellipsis for entry in entries) > 1:
        raise BoundsError("an index can only have a single ellipsis ('...')")
    length = len(shape) - sum(map(_consumed, entries))
    if length < 0:
        raise too_many(entries, shape)
    return length


def _normalised(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Index arrays as recorded int64 or bool values; the other entries as they are."""
    return tuple(index_node(entry) if is_array_index(entry) else entry for entry in entries)


def index_node(entry: Entry) -> Node:
    """An index array as a recorded value of integers or booleans."""
    if isinstance(entry, Handle):
        node = entry._node
    else:
        array = sharing.numpy_array(entry)
        if array.size == 0 and not isinstance(entry, np.ndarray):
            array = array.astype(np.int64)
        if array.dtype.kind not in "biu":
            raise _array_kind(array.dtype)
        node = sharing.snapshot(array)
    if node.dtype is not BOOL and not node.dtype.is_integer:
        raise _array_kind(node.dtype)
    return node


def _array_kind(dtype: Any) -> BoundsError:
    return BoundsError(
        "arrays used as indices must be of integer (or boolean) type",
        why=f"the index array holds {dtype}",
        help="convert it with .astype(int)",
    )


def _parse_fancy(entries: tuple[Entry, ...], shape: Shape) -> Fancy:
    """NumPy's placement: index arrays (and integers among them) in a row stay in place, else they
    come first.
    """
    entries = _expand_masks(_expand_ellipsis(entries, shape), shape)
    advanced = [at for at, e in enumerate(entries) if _is_advanced(e)]
    adjacent = advanced[-1] - advanced[0] + 1 == len(advanced)
    places: list[tuple[int, int, int]] = []
    out: list[int] = []
    arrays: dict[int, Node] = {}
    position = 0
    for at, entry in enumerate(entries):
        if at == advanced[0] and adjacent:
            position = len(out)
        dim = len(places)
        if entry is Ellipsis:
            continue
        if entry is None or isinstance(entry, OnNewAxis):
            if entry is not None:
                arrays[len(out)] = entry.indices
            out.append(1)
            continue
        if dim >= len(shape):
            raise too_many(entries, shape)
        if isinstance(entry, Node):
            places.append((len(out), 0, 1))
            arrays[len(out)] = wrapped(entry, shape[dim], dim)
            out.append(shape[dim])
        elif isinstance(entry, slice):
            start, stop, step = _slice_bounds(entry, shape[dim])
            places.append((len(out), start, step))
            out.append(len(range(start, stop, step)))
        else:
            places.append((-1, checked(entry, shape[dim], dim), 0))
    for dim in range(len(places), len(shape)):
        places.append((len(out), 0, 1))
        out.append(shape[dim])
    common = record.broadcast_shapes("index arrays", [node.shape for node in arrays.values()])
    spread = {dim: record.broadcast_node(node, common) for dim, node in arrays.items()}
    return Fancy(tuple(places), tuple(out), spread, common, position)


def _is_advanced(entry: Entry) -> bool:
    return not (entry is None or entry is Ellipsis or isinstance(entry, slice))


def _expand_ellipsis(entries: tuple[Entry, ...], shape: Shape) -> tuple[Entry, ...]:
    """Full slices for an ellipsis; one that stands for no dim stays, as it parts index arrays."""
    for at, entry in enumerate(entries):
        if entry is Ellipsis:
            filled = (slice(None),) * _ellipsis_length(entries, shape) or (Ellipsis,)
            return (*entries[:at], *filled, *entries[at + 1 :])
    return entries


def _expand_masks(entries: tuple[Entry, ...], shape: Shape) -> tuple[Entry, ...]:
    """A boolean array stands for the index arrays of its true elements."""
    out: list[Entry] = []
    dim = 0
    for entry in entries:
        if isinstance(entry, Node) and entry.dtype is BOOL:
            extents = shape[dim : dim + len(entry.shape)]
            mask = sharing.content_of(fitting_mask(entry, extents, dim))
            if not mask.ndim:
                out.append(OnNewAxis(sharing.owned(np.zeros(int(mask), np.int64))))
                continue
            found = opaque.in_numpy("nonzero", np.nonzero, mask)
            out.extend(sharing.owned(part) for part in found)
            dim += len(entry.shape)
        else:
            out.append(entry)
            dim += entry is not None and entry is not Ellipsis
    return tuple(out)


def fitting_mask(mask: Node, extents: Shape, dim: int) -> Node:
    """A boolean index for dims of these extents; one without elements selects nothing."""
    if mask.shape == extents:
        return mask
    pairs = zip(mask.shape, extents, strict=False)
    if len(mask.shape) == len(extents) and all(have in (0, want) for have, want in pairs):
        return record.broadcast_node(record.node_of(False), extents)
    raise _mask_mismatch(mask.shape, extents, dim)


def _mask_mismatch(mask: Shape, extents: Shape, dim: int) -> BoundsError:
    """A boolean index of the wrong shape."""
    for at, (have, want) in enumerate(zip(mask, extents, strict=False)):
        if have != want:
            return BoundsError(
                f"boolean index did not match indexed array along axis {dim + at}; size of axis "
                f"is {want} but size of corresponding boolean axis is {have}",
                why=f"the mask has shape {mask}, the dims it indexes {extents}",
                help="build the mask from the array it indexes",
            )
    return BoundsError(
        f"too many indices for array: the mask has {len(mask)} dimensions",
        why=f"only {len(extents)} are left to index",
    )


def wrapped(node: Node, extent: int, dim: int) -> Node:
    """Index values as int64 in [0, extent): checked here, at the user's line."""
    values = sharing.content_of(node)
    if values.size:
        low, high = int(values.min()), int(values.max())
        if high >= extent or low < -extent:
            raise out_of_bounds(high if high >= extent else low, extent, dim)
        if low < 0:
            fixed = values.astype(np.int64)
            fixed[fixed < 0] += extent
            return sharing.owned(fixed)
    return cast(sharing.private(node), INT64)


def gather(source: Node, fancy: Fancy) -> Node:
    """Record the reading of the elements index arrays name."""
    view = source
    if fancy.shape != source.shape or fancy.places != _identity(source.shape):
        view = view_node(source, fancy.places, fancy.shape)
    numbers = {dim: number + 1 for number, dim in enumerate(sorted(fancy.arrays))}
    operands = tuple(numbers.get(dim, -1) for dim in range(len(fancy.shape)))
    args = (view, *(fancy.arrays[dim] for dim in sorted(fancy.arrays)))
    attr = (fancy.position, operands)
    return trace.record(Node(GATHER, "", args, source.dtype, fancy.result_shape, attr))


def _identity(shape: Shape) -> Places:
    return tuple((dim, 0, 1) for dim in range(len(shape)))
