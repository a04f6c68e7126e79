"""A loop tree as text that parses back (`ir.tree.parse`); spans are left out.

kernel scale
param p0: int64 = extent 0 of b0
buffer b0: float64[p0]
for i0 'i' in [0, p0) in lanes of 4 at b0[0] from 24:
b0[i0] = (b0[i0] * 2.0)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fusewright.ir.loops.text import KernelWriter
from fusewright.ir.tree.nodes import (
    LEAVES,
    Allocate,
    Anchor,
    Branch,
    Labelled,
    LaneMapping,
    MappedLoop,
    MaskedBlock,
    Node,
    PairedStore,
    Reduction,
    ThreadMapping,
    Tree,
    WhileLoop,
)

LETTERS = {"variable": "v", "array": "b", "register": "v", "stack": "b", "memory": "b"}


def tree_text(tree: Tree) -> str:
    """The whole tree, both forms where there are two."""
    return "\n".join(_lines(tree)) + "\n"


def _lines(tree: Tree) -> Iterator[str]:
    writer = _TreeWriter(tree)
    yield from writer.kernel.head()
    if tree.streamed:
        yield f"  stream {_numbers('b', sorted(tree.streamed))}"
    if tree.guard is not None:
        yield f"  guard {writer.show(tree.guard)}"
    yield from writer.block(tree.body, 1)
    if tree.otherwise is not None:
        yield "otherwise"
        yield from _lines(tree.otherwise)


def _numbers(letter: str, numbers: Iterable[int]) -> str:
    return ", ".join(f"{letter}{number}" for number in numbers)


class _TreeWriter:
    def __init__(self, tree: Tree) -> None:
        self.kernel = KernelWriter(tree.declared)
        self.show = self.kernel.expression

    def block(self, body: Sequence[Node], depth: int) -> Iterator[str]:
        if not body:
            yield "  " * depth + "pass"
        for node in body:
            for line in self._node(node):
                yield "  " * depth + line

    def _node(self, node: Node) -> Iterator[str]:
        show, block = self.show, self.block
        match node:
            case MappedLoop():
                yield self._loop(node)
            case Branch():
                yield f"if {show(node.condition)}:"
            case MaskedBlock():
                yield f"where {show(node.mask)}:"
            case Labelled():
                yield f"block L{node.label}:"
            case WhileLoop():
                yield "while:"
                yield from block(node.head, 1)
                yield f"holds {show(node.condition)}:"
            case PairedStore():
                yield "paired:"
                yield from block((node.first, node.second), 1)
            case Allocate():
                yield f"allocate {_room(node)}"
        if isinstance(node, MappedLoop | Branch | MaskedBlock | Labelled | WhileLoop):
            yield from block(node.body, 1)
        if isinstance(node, Branch) and node.orelse:
            yield "else:"
            yield from block(node.orelse, 1)
        if isinstance(node, LEAVES):
            yield from self.kernel.statement(node)

    def _loop(self, loop: MappedLoop) -> str:
        words = [f"for i{loop.index}{f' {loop.name!r}' if loop.name else ''}"]
        words.append(f"in [{self.show(loop.low)}, {self.show(loop.high)})")
        if loop.threads is not None:
            words += self._threads(loop.threads)
        if loop.lanes is not None:
            words += self._lanes(loop.lanes)
        if loop.reductions:
            words.append(f"reduces ({', '.join(map(_reduction, loop.reductions))})")
        return " ".join(words) + ":"

    def _threads(self, task: ThreadMapping) -> Iterator[str]:
        yield f"on threads grain {task.grain} work {self.show(task.work)}"
        yield f"frame ({', '.join(map(repr, task.frame))})"
        if task.shared:
            yield f"shared ({_numbers('b', task.shared)})"
        if task.own:
            yield f"own ({', '.join(map(_room, task.own))})"
        if task.streamed:
            yield f"stream ({_numbers('b', sorted(task.streamed))})"

    def _lanes(self, lanes: LaneMapping) -> Iterator[str]:
        yield f"in lanes of {lanes.width}"
        if lanes.anchor is not None:
            yield f"at {self._anchor(lanes.anchor)} from {lanes.least}"
        if lanes.nontemporal:
            yield f"past ({', '.join(map(self._anchor, lanes.nontemporal))})"

    def _anchor(self, anchor: Anchor) -> str:
        return f"b{anchor.buffer}[{', '.join(map(self.show, anchor.indices))}]"


def _room(room: Allocate) -> str:
    return f"{LETTERS[room.scope]}{room.number} {room.scope}"


def _reduction(one: Reduction) -> str:
    most = f" up to {one.most}" if one.most else ""
    return f"{LETTERS[one.what]}{one.number} by {one.by} in {one.order} order{most}"
