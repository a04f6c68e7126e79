"""The statements of a kernel of loops, in the order the user wrote them.

Expressions are `ir.expr`'s; `local(k)` is variable k and `load(b, ...)` an element, both as they
are where the statement runs.  Loops keep their dims: a nest over (i, j) is one `For` with two dims.

    out:
      for i, j in [0, n) x [0, m):
        let v0 = a[i, j]
        if v0 < 0.0:
          leave out
        b[i, j] add= v0
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Literal

from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.ir.dtypes import DType
from fusewright.ir.expr import Expr, postorder
from fusewright.ir.nest import Buffer, Source

NOWHERE: Span = ("", 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Let:
    """A variable gets a value.  One that is not `mutable` gets it once, before every use."""

    local: int
    value: Expr
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Store:
    """`buffer[indices] = value`; with `combine` (an op), `= combine(buffer[indices], value)`: an
    update that may be atomic.

    The value has the buffer's dtype; indices count from 0.
    """

    buffer: int
    indices: tuple[Expr, ...]
    value: Expr
    combine: str = ""
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Dim:
    """One dim of a loop: `index` runs over [low, high), both computed before the loop starts.

    `name` is what the user calls it (or a value computed from it, where steps are not 1), empty
    where an array statement goes over its elements; `span` is its own line, where it was a loop
    inside the one it belongs to.
    """

    index: int
    low: Expr
    high: Expr
    name: str = ""
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class For:
    """A nest of loops, the last dim innermost.

    `declared`: the user said that no iteration depends on another one, in any dim; nothing is to be
    proved.
    """

    dims: tuple[Dim, ...]
    body: tuple[Statement, ...]
    span: Span = NOWHERE
    declared: bool = False


@dataclass(frozen=True, slots=True)
class While:
    """Run `head`; if the condition then holds run `body`, and again."""

    head: tuple[Statement, ...]
    condition: Expr
    body: tuple[Statement, ...]
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class If:
    """One of two blocks."""

    condition: Expr
    body: tuple[Statement, ...]
    orelse: tuple[Statement, ...] = ()
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Block:
    """Statements that a `Leave` of the same label ends early.

    Around a loop that is `break`, around its body `continue`, around everything `return`.
    """

    label: int
    body: tuple[Statement, ...]
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Leave:
    """Go to the end of the enclosing block of this label."""

    label: int
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Shown:
    """A value in a `print`: how it is formatted, and whether Python's or NumPy's number prints.

    A complex number that has been taken apart has its second part beside it.
    """

    value: Expr
    python: bool
    conversion: str = ""
    spec: str = ""
    imaginary: Expr | None = None

    @property
    def values(self) -> tuple[Expr, ...]:
        return (self.value,) if self.imaginary is None else (self.value, self.imaginary)


@dataclass(frozen=True, slots=True)
class Print:
    """One line (or what `end` makes of it) on standard output, in program order."""

    pieces: tuple[str | Shown, ...]
    span: Span = NOWHERE


Reason = Literal[
    "bounds", "division", "power", "assertion", "shape", "raised", "unassigned", "room"
]


@dataclass(frozen=True, slots=True)
class Check:
    """Where the condition fails the kernel ends with an error.

    The message's `{}` are filled with `values`; `loops` are the indices of the loops around it.
    """

    condition: Expr
    reason: Reason
    message: str
    values: tuple[Expr, ...]
    loops: tuple[tuple[str, Expr], ...] = ()
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Fence:
    """Loops before and after stay apart."""

    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Unique:
    """The user's word that a buffer holds no value twice."""

    buffer: int
    span: Span = NOWHERE


Statement = Let | Store | For | While | If | Block | Leave | Print | Check | Fence | Unique


@dataclass(frozen=True, slots=True)
class Local:
    """A variable; a `mutable` one may get several values."""

    name: str
    dtype: DType
    mutable: bool = False


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel: what it is given and what it does.

    `arguments[k]` is the source of `param(k)`: a scalar, or the extent or stride of a buffer.
    The buffers in `scratch` are arrays of the kernel's own; their content is undefined until
    written, the others are given.  `written` are the given buffers it writes.
    `disjoint` says which pairs of given buffers share no memory.
    """

    name: str
    buffers: tuple[Buffer, ...]
    scratch: frozenset[int]
    arguments: tuple[Source, ...]
    dtypes: tuple[DType, ...]
    locals: tuple[Local, ...]
    body: tuple[Statement, ...]
    disjoint: frozenset[tuple[int, int]] = frozenset()
    _given: tuple[int, ...] | None = field(default=None, init=False, compare=False, repr=False)
    _written: frozenset[int] | None = field(default=None, init=False, compare=False, repr=False)

    @property
    def given(self) -> tuple[int, ...]:
        if self._given is None:
            found = tuple(b.slot for b in self.buffers if b.slot not in self.scratch)
            object.__setattr__(self, "_given", found)
        assert self._given is not None
        return self._given

    @property
    def written(self) -> frozenset[int]:
        if self._written is None:
            stores = frozenset(s.buffer for s in walk(self.body) if isinstance(s, Store))
            object.__setattr__(self, "_written", stores - self.scratch)
        assert self._written is not None
        return self._written

    def apart(self, a: int, b: int) -> bool:
        """Whether two different buffers certainly share no memory."""
        inside = a in self.scratch or b in self.scratch
        return inside or (min(a, b), max(a, b)) in self.disjoint


def blocks(statement: Statement) -> tuple[tuple[Statement, ...], ...]:
    """The blocks a statement contains."""
    if isinstance(statement, For | Block):
        return (statement.body,)
    if isinstance(statement, If):
        return (statement.body, statement.orelse)
    if isinstance(statement, While):
        return (statement.head, statement.body)
    return ()


def line_of(loop: For) -> Span:
    """Where the first dim of a loop stands: what was inside another loop has a line of its own."""
    first = loop.dims[0].span
    return first if first[1] else loop.span


def inner_dims(inner: For) -> tuple[Dim, ...]:
    """The dims of a loop that becomes part of the one around it: they keep their line."""
    return tuple(d if d.span[1] else replace(d, span=inner.span) for d in inner.dims)


def expressions(statement: Statement) -> tuple[Expr, ...]:
    """The expressions a statement evaluates itself, not those of its blocks."""
    if isinstance(statement, Let):
        return (statement.value,)
    if isinstance(statement, Store):
        return (*statement.indices, statement.value)
    if isinstance(statement, For):
        return tuple(bound for dim in statement.dims for bound in (dim.low, dim.high))
    if isinstance(statement, While | If):
        return (statement.condition,)
    if isinstance(statement, Print):
        shown = [piece.values for piece in statement.pieces if isinstance(piece, Shown)]
        return tuple(value for values in shown for value in values)
    if isinstance(statement, Check):
        return (statement.condition, *statement.values, *(e for _, e in statement.loops))
    return ()


def buffers_of(statement: Statement) -> frozenset[int]:
    """The buffers a statement uses itself, not in its blocks."""
    found = {node.attr for node in postorder(expressions(statement)) if node.name == "load"}
    if isinstance(statement, Store):
        found.add(statement.buffer)
    return frozenset(found)


def walk(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """Every statement, outer ones first."""
    left = list(reversed(body))
    while left:
        statement = left.pop()
        yield statement
        for inner in reversed(blocks(statement)):
            left += reversed(inner)


def with_spans(kernel: Kernel, spans: Sequence[Span]) -> Kernel:
    """The kernel with other spans, in the order of `walk`."""
    left = iter(spans)
    return replace(kernel, body=_respanned(kernel.body, left))


def _respanned(body: tuple[Statement, ...], left: Iterator[Span]) -> tuple[Statement, ...]:
    fresh: list[Statement] = []
    for statement in body:
        statement = replace(statement, span=next(left))
        inner = [_respanned(block, left) for block in blocks(statement)]
        fresh.append(with_blocks(statement, inner))
    return tuple(fresh)


def as_one_line(body: Sequence[Statement], span: Span) -> tuple[Statement, ...]:
    """Statements that the user wrote as one call at a line: its loops have no names there."""
    fresh: list[Statement] = []
    for statement in body:
        statement = replace(statement, span=span)
        if isinstance(statement, For):
            dims = tuple(replace(dim, name="", span=NOWHERE) for dim in statement.dims)
            statement = replace(statement, dims=dims)
        inner = [as_one_line(block, span) for block in blocks(statement)]
        fresh.append(with_blocks(statement, inner))
    return tuple(fresh)


def with_blocks(statement: Statement, inner: Sequence[tuple[Statement, ...]]) -> Statement:
    """The statement around other blocks, as many as `blocks` gives."""
    if isinstance(statement, For | Block):
        return replace(statement, body=inner[0])
    if isinstance(statement, If):
        return replace(statement, body=inner[0], orelse=inner[1])
    if isinstance(statement, While):
        return replace(statement, head=inner[0], body=inner[1])
    return statement
