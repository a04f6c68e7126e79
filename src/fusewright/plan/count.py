"""Bytes that operations would move one at a time, from the actual extents alone: what fusing saves
is counted from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from fusewright.ir import graph
from fusewright.ir.graph import Node


def unfused(node: Node) -> int:
    """Bytes the operation moves on its own: it reads its operands and writes its result; a view
    moves nothing, but that of a number: an array is filled with it.
    """
    if node.kind == graph.VIEW and node.args[0].kind == graph.SCALAR:
        return prod(node.shape) * node.dtype.itemsize
    if node.kind in (graph.LEAF, graph.SCALAR, graph.VIEW, graph.RESHAPE, graph.PART):
        return 0
    if node.kind == graph.ASSEMBLE:
        return sum(
            _nbytes(piece) + prod(piece.shape) * node.dtype.itemsize for piece in _pieces(node)
        )
    written = prod(node.shape) * node.dtype.itemsize
    if node.kind == graph.GATHER:
        source, *tables = node.args
        taken = min(prod(node.shape), prod(source.shape)) * source.dtype.itemsize
        return written + taken + sum(map(_nbytes, dict.fromkeys(tables)))
    return written + sum(map(_nbytes, dict.fromkeys(node.args)))


def _pieces(node: Node) -> Iterator[Node]:
    """What an assembled value is written from: the version before stays where it is."""
    for number, (piece, region) in enumerate(zip(node.args, node.attr, strict=True)):
        whole = piece.shape == node.shape and all(place == (0, 1) for place in region)
        if number or not whole:
            yield piece


def _nbytes(node: Node) -> int:
    """Distinct bytes of an operand: a broadcast dim repeats the same ones."""
    if node.kind == graph.SCALAR:
        return 0
    extents = list(node.shape)
    if node.kind == graph.LEAF:
        extents = [n if s else min(n, 1) for n, s in zip(extents, node.value[2], strict=True)]
    elif node.kind == graph.VIEW:
        named = {out for out, _, step in node.attr if step}
        extents = [n if dim in named else min(n, 1) for dim, n in enumerate(extents)]
    return prod(extents) * node.dtype.itemsize
