"""A loop tree from its text (`ir.tree.text`), without spans."""

from __future__ import annotations

import re
from dataclasses import replace

from fusewright.ir.expr import Expr
from fusewright.ir.loops.parse import Blocks, Scanner, bounds, declarations, leaf
from fusewright.ir.loops.statements import Store
from fusewright.ir.tree.nodes import (
    Allocate,
    Anchor,
    Branch,
    Labelled,
    LaneMapping,
    MappedLoop,
    MaskedBlock,
    Node,
    Order,
    PairedStore,
    Reduction,
    Room,
    ThreadMapping,
    Tree,
    WhileLoop,
)

_ROOM = re.compile(r"[bv](\d+) (\w+)")
_REDUCTION = re.compile(r"([bv])(\d+) by (\w+) in (\w+) order(?: up to (\d+))?")
_ROOMS: dict[str, Room] = {"register": "register", "stack": "stack", "memory": "memory"}
_ORDERS: dict[str, Order] = {"any": "any"}


def parse_tree(text: str) -> Tree:
    """The tree that `tree_text` has written."""
    forms = re.split(r"^otherwise\n", text, maxsplit=1, flags=re.MULTILINE)
    declared, lines = declarations(forms[0].splitlines())
    nodes = _Nodes(declared, lines)
    streamed, guard = nodes.head()
    otherwise = parse_tree(forms[1]) if len(forms) > 1 else None
    return Tree(declared, nodes.block(1), streamed, guard, otherwise)


class _Nodes(Blocks[Node]):
    def head(self) -> tuple[frozenset[int], Expr | None]:
        """The buffers that are fetched ahead, and the guard."""
        streams, guard = self.next_is(1, "stream "), self.next_is(1, "guard ")
        streamed = frozenset(map(int, re.findall(r"\d+", streams or "")))
        return streamed, Scanner(guard, self.dtypes).expression() if guard else None

    def one(self, scanner: Scanner, depth: int) -> Node:
        inner = depth + 1
        if scanner.has("for i"):
            return replace(self._loop(scanner), body=self.block(inner))
        if scanner.has("if "):
            return Branch(self.condition(scanner), self.block(inner), self.otherwise(depth))
        if scanner.has("where "):
            return MaskedBlock(self.condition(scanner), self.block(inner))
        if scanner.has("block L"):
            return Labelled(scanner.number(""), self.block(inner))
        if scanner.has("while:"):
            return WhileLoop(*self.repeated(depth))
        if scanner.has("paired:"):
            first, second = self.block(inner)
            assert isinstance(first, Store)
            assert isinstance(second, Store)
            return PairedStore(first, second)
        return _room(scanner) if scanner.has("allocate ") else leaf(scanner)

    def _loop(self, scanner: Scanner) -> MappedLoop:
        index = scanner.number("")
        name = scanner.string() if not scanner.has(" in ") and scanner.has(" ") else ""
        scanner.has(" in ")
        low, high = bounds(scanner)
        threads = _threads(scanner) if scanner.has(" on threads ") else None
        lanes = _lanes(scanner) if scanner.has(" in lanes of ") else None
        reductions = (
            scanner.listed(")", lambda: _reduction(scanner)) if scanner.has(" reduces (") else ()
        )
        scanner.need(":")
        return MappedLoop(index, low, high, (), threads, lanes, reductions, name)


def _threads(scanner: Scanner) -> ThreadMapping:
    scanner.need("grain ")
    grain = scanner.number("")
    scanner.need(" work ")
    work = scanner.expression()
    scanner.need(" frame (")
    frame = scanner.listed(")", scanner.expression)
    shared = _buffers(scanner, " shared (")
    own = scanner.listed(")", lambda: _room(scanner)) if scanner.has(" own (") else ()
    return ThreadMapping(grain, work, frame, shared, own, frozenset(_buffers(scanner, " stream (")))


def _buffers(scanner: Scanner, word: str) -> tuple[int, ...]:
    return scanner.listed(")", lambda: scanner.number("b")) if scanner.has(word) else ()


def _lanes(scanner: Scanner) -> LaneMapping:
    width, anchor, least = scanner.number(""), None, 0
    if scanner.has(" at "):
        anchor = _anchor(scanner)
        scanner.need(" from ")
        least = scanner.number("")
    past = scanner.listed(")", lambda: _anchor(scanner)) if scanner.has(" past (") else ()
    return LaneMapping(width, anchor, least, past)


def _anchor(scanner: Scanner) -> Anchor:
    buffer = scanner.number("b")
    scanner.need("[")
    return Anchor(buffer, scanner.listed("]", scanner.expression))


def _room(scanner: Scanner) -> Allocate:
    found = scanner.match(_ROOM)
    return Allocate(int(found[1]), _ROOMS[found[2]])


def _reduction(scanner: Scanner) -> Reduction:
    letter, number, by, order, most = scanner.match(_REDUCTION).groups()
    rest = int(number), by, _ORDERS[order], int(most or 0)
    return Reduction("variable", *rest) if letter == "v" else Reduction("array", *rest)
