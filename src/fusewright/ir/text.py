"""Programs and slices as text; a program's text parses back to an equal program.

    argument p0 extent 0 0 0
    buffer b0 float64 [p0]
    stage b2 map float64 [p0]
      nest [0] to [p0] store [i0]
        let v0 = multiply(b0[i0], p1:float64)
        add(v0, v0)
    outputs b2
 An operation's type stands behind it (`isnan:bool(...)`) where it is not its last operand's; a
comparison gives bool.  An int64 literal stands alone, others carry their type.
"""

from __future__ import annotations

import math
import re
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fusewright.ir import graph
from fusewright.ir.dtypes import BOOL, BY_NAME, INT64, DType
from fusewright.ir.expr import COMPARISONS, Expr, const, index, load, param, postorder, typed_op
from fusewright.ir.expr import bitcast as make_bitcast
from fusewright.ir.expr import cast as make_cast
from fusewright.ir.graph import KIND_NAMES, Node
from fusewright.ir.nest import Alias, Box, Buffer, Library, Nest, Program, Source, Stage, Step

LEAVES = frozenset({"const", "param", "index"})
MOST_NODES = 200
"""Lines of a slice's text; the end of a longer one is left out."""


def nodes_text(requested: Sequence[Node]) -> str:
    """What a request for values needs, one operation a line, operands first."""
    numbers: dict[Node, int] = {}
    stack = list(reversed(requested))
    while stack:
        node = stack[-1]
        missing = [arg for arg in node.args if arg not in numbers]
        stack.extend(reversed(missing))
        if not missing:
            numbers.setdefault(stack.pop(), len(numbers))
    lines = [_node_line(node, numbers) for node in list(numbers)[:MOST_NODES]]
    if len(numbers) > MOST_NODES:
        lines.append(f"... and {len(numbers) - MOST_NODES} more")
    return "\n".join(lines)


def _node_line(node: Node, numbers: dict[Node, int]) -> str:
    name = node.op or KIND_NAMES[node.kind]
    operands = "".join(f" %{numbers[arg]}" for arg in node.args)
    structure = f" {node.attr}" if node.attr != () else ""
    value = f" {node.value!r}" if node.kind == graph.SCALAR else ""
    return f"%{numbers[node]} = {name}{operands}{structure}{value}: {node.dtype}{list(node.shape)}"


# -- writing ------------------------------------------------------------------------------------


def program_text(program: Program) -> str:
    """The program as text."""
    return "\n".join(_program_lines(program))


def row_text(program: Program, exprs: Sequence[Expr]) -> str:
    """Expressions of a program in brackets, spelled as in its text."""
    return _Writer(program).row(exprs)


def _program_lines(program: Program) -> Iterator[str]:
    for number, source in enumerate(program.arguments):
        yield f"argument p{number} {source.what} {source.slot} {source.dim} {source.piece}"
    for slot, buffer in program.buffers.items():
        writer = _Writer(program)
        strides = "" if buffer.strides is None else f" strides {writer.row(buffer.strides)}"
        yield f"buffer b{slot} {buffer.dtype} {writer.row(buffer.extents)}{strides}"
    for step in program.steps:
        yield from _step_lines(program, step)
    yield " ".join(["outputs", *(f"b{slot}" for slot in sorted(program.outputs))])


def _step_lines(program: Program, step: Step) -> Iterator[str]:
    if isinstance(step, Library):
        yield " ".join([f"library b{step.slot}", *(f"b{slot}" for slot in step.reads)])
        return
    if isinstance(step, Alias):
        yield f"alias b{step.slot} b{step.source}"
        return
    fold = f" {step.fold} {','.join(map(str, step.axes))}" if step.form != "map" else ""
    update = f" update b{step.update}" if step.update >= 0 else ""
    extents = _Writer(program).row(step.extents)
    yield f"stage b{step.slot} {step.form}{fold} {step.dtype} {extents}{update}"
    for nest in step.nests:
        writer = _Writer(program)
        low, high, store = map(writer.row, (nest.box.low, nest.box.high, nest.store))
        yield f"  nest {low} to {high} store {store}"
        yield from (f"    {line}" for line in writer.body(nest.body))


class _Writer:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.known: dict[Expr, str] = {}

    def row(self, exprs: Sequence[Expr]) -> str:
        return f"[{', '.join(map(self.text, exprs))}]"

    def body(self, root: Expr) -> Iterator[str]:
        """`let` lines for what is used twice, then the expression."""
        uses = Counter(arg for node in postorder([root]) for arg in node.args)
        for node in postorder([root]):
            if node.name not in LEAVES and uses[node] > 1:
                text = self.text(node)
                name = f"v{sum(known[0] == 'v' for known in self.known.values())}"
                self.known[node] = name
                yield f"let {name} = {text}"
        yield self.text(root)

    def text(self, root: Expr) -> str:
        texts = dict(self.known)
        for node in postorder([root]):
            if node not in texts:
                texts[node] = self._one(node, [texts[arg] for arg in node.args])
        return texts[root]

    def _one(self, node: Expr, args: list[str]) -> str:
        if node.name == "const":
            return _literal(node)
        if node.name == "index":
            return f"i{node.attr}"
        if node.name == "param":
            number = ".".join(map(str, node.attr)) if isinstance(node.attr, tuple) else node.attr
            return f"p{number}{_suffix(node.dtype, INT64)}"
        if node.name == "load":
            suffix = _suffix(node.dtype, self.program.buffers[node.attr].dtype)
            return f"b{node.attr}{suffix}[{', '.join(args)}]"
        return (
            f"{node.name}{_suffix(node.dtype, _default(node.name, node.args))}({', '.join(args)})"
        )


def _suffix(dtype: DType, expected: DType | None) -> str:
    return "" if dtype is expected else f":{dtype}"


def _default(name: str, args: Sequence[Expr]) -> DType | None:
    if name in COMPARISONS:
        return BOOL
    return args[-1].dtype if args and name not in ("cast", "bitcast") else None


def _literal(node: Expr) -> str:
    value = node.attr
    if isinstance(value, complex):
        return f"#{_number(value.real)},{_number(value.imag)}:{node.dtype}"
    if node.dtype is INT64:
        return str(value)
    return f"#{_number(value)}:{node.dtype}"


def _number(value: float | int | bool) -> str:
    """Bits survive: finite floats in hexadecimal, NaN with its payload."""
    if not isinstance(value, float):
        return str(int(value))
    if math.isnan(value):
        return f"nan{struct.unpack('<Q', struct.pack('<d', value))[0]:x}"
    return value.hex()


# -- reading ------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"\s*(#[^\s,()\[\]:]+(?:,[^\s,()\[\]:]+)?:\w+|[A-Za-z_][\w.]*|-?\d+|[\[\](),:])"
)


def parse_program(text: str) -> Program:
    """The program a text says; `ValueError` with the line where it says none."""
    reader = _Reader()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            reader.line(line)
        except (KeyError, IndexError, ValueError, StopIteration) as error:
            raise ValueError(f"line {number}: {line.strip()!r} is no part of a program") from error
    return reader.program()


class _Reader:
    def __init__(self) -> None:
        self.arguments: list[Source] = []
        self.buffers: dict[int, Buffer] = {}
        self.steps: list[Step] = []
        self.outputs: frozenset[int] = frozenset()
        self.header: tuple[Box, tuple[Expr, ...]] | None = None
        self.names: dict[str, Expr] = {}

    def program(self) -> Program:
        return Program(self.buffers, tuple(self.steps), tuple(self.arguments), self.outputs)

    def line(self, line: str) -> None:
        tokens = _Tokens(line, self)
        keyword = tokens.peek()
        handle = getattr(self, f"_read_{keyword}", None)
        if handle is None:
            self._finish(tokens)
            return
        tokens.take()
        handle(tokens)

    def _read_argument(self, tokens: _Tokens) -> None:
        tokens.take()
        what = tokens.take()
        self.arguments.append(Source(what, *(int(tokens.take()) for _ in range(3))))  # type: ignore[arg-type]

    def _read_buffer(self, tokens: _Tokens) -> None:
        slot, dtype, extents = tokens.slot(), BY_NAME[tokens.take()], tokens.row()
        strides = None
        if tokens.peek() == "strides":
            tokens.take()
            strides = tokens.row()
        self.buffers[slot] = Buffer(slot, dtype, extents, strides)

    def _read_library(self, tokens: _Tokens) -> None:
        slot = tokens.slot()
        self.steps.append(Library(slot, tuple(tokens.slots())))

    def _read_alias(self, tokens: _Tokens) -> None:
        self.steps.append(Alias(tokens.slot(), tokens.slot()))

    def _read_outputs(self, tokens: _Tokens) -> None:
        self.outputs = frozenset(tokens.slots())

    def _read_stage(self, tokens: _Tokens) -> None:
        slot, form = tokens.slot(), tokens.take()
        fold, axes = "", []
        if form != "map":
            fold = tokens.take()
            axes = [int(tokens.take())]
            while tokens.peek() == ",":
                tokens.take()
                axes.append(int(tokens.take()))
        dtype, extents = BY_NAME[tokens.take()], tokens.row()
        update = -1
        if tokens.peek() == "update":
            tokens.take()
            update = tokens.slot()
        self.steps.append(
            Stage(slot, form, dtype, extents, (), fold, tuple(axes), update)  # type: ignore[arg-type]
        )

    def _read_nest(self, tokens: _Tokens) -> None:
        low = tokens.row()
        tokens.expect("to")
        high = tokens.row()
        tokens.expect("store")
        self.header = (Box(low, high), tokens.row())
        self.names = {}

    def _read_let(self, tokens: _Tokens) -> None:
        name = tokens.take()
        self.names[name] = tokens.expression()

    def _finish(self, tokens: _Tokens) -> None:
        """The value of a nest."""
        if self.header is None:
            raise ValueError("a value outside a nest")
        (box, store), self.header = self.header, None
        stage = self.steps[-1]
        if not isinstance(stage, Stage):
            raise ValueError("a nest outside a stage")
        nest = Nest(box, tokens.expression(), store)
        self.steps[-1] = replace(stage, nests=(*stage.nests, nest))


class _Tokens:
    def __init__(self, line: str, reader: _Reader) -> None:
        self.reader = reader
        self.tokens = _TOKEN.findall(line.replace(" = ", " "))
        self.place = 0

    def peek(self) -> str:
        return str(self.tokens[self.place]) if self.place < len(self.tokens) else ""

    def take(self) -> str:
        self.place += 1
        return str(self.tokens[self.place - 1])

    def expect(self, token: str) -> None:
        if self.take() != token:
            raise ValueError(f"{token!r} is missing")

    def slot(self) -> int:
        return int(self.take().removeprefix("b"))

    def slots(self) -> Iterator[int]:
        while self.peek():
            yield self.slot()

    def row(self, opening: str = "[", closing: str = "]") -> tuple[Expr, ...]:
        self.expect(opening)
        found: list[Expr] = []
        while self.peek() != closing:
            found.append(self.expression())
            if self.peek() == ",":
                self.take()
        self.take()
        return tuple(found)

    def _dtype(self, default: DType | None) -> DType | None:
        if self.peek() != ":":
            return default
        self.take()
        return BY_NAME[self.take()]

    def expression(self) -> Expr:
        word = self.take()
        if word[0] == "#":
            return _parsed_literal(word)
        if word[0] in "-0123456789":
            return const(int(word), INT64)
        if word in self.reader.names:
            return self.reader.names[word]
        if re.fullmatch(r"i\d+", word):
            return index(int(word[1:]))
        if re.fullmatch(r"p\d+(\.\d+)?", word):
            numbers = tuple(map(int, word[1:].split(".")))
            dtype = self._dtype(INT64)
            assert dtype is not None
            return param(numbers if len(numbers) > 1 else numbers[0], dtype)
        if re.fullmatch(r"b\d+", word):
            dtype = self._dtype(self.reader.buffers[int(word[1:])].dtype)
            assert dtype is not None
            return load(int(word[1:]), self.row(), dtype)
        return self._operation(word)

    def _operation(self, name: str) -> Expr:
        dtype = self._dtype(None)
        args = self.row("(", ")")
        dtype = dtype or _default(name, args)
        if dtype is None:
            raise ValueError(f"{name} needs a type")
        if name == "cast":
            return make_cast(args[0], dtype)
        if name == "bitcast":
            return make_bitcast(args[0], dtype)
        return typed_op(name, dtype, *args)


def _parsed_literal(word: str) -> Expr:
    text, _, name = word[1:].rpartition(":")
    dtype = BY_NAME[name]
    parts = [_parsed_number(part, dtype) for part in text.split(",")]
    return const(complex(*parts) if len(parts) > 1 else parts[0], dtype)


def _parsed_number(text: str, dtype: DType) -> float | int:
    if text.startswith("nan"):
        return float(struct.unpack("<d", struct.pack("<Q", int(text[3:], 16)))[0])
    return float.fromhex(text) if dtype.is_float or dtype.is_complex else int(text)
