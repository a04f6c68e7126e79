"""The recorded program: array-level values in single-assignment form.

A front end records one `Node` for each array operation.  A node is a loop nest in compressed form
(its shape is the iteration space, its `op` the body): recording has to cost less than a
microsecond, so the nest itself is built only when no compiled code is known for the structure.

Writing into an array makes a new *version*: an `ASSEMBLE` node whose first piece is the old
version.  Whether the new version shares the old one's memory is a decision of the plan, never
visible in a value.

| kind     | args               | op          | attr (structural)                         | value |
|----------|--------------------|-------------|-------------------------------------------|-------|
| LEAF     | ()                 | ""          | ()                                        | (a)   |
| SCALAR   | ()                 | ""          | ()                                        | (b)   |
| MAP      | operands           | of `MAP`    | ()                                        |       |
| VIEW     | source             | ""          | per source dim: (dim or -1, start, step)  |       |
| REDUCE   | source             | of `REDUCE` | (axes ascending, keepdims)                |       |
| SCAN     | source             | of `SCAN`   | axis                                      |       |
| ASSEMBLE | pieces in order    | ""          | per piece: per dim (start, step)          |       |
| GATHER   | source, indices... | ""          | (position of index dims, operand numbers) |       |
| IOTA     | start, step        | ""          | ()                                        |       |
| RESHAPE  | source             | ""          | ()                                        |       |
| OPAQUE   | operands           | a name      | ()                                        | (c)   |
| PART     | an OPAQUE          | ""          | number of the result                      |       |
| PRODUCT  | left, right        | a name      | of each operand, a role for each dim      |       |

Ops are names in the tables of `ir.ops`.  Values exist at run time only: (a) `Memory`, offset,
strides; (b) a Python or NumPy scalar; (c) a callable of ndarrays (its op is a name, as
"linalg.solve").

* MAP: operands broadcast as in NumPy; each is cast to the dtypes in `ops.loop_dtypes` first; the
  node's dtype is the result's.
* VIEW: `source[i] = start + step * output[dim]`; a dim of `-1` fixes the index at `start`.  An
  output dim no source dim names is a new axis or a broadcast.  This covers slices, flips,
  transposes, integer indices, `newaxis`, `broadcast_to`, `diagonal`.
* ASSEMBLE: later pieces overwrite earlier ones; together they cover the result.  The counts are the
  piece's shape, and a piece is cast to the node's dtype.
* GATHER: index operands are int64, in range and non-negative (the front end wraps and checks), all
  of one shape, which stands at the given position among the dims that are not indexed.  The operand
  numbers are one for each source dim, -1 for a dim that is not indexed.
* REDUCE: the source has been cast to the accumulator's dtype (`node.dtype`) by the front end.
  `min`/`max` need a non-empty extent.
* IOTA: one dim; `start + step * i` computed in the node's dtype.
* PRODUCT: a sum of products of two operands of the node's dtype, in the order of `ir.products`,
  where the roles are explained.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from fusewright._core import native
from fusewright.ir.dtypes import ROWS, DType

LEAF, SCALAR, MAP, VIEW, REDUCE, SCAN, ASSEMBLE, GATHER, IOTA, RESHAPE, OPAQUE, PART = range(12)
PRODUCT = 12
MOST_DIMS = 64
"""Dims of an array: NumPy's own bound."""
WIDE = 16
"""An extent from which boundaries a few elements wide do not meet: whether a dim of an assembled
value is so long is part of its structure."""

KIND_NAMES = (
    "leaf", "scalar", "map", "view", "reduce", "scan",
    "assemble", "gather", "iota", "reshape", "opaque", "part", "product",
)  # fmt: skip


class Memory:
    """A root allocation: `nbytes` bytes at `address`, kept alive by `owner`.

    `owner` exposes the buffer protocol over exactly these bytes.  `external` memory belongs to
    somebody else (a NumPy array that shares): a write to it must land in this very memory.
    """

    __slots__ = ("address", "nbytes", "owner", "external", "writable")

    def __init__(
        self, address: int, nbytes: int, owner: Any, external: bool = False, writable: bool = True
    ) -> None:
        self.address = address
        self.nbytes = nbytes
        self.owner = owner
        self.external = external
        self.writable = writable


def memory_of(array: np.ndarray[Any, Any]) -> Memory:
    """The memory of an array in C order that nobody else will write to."""
    address = array.__array_interface__["data"][0]
    return Memory(address, array.nbytes, array.reshape(-1).view(np.uint8))


class Node:
    """One array-level value; see the table above.  A computed node becomes a LEAF in place and
    drops its operands.

    `demands` counts the evaluations that computed this node without storing it (contract 5: at most
    one such). `line` is the (file, line, column, end column) that recorded it, where spans are
    recorded.  `layout` are the strides NumPy would give the value, where it would not lay it out in
    C order: nothing that is computed depends on it.
    """

    __slots__ = (
        "args", "attr", "demands", "dtype", "kind", "layout", "line", "op", "shape", "value",
    )  # fmt: skip

    def __init__(
        self,
        kind: int,
        op: str,
        args: tuple[Node, ...],
        dtype: DType,
        shape: tuple[int, ...],
        attr: Any = (),
        value: Any = None,
    ) -> None:
        if len(shape) > MOST_DIMS:
            raise ValueError(
                f"maximum supported dimension for an ndarray is currently {MOST_DIMS}, "
                f"found {len(shape)}"
            )
        self.kind = kind
        self.op = op
        self.args = args
        self.dtype = dtype
        self.shape = shape
        self.attr = attr
        self.value = value
        self.demands = 0
        self.line: tuple[str, int, int, int] | None = None
        self.layout: tuple[int, ...] | None = None
        if kind == LEAF and value is not None and inverts(shape, value[2]):
            self.layout = value[2]
        elif kind == VIEW or any(arg.layout is not None for arg in args):
            self.layout = layout_rule[0](self)

    def become_leaf(self, memory: Memory, offset: int, strides: tuple[int, ...]) -> None:
        """The value is in memory now: forget how it was computed."""
        self.kind = LEAF
        self.op = ""
        self.args = ()
        self.attr = ()
        self.value = (memory, offset, strides)

    def __repr__(self) -> str:
        return described(self)


layout_rule: list[Any] = [lambda node: None]
"""What finds the layout of a value by its operands (filled by the front end)."""


def inverts(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether an inner dim takes larger steps than an outer one; dims of one element, or repeated
    ones, do not count.
    """
    steps = [abs(s) for n, s in zip(shape, strides, strict=True) if s and n != 1]
    return any(outer < inner for outer, inner in pairwise(steps))


def described(node: Node) -> str:
    """A node in a few words."""
    return f"<{node.op or KIND_NAMES[node.kind]} {node.dtype}{list(node.shape)}>"


class InPlace:
    """The callable of an OPAQUE node that may overwrite operands, those it has been told before it
    is called: nobody else sees them.  Its PARTs, which have an op, may keep what it gives.
    """

    __slots__ = ()

    @property
    def title(self) -> str:
        """What it does, for people."""
        raise NotImplementedError

    def may_overwrite(self, operands: frozenset[int]) -> None:
        """The numbers of those operands."""
        raise NotImplementedError


if native is not None:  # the same two classes, compiled ahead of time
    native.register_dtypes(
        tuple((row, row.itemsize, row.kind, row.name, row.numpy.type) for row in ROWS)
    )
    native.set_describe(described)
    Memory, Node = native.Memory, native.Node  # type: ignore[misc]


def leaf(
    memory: Memory, dtype: DType, shape: tuple[int, ...], offset: int, strides: tuple[int, ...]
) -> Node:
    """A value in memory; `offset` and `strides` are in bytes."""
    return Node(LEAF, "", (), dtype, shape, (), (memory, offset, strides))


def is_shared(node: Node) -> bool:
    """Whether somebody outside can write to, or see, the memory of this value."""
    return node.kind == LEAF and bool(node.value[0].external)


def viewed_leaf(
    source: Node, places: Sequence[tuple[int, int, int]], shape: tuple[int, ...]
) -> Node:
    """The leaf on the same memory that a VIEW of a leaf is; `places` are the VIEW's attribute."""
    memory, offset, strides = source.value
    steps = [0] * len(shape)
    for (dim, start, step), stride in zip(places, strides, strict=True):
        offset += start * stride
        if dim >= 0:
            steps[dim] += step * stride
    return leaf(memory, source.dtype, shape, 0 if 0 in shape else offset, tuple(steps))


def seen_through(node: Node) -> tuple[list[Node], Node]:
    """The views that an operand is seen through, outermost first, and what they show."""
    views: list[Node] = []
    while node.kind == VIEW:
        views.append(node)
        node = node.args[0]
    return views, node


def scalar(value: Any, dtype: DType) -> Node:
    """A run-time parameter: its value never causes a compilation."""
    return Node(SCALAR, "", (), dtype, (), (), value)


def contiguous_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Byte strides of a C-ordered array."""
    strides, step = [], itemsize
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def operands_first(wanted: Iterable[Node], known: Iterable[Node] = ()) -> Iterator[Node]:
    """What values are computed from, and they themselves: each once, after its operands, in
    the order of `_core/structure.c`.  Nothing here refers to what is done: references are counted.
    """
    met = {id(node) for node in known}
    stack = list(wanted)
    while stack:
        missing = [arg for arg in stack[-1].args if id(arg) not in met]
        if missing:
            stack.extend(reversed(missing))
        elif id(stack[-1]) in met:
            stack.pop()
        else:
            met.add(id(stack[-1]))
            yield stack.pop()
