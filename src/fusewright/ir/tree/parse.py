"""A loop tree from its text (`ir.tree.text`), without spans."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import get_args

from fusewright.ir.dtypes import component
from fusewright.ir.expr import Expr
from fusewright.ir.loops.parse import Blocks, Scanner, bounds, declarations, leaf
from fusewright.ir.loops.statements import Store
from fusewright.ir.tree.nodes import (
    Allocate,
    Anchor,
    Branch,
    FixedOrder,
    Labelled,
    LaneMapping,
    MappedLoop,
    MaskedBlock,
    Node,
    Order,
    OrderedReduction,
    PairedStore,
    Reduction,
    RepeatedStep,
    Room,
    Section,
    ThreadMapping,
    Together,
    Tree,
    WhileLoop,
)
from fusewright.ir.tree.units import IndexLet, PartialResults, RowBuffer, Units, WindowStart

_ROOM = re.compile(r"[bv](\d+) (\w+)")
_REDUCTION = re.compile(r"([bv])(\d+) by (\w+) in (\w+) order(?: up to (\d+))?")
_ROOMS: dict[str, Room] = {"register": "register", "stack": "stack", "memory": "memory"}
_ORDERS: dict[str, Order] = {"any": "any"}
_FIXED_ORDERS: dict[str, FixedOrder] = {each: each for each in get_args(FixedOrder)}
_DTYPE = re.compile(r":\w+")
_ROW_BUFFER = re.compile(r"b(\d+) rows (\d+) dropped (\d+)(?: halo (\d+))?( tile)?")
_PARTIAL = re.compile(r"b(\d+) by (\w+) parts (\d+) of ")


def parse_tree(text: str) -> Tree:
    """The tree that `tree_text` has written."""
    forms = re.split(r"^otherwise\n", text, maxsplit=1, flags=re.MULTILINE)
    declared, lines = declarations(forms[0].splitlines())
    nodes = _Nodes(declared, lines)
    streamed, units, guard = nodes.head()
    otherwise = parse_tree(forms[1]) if len(forms) > 1 else None
    return Tree(declared, nodes.block(1), streamed, guard, otherwise, units)


class _Nodes(Blocks[Node]):
    def head(self) -> tuple[frozenset[int], Units | None, Expr | None]:
        """The buffers that are fetched ahead, the units, and the guard."""
        streams, units = self.next_is(1, "stream "), self._units()
        guard = self.next_is(1, "guard ")
        streamed = frozenset(map(int, re.findall(r"\d+", streams or "")))
        return streamed, units, Scanner(guard, self.dtypes).expression() if guard else None

    def _units(self) -> Units | None:
        """The units; elements of complex arrays are their parts from then on."""
        line = self.next_is(1, "units ")
        if line is None:
            return None
        declared = self.dtypes
        self.dtypes = lambda letter, number: (
            component(declared(letter, number)) if letter == "b" else declared(letter, number)
        )
        scanner = Scanner(line, self.dtypes)
        count = scanner.expression()
        scanner.need(" read (")
        params = scanner.listed(")", lambda: _typed(scanner))
        rooms, partials = [], []
        while (line := self.next_is(1, "keep ")) is not None:
            rooms.append(_row_buffer(line))
        while (line := self.next_is(1, "blocks ")) is not None:
            partials.append(_partial(Scanner(line, self.dtypes)))
        kinds = scanner.has(" in stretches"), scanner.has(" in order")
        return Units(count, params, tuple(rooms), tuple(partials), *kinds)

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
        if scanner.has("allocate "):
            return _room(scanner)
        return self._of_arrays(scanner, inner) or leaf(scanner)

    def _of_arrays(self, scanner: Scanner, inner: int) -> Node | None:
        """What only trees of arrays have."""
        if scanner.has("i"):
            number = scanner.number("")
            scanner.need(" = ")
            return IndexLet(number, scanner.expression())
        if scanner.has("window b"):
            buffer = scanner.number("")
            scanner.need(" from ")
            return WindowStart(buffer, scanner.expression())
        if scanner.has("section:"):
            return Section(self.block(inner))
        if scanner.has("together:"):
            return Together(self._stores(inner))
        if scanner.has("repeated in lanes of "):
            return RepeatedStep(self._stores(inner), scanner.number(""))
        return self._reduction(scanner, inner) if scanner.has("reduce by ") else None

    def _stores(self, depth: int) -> tuple[Store | PairedStore, ...]:
        stores = (n for n in self.block(depth) if isinstance(n, Store | PairedStore))
        return tuple(stores)

    def _reduction(self, scanner: Scanner, depth: int) -> OrderedReduction:
        order = _FIXED_ORDERS[scanner.match(re.compile(r"\w+"))[0]]
        scanner.need(" over (")
        axes = scanner.listed(")", lambda: scanner.number(""))
        scanner.need(" of (")
        extents = scanner.listed(")", scanner.expression)
        scanner.need(" in (")
        ends = scanner.listed(")", lambda: bounds(scanner), "")
        scanner.need(" from ")
        outer = scanner.number("")
        scanner.need(" in lanes of ")
        lanes = _lanes(scanner)
        chunk = scanner.number("") if scanner.has(" chunk ") else 0
        short = scanner.number("") if scanner.has(" short ") else 0
        unit = scanner.expression() if scanner.has(" unit ") else None
        within = bounds(scanner) if scanner.has(" within ") else None
        stores = [n for n in self.block(depth) if isinstance(n, Store)]
        return OrderedReduction(
            order, tuple(s for s in stores if s.combine), tuple(s for s in stores if not s.combine),
            extents, tuple(low for low, _ in ends), tuple(high for _, high in ends), axes, outer,
            lanes, chunk, short, unit, within,
        )  # fmt: skip

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


def _typed(scanner: Scanner) -> Expr:
    """A parameter; its dtype is declared."""
    found = scanner.expression()
    scanner.match(_DTYPE)
    return found


def _row_buffer(line: str) -> RowBuffer:
    found = _ROW_BUFFER.fullmatch(line)
    assert found is not None, line
    number, rows, dropped, halo, tile = found.groups()
    return RowBuffer(int(number), int(rows), int(dropped), int(halo or -1), bool(tile))


def _partial(scanner: Scanner) -> PartialResults:
    buffer, by, parts = scanner.match(_PARTIAL).groups()
    size = scanner.expression()
    are_lanes = scanner.has(" in lanes ")
    scanner.has(" in elements ")
    return PartialResults(int(buffer), by, int(parts), size, scanner.number(""), are_lanes)


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
    origin = scanner.expression() if scanner.has(" origin ") else None
    past = scanner.listed(")", lambda: _anchor(scanner)) if scanner.has(" past (") else ()
    return LaneMapping(width, anchor, least, past, origin)


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
