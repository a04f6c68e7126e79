"""Which values are stored: who reads each node, and what computing it again would cost.

A value is stored when somebody asks for it, when a library reads it, when it is a reduction or a
scan, and when computing it again for each of its readers would cost more than keeping it:

* it is read at several offsets (a stencil of a stencil), or
* by stages that cannot share one loop (softmax: the sum reads `exp(x - max)`, and so does the
  quotient), or
* by a broadcast along an outer dim.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusewright.ir import graph, ops
from fusewright.ir.graph import Node
from fusewright.machine import record as machine
from fusewright.plan.support import why_library

MOST_INLINED = 200
"""Nodes that computing an element again would inline; more are dear whatever they are."""
MOST_READ = 256
"""Values in memory that a loop's body reads: LLVM compares each with all others of the body."""
MOST_LOOPS = 16
"""Loops that read a value and are told apart: from there on it is stored."""
_ALWAYS_STORED = {graph.REDUCE, graph.SCAN, graph.RESHAPE, graph.OPAQUE, graph.PART}


def choose_stored(
    order: Sequence[Node], outputs: frozenset[int], reusable: frozenset[int]
) -> set[int]:
    """The slots kept in memory: those asked for, those that must be, and those that pay."""
    readers = _Readers(order)
    stored = set(outputs) | reusable
    for slot in reusable:  # what is patched has to be in memory first
        stored.add(readers.slots[id(order[slot].args[0])])
    for slot, node in enumerate(order):
        library = bool(why_library(node))
        if node.kind in _ALWAYS_STORED or library:
            stored.add(slot)
        if library or node.kind == graph.RESHAPE:
            stored.update(_operands(readers, node))
    loops: list[frozenset[object]] = [frozenset()] * len(order)
    for slot in range(len(order) - 1, -1, -1):  # who reads it is decided before
        loops[slot] = _loops(readers, slot, stored, loops)
        if slot not in stored and _worth_storing(readers, slot, stored, len(loops[slot])):
            stored.add(slot)
    if sum(node.kind == graph.LEAF for node in order) > MOST_READ:
        _break_up(readers, stored)
    return stored


def _break_up(readers: _Readers, stored: set[int]) -> None:
    """Store operands, most readers first, where a loop would read more than `MOST_READ` values."""
    inlined: list[set[int]] = []
    for slot, node in enumerate(readers.order):
        operands = {readers.slots[id(arg)] for arg in node.args}
        for operand in sorted(operands, key=lambda operand: -len(inlined[operand])):
            if node.kind != graph.MAP or len(_read(operands, inlined, stored)) <= MOST_READ:
                break
            if readers.order[operand].kind == graph.MAP:
                stored.add(operand)
        inlined.append(_read(operands, inlined, stored) if operands else {slot})


def _read(operands: set[int], inlined: Sequence[set[int]], stored: set[int]) -> set[int]:
    """The values in memory that a loop reads for these operands."""
    kept = operands & stored
    return kept.union(*(inlined[operand] for operand in operands - kept))


class _Readers:
    """Who reads each node, and through which index map."""

    def __init__(self, order: Sequence[Node]) -> None:
        self.order = order
        self.slots = {id(node): slot for slot, node in enumerate(order)}
        self.paths: list[set[tuple[object, ...]]] = [set() for _ in order]
        self.repeated: set[int] = set()
        """Values of which one row serves many rows of a reader."""
        self.consumers: list[list[int]] = [[] for _ in order]
        self.depths: list[int] = []
        """How many reductions, scans and libraries each value waits for, itself included."""
        for node in order:
            below = max((self.depths[self.slots[id(arg)]] for arg in node.args), default=0)
            self.depths.append(below + (node.kind in _ALWAYS_STORED))
        for slot, node in enumerate(order):
            if node.kind != graph.VIEW:
                for position, arg in enumerate(node.args):
                    self._follow(slot, node, position, arg)

    def _follow(self, slot: int, node: Node, position: int, arg: Node) -> None:
        path: list[object] = []
        repeated = node.kind == graph.MAP and _serves_many_rows(arg, node)
        if node.kind == graph.ASSEMBLE:
            path.append(node.attr[position])
        elif node.kind == graph.MAP and arg.shape != node.shape and arg.kind != graph.VIEW:
            path.append("outer" if repeated else "inner")
        elif node.kind == graph.GATHER and position == 0:
            path.append("gather")
        thin = node.kind == graph.ASSEMBLE and _is_thin(arg, node)
        while True:
            number = self.slots[id(arg)]
            if not thin:
                self.paths[number].add(tuple(path))
            self.consumers[number].append(slot)
            if arg.kind != graph.VIEW:
                break
            path.append(arg.attr)
            arg = arg.args[0]
        if repeated:
            self.repeated.add(number)


def _is_thin(piece: Node, whole: Node) -> bool:
    """Whether a piece is one row of the whole, as a border is: computing it again is cheap."""
    return any(n == 1 < extent for n, extent in zip(piece.shape, whole.shape, strict=True))


def _serves_many_rows(arg: Node, node: Node) -> bool:
    """Whether one row of what an operand is, or looks into, serves many rows of an element-wise
    operation: `x[None, :]`, what is expanded along a dim before the last.
    """
    rank = len(node.shape)
    read = {d + rank - len(arg.shape): d for d, n in enumerate(arg.shape) if n != 1}
    while arg.kind == graph.VIEW:
        source = {to: dim for dim, (to, _, step) in enumerate(arg.attr) if to >= 0 and step}
        arg = arg.args[0]
        read = {
            place: source[dim]
            for place, dim in read.items()
            if dim in source and arg.shape[source[dim]] != 1
        }
    return rank - 1 in read and any(n > 1 and d not in read for d, n in enumerate(node.shape))


def _operands(readers: _Readers, node: Node) -> list[int]:
    """What an opaque step or a reshape needs in memory; a library takes views by itself."""
    found = []
    for arg in node.args:
        while node.kind != graph.RESHAPE and arg.kind == graph.VIEW:
            arg = arg.args[0]
        if arg.kind != graph.SCALAR:
            found.append(readers.slots[id(arg)])
    return found


def _worth_storing(readers: _Readers, slot: int, stored: set[int], loops: int) -> bool:
    node = readers.order[slot]
    if node.kind not in (graph.MAP, graph.ASSEMBLE, graph.GATHER):
        return False
    paths = readers.paths[slot]
    if max(len(paths), loops) < 2 and not any(paths):
        return False
    cost = _cost(readers, slot, stored)
    if slot in readers.repeated and cost > 2:
        return True
    if any(path and path[0] == "gather" for path in paths) and (
        node.kind == graph.ASSEMBLE or cost > 2
    ):
        return True
    copies = max(len(paths), loops)
    if node.kind == graph.ASSEMBLE and copies > 1:
        return cost > 2
    return copies > 1 and cost * (copies - 1) > machine.current().stored_value


def _cost(readers: _Readers, root: int, stored: set[int]) -> int:
    """What computing one element inlines, down to stored values and leaves; no more is added up
    once it is too dear.
    """
    total, seen, stack = 0, {root}, [root]
    most = machine.current().stored_value
    while stack and total <= most:
        if len(seen) > MOST_INLINED:
            return most + 1
        slot = stack.pop()
        node = readers.order[slot]
        if node.kind == graph.MAP:
            total += ops.MAP[node.op].cost
        for arg in node.args:
            number = readers.slots[id(arg)]
            if number not in seen and number not in stored and arg.kind not in _ALWAYS_STORED:
                seen.add(number)
                stack.append(number)
    return total


def _loops(
    readers: _Readers, slot: int, stored: set[int], loops: Sequence[frozenset[object]]
) -> frozenset[object]:
    """In which separate loops the value would be computed: stages of one shape and depth share one;
    `loops` tells it for the readers.
    """
    found: set[object] = set()
    for consumer in readers.consumers[slot]:
        if consumer in stored:
            node = readers.order[consumer]
            fold = node.kind in (graph.REDUCE, graph.SCAN)
            found.add((fold, readers.depths[consumer], node.shape if not fold else ()))
        else:
            found |= loops[consumer]
        if len(found) > MOST_LOOPS:
            break
    return frozenset(found)
