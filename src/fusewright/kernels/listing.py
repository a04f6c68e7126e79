"""A planned kernel of loops as a person would write it, in the names of the user's function.

    for i0 in [1, (p0 + -1)):              for i in range(1, a.shape[0] - 1):
      v1 = (0.5 * (b0[(i0 + -1)] + ...  ->     v1 = 0.5 * (a[i - 1] + a[i + 1])

`ir.loops.text` is the exact form, which parses back; this one is only read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from fusewright.codegen.listing import INFIX, held, infix
from fusewright.ir.expr import Expr, postorder
from fusewright.ir.loops.statements import (
    Block,
    Check,
    Dim,
    Fence,
    For,
    If,
    Kernel,
    Leave,
    Let,
    Print,
    Statement,
    Store,
    Unique,
    While,
)

ATOM = 9
"""How tightly a name or a call binds."""
_STEP = "    "
_ADDED = {"add": "+", "subtract": "-", "multiply": "*", "bitwise_and": "&", "bitwise_or": "|",
          "bitwise_xor": "^"}  # fmt: skip
_PYTHON = {"minimum": "min", "maximum": "max", "imin": "min", "imax": "max", "absolute": "abs"}


def kernel_listing(kernel: Kernel, buffers: Mapping[int, str], numbers: Mapping[int, str]) -> str:
    """The loops of a kernel; `buffers` and `numbers` say what the user calls its arrays and its
    parameters.
    """
    return "\n".join(_KernelListing(kernel, buffers, numbers).block(kernel.body, "")) + "\n"


class _KernelListing:
    def __init__(
        self, kernel: Kernel, buffers: Mapping[int, str], numbers: Mapping[int, str]
    ) -> None:
        self.numbers = numbers
        taken = {*buffers.values()}
        self.buffers = {buffer.slot: f"b{buffer.slot}" for buffer in kernel.buffers} | {**buffers}
        self.locals = [
            _free(local.name if local.name.strip("_").isidentifier() else f"v{number}", taken)
            for number, local in enumerate(kernel.locals)
        ]
        self.taken = taken
        self.indices: dict[int, str] = {}

    # -- statements -----------------------------------------------------------------------------

    def block(self, body: Iterable[Statement], indent: str) -> Iterator[str]:
        lines = [f"{indent}{line}" for statement in body for line in self._statement(statement)]
        yield from lines or [f"{indent}pass"]

    def _statement(self, statement: Statement) -> Iterator[str]:
        show = self.expression
        match statement:
            case Let():
                yield f"{self.locals[statement.local]} = {show(statement.value)}"
            case Store():
                yield self._store(statement)
            case For():
                yield from self._loop(statement)
            case While():
                yield "while True:"
                yield from self.block(statement.head, _STEP)
                yield f"{_STEP}if not ({show(statement.condition)}): break"
                yield from self.block(statement.body, _STEP)
            case If():
                yield f"if {show(statement.condition)}:"
                yield from self.block(statement.body, _STEP)
                if statement.orelse:
                    yield "else:"
                    yield from self.block(statement.orelse, _STEP)
            case Block():
                yield f"block {statement.label}:"
                yield from self.block(statement.body, _STEP)
            case Leave():
                yield f"leave block {statement.label}"
            case Check():
                yield f"check {show(statement.condition)}  # {statement.message}"
            case Print():
                yield "print(...)"
            case Unique():
                yield f"assume_unique({self.buffers[statement.buffer]})"
            case Fence():
                yield "nofuse()"

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

    def _loop(self, statement: For) -> Iterator[str]:
        outside = dict(self.indices)
        word = "parallel" if statement.declared else "range"
        bounds = [self._bounds(dim, word) for dim in statement.dims]
        for dim in statement.dims:
            others = {name for number, name in self.indices.items() if number != dim.index}
            self.indices[dim.index] = _free(dim.name or f"i{dim.index}", {*self.taken, *others})
        indent = ""
        for dim, bound in zip(statement.dims, bounds, strict=True):
            yield f"{indent}for {self.indices[dim.index]} in {bound}:"
            indent += _STEP
        yield from self.block(statement.body, indent)
        self.indices = outside

    def _bounds(self, dim: Dim, word: str) -> str:
        low, high = self.expression(dim.low), self.expression(dim.high)
        return f"{word}({high})" if low == "0" else f"{word}({low}, {high})"

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
