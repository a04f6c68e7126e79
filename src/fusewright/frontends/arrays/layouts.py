"""Layout: in which order the elements of a result lie, as NumPy lays them out (decision 0019).

An array that owns its value lies in C order.  A result that NumPy lays out otherwise (`x.T * 2`, in
the order of its operands) is a view, with its dims in another order, of an array that nobody else
holds and that lies in C order: so views, copies, strides and what NumPy sees follow by themselves.

A recorded value that is to lie otherwise has a `layout`, the strides NumPy would give it: the core
asks `derive` for it where an operand has one, and makes an array of such a value by `laid_out`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from fusewright._core import native
from fusewright.base.errors import ValueRangeError
from fusewright.frontends.arrays import core, sharing, trace, views
from fusewright.frontends.arrays.core import OWNS, TURNED, Handle, array_on
from fusewright.frontends.arrays.views import Slice, reshaped_strides, view_node
from fusewright.ir.graph import (
    ASSEMBLE,
    GATHER,
    LEAF,
    MAP,
    OPAQUE,
    REDUCE,
    RESHAPE,
    SCAN,
    VIEW,
    Node,
    contiguous_strides,
    inverts,
    layout_rule,
)

Shape = tuple[int, ...]
Order = tuple[int, ...]
"""The dims from the outermost to the innermost in memory."""


# ---- orders -----------------------------------------------------------------------------------


def _sorted_dims(dims: list[int], compare: Callable[[int, int], int]) -> list[int]:
    """NumPy's insertion sort; `compare(a, b)` of a later and an earlier dim: 1 to swap them, -1 to
    stop, 0 where nothing can be said.
    """
    for at in range(1, len(dims)):
        place = at
        for before in range(at - 1, -1, -1):
            verdict = compare(dims[at], dims[before])
            if verdict < 0:
                break
            if verdict > 0:
                place = before
        dims.insert(place, dims.pop(at))
    return dims


def elementwise_order(operands: Sequence[Shape], rank: int) -> Order:
    """The order of what is computed element by element, by the operands' strides (0 where they are
    repeated): that of the operands, C's where they differ.
    """

    def compare(outer: int, inner: int) -> int:
        pairs = [(abs(s[outer]), abs(s[inner])) for s in operands if s[outer] and s[inner]]
        if not pairs:
            return 0
        return 1 if all(out < within for out, within in pairs) else -1

    return tuple(reversed(_sorted_dims(list(reversed(range(rank))), compare)))


def joined_order(pieces: Sequence[tuple[Shape, Shape]], rank: int) -> Order:
    """The order of arrays joined to one, by their shapes and strides."""

    def compare(later: int, earlier: int) -> int:
        pairs = [
            (abs(strides[later]), abs(strides[earlier]))
            for shape, strides in pieces
            if shape[later] != 1 and shape[earlier] != 1
        ]
        if not pairs:
            return 0
        return 1 if all(a > b for a, b in pairs) else -1

    return tuple(_sorted_dims(list(range(rank)), compare))


def copy_order(shape: Shape, strides: Shape, itemsize: int, order: str | None) -> Order:
    """The order of a copy of an array, by NumPy's letters."""
    dims = tuple(range(len(shape)))
    letter = (order or "K").upper()
    if letter == "F":
        return dims[::-1]
    if letter == "C" or len(shape) < 2 or is_straight(shape, strides, itemsize):
        return dims
    if is_straight(shape[::-1], strides[::-1], itemsize):
        return dims[::-1]
    if letter == "A":
        return dims
    return tuple(sorted(dims, key=lambda dim: -abs(strides[dim])))


def is_straight(shape: Shape, strides: Shape, itemsize: int) -> bool:
    """Whether strides are those of C order without gaps, wherever they matter."""
    if 0 in shape:
        return True
    step = itemsize
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent != 1 and stride != step:
            return False
        step *= extent
    return True


def dense_strides(shape: Shape, order: Order, itemsize: int) -> Shape:
    """Strides without gaps, the dims in an order."""
    strides = [0] * len(shape)
    for dim in reversed(order):
        strides[dim] = itemsize
        itemsize *= max(shape[dim], 1)
    return tuple(strides)


def is_in_order(order: Order) -> bool:
    """Whether an order is C's."""
    return all(a < b for a, b in pairwise(order))


# ---- recorded values --------------------------------------------------------------------------


def strides_of_node(node: Node) -> Shape:
    """The strides NumPy would give a recorded value."""
    taken: list[Node] = []
    while node.layout is None and node.kind == VIEW:
        taken.append(node)
        node = node.args[0]
    if node.layout is not None:
        strides = node.layout
    elif node.kind == LEAF:
        strides = node.value[2]
    else:
        strides = contiguous_strides(node.shape, node.dtype.itemsize)
    for view in reversed(taken):
        if view.attr:
            strides = Slice(view.attr, view.shape).strides(strides)
        else:  # a new array of one number
            strides = contiguous_strides(view.shape, view.dtype.itemsize)
    return strides


def _operand(node: Node, shape: Shape) -> Shape:
    """An operand's strides among those of a result: 0 where it is repeated."""
    strides = strides_of_node(node)
    lead = len(shape) - len(strides)
    spread = (0 if n == 1 else s for n, s in zip(node.shape, strides, strict=True))
    return (*(0,) * lead, *spread)


def _dense(node: Node, order: Order) -> Shape:
    return dense_strides(node.shape, order, node.dtype.itemsize)


def _mapped(node: Node) -> Shape:
    operands = [_operand(arg, node.shape) for arg in node.args if arg.shape]
    return _dense(node, elementwise_order(operands, len(node.shape)))


def _reduced(node: Node) -> Shape:
    source = node.args[0]
    axes, keepdims = node.attr
    order = elementwise_order([_operand(source, source.shape)], len(source.shape))
    if keepdims:
        return _dense(node, order)
    kept = [dim for dim in range(len(source.shape)) if dim not in axes]
    return _dense(node, tuple(kept.index(dim) for dim in order if dim in kept))


def _assembled(node: Node) -> Shape:
    first = node.args[0]
    if first.shape == node.shape:  # written to: it stays where it is
        return strides_of_node(first)
    pieces = [(arg.shape, strides_of_node(arg)) for arg in node.args]
    return _dense(node, joined_order(pieces, len(node.shape)))


def _reshaped(node: Node) -> Shape | None:
    source = node.args[0]
    return reshaped_strides(source.shape, strides_of_node(source), node.shape)


def _gathered(node: Node) -> Shape:
    """The dims of the indices come first, those that are not indexed after them, in the source's
    order; where all are indexed, the indices' own order.
    """
    position, numbers = node.attr
    source, indices = node.args[0], node.args[1:]
    if not indices:
        return strides_of_node(source)
    count = len(indices[0].shape)
    rest = [dim for dim, number in enumerate(numbers) if number < 0]
    if rest:
        kept = _operand(source, source.shape)
        inner = elementwise_order([tuple(kept[dim] for dim in rest)], len(rest))
        first = tuple(range(count))
    else:
        inner = ()
        first = elementwise_order([_operand(i, i.shape) for i in indices], count)
    places = [dim if dim < position else dim + count for dim in range(len(rest))]
    return _dense(node, (*(position + dim for dim in first), *(places[dim] for dim in inner)))


def _library(node: Node) -> Shape | None:
    """A library step: some give what has its operand's shape in the operand's order."""
    source = node.args[0]
    if node.op not in KEEPING or source.shape != node.shape:
        return None
    strides = strides_of_node(source)
    return _dense(node, copy_order(node.shape, strides, source.dtype.itemsize, "K"))


def joined(node: Node) -> Node:
    """What was joined, laid out by all of its pieces: also those that repeat elements."""
    looked_at = (arg for arg in node.args if arg.kind in (VIEW, LEAF))
    if len(node.shape) > 1 and any(0 in strides_of_node(arg) for arg in looked_at):
        node.layout = derive(node)
    return node


KEEPING = frozenset(("sort", "partition"))
"""Library steps that copy their operand first."""
RULES: dict[int, Callable[[Node], Shape | None]] = {
    VIEW: strides_of_node, MAP: _mapped, SCAN: _mapped, REDUCE: _reduced, ASSEMBLE: _assembled,
    RESHAPE: _reshaped, GATHER: _gathered, OPAQUE: _library,
}  # fmt: skip
"""By kind, the strides of a value of which an operand has a layout."""


def derive(node: Node) -> Shape | None:
    """The layout of a value that is being recorded; None for C order."""
    rule = RULES.get(node.kind)
    strides = rule(node) if rule is not None else None
    return strides if strides is not None and inverts(node.shape, strides) else None


# ---- arrays -----------------------------------------------------------------------------------


def plain(node: Node) -> Node:
    """The value, to be held in C order."""
    return node if node.layout is None else sharing.renewed(node)


def arranged(node: Node, order: Order) -> Any:
    """A new array of a value whose dims lie in memory in an order."""
    node = core.private(node)
    if is_in_order(tuple(dim for dim in order if node.shape[dim] != 1)):
        return array_on(plain(node))
    places = [(0, 0, 1)] * len(order)
    back = [(0, 0, 1)] * len(order)
    for place, dim in enumerate(order):
        places[dim] = (place, 0, 1)
        back[place] = (dim, 0, 1)
    shape = tuple(node.shape[dim] for dim in order)
    below = plain(_untwisted(node, tuple(places), shape))
    if below.kind == LEAF and not is_straight(shape, below.value[2], node.dtype.itemsize):
        below = sharing.renewed(below)  # a part of other memory: NumPy would see its strides
    base = array_on(below)
    return views.new_view(base, Slice(tuple(back), node.shape), OWNS | TURNED)


def _untwisted(node: Node, places: views.Places, shape: Shape) -> Node:
    """The value with its dims in an order; an operation on values that are turned alike becomes one
    on the values themselves.
    """
    if node.kind == MAP and all(not arg.shape or arg.shape == node.shape for arg in node.args):
        op, attr = node.op, node.attr  # what is recorded next may compute all that waits
        args = tuple(view_node(arg, places, shape) if arg.shape else arg for arg in node.args)
        turned = trace.record(Node(MAP, op, args, node.dtype, shape, attr))
        turned.layout = None
        return turned
    return view_node(node, places, shape)


def laid_out(node: Node) -> Any:
    """A new array of a value that has a layout."""
    strides = strides_of_node(node)
    dims = range(len(node.shape))
    return arranged(node, tuple(sorted(dims, key=lambda dim: -abs(strides[dim]))))


def copied(handle: Handle, node: Node, order: str | None) -> Any:
    """A value as a copy of a handle, in the order that one of NumPy's letters asks for."""
    shape = node.shape
    if len(shape) < 2:
        is_number = isinstance(handle, core.scalar_class)
        return core.wrap(node) if is_number else core.wrap_array(plain(node))
    strides = views.strides_of(handle)
    if 0 in strides:  # what is repeated there lies side by side in the copy
        node = sharing.renewed(node)
    return arranged(node, copy_order(shape, strides, handle._dtype.itemsize, order))


def new(node: Node, order: str | None) -> Any:
    """A new array of a value, in Fortran's order for the letter F, else in C's."""
    dims = tuple(range(len(node.shape)))
    return arranged(node, dims[::-1] if (order or "C").upper() == "F" else dims)


def alike(prototype: Any, node: Node, order: str | None) -> Any:
    """A new array of a value, in the order that a letter asks for beside another array."""
    rank = len(node.shape)
    if not isinstance(prototype, Handle):
        strides = getattr(prototype, "strides", ())
        shape, size = getattr(prototype, "shape", ()), getattr(prototype, "itemsize", 1)
    else:
        strides, shape = views.strides_of(prototype), prototype._shape
        size = prototype._dtype.itemsize
    keeps = (order or "K").upper() == "K"
    if keeps and (len(shape) != rank or len(strides) != rank):
        return new(node, "C")
    if not keeps and (order or "").upper() != "A":
        return new(node, order)
    dims = copy_order(shape, strides, size, order)
    if keeps:
        return arranged(node, dims)
    return new(node, "C" if is_in_order(dims) else "F")


def asked(handle: Handle, order: str | None, copy: bool | None) -> Any:
    """The array itself where it lies as a letter asks for, else a copy that does."""
    if is_as_asked(handle, order):
        return handle
    if copy is False:
        raise ValueRangeError("unable to avoid creating an array while creating it as requested")
    return copied(handle, sharing.duplicate(handle._node), order)


def is_as_asked(handle: Handle, order: str | None) -> bool:
    """Whether an array lies as a letter of NumPy's asks for."""
    letter = (order or "K").upper()
    if letter not in "CF":
        return True
    shape, strides = handle._shape, views.strides_of(handle)
    if letter == "F":
        shape, strides = shape[::-1], strides[::-1]
    return is_straight(shape, strides, handle._dtype.itemsize)


def owns(handle: Handle) -> bool:
    """Whether a handle's memory is its own: of an array, or of the one view of a hidden one."""
    return handle._base is None or bool(handle._flags & OWNS)


core.lay_out = laid_out
if native is not None:
    native.set_layouts(derive, laid_out)
else:
    layout_rule[0] = derive
