"""A kernel of loops as text, for people, for keys of caches, and for tests.

Spans are left out: two kernels with one text compile to the same code.  `ir.loops.parse` reads it
back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fusewright.ir.dtypes import BOOL
from fusewright.ir.expr import COMPARISONS, Expr, postorder
from fusewright.ir.loops.statements import (
    Block,
    Check,
    Fence,
    For,
    If,
    Kernel,
    Leave,
    Let,
    Print,
    Shown,
    Statement,
    Store,
    Unique,
    While,
)
from fusewright.ir.nest import Buffer, Source

SPELLED = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//",
    "remainder": "%", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
    "equal": "==", "not_equal": "!=", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^",
    "left_shift": "<<", "right_shift": ">>",
}  # fmt: skip


def kernel_text(kernel: Kernel) -> str:
    """The whole kernel."""
    return "\n".join(KernelWriter(kernel).lines()) + "\n"


def expression_text(kernel: Kernel, expr: Expr) -> str:
    """One expression, spelled as in the kernel's text."""
    return KernelWriter(kernel).expression(expr)


class KernelWriter:
    """The lines of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.shared = 0
        """Parts of expressions that have a name of their own so far."""

    def lines(self) -> Iterator[str]:
        """All of them."""
        yield from self.head()
        yield from self.block(self.kernel.body, 1)

    def head(self) -> Iterator[str]:
        """What the kernel declares."""
        kernel = self.kernel
        yield f"kernel {kernel.name}"
        for number, (source, dtype) in enumerate(zip(kernel.arguments, kernel.dtypes, strict=True)):
            yield f"  param p{number}: {dtype} = {_source(source)}"
        for buffer in kernel.buffers:
            yield f"  {self._buffer(buffer)}"
        for number, local in enumerate(kernel.locals):
            yield f"  {'var' if local.mutable else 'val'} v{number}: {local.dtype}  # {local.name}"
        if kernel.disjoint:
            pairs = ", ".join(f"b{a} b{b}" for a, b in sorted(kernel.disjoint))
            yield f"  disjoint {pairs}"

    def _buffer(self, buffer: Buffer) -> str:
        inner = ", ".join(map(self.expression, buffer.extents))
        text = f"b{buffer.slot}: {buffer.dtype}[{inner}]"
        if buffer.strides is not None:
            text += f" strides ({', '.join(map(self.expression, buffer.strides))})"
        if buffer.dead:
            text += " dead"
        if buffer.large:
            text += " large"
        return f"{'scratch' if buffer.slot in self.kernel.scratch else 'buffer'} {text}"

    def block(self, body: tuple[Statement, ...], depth: int) -> Iterator[str]:
        if not body:
            yield "  " * depth + "pass"
        for statement in body:
            for line in self.statement(statement):
                yield "  " * depth + line

    def statement(self, statement: Statement) -> Iterator[str]:
        """One statement, and the blocks inside."""
        show = self.expression
        if isinstance(statement, Let):
            yield f"v{statement.local} = {show(statement.value)}"
        elif isinstance(statement, Store):
            inner = ", ".join(map(show, statement.indices))
            word = f"{statement.combine}=" if statement.combine else "="
            yield f"b{statement.buffer}[{inner}] {word} {show(statement.value)}"
        elif isinstance(statement, Leave):
            yield f"leave L{statement.label}"
        elif isinstance(statement, Fence):
            yield "fence"
        elif isinstance(statement, Unique):
            yield f"unique b{statement.buffer}"
        elif isinstance(statement, Print):
            pieces = (repr(p) if isinstance(p, str) else self._shown(p) for p in statement.pieces)
            yield f"print({', '.join(pieces)})"
        elif isinstance(statement, Check):
            values = "".join(f", {show(value)}" for value in statement.values)
            loops = "".join(f", {name!r}={show(value)}" for name, value in statement.loops)
            message = f"{statement.message!r}{values}{loops}"
            yield f"check {show(statement.condition)} else {statement.reason}({message})"
        else:
            yield from self._structured(statement)

    def shared_store(self, store: Store) -> Iterator[str]:
        """A store behind lines that name what its expressions use twice."""
        roots = (*store.indices, store.value)
        nodes = list(postorder(roots))
        uses = Counter(arg for node in nodes for arg in node.args)
        found: dict[Expr, str] = {}
        for node in nodes:
            text = self._spelled(node, [found[arg] for arg in node.args])
            if node.args and uses[node] > 1:
                name, self.shared = f"t{self.shared}", self.shared + 1
                yield f"let {name} = {text}"
                text = name
            found[node] = text
        inner = ", ".join(found[place] for place in store.indices)
        word = f"{store.combine}=" if store.combine else "="
        yield f"b{store.buffer}[{inner}] {word} {found[store.value]}"

    def _shown(self, piece: Shown) -> str:
        detail = f"!{piece.conversion}:{piece.spec!r}" if piece.conversion or piece.spec else ""
        values = " & ".join(map(self.expression, piece.values))
        return f"{values}{detail}{'' if piece.python else ' numpy'}"

    def _structured(self, statement: For | While | If | Block) -> Iterator[str]:
        show = self.expression
        if isinstance(statement, For):
            names = ", ".join(f"i{dim.index}" for dim in statement.dims)
            spaces = " x ".join(f"[{show(d.low)}, {show(d.high)})" for d in statement.dims)
            yield f"{'parallel ' if statement.declared else ''}for {names} in {spaces}:"
        elif isinstance(statement, While):
            yield "while:"
            yield from self.block(statement.head, 1)
            yield f"holds {show(statement.condition)}:"
        elif isinstance(statement, If):
            yield f"if {show(statement.condition)}:"
        else:
            yield f"block L{statement.label}:"
        yield from self.block(statement.body, 1)
        if isinstance(statement, If) and statement.orelse:
            yield "else:"
            yield from self.block(statement.orelse, 1)

    def expression(self, root: Expr) -> str:
        found: dict[Expr, str] = {}
        for node in postorder([root]):
            found[node] = self._spelled(node, [found[arg] for arg in node.args])
        return found[root]

    def _spelled(self, node: Expr, inner: list[str]) -> str:
        if node.name == "load":
            return f"b{node.attr}[{', '.join(inner)}]"
        if node.name == "const":
            return _constant(node)
        if not inner:
            return repr(node)
        if node.name in SPELLED and _plain(node):
            return f"({inner[0]} {SPELLED[node.name]} {inner[1]})"
        suffix = "" if _plain(node) else f".{node.dtype}"
        return f"{node.name}{suffix}({', '.join(inner)})"


def _constant(node: Expr) -> str:
    """With its dtype, unless Python would give the same."""
    plain: dict[type, str] = {bool: "bool", int: "int64", float: "float64"}
    text = repr(node.attr)
    return text if plain.get(type(node.attr)) == node.dtype.name else f"{text}:{node.dtype}"


def _plain(node: Expr) -> bool:
    """Whether the result's dtype is the one that the op's name says."""
    if node.name in COMPARISONS:
        return node.dtype is BOOL
    return node.name not in ("cast", "bitcast") and node.dtype is node.args[-1].dtype


def _source(source: Source) -> str:
    if source.what == "scalar":
        return f"scalar {source.slot}"
    return f"{source.what} {source.dim} of b{source.slot}"
