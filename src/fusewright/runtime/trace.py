"""The slice: what a request for values needs, in order, and the structure that compiled code is keyed by.

The key holds kinds, ops, dtypes, operand slots and everything `plan.extents` looks at (which extents are equal by structure, which
positions are literal), but no extents, strides, positions or scalars beyond that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from fusewright.ir import graph
from fusewright.ir.graph import Node

MARGIN = 4
"""As in `plan.extents`: positions at most this far from either end of a dim are part of the structure."""

Key = tuple[Any, ...]


def topological(requested: Sequence[Node]) -> tuple[list[Node], dict[int, int]]:
    """Everything the requested nodes need, operands first, and the slot of each by identity."""
    order: list[Node] = []
    slots: dict[int, int] = {}
    stack: list[Node] = list(reversed(requested))
    while stack:
        node = stack[-1]
        if id(node) in slots:
            stack.pop()
            continue
        waiting = [arg for arg in node.args if id(arg) not in slots]
        if waiting:
            stack.extend(reversed(waiting))
            continue
        stack.pop()
        slots[id(node)] = len(order)
        order.append(node)
    return order, slots


def key_of(order: Sequence[Node], slots: dict[int, int]) -> Key:
    """The structure of a slice."""
    parts: list[Any] = []
    for node in order:
        parts.append(node.dtype)
        if node.kind == graph.MAP:
            parts.append(node.op)
            shape = node.shape
            for arg in node.args:
                parts.append(slots[id(arg)])
                if arg.shape != shape:
                    parts.append(_broadcast(arg.shape, shape))
        else:
            parts.append(node.kind)
            parts.extend(slots[id(arg)] for arg in node.args)
            parts.append(_STRUCTURE[node.kind](node))
    return tuple(parts)


def _broadcast(shape: tuple[int, ...], result: tuple[int, ...]) -> Any:
    """Which dims of an operand are broadcast."""
    lead = len(result) - len(shape)
    if not shape:
        return len(result)
    return (lead, tuple(a == b for a, b in zip(shape, result[lead:], strict=True)))


def _leaf(node: Node) -> Any:
    """Rank, and for each dim whether it is broadcast, unit, reversed unit or other; C order is one word."""
    strides: tuple[int, ...] = node.value[2]
    size = node.dtype.itemsize
    shape = node.shape
    if len(shape) == 1 and strides[0] == size:
        return 1
    step, contiguous = size, True
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent == 0:
            contiguous = True
            break
        if stride != step:
            contiguous = False
        step *= extent
    if contiguous:
        return len(shape)
    return tuple(s if s in (0, size, -size) else "s" for s in strides)


def _nothing(node: Node) -> Any:
    return len(node.shape)


def _anchor(position: int, extent: int) -> Any:
    if 0 <= position <= MARGIN:
        return position
    if 0 <= extent - position <= MARGIN:
        return (extent - position,)
    return None


def _margin(start: int, count: int, extent: int) -> Any:
    if 0 <= start <= MARGIN and 0 <= extent - start - count <= MARGIN:
        return extent - count
    return None


def _view(node: Node) -> Any:
    source = node.args[0].shape
    parts: list[Any] = [len(node.shape)]
    for (out, start, step), extent in zip(node.attr, source, strict=True):
        parts.append((out, _anchor(start, extent), step if abs(step) <= 2 else "s"))
        if out >= 0:
            count = node.shape[out]
            parts.append(_margin(start, count, extent))
            parts.append(count == extent)
    return tuple(parts)


def _assemble(node: Node) -> Any:
    parts: list[Any] = [len(node.shape)]
    for piece, region in zip(node.args, node.attr, strict=True):
        for (start, step), count, extent in zip(region, piece.shape, node.shape, strict=True):
            ends = step == 1 and start + count == extent
            parts.append((_anchor(start, extent), _margin(start, count, extent), ends))
            parts.append(step if abs(step) <= 2 else "s")
    return tuple(parts)


def _attribute(node: Node) -> Any:
    return (len(node.shape), node.attr, node.op)


_STRUCTURE: dict[int, Callable[[Node], Any]] = {
    graph.LEAF: _leaf,
    graph.SCALAR: _nothing,
    graph.VIEW: _view,
    graph.REDUCE: _attribute,
    graph.SCAN: _attribute,
    graph.ASSEMBLE: _assemble,
    graph.GATHER: _attribute,
    graph.IOTA: _nothing,
    graph.RESHAPE: _nothing,
    graph.OPAQUE: _attribute,
    graph.PART: _attribute,
}
