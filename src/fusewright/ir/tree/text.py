"""A loop tree as text that parses back (`ir.tree.parse`); spans are left out.

kernel scale
param p0: int64 = extent 0 of b0
buffer b0: float64[p0]
for i0 'i' in [0, p0) in lanes of 4 at b0[0] from 24:
b0[i0] = (b0[i0] * 2.0)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fusewright.ir.expr import Expr
from fusewright.ir.loops.statements import Store
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
    OrderedReduction,
    PairedStore,
    Reduction,
    RepeatedStep,
    Section,
    ThreadMapping,
    Together,
    Tree,
    WhileLoop,
)
from fusewright.ir.tree.units import IndexLet, Units, WindowStart

_WITH_BODY = (
    MappedLoop, Branch, MaskedBlock, Labelled, WhileLoop, Section, Together, RepeatedStep
)  # fmt: skip
LETTERS = {"variable": "v", "array": "b", "register": "v", "stack": "b", "memory": "b"}


def tree_text(tree: Tree) -> str:
    """The whole tree, both forms where there are two."""
    return "\n".join(_lines(tree)) + "\n"


def _lines(tree: Tree) -> Iterator[str]:
    writer = _TreeWriter(tree)
    yield from writer.kernel.head()
    if tree.streamed:
        yield f"  stream {_numbers('b', sorted(tree.streamed))}"
    if tree.units is not None:
        yield from _units(tree.units, writer)
    if tree.guard is not None:
        yield f"  guard {writer.show(tree.guard)}"
    yield from writer.block(tree.body, 1)
    if tree.otherwise is not None:
        yield "otherwise"
        yield from _lines(tree.otherwise)


def _units(units: Units, writer: _TreeWriter) -> Iterator[str]:
    stretched = " in stretches" if units.is_stretched else ""
    ordered = " in order" if units.in_order else ""
    params = ", ".join(map(_typed, units.params))
    yield f"  units {writer.show(units.count)} read ({params}){stretched}{ordered}"
    for room in units.rooms:
        halo = f" halo {room.halo}" if room.halo >= 0 else ""
        tile = " tile" if room.tile else ""
        yield f"  keep b{room.number} rows {room.rows} dropped {room.dropped}{halo}{tile}"
    for each in units.partials:
        kind = "lanes" if each.are_lanes else "elements"
        size = writer.show(each.size)
        what = f"b{each.buffer} by {each.by} parts {each.parts} of {size}"
        yield f"  blocks {what} in {kind} {each.width}"


def _typed(param: Expr) -> str:
    return f"{param!r}:{param.dtype}"


def _numbers(letter: str, numbers: Iterable[int]) -> str:
    return ", ".join(f"{letter}{number}" for number in numbers)


class _TreeWriter:
    def __init__(self, tree: Tree) -> None:
        self.kernel = KernelWriter(tree.declared)
        self.show = self.kernel.expression
        self.shares = tree.units is not None

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
            case IndexLet() | WindowStart() | Section() | Together() | RepeatedStep():
                yield self._of_arrays(node)
            case OrderedReduction():
                yield self._reduction(node)
                yield from block((*node.stores, *node.folds), 1)
        if isinstance(node, _WITH_BODY):
            yield from block(node.body, 1)
        if isinstance(node, Branch) and node.orelse:
            yield "else:"
            yield from block(node.orelse, 1)
        if isinstance(node, Store) and self.shares:
            yield from self.kernel.shared_store(node)
        elif isinstance(node, LEAVES):
            yield from self.kernel.statement(node)

    def _of_arrays(self, node: IndexLet | WindowStart | Section | Together | RepeatedStep) -> str:
        """What only trees of arrays have: the line, or that before the block."""
        match node:
            case IndexLet():
                return f"i{node.index} = {self.show(node.value)}"
            case WindowStart():
                return f"window b{node.buffer} from {self.show(node.place)}"
            case RepeatedStep():
                return f"repeated in lanes of {node.width}:"
        return "section:" if isinstance(node, Section) else "together:"

    def _reduction(self, node: OrderedReduction) -> str:
        show = self.show
        ends = zip(node.low, node.high, strict=True)
        words = [f"reduce by {node.order} over ({', '.join(map(str, node.axes))})"]
        words.append(f"of ({', '.join(map(show, node.extents))})")
        words.append(f"in ({' x '.join(f'[{show(a)}, {show(b)})' for a, b in ends)})")
        words += [f"from {node.outer}", *self._lanes(node.lanes)]
        words += [f"chunk {node.chunk}"] if node.chunk else []
        words += [f"short {node.short}"] if node.short else []
        words += [f"unit {show(node.unit)}"] if node.unit is not None else []
        if node.bounds is not None:
            words.append(f"within [{', '.join(map(show, node.bounds))})")
        return " ".join(words) + ":"

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
        if lanes.origin is not None:
            yield f"origin {self.show(lanes.origin)}"
        if lanes.nontemporal:
            yield f"past ({', '.join(map(self._anchor, lanes.nontemporal))})"

    def _anchor(self, anchor: Anchor) -> str:
        return f"b{anchor.buffer}[{', '.join(map(self.show, anchor.indices))}]"


def _room(room: Allocate) -> str:
    return f"{LETTERS[room.scope]}{room.number} {room.scope}"


def _reduction(one: Reduction) -> str:
    most = f" up to {one.most}" if one.most else ""
    return f"{LETTERS[one.what]}{one.number} by {one.by} in {one.order} order{most}"
