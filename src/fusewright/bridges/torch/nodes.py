"""Recorded values without a program that records them: element-wise operations, reductions and
views as nodes, in the types that they are given (nothing is promoted here).

A reshaped value is computed in its new shape where that can be: what is reshaped are the values in
memory at the bottom, for which it costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from fusewright.frontends.arrays.views import reshaped_strides
from fusewright.ir import graph, ops
from fusewright.ir.dtypes import BOOL, DType
from fusewright.ir.graph import ASSEMBLE, LEAF, MAP, PRODUCT, REDUCE, RESHAPE, SCALAR, VIEW, Node

Shape = tuple[int, ...]
DEAR = 8
"""The cost of an operation (`ir.ops`) from which it is not computed once more in another order."""


def mapped(name: str, *operands: Node, dtype: DType | None = None) -> Node:
    """An element-wise operation; its result has the operands' type unless another is given.

    Of a reshaped value it is computed in the shape from before, and reshaped.
    """
    shape = np.broadcast_shapes(*(node.shape for node in operands))
    made = Node(MAP, name, operands, dtype or operands[-1].dtype, shape)
    for node in operands:
        if node.kind == RESHAPE and node.shape == shape:
            before = _map(made, node.args[0].shape)
            return made if before is None else Node(RESHAPE, "", (before,), made.dtype, shape)
        if is_pixels(node) and node.shape == shape:
            inner = [pixels(each, len(shape)) for each in operands]
            if any(is_pixels(each) for each in inner):
                return made  # in both orders: turning them back would never end
            rows = mapped(name, *inner, dtype=made.dtype)
            return permuted(rows, [0, len(shape) - 1, *range(1, len(shape) - 1)])
    return made


def is_pixels(node: Node) -> bool:
    """Whether it is a view of a computed value whose last dim it shows as the second: the channels
    of pixels.
    """
    rank = len(node.shape)
    turned = (0, *range(2, rank), 1)
    return (
        node.kind == VIEW
        and rank > 2
        and len(node.args[0].shape) == rank
        and node.attr == tuple((dim, 0, 1) for dim in turned)
    )


def pixels(node: Node, rank: int) -> Node:
    """An operand of a value of so many dims, with the second as the last: what is computed element
    by element is computed so.
    """
    if node.kind == SCALAR:
        return node
    if node.kind == MAP and len(node.shape) == rank and ops.MAP[node.op].cost < DEAR:
        args = [pixels(arg, rank) for arg in node.args]
        if not any(is_pixels(arg) for arg in args):
            return mapped(node.op, *args, dtype=node.dtype)
    shape = (1,) * (rank - len(node.shape)) + node.shape
    turned = [0, *range(2, rank), 1]
    moved = [dim for dim in turned if shape[dim] != 1]
    if moved == sorted(moved):  # the same elements in the same order
        return reshaped(node, tuple(shape[dim] for dim in turned))
    if len(node.shape) < rank:
        lead = rank - len(node.shape)
        node = viewed(node, [(dim + lead, 0, 1) for dim in range(len(node.shape))], shape)
    return permuted(node, turned)


def compared(name: str, *operands: Node) -> Node:
    """An element-wise question."""
    return mapped(name, *operands, dtype=BOOL)


def cast(node: Node, dtype: DType) -> Node:
    """The value in another element type."""
    if node.dtype is dtype:
        return node
    if node.op == "cast" and node.args[0].kind == PRODUCT and node.args[0].dtype is dtype:
        return node.args[0]  # it was widened
    return Node(MAP, "cast", (node,), dtype, node.shape)


def number(value: Any, dtype: DType) -> Node:
    """A parameter; it causes no compilation."""
    return graph.scalar(dtype.number(value), dtype)


def reduced(name: str, node: Node, axes: Sequence[int], keepdims: bool) -> Node:
    """A reduction; over no axes the value itself."""
    axes = tuple(sorted(axes))
    if not axes:
        return node
    if node.kind == RESHAPE:
        before = _reduced_before(name, node, axes, keepdims)
        if before is not None:
            return before
    kept = [(d, n) for d, n in enumerate(node.shape)]
    shape = tuple(1 if d in axes else n for d, n in kept if keepdims or d not in axes)
    return Node(REDUCE, name, (node,), node.dtype, shape, (axes, keepdims))


def _reduced_before(name: str, node: Node, axes: Sequence[int], keepdims: bool) -> Node | None:
    """The last dims of a reshaped value, where they were the last before, too."""
    count, rank = len(axes), len(node.shape)
    source = node.args[0]
    last = tuple(range(rank - count, rank))
    if axes != last or source.shape[-count:] != node.shape[-count:]:
        return None
    first = len(source.shape) - count
    made = reduced(name, source, range(first, first + count), keepdims)
    lead = node.shape[: rank - count]
    shape = (*lead, *(1,) * count) if keepdims else lead
    return Node(RESHAPE, "", (made,), made.dtype, shape)


# ---- views --------------------------------------------------------------------------------------


def viewed(node: Node, places: Sequence[tuple[int, int, int]], shape: Shape) -> Node:
    """A view: for each dim of the source its dim in the result (or -1), start and step."""
    if node.kind != LEAF:
        return Node(VIEW, "", (node,), node.dtype, shape, tuple(places))
    return graph.viewed_leaf(node, places, shape)


def permuted(node: Node, dims: Sequence[int]) -> Node:
    """The dims in another order."""
    if list(dims) == list(range(len(dims))):
        return node
    if is_pixels(node) and list(dims) == [0, *range(2, len(dims)), 1]:
        return node.args[0]
    to = {dim: place for place, dim in enumerate(dims)}
    places = [(to[dim], 0, 1) for dim in range(len(dims))]
    return viewed(node, places, tuple(node.shape[dim] for dim in dims))


def expanded(node: Node, shape: Shape) -> Node:
    """Repeated along new dims, and along dims of one element."""
    lead = len(shape) - len(node.shape)
    if node.shape == shape:
        return node
    places = [(d, 0, 1) if n == shape[d] else (-1, 0, 0) for d, n in enumerate(node.shape, lead)]
    return viewed(node, places, shape)


def sliced(node: Node, dim: int, start: int, count: int, step: int) -> Node:
    """Every `step`-th of a dim."""
    places = [(d, 0, 1) for d in range(len(node.shape))]
    places[dim] = (dim, start, step)
    return viewed(node, places, (*node.shape[:dim], count, *node.shape[dim + 1 :]))


def selected(node: Node, dim: int, index: int) -> Node:
    """One of a dim, which is gone."""
    places = [(d - (d > dim), 0, 1) for d in range(len(node.shape))]
    places[dim] = (-1, index, 0)
    return viewed(node, places, (*node.shape[:dim], *node.shape[dim + 1 :]))


def joined(pieces: Sequence[Node], dim: int) -> Node:
    """Values one after the other along a dim."""
    first, at, attr = pieces[0].shape, 0, []
    for piece in pieces:
        attr.append(tuple((at if d == dim else 0, 1) for d in range(len(first))))
        at += piece.shape[dim]
    return assembled(pieces, attr, (*first[:dim], at, *first[dim + 1 :]))


def assembled(pieces: Sequence[Node], places: Sequence[Any], shape: Shape) -> Node:
    """Values put at places of a whole, later ones over earlier ones."""
    return Node(ASSEMBLE, "", tuple(pieces), pieces[0].dtype, shape, tuple(places))


def expanded_number(value: Node, shape: Shape) -> Node:
    """A number everywhere."""
    return Node(VIEW, "", (value,), value.dtype, shape, ())


def surrounded(node: Node, dim: int, before: int, after: int, value: Node) -> Node:
    """With so much of a number on either side along a dim."""

    def side(count: int) -> list[Node]:
        shape = (*node.shape[:dim], count, *node.shape[dim + 1 :])
        return [expanded_number(value, shape)] if count else []

    pieces = [*side(before), node, *side(after)]
    return node if len(pieces) == 1 else joined(pieces, dim)


# ---- the same elements in another shape ---------------------------------------------------------


def reshaped(node: Node, shape: Shape) -> Node:
    """The elements, in C order, in another shape."""
    free = _freely(node, shape)
    return Node(RESHAPE, "", (node,), node.dtype, shape) if free is None else free


def _freely(node: Node, shape: Shape) -> Node | None:
    """The value computed in that shape; None where its elements have to be stored first."""
    if node.shape == shape:
        return node
    if node.kind == LEAF:
        return _leaf(node, shape)
    if node.kind == RESHAPE:
        return reshaped(node.args[0], shape)
    if node.kind == MAP:
        return _map(node, shape)
    if node.kind == REDUCE:
        return _reduction(node, shape)
    return None


def _leaf(node: Node, shape: Shape) -> Node | None:
    memory, offset, strides = node.value
    steps = reshaped_strides(node.shape, strides, shape)
    return None if steps is None else graph.leaf(memory, node.dtype, shape, offset, steps)


def _map(node: Node, shape: Shape) -> Node | None:
    args = []
    for arg in node.args:
        if arg.kind == SCALAR or prod(arg.shape) == 1:
            args.append(arg if arg.kind == SCALAR else _single(arg))
            continue
        wanted = _fitting(arg.shape, node.shape, shape)
        made = None if wanted is None else _freely(arg, wanted)
        if made is None:
            return None
        args.append(made)
    return Node(MAP, node.op, tuple(args), node.dtype, shape)


def _single(arg: Node) -> Node:
    """One element, without dims: it fits every shape."""
    return viewed(arg, [(-1, 0, 0)] * len(arg.shape), ()) if arg.shape else arg


def _fitting(shape: Shape, whole: Shape, wanted: Shape) -> Shape | None:
    """The shape of an operand once the result is reshaped: each run of dims that are split or put
    together has to be the operand's, or missing in it.
    """
    shape = (1,) * (len(whole) - len(shape)) + shape
    made: list[int] = []
    for old, new in _runs(whole, wanted):
        if all(shape[d] == whole[d] for d in old):
            made += [wanted[d] for d in new]
        elif all(shape[d] == 1 for d in old):
            made += [1] * len(new)
        else:
            return None
    return tuple(made)


def _runs(old: Shape, new: Shape) -> list[tuple[range, range]]:
    """The shortest runs of dims with the same number of elements; no extent is 0."""
    runs, i, j = [], 0, 0
    while i < len(old) or j < len(new):
        first, second = i, j
        i, j = min(i + 1, len(old)), min(j + 1, len(new))
        while (here := prod(old[first:i])) != (there := prod(new[second:j])):
            if here < there:
                i += 1
            else:
                j += 1
        runs.append((range(first, i), range(second, j)))
    return runs


def _reduction(node: Node, shape: Shape) -> Node | None:
    """Of the last dims, in whatever shape the others are."""
    (axes, keepdims), source = node.attr, node.args[0]
    first = len(source.shape) - len(axes)
    if axes != tuple(range(first, len(source.shape))):
        return None
    lead = shape
    if keepdims:
        if shape[len(shape) - len(axes) :] != (1,) * len(axes):
            return None
        lead = shape[: len(shape) - len(axes)]
    made = _freely(source, (*lead, *source.shape[first:]))
    if made is None:
        return None
    where = range(len(lead), len(lead) + len(axes))
    return reduced(node.op, made, where, keepdims)
