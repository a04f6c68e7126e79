"""A kernel of loops from its text (`ir.loops.text`), without spans.

Expressions are read with a stack, whatever their depth; blocks by their indentation.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar, get_args

from fusewright.ir import expr as ir
from fusewright.ir.dtypes import BOOL, BY_NAME, FLOAT64, INT64, DType, component
from fusewright.ir.expr import COMPARISONS, Expr
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
    Local,
    Print,
    Reason,
    Shown,
    Statement,
    Store,
    Unique,
    While,
)
from fusewright.ir.loops.text import SPELLED
from fusewright.ir.nest import Buffer, Source

_OPERATIONS = {sign: name for name, sign in SPELLED.items()}
_REAL = r"-?(?:\d[\d.]*(?:e[+-]?\d+)?|inf|nan)"
_COMPLEX = rf"\({_REAL}[+-](?:\d[\d.]*(?:e[+-]?\d+)?|inf|nan)j\)|{_REAL}j"
_NUMBER = re.compile(rf"({_COMPLEX}|{_REAL}|True|False)(?::(\w+))?(?![\w(.\[])")
_NAME = re.compile(r"([a-z_]\w*)(?:\.(\w+))?")
_STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_SIGN = re.compile(r" (<<|>>|//|<=|>=|==|!=|[-+*/%<>&|^]) ")
_HEADER = re.compile(r"(kernel|param|buffer|scratch|var|val|disjoint) (.*)")

_LET = re.compile(r"\d+ = ")

Line = tuple[int, str]
Item = TypeVar("Item")


def parse_kernel(text: str) -> Kernel:
    """The kernel that `kernel_text` has written."""
    declared, rest = declarations(text.splitlines())
    body = _Statements(declared, rest).block(1)
    return replace(declared, body=body)


class Scanner:
    """A line being read, with what the kernel declares; `shared` are expressions with a name."""

    def __init__(
        self, line: str, dtypes: Callable[[str, int], DType], shared: Sequence[Expr] = ()
    ) -> None:
        self.line = line
        self.at = 0
        self.dtypes = dtypes
        self.shared = shared

    @property
    def rest(self) -> str:
        return self.line[self.at :]

    def has(self, word: str) -> bool:
        """Whether a word comes next; it is passed."""
        found = self.line.startswith(word, self.at)
        self.at += len(word) * found
        return found

    def need(self, word: str) -> None:
        if not self.has(word):
            raise ValueError(f"{word!r} is missing before {self.rest!r} in {self.line!r}")

    def match(self, pattern: re.Pattern[str]) -> re.Match[str]:
        found = pattern.match(self.line, self.at)
        if found is None:
            raise ValueError(f"unknown {self.rest!r} in {self.line!r}")
        self.at = found.end()
        return found

    def number(self, letter: str) -> int:
        """The number behind a letter."""
        return int(self.match(re.compile(letter + r"(\d+)"))[1])

    def string(self) -> str:
        return str(ast.literal_eval(self.match(_STRING)[0]))

    def listed(self, end: str, one: Callable[[], Item], between: str = ", ") -> tuple[Item, ...]:
        """Things up to an end."""
        found: list[Item] = []
        while not self.has(end):
            if found:
                self.need(between)
            found.append(one())
        return tuple(found)

    def expression(self) -> Expr:
        """The expression that comes next."""
        open_: list[tuple[str, list[Expr]]] = []  # what is being read, and its operands
        while True:
            value = self._operand(open_)
            while value is not None:
                if not open_:
                    return value
                value = self._after(value, open_)

    def _operand(self, open_: list[tuple[str, list[Expr]]]) -> Expr | None:
        """A leaf; None where something has been opened."""
        found = _NUMBER.match(self.line, self.at)
        if found is not None:
            self.at = found.end()
            return _constant(found[1], found[2])
        if self.has("("):
            open_.append(("", []))
            return None
        name = self.match(_NAME)[0]
        if self.has("(") or self.has("["):
            open_.append((name, []))
            return self._closed(open_) if self.has("]") or self.has(")") else None
        number = int(name[1:])
        if name[0] == "t":
            return self.shared[number]
        dtype = self.dtypes(name[0], number)
        return {"p": ir.param, "i": _index, "v": ir.local}[name[0]](number, dtype)

    def _after(self, value: Expr, open_: list[tuple[str, list[Expr]]]) -> Expr | None:
        """What the operand completes; None where another one follows."""
        name, operands = open_[-1]
        operands.append(value)
        if self.has(")") or self.has("]"):
            return self._closed(open_)
        if name:
            self.need(", ")
        else:
            open_[-1] = (_OPERATIONS[self.match(_SIGN)[1]], operands)
        return None

    def _closed(self, open_: list[tuple[str, list[Expr]]]) -> Expr:
        name, operands = open_.pop()
        word, _, dtype = name.partition(".")
        if re.fullmatch(r"b\d+", word):
            number = int(word[1:])
            return ir.load(number, tuple(operands), self.dtypes("b", number))
        if word == "p":  # a part of a complex parameter
            number, part = (operand.attr for operand in operands)
            return ir.param((number, part), component(self.dtypes("p", number)))
        plain = BOOL if word in COMPARISONS else operands[-1].dtype
        return ir.typed_op(word, BY_NAME[dtype] if dtype else plain, *operands)


def _index(number: int, _: DType) -> Expr:
    return ir.index(number)


def _constant(text: str, dtype: str | None) -> Expr:
    if text in ("True", "False"):
        return ir.const(text == "True", BOOL if dtype is None else BY_NAME[dtype])
    if text.strip("()").endswith("j"):
        return ir.const(complex(text), BY_NAME[dtype or "complex128"])
    if re.fullmatch(r"-?\d+", text):
        return ir.const(int(text), INT64 if dtype is None else BY_NAME[dtype])
    return ir.const(float(text), FLOAT64 if dtype is None else BY_NAME[dtype])


def dtypes_of(kernel: Kernel) -> Callable[[str, int], DType]:
    """The dtypes of a kernel's parameters, buffers and variables, by letter and number."""

    def dtype(letter: str, number: int) -> DType:
        if letter == "p":
            return kernel.dtypes[number]
        if letter == "v":
            return kernel.locals[number].dtype
        return kernel.buffers[number].dtype if letter == "b" else INT64

    return dtype


def declarations(lines: Sequence[str]) -> tuple[Kernel, list[Line]]:
    """The kernel's head, and the other lines with their depth."""
    kernel = Kernel("", (), frozenset(), (), (), (), ())
    for place, line in enumerate(lines):
        head = _HEADER.fullmatch(line.strip())
        if head is None or (place and line.startswith("kernel ")):
            break
        kernel = _DECLARED[head[1]](kernel, head[1], head[2])
    else:
        place = len(lines)
    return kernel, [((len(x) - len(x.lstrip(" "))) // 2, x.strip()) for x in lines[place:]]


def _named(kernel: Kernel, _: str, text: str) -> Kernel:
    return replace(kernel, name=text)


def _parameter(kernel: Kernel, _: str, text: str) -> Kernel:
    found = re.fullmatch(r"p\d+: (\w+) = (?:scalar (\d+)|(\w+) (\d+) of b(\d+))", text)
    assert found is not None, text
    dtype, slot, what, dim, buffer = found.groups()
    names: dict[str, Any] = {"extent": "extent", "stride": "stride"}
    source = Source("scalar", int(slot)) if slot else Source(names[what], int(buffer), int(dim))
    return replace(
        kernel, arguments=(*kernel.arguments, source), dtypes=(*kernel.dtypes, BY_NAME[dtype])
    )


def _buffer(kernel: Kernel, word: str, text: str) -> Kernel:
    scanner = Scanner(text, dtypes_of(kernel))
    slot = scanner.number("b")
    scanner.need(": ")
    dtype = BY_NAME[scanner.match(_NAME)[0]]
    scanner.need("[")
    extents = scanner.listed("]", scanner.expression)
    strides = scanner.listed(")", scanner.expression) if scanner.has(" strides (") else None
    buffer = Buffer(slot, dtype, extents, strides, scanner.has(" dead"), scanner.has(" large"))
    scratch = kernel.scratch | ({slot} if word == "scratch" else set())
    return replace(kernel, buffers=(*kernel.buffers, buffer), scratch=scratch)


def _variable(kernel: Kernel, word: str, text: str) -> Kernel:
    found = re.fullmatch(r"v\d+: (\w+)  # ?(.*)", text)
    assert found is not None, text
    fresh = Local(found[2], BY_NAME[found[1]], word == "var")
    return replace(kernel, locals=(*kernel.locals, fresh))


def _disjoint(kernel: Kernel, _: str, text: str) -> Kernel:
    pairs = re.findall(r"b(\d+) b(\d+)", text)
    return replace(kernel, disjoint=frozenset((int(a), int(b)) for a, b in pairs))


_DECLARED: dict[str, Callable[[Kernel, str, str], Kernel]] = {
    "kernel": _named, "param": _parameter, "buffer": _buffer, "scratch": _buffer,
    "var": _variable, "val": _variable, "disjoint": _disjoint,
}  # fmt: skip


class Blocks(Generic[Item]):
    """Lines being read as blocks of statements."""

    def __init__(self, kernel: Kernel, lines: list[Line]) -> None:
        self.dtypes = dtypes_of(kernel)
        self.lines = lines
        self.place = 0
        self.shared: list[Expr] = []

    def block(self, depth: int) -> tuple[Item, ...]:
        """The statements of this depth that come next."""
        found: list[Item] = []
        while self.place < len(self.lines) and self.lines[self.place][0] == depth:
            line = self.lines[self.place][1]
            if self._continues(line):
                break
            self.place += 1
            scanner = Scanner(line, self.dtypes, self.shared)
            if scanner.has("let t"):
                scanner.match(_LET)
                self.shared.append(scanner.expression())
            elif line != "pass":
                found.append(self.one(scanner, depth))
        return tuple(found)

    def _continues(self, line: str) -> bool:
        return line == "else:" or line.startswith("holds ")

    def next_is(self, depth: int, word: str) -> str | None:
        """What follows a word at the beginning of the next line, which is passed."""
        if self.place < len(self.lines):
            level, line = self.lines[self.place]
            if level == depth and line.startswith(word):
                self.place += 1
                return line.removeprefix(word)
        return None

    def one(self, scanner: Scanner, depth: int) -> Item:
        """The statement of a line, with the blocks that follow it."""
        raise NotImplementedError

    def condition(self, scanner: Scanner) -> Expr:
        found = scanner.expression()
        scanner.need(":")
        return found

    def repeated(self, depth: int) -> tuple[tuple[Item, ...], Expr, tuple[Item, ...]]:
        """The parts of a `while`."""
        head = self.block(depth + 1)
        text = self.next_is(depth, "holds ")
        assert text is not None
        return head, self.condition(Scanner(text, self.dtypes)), self.block(depth + 1)

    def otherwise(self, depth: int) -> tuple[Item, ...]:
        """The block behind `else`."""
        return self.block(depth + 1) if self.next_is(depth, "else:") is not None else ()


def leaf(scanner: Scanner) -> Let | Store | Leave | Print | Check:
    """A statement without blocks."""
    if scanner.has("leave L"):
        return Leave(scanner.number(""))
    if scanner.has("print("):
        return Print(scanner.listed(")", lambda: _piece(scanner)))
    if scanner.has("check "):
        return _check(scanner)
    if scanner.line.startswith("v", scanner.at):
        number = scanner.number("v")
        scanner.need(" = ")
        return Let(number, scanner.expression())
    buffer = scanner.number("b")
    scanner.need("[")
    indices = scanner.listed("]", scanner.expression)
    combine = scanner.match(re.compile(r" (\w*)= "))[1]
    return Store(buffer, indices, scanner.expression(), combine)


def _piece(scanner: Scanner) -> str | Shown:
    if _STRING.match(scanner.line, scanner.at):
        return scanner.string()
    value = scanner.expression()
    imaginary = scanner.expression() if scanner.has(" & ") else None
    conversion = spec = ""
    if scanner.has("!"):
        conversion = scanner.match(re.compile(r"(\w*):"))[1]
        spec = scanner.string()
    return Shown(value, not scanner.has(" numpy"), conversion, spec, imaginary)


def _check(scanner: Scanner) -> Check:
    condition = scanner.expression()
    word = scanner.match(re.compile(r" else (\w+)\("))[1]
    reasons: dict[str, Reason] = {each: each for each in get_args(Reason)}
    message = scanner.string()
    values: list[Expr] = []
    loops: list[tuple[str, Expr]] = []
    while scanner.has(", "):
        if _STRING.match(scanner.line, scanner.at):
            name = scanner.string()
            scanner.need("=")
            loops.append((name, scanner.expression()))
        else:
            values.append(scanner.expression())
    scanner.need(")")
    return Check(condition, reasons[word], message, tuple(values), tuple(loops))


class _Statements(Blocks[Statement]):
    """A kernel's statements."""

    def one(self, scanner: Scanner, depth: int) -> Statement:
        if scanner.has("fence"):
            return Fence()
        if scanner.has("unique b"):
            return Unique(scanner.number(""))
        if scanner.has("block L"):
            return Block(scanner.number(""), self.block(depth + 1))
        if scanner.has("while:"):
            return While(*self.repeated(depth))
        if scanner.has("if "):
            return If(self.condition(scanner), self.block(depth + 1), self.otherwise(depth))
        declared = scanner.has("parallel ")
        if scanner.has("for "):
            indices = scanner.listed(" in ", lambda: scanner.number("i"))
            dims = [self._dim(scanner, index) for index in indices]
            return For(tuple(dims), self.block(depth + 1), declared=declared)
        return leaf(scanner)

    def _dim(self, scanner: Scanner, index: int) -> Dim:
        return Dim(index, *bounds(scanner))


def bounds(scanner: Scanner) -> tuple[Expr, Expr]:
    """`[low, high)`, behind `x` where there are several."""
    scanner.has(" x ")
    scanner.need("[")
    low = scanner.expression()
    scanner.need(", ")
    high = scanner.expression()
    scanner.need(")")
    return low, high
