"""The loop tree of a kernel as a person would write it, in the names of the user's function.

    for i0 in [1, (p0 + -1)) in lanes of 4:      for i in range(1, a.shape[0] - 1):  # 4 lanes
      v1 = (0.5 * (b0[(i0 + -1)] + ...      ->     v1 = 0.5 * (a[i - 1] + a[i + 1])

`ir.tree.text` is the exact form, which parses back; this one is only read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from fusewright.codegen.listing import INFIX, held, infix
from fusewright.ir.expr import Expr, postorder
from fusewright.ir.loops.statements import Check, Leave, Let, Print, Store
from fusewright.ir.tree.nodes import (
    Allocate,
    Branch,
    Labelled,
    MappedLoop,
    MaskedBlock,
    Node,
    PairedStore,
    Reduction,
    Tree,
    WhileLoop,
)

ATOM = 9
"""How tightly a name or a call binds."""
_STEP = "    "
_ADDED = {"add": "+", "subtract": "-", "multiply": "*", "bitwise_and": "&", "bitwise_or": "|",
          "bitwise_xor": "^"}  # fmt: skip
_PYTHON = {"minimum": "min", "maximum": "max", "imin": "min", "imax": "max", "absolute": "abs"}


def kernel_listing(tree: Tree, buffers: Mapping[int, str], numbers: Mapping[int, str]) -> str:
    """The loops of a kernel; `buffers` and `numbers` say what the user calls its arrays and its
    parameters.
    """
    return "\n".join(_KernelListing(tree, buffers, numbers).block(tree.body, "")) + "\n"


class _KernelListing:
    def __init__(self, tree: Tree, buffers: Mapping[int, str], numbers: Mapping[int, str]) -> None:
        self.kernel = tree.declared
        self.numbers = numbers
        taken = {*buffers.values()}
        every = {buffer.slot: f"b{buffer.slot}" for buffer in self.kernel.buffers}
        self.buffers = every | {**buffers}
        self.locals = [
            _free(local.name if local.name.strip("_").isidentifier() else f"v{number}", taken)
            for number, local in enumerate(self.kernel.locals)
        ]
        self.taken = taken
        self.indices: dict[int, str] = {}

    # -- nodes ----------------------------------------------------------------------------------

    def block(self, body: Iterable[Node], indent: str) -> Iterator[str]:
        lines = [f"{indent}{line}" for node in body for line in self._node(node)]
        yield from lines or [f"{indent}pass"]

    def _node(self, node: Node) -> Iterator[str]:
        show = self.expression
        match node:
            case Let():
                yield f"{self.locals[node.local]} = {show(node.value)}"
            case Store():
                yield self._store(node)
            case PairedStore():
                yield from (self._store(node.first), self._store(node.second))
            case MappedLoop():
                yield from self._loop(node)
            case Leave():
                yield f"leave block {node.label}"
            case Check():
                yield f"check {show(node.condition)}  # {node.message}"
            case Print():
                yield "print(...)"
            case Allocate():
                yield from self._room(node)
            case Branch() | MaskedBlock() | WhileLoop() | Labelled():
                yield from self._structured(node)

    def _structured(self, node: Branch | MaskedBlock | WhileLoop | Labelled) -> Iterator[str]:
        show = self.expression
        match node:
            case WhileLoop():
                yield "while True:"
                yield from self.block(node.head, _STEP)
                yield f"{_STEP}if not ({show(node.condition)}): break"
            case Branch():
                yield f"if {show(node.condition)}:"
            case MaskedBlock():
                yield f"in lanes where {show(node.mask)}:"
            case Labelled():
                yield f"block {node.label}:"
        yield from self.block(node.body, _STEP)
        if isinstance(node, Branch) and node.orelse:
            yield "else:"
            yield from self.block(node.orelse, _STEP)

    def _room(self, node: Allocate) -> Iterator[str]:
        if node.scope != "register":  # of a variable it is seen where it is used
            extents = map(self.expression, self.kernel.buffers[node.number].extents)
            where = "on the stack" if node.scope == "stack" else "in memory"
            yield f"{self.buffers[node.number]} = empty({', '.join(extents)})  # {where}"

    def _store(self, statement: Store) -> str:
        places = map(self.expression, map(_unwrapped, statement.indices))
        place = self._element(statement.buffer, places)
        value = self.expression(statement.value)
        if not statement.combine:
            return f"{place} = {value}"
        sign = _ADDED.get(statement.combine)
        if sign:
            return f"{place} {sign}= {value}"
        return f"{place} = {_called(statement.combine)}({place}, {value})"

    def _loop(self, loop: MappedLoop) -> Iterator[str]:
        outside = dict(self.indices)
        low, high = self.expression(loop.low), self.expression(loop.high)
        others = {name for number, name in self.indices.items() if number != loop.index}
        name = _free(loop.name or f"i{loop.index}", {*self.taken, *others})
        self.indices[loop.index] = name
        mapped = ", ".join(self._mapping(loop))
        space = f"range({high})" if low == "0" else f"range({low}, {high})"
        yield f"for {name} in {space}:{f'  # {mapped}' if mapped else ''}"
        own = () if loop.threads is None else loop.threads.own
        yield from self.block((*own, *loop.body), _STEP)
        self.indices = outside

    def _mapping(self, loop: MappedLoop) -> Iterator[str]:
        """How it runs, in words."""
        if loop.threads is not None:
            yield "threads"
        lanes = loop.lanes
        if lanes is not None:
            anchor = lanes.anchor
            aligned = f" aligned to {self.buffers[anchor.buffer]}" if anchor is not None else ""
            yield f"{lanes.width} lanes{aligned}"
            for past in lanes.nontemporal:
                yield f"{self.buffers[past.buffer]} past the caches"
        for each in loop.reductions:
            yield f"{self._reduced(each)} in copies by {_called(each.by)}"

    def _reduced(self, each: Reduction) -> str:
        return self.locals[each.number] if each.what == "variable" else self.buffers[each.number]

    # -- expressions ----------------------------------------------------------------------------

    def expression(self, root: Expr) -> str:
        found: dict[Expr, tuple[str, int]] = {}
        for node in postorder([root]):
            places = map(_unwrapped, node.args) if node.name == "load" else node.args
            found[node] = self._spelled(node, [found[arg] for arg in places])
        return found[root][0]

    def _spelled(self, node: Expr, inner: list[tuple[str, int]]) -> tuple[str, int]:
        match node.name:
            case "const":
                return _number(node.attr)
            case "load":
                return self._element(node.attr, (text for text, _ in inner)), ATOM
            case "param":
                number = node.attr[0] if isinstance(node.attr, tuple) else node.attr
                return self.numbers.get(number, f"p{number}"), ATOM
            case "index":
                return self.indices.get(node.attr, f"i{node.attr}"), ATOM
            case "local":
                return self.locals[node.attr], ATOM
            case "negative":
                return f"-{held(inner[0], 3)}", 2
        if len(inner) == 2 and node.name in INFIX:
            sign, right = INFIX[node.name], inner[1]
            if sign == "+" and right[0].startswith("-") and node.args[1].name == "const":
                sign, right = "-", (right[0][1:], ATOM)
            return infix(sign, inner[0], right)
        name = node.dtype.name if node.name == "cast" else _called(node.name)
        return f"{name}({', '.join(text for text, _ in inner)})", ATOM

    def _element(self, buffer: int, indices: Iterable[str]) -> str:
        places = ", ".join(indices)
        return f"{self.buffers[buffer]}[{places}]" if places else self.buffers[buffer]


def _unwrapped(place: Expr) -> Expr:
    """What the user wrote as an index: `where(i < 0, i + n, i)` is Python's `i`."""
    if place.name != "where" or place.args[0].name != "less":
        return place
    test, below, written = place.args
    wraps = below.name == "add" and written in below.args and test.args[0] is written
    return written if wraps and (test.args[1].name, test.args[1].attr) == ("const", 0) else place


def _called(name: str) -> str:
    return _PYTHON.get(name, name)


def _number(value: object) -> tuple[str, int]:
    text = repr(value)
    return text, 1 if text.startswith("-") else ATOM


def _free(name: str, taken: set[str]) -> str:
    """The name, or with a number where it is taken; from then on it is."""
    found, number = name, 2
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    taken.add(found)
    return found
