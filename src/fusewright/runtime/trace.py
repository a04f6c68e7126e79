"""The slice: what a request for values needs, in order, and the structure that compiled code is
keyed by.

The key holds kinds, ops, dtypes, operand slots and everything `plan.extents` looks at (which
extents are equal by structure, which positions are literal), but no extents, strides, positions or
scalars beyond that.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from fusewright.base import caches
from fusewright.base.figures import ROWS, STARTED_ELEMENTS
from fusewright.base.later import later as deferred
from fusewright.base.values import dataclass
from fusewright.ir import graph
from fusewright.ir.graph import Node
from fusewright.runtime.reuse import (
    NOT,
    ONCE_STORED,
    Edges,
    asked_for_later,
    endangered,
    irreplaceable,
    is_reusable,
    is_version,
    replaced,
    sharing,
)

if TYPE_CHECKING:
    from fusewright.base.options import Options
    from fusewright.machine import record
else:
    record = deferred("fusewright.machine.record")

PATCHES = 2
"""Values patched in place from which the structure says whether everything is small."""
MARGIN = 4
"""As in `plan.extents`: positions at most this far from either end of a dim are part of the
structure."""

Key = tuple[Any, ...]


@dataclass(slots=True)
class Slice:
    """What a request needs: nodes with operands first, the slot of each, the slots to store, and
    the structure; which nodes are written in place, and the slots stored for that.
    """

    order: list[Node]
    slots: dict[Node, int]
    outputs: tuple[int, ...]
    key: Key
    reusable: set[Node]
    staged: frozenset[int]

    def code_key(self, options: Options) -> Key:
        """What its compiled code is found by: the structure, and the settings that change code."""
        return (self.key, options.fuse, options.features)

    def let_go(self) -> None:
        """Hold no node any more: what is written in place is found by counting who does."""
        self.order.clear()
        self.slots.clear()
        self.reusable.clear()

    @property
    def is_small(self) -> bool:
        """Whether there are patches, and none of the values is worth a launch of its own."""
        return bool(self.key[-3])

    @property
    def is_large(self) -> bool:
        """Whether a result is so large that it should be written past the caches."""
        return bool(self.key[-1])


def take(requested: Sequence[Node]) -> Slice:
    """The slice of a request.  One pass: this is on the path of every evaluation."""
    walk = _Walk()
    walk.number(requested)  # by a call: no variable here holds a node, references are counted
    slots, parts, again, reusable = walk.slots, walk.parts, walk.again, walk.reusable
    outputs = [slots[node] for node in requested]
    later = asked_for_later(slots, set(outputs), again, walk.edges)
    overwritten = {id(node.args[0]) for node in reusable}
    again.update(node for node in later if id(node) not in overwritten)
    later.clear()  # references are counted
    if reusable:
        dear = endangered(slots, reusable, again, walk.edges)
        again |= irreplaceable(reusable)
        again.update(dear)
        parts.append(sharing(slots, reusable))
    if again:
        outputs += [slots[node] for node in again if slots[node] not in outputs]
    outputs.sort()
    parts.extend(outputs)
    # Facts about sizes: whether launches dominate, rows stay in cache, and results leave it.
    parts.append(
        len(reusable) >= PATCHES and all(prod(n.shape) <= STARTED_ELEMENTS for n in slots if n.args)
    )
    parts.append(bisect(ROWS, walk.inner))
    most = max((prod(n.shape) * n.dtype.itemsize for n in requested), default=0)
    parts.append(most >= caches.least_past and most >= record.current().past)
    staged = frozenset(walk.staged)
    return Slice(list(slots), slots, tuple(outputs), tuple(parts), reusable, staged)


class _Walk:
    """The nodes of a slice as they are met, operands first."""

    __slots__ = ("slots", "parts", "again", "inner", "reusable", "staged", "edges", "answers")

    def __init__(self) -> None:
        self.slots: dict[Node, int] = {}
        self.parts: list[Any] = []
        self.again: set[Node] = set()
        self.inner = 0
        self.reusable: set[Node] = set()
        self.staged: set[int] = set()
        self.edges = Edges()
        self.answers: dict[int, int] = {}  # where it stands in `parts` how a version is written

    def number(self, requested: Sequence[Node]) -> None:
        """Number what the request needs, and describe it."""
        slots, parts, again = self.slots, self.parts, self.again
        for node in graph.operands_first(requested):
            _describe(node, slots, parts, again)
            shape = node.shape
            if len(shape) > 1 and shape[0]:
                self.inner = max(self.inner, prod(shape[1:]))
            if node.kind == graph.ASSEMBLE:
                self._note_version(node)
            slots[node] = len(slots)

    def _note_version(self, node: Node) -> None:
        how = is_reusable(node, self.slots, self.reusable, self.edges)
        self.answers[id(node)] = len(self.parts)
        self.parts.append(how)
        if how:
            self.reusable.add(node)
        elif is_version(node):
            for each in replaced(node.args[0], self.reusable):
                self.reusable.discard(each)
                self.parts[self.answers[id(each)]] = NOT
        if how == ONCE_STORED:
            self.staged.add(self.slots[node.args[1]])


def computed_once(slice_: Slice) -> None:
    """Note what this evaluation computes without storing it: the next one that needs it stores it
    (contract 5).
    """
    outputs = slice_.outputs
    for slot, node in enumerate(slice_.order):
        if node.kind in WORTH_KEEPING and slot not in outputs and type(node.value) is not Known:
            node.demands += 1


class Known:
    """What a library step with several results stands for once it has run: each of the others is
    there when it is asked for.
    """

    __slots__ = ("results",)

    def __init__(self, results: tuple[Any, ...]) -> None:
        self.results = results

    def __call__(self) -> tuple[Any, ...]:
        """The results."""
        return self.results


WORTH_KEEPING = frozenset(
    {graph.MAP, graph.REDUCE, graph.SCAN, graph.ASSEMBLE, graph.GATHER, graph.OPAQUE, graph.PRODUCT}
)


def _describe(node: Node, slots: dict[Node, int], parts: list[Any], again: set[Node]) -> None:
    """Add a node's structure; what an earlier evaluation computed and this node is the first to
    ask for again is stored.
    """
    parts.append(node.dtype)
    if node.kind == graph.MAP:
        parts.append(node.op)
        shape = node.shape
        for arg in node.args:
            parts.append(slots[arg])
            if arg.shape != shape:
                parts.append(_broadcast(arg.shape, shape))
    else:
        parts.append(node.kind)
        for arg in node.args:
            parts.append(slots[arg])
        parts.append(_STRUCTURE[node.kind](node))
    again.update(asked_again(node))


def asked_again(reader: Node) -> Iterator[Node]:
    """The operands that an earlier evaluation computed and this node is the first to ask for
    again: they are stored, and not what they were made of (`is_asked_again` in core.h).
    """
    if not reader.demands:
        for arg in reader.args:
            if arg.demands and arg.kind in WORTH_KEEPING:
                yield arg


def _broadcast(shape: tuple[int, ...], result: tuple[int, ...]) -> Any:
    """Which dims of an operand are broadcast."""
    lead = len(result) - len(shape)
    if not shape:
        return len(result)
    return (lead, tuple(a == b for a, b in zip(shape, result[lead:], strict=True)))


def _leaf(node: Node) -> Any:
    """Rank, and for each dim whether it is broadcast, unit, reversed unit or other; C order is one
    word.
    """
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
            parts.append((count == extent, count == 1))
    return tuple(parts)


def _assemble(node: Node) -> Any:
    parts: list[Any] = [len(node.shape), *(extent >= graph.WIDE for extent in node.shape)]
    for piece, region in zip(node.args, node.attr, strict=True):
        for (start, step), count, extent in zip(region, piece.shape, node.shape, strict=True):
            ends = step == 1 and start + count == extent
            parts.append((_anchor(start, extent), _margin(start, count, extent), ends, count == 1))
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
    graph.PRODUCT: _attribute,
}
