"""Views of torch's, of values that are not in memory; of memory torch says what they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fusewright.bridges.torch import nodes
from fusewright.bridges.torch.call import AtenCall, Declined
from fusewright.ir.graph import LEAF, Node


def itself(call: AtenCall, x: Node, *rest: Any, **options: Any) -> Node:
    """The value."""
    return x


def reshape(call: AtenCall, x: Node, shape: Any) -> Node:
    """The elements in another shape."""
    return nodes.reshaped(x, call.shape)


def permute(call: AtenCall, x: Node, dims: Sequence[int]) -> Node:
    """The dims in another order."""
    return nodes.permuted(x, [d % len(dims) for d in dims])


def transpose(call: AtenCall, x: Node, a: int, b: int) -> Node:
    """Two dims change places."""
    dims = list(range(len(x.shape)))
    if dims:
        dims[a], dims[b] = dims[b], dims[a]
    return nodes.permuted(x, dims)


def transposed(call: AtenCall, x: Node) -> Node:
    """Of a matrix."""
    return nodes.permuted(x, range(len(x.shape))[::-1])


def expand(call: AtenCall, x: Node, shape: Any, *, implicit: bool = False) -> Node:
    """Repeated along dims of one element."""
    return nodes.expanded(x, call.shape)


def unsqueeze(call: AtenCall, x: Node, dim: int) -> Node:
    """A new dim of one element."""
    dim %= len(x.shape) + 1
    return nodes.viewed(x, [(d + (d >= dim), 0, 1) for d in range(len(x.shape))], call.shape)


def squeeze(call: AtenCall, x: Node, dims: Any = None) -> Node:
    """Without dims of one element."""
    several = [dims] if isinstance(dims, int) else dims
    among = range(len(x.shape)) if dims is None else [d % max(len(x.shape), 1) for d in several]
    places, at = [], 0
    for d, n in enumerate(x.shape):
        gone = n == 1 and d in among
        places.append((-1, 0, 0) if gone else (at, 0, 1))
        at += not gone
    return nodes.viewed(x, places, call.shape)


def slices(
    call: AtenCall, x: Node, dim: int = 0, start: int | None = None, end: Any = None, step: int = 1
) -> Node:
    """A range of a dim."""
    dim %= len(x.shape)
    first = slice(start, None).indices(x.shape[dim])[0]
    return nodes.sliced(x, dim, first, call.shape[dim], step)


def select(call: AtenCall, x: Node, dim: int, index: int) -> Node:
    """One of a dim."""
    dim %= len(x.shape)
    return nodes.selected(x, dim, index % x.shape[dim])


def split(call: AtenCall, x: Node, sizes: Any, dim: int = 0) -> tuple[Node, ...]:
    """Ranges of a dim, of one size or of the sizes given."""
    dim %= len(x.shape)
    extent = x.shape[dim]
    if isinstance(sizes, int):
        sizes = [min(sizes, extent - at) for at in range(0, extent, sizes)]
    made, at = [], 0
    for size in sizes:
        made.append(nodes.sliced(x, dim, at, size, 1))
        at += size
    return tuple(made)


def join(call: AtenCall, pieces: Sequence[Node], dim: int = 0) -> Node:
    """Values one after the other along a dim."""
    if any(len(piece.shape) != len(call.shape) for piece in pieces):
        raise Declined("an empty piece without the others' dims")
    return nodes.joined([nodes.cast(each, call.dtype) for each in pieces], dim % len(call.shape))


def padded(call: AtenCall, x: Node, counts: Sequence[int], value: Any = 0) -> Node:
    """With a number around it, the last dim's counts first; negative ones cut off."""
    for number in range(len(counts) // 2):
        dim, (before, after) = len(x.shape) - 1 - number, counts[2 * number : 2 * number + 2]
        kept = x.shape[dim] + min(before, 0) + min(after, 0)
        x = nodes.sliced(x, dim, max(-before, 0), kept, 1)
        x = nodes.surrounded(x, dim, max(before, 0), max(after, 0), call.operand(value))
    return x if x.kind != LEAF else nodes.mapped("positive", x)


def stack(call: AtenCall, pieces: Sequence[Node], dim: int = 0) -> Node:
    """Values one after the other along a new dim."""
    dim %= len(call.shape)
    shape = (*call.shape[:dim], 1, *call.shape[dim + 1 :])
    places = [(d + (d >= dim), 0, 1) for d in range(len(shape) - 1)]
    return nodes.joined(
        [nodes.viewed(nodes.cast(each, call.dtype), places, shape) for each in pieces], dim
    )


def slice_backward(
    call: AtenCall, grad: Node, shape: Any, dim: int, start: int, end: int, step: int
) -> Node:
    """Zeros, with a range of a dim filled."""
    dim %= len(call.shape)
    first = slice(start, None).indices(call.shape[dim])[0]
    return _filled(call, grad, dim, first, step)


def select_backward(call: AtenCall, grad: Node, shape: Any, dim: int, index: int) -> Node:
    """Zeros, with one of a dim filled."""
    dim %= len(call.shape)
    places = [(d + (d >= dim), 0, 1) for d in range(len(grad.shape))]
    extents = (*grad.shape[:dim], 1, *grad.shape[dim:])
    piece = nodes.viewed(grad, places, extents)
    return _filled(call, piece, dim, index % call.shape[dim], 1)


def _filled(call: AtenCall, piece: Node, dim: int, start: int, step: int) -> Node:
    zeros = nodes.mapped("positive", nodes.expanded_number(call.constant(0), call.shape))
    attr = [(0, 1)] * len(call.shape)
    inner = list(attr)
    inner[dim] = (start, step)
    return nodes.assembled([zeros, piece], [tuple(attr), tuple(inner)], call.shape)
