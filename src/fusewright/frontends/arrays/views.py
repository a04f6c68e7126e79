"""Views: handles that name a part, or another arrangement, of another handle's value.

A `Link` says how a view's value comes out of its base's, and how a new value of the view goes
back into it.  Slices of slices compose into one link, and so do slices and strided views; a reshape
of a view, or a slice of a reshape, is a view of a view.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

import numpy as np

from fusewright.frontends.arrays import core, sharing, trace
from fusewright.frontends.arrays.core import READ_ONLY, TURNED, Handle
from fusewright.ir.dtypes import DType, component
from fusewright.ir.graph import (
    ASSEMBLE,
    LEAF,
    MAP,
    MOST_DIMS,
    OPAQUE,
    RESHAPE,
    VIEW,
    Node,
    contiguous_strides,
    is_shared,
    leaf,
    viewed_leaf,
)

Shape = tuple[int, ...]
Places = tuple[tuple[int, int, int], ...]
"""Per source dim: output dim or -1, start, step (the VIEW attribute)."""


def view_node(source: Node, places: Places, shape: Shape) -> Node:
    """A VIEW; of a leaf another leaf on the same memory."""
    if source.kind != LEAF:
        inner = source.args[0] if source.kind == VIEW and source.attr else source
        same = inner is not source and inner.shape == shape and inner.layout is None
        if same and compose(source.attr, places) == identity(shape):  # there and back
            return inner
        return trace.record(Node(VIEW, "", (source,), source.dtype, shape, places))
    return viewed_leaf(source, places, shape)


def reshape_node(source: Node, shape: Shape) -> Node:
    """The elements in C order in another shape; of a leaf another leaf where no element has to
    move.
    """
    if source.shape == shape:
        return source
    if source.kind == LEAF:
        memory, offset, strides = source.value
        if strides == contiguous_strides(source.shape, source.dtype.itemsize):
            steps = contiguous_strides(shape, source.dtype.itemsize)
            return leaf(memory, source.dtype, shape, offset, steps)
        moved = reshaped_strides(source.shape, strides, shape)
        if moved is not None:
            return leaf(memory, source.dtype, shape, offset, moved)
    elif math.prod(shape) == 1:  # one element, perhaps a number that no memory holds
        return view_node(source, tuple((-1, 0, 0) for _ in source.shape), shape)
    return trace.record(Node(RESHAPE, "", (source,), source.dtype, shape))


def reshaped_strides(shape: Shape, strides: Shape, new: Shape) -> Shape | None:
    """Strides of a reshape without a copy, as NumPy finds them; None where elements must move."""
    probe = np.lib.stride_tricks.as_strided(np.empty((), np.int8), shape, strides)
    try:
        return np.reshape(probe, new, copy=False).strides
    except ValueError:
        return None


class Slice(NamedTuple):
    """Slices, fixed indices, transposes, new axes, broadcasts, diagonals (a quick tuple)."""

    places: Places
    shape: Shape

    @property
    def writes_through(self) -> bool:
        return False

    def get(self, base: Node) -> Node:
        return view_node(base, self.places, self.shape)

    def put(self, base: Node, value: Node) -> Node:
        return assemble(base, self.places, self.shape, value)

    def then(self, link: Any) -> Any:
        """A view of this view as one link; None where no link says it."""
        if isinstance(link, Slice):
            return Slice(compose(self.places, link.places), link.shape)
        return None if isinstance(link, Reshape | Window) else link.over(self)

    def strides(self, base: Shape) -> Shape:
        steps = [0] * len(self.shape)
        for (dim, _, step), stride in zip(self.places, base, strict=True):
            if dim >= 0:
                steps[dim] += step * stride
        return tuple(steps)


class Reshape(NamedTuple):
    """The same elements in another shape."""

    shape: Shape
    base_shape: Shape

    @property
    def writes_through(self) -> bool:
        return False

    def get(self, base: Node) -> Node:
        return reshape_node(base, self.shape)

    def put(self, base: Node, value: Node) -> Node:
        del base
        return reshape_node(value, self.base_shape)

    def then(self, link: Any) -> Any:
        """As of a slice."""
        return Reshape(link.shape, self.base_shape) if isinstance(link, Reshape) else None

    def strides(self, base: Shape) -> Shape:
        moved = reshaped_strides(self.base_shape, base, self.shape)
        assert moved is not None, "a reshape view is made only where no element moves"
        return moved


class Window(NamedTuple):
    """The same bytes as another element type (`real`, `imag`, `view`): `offset` bytes into each
    element.

    A part of a complex number is an operation; else the base is computed first: there is no
    recorded form of reading bytes as another type.
    """

    dtype: DType
    shape: Shape
    offset: int
    last_stride: int

    @property
    def writes_through(self) -> bool:
        return False

    def get(self, base: Node) -> Node:
        complex_ = base.dtype.is_complex and base.shape == self.shape
        if base.kind != LEAF and complex_ and self.dtype is component(base.dtype):
            name = "imag" if self.offset else "real"
            return trace.record(Node(MAP, name, (base,), self.dtype, self.shape))
        if base.kind != LEAF:
            trace.evaluate(base)
        if self.last_stride and base.shape[-1] > 1 and base.value[2][-1] != base.dtype.itemsize:
            # A copy of a turned array may share its memory until one of them is written.
            base = sharing.renewed(base)
            trace.evaluate(base)
        memory, offset, strides = base.value
        start = 0 if 0 in self.shape else offset + self.offset
        return leaf(memory, self.dtype, self.shape, start, self.strides(strides))

    def put(self, base: Node, value: Node) -> Node:
        if 0 in self.shape:
            return base

        def replace(old: Any, new: Any) -> Any:
            fresh = np.array(old, order="C")
            flat = fresh.reshape(-1).view(np.uint8)
            strides = self.strides(fresh.strides)
            np.ndarray(self.shape, self.dtype.numpy, flat, self.offset, strides)[...] = new
            return fresh

        node = Node(OPAQUE, "setbytes", (base, value), base.dtype, base.shape, (), replace)
        return trace.record(node)

    def then(self, link: Any) -> None:
        """As of a slice: no link says it."""
        del link

    def strides(self, base: Shape) -> Shape:
        return (*base[:-1], self.last_stride) if self.last_stride else base


class Link(Protocol):
    """What a view is of its base: one of the three above, or `strided.Strided`; a tuple that has
    its shape in the second place (a `Reshape` in the first), where the core looks for it.
    """

    @property
    def shape(self) -> Shape: ...

    @property
    def writes_through(self) -> bool:
        """Whether an element may be seen in several places: writes then go to the base itself."""

    def get(self, base: Node) -> Node:
        """The view's value."""

    def put(self, base: Node, value: Node) -> Node:
        """The base's new value when the view gets one."""

    def then(self, link: Any) -> Any:
        """A view of the view as one link of the base; None where no link says it."""

    def strides(self, base: Shape) -> Shape:
        """The view's strides in bytes, by the base's."""


def make_view(base: Handle, link: Link) -> Handle:
    """A view of a handle; a slice of a slice, or a reshaped one of a reshaped one, becomes one of
    the latter's base.
    """
    if len(link.shape) > MOST_DIMS:
        raise ValueError(
            f"maximum supported dimension for an ndarray is currently {MOST_DIMS}, "
            f"found {len(link.shape)}"
        )
    base_flags = base._flags & READ_ONLY
    base, link = nearest(base, link)
    return new_view(base, link, base_flags)


def nearest(base: Handle, link: Link) -> tuple[Handle, Link]:
    """A view as one of the handle furthest down that one link can name it in."""
    if isinstance(base, core.view_class):
        joined = base._link.then(link)
        if joined is not None:
            return base._base, joined
    return base, link


def new_view(base: Handle, link: Link, flags: int) -> Handle:
    """A handle that finds its value in another one's."""
    view = Handle.__new__(core.view_class)
    view._base = base
    view._link = link
    view._version = None
    view._cached = None
    view._flags = flags
    return view


def compose(outer: Places, inner: Places) -> Places:
    """The places of a view of a view.

    >>> compose(((0, 2, 1), (1, 0, 2)), ((-1, 3, 0), (0, 1, 1)))
    ((-1, 5, 0), (0, 2, 2))
    """
    return tuple(
        (dim, start, step)
        if dim < 0
        else (inner[dim][0], start + step * inner[dim][1], step * inner[dim][2])
        for dim, start, step in outer
    )


def assemble(base: Node, places: Places, shape: Shape, value: Node) -> Node:
    """The base with a region replaced by a value of the region's shape."""
    if 0 in shape:
        return base
    order: list[tuple[int, int, int]] = [(-1, 0, 0)] * len(shape)
    where, extents = [], []
    for position, (dim, start, step) in enumerate(places):
        extent = 1 if dim < 0 else shape[dim]
        if dim >= 0:
            if order[dim][0] >= 0:
                return _assemble_opaque(base, places, shape, value)
            order[dim] = (position, 0, 1)
        if step < 0:  # a region runs forwards; the value turns round
            order[dim] = (position, extent - 1, -1)
            start, step = start + step * (extent - 1), -step
        where.append((start, step if extent > 1 else 1))
        extents.append(extent)
    piece_shape = tuple(extents)
    for dim, extent in enumerate(shape):
        if order[dim][0] < 0 and extent > 1:  # repeated elements: what is written last stays
            order[dim] = (-1, extent - 1, 0)
    piece = _arranged(value, tuple(order), piece_shape)
    if piece_shape == base.shape and all(place == (0, 1) for place in where):
        return core.cast(piece, base.dtype)
    whole = ((0, 1),) * len(base.shape)
    attr = (whole, tuple(where))
    return trace.record(Node(ASSEMBLE, "", (base, piece), base.dtype, base.shape, attr))


def _arranged(value: Node, order: Places, piece_shape: Shape) -> Node:
    """The value with its dims in the base's order, extent-1 dims added for fixed indices."""
    straight = all(place == (dim, 0, 1) for dim, place in enumerate(order))
    if straight and value.shape == piece_shape:
        return value
    return view_node(value, order, piece_shape)


def _assemble_opaque(base: Node, places: Places, shape: Shape, value: Node) -> Node:
    """A region that is not a box (a diagonal): NumPy writes it."""

    def replace(old: Any, new: Any) -> Any:
        fresh = np.array(old, order="C")
        target = sharing.window(view_node(sharing.adopted(fresh), places, shape))
        target[...] = new
        return fresh

    node = Node(OPAQUE, "setitem", (base, value), base.dtype, base.shape, (), replace)
    return trace.record(node)


def identity(shape: Shape) -> Places:
    """The view that changes nothing."""
    return tuple((dim, 0, 1) for dim in range(len(shape)))


def transposed(base: Handle, order: tuple[int, ...]) -> Handle:
    """Dims in another order: output dim `k` is the base's dim `order[k]`."""
    shape = base._shape
    places = [(0, 0, 1)] * len(shape)
    for new, old in enumerate(order):
        places[old] = (new, 0, 1)
    view = make_view(base, Slice(tuple(places), tuple(shape[old] for old in order)))
    root = base._base if type(getattr(base, "_link", None)) is Reshape else base
    if type(root) is core.array_class or base._flags & TURNED:
        view._flags |= TURNED
    return view


def strides_of(handle: Handle) -> Shape:
    """Byte strides as NumPy would report them."""
    links = []
    while isinstance(handle, core.view_class):
        links.append(handle._link)
        handle = handle._base
    node = handle._node
    if is_shared(node):
        strides: Shape = tuple(node.value[2])
    else:
        strides = contiguous_strides(node.shape, node.dtype.itemsize)
    for link in reversed(links):
        strides = link.strides(strides)
    return strides


def root_of(handle: Handle) -> Handle:
    """The handle that owns the value."""
    while handle._base is not None:
        handle = handle._base
    return handle
