"""The state of one translation: the statements written so far, variables, arguments, and names.

What depends on the syntax is in the modules beside it, handed over as tables.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from types import FunctionType
from typing import Any

from fusewright.base.errors import FusewrightError, UnsupportedError
from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.frontends.kernels import source as sources
from fusewright.frontends.kernels import types
from fusewright.frontends.kernels.inputs import Inputs
from fusewright.frontends.kernels.liveness import NONE, Liveness, Names
from fusewright.frontends.kernels.retyping import Retyping
from fusewright.frontends.kernels.source import Source
from fusewright.frontends.kernels.spelling import EXPRESSION, INSTEAD, STATEMENT, spelled
from fusewright.frontends.kernels.values import (
    Elementwise,
    Number,
    Space,
    TupleValue,
    Value,
    Zipped,
)
from fusewright.ir.dtypes import INT64, DType
from fusewright.ir.expr import Expr, local, postorder, rewrite
from fusewright.ir.loops.statements import Check, Let, Local, Reason, Statement
from fusewright.ir.nest import Buffer

SMALL = 12
"""Operations in an index expression that is repeated rather than given a variable."""


class Assignable:
    """A name that is assigned where paths join, or in loops: a `joins.SlotTree`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Maybe:
    """A name that some path leaves without a value; the `tree` has what others gave it."""

    span: Span
    tree: Assignable


Binding = Value | Assignable | Maybe


@dataclass(frozen=True, slots=True)
class Dialect:
    """What another language of loops does differently.

    `read` gives a function's tree, `functions` the rows of what only it can call, `rule` says how
    numbers meet, `combine` what an arithmetic operator makes of two, and `converted` what is stored
    in an element of a type.
    """

    name: str
    read: Callable[[FunctionType], Source]
    functions: Mapping[Any, Callable[..., Value]]
    rule: Callable[[str, tuple[Number, ...], Span], types.Rule]
    combine: Callable[[Translation, str, Number, Number, Span], Number]
    converted: Callable[[Number, DType, Span], Expr]


@dataclass(frozen=True, slots=True)
class Settings:
    """What changes the meaning of the code: bounds are checked; integers divide as C does; it is
    written in a dialect.
    """

    check: bool = False
    c_integers: bool = False
    dialect: Dialect | None = None


@dataclass(slots=True, eq=False)
class Frame:
    """One function being translated: the kernel itself or one it calls.

    `instance` tells apart the places it is called from; `returned` is where `return` puts values.
    Its own arrays have numbers from `first_buffer` on; `after` are the names that are read when the
    statement being translated is done.  A function that stands inside another one has names of its
    own, and reads those of `outer`; `function` is then that one's.
    `called_at` is the user's line, of a function of this package: what it does is done there.
    """

    source: Source
    function: FunctionType
    instance: tuple[int, ...]
    env: dict[str, Binding]
    liveness: Liveness
    label: int = 0
    left: bool = False
    returned: Any = None
    loops: list[LoopFrame] = field(default_factory=list)
    outer: Frame | None = None
    names: Names = NONE
    is_comprehension: bool = False
    first_buffer: int = 0
    called_at: Span | None = None
    after: Names = NONE

    def binding(self, name: str) -> Binding | None:
        """What a name stands for in the function, or in the one it stands in."""
        if name in self.env or self.outer is None or name in self.names:
            return self.env.get(name)
        return self.outer.binding(name)

    def is_local(self, name: str) -> bool:
        """Whether the function, or one it stands in, binds the name."""
        if self.outer is not None:
            return name in self.names or self.outer.is_local(name)
        code = self.function.__code__
        return name in code.co_varnames or name in code.co_cellvars


@dataclass(slots=True)
class Paths:
    """Of paths that are kept apart (`apart`): `meeting` is the join whose paths give a name its
    value now; `peeled` are the loops whose first iteration stands before them.
    """

    meeting: Any = None
    peeled: dict[int, ast.stmt] = field(default_factory=dict)


@dataclass(slots=True)
class LoopFrame:
    """A loop being translated: where `break` and `continue` go, and what is live there."""

    break_label: int
    continue_label: int
    on_break: frozenset[str]
    on_continue: frozenset[str]
    breaks: bool = False
    continues: bool = False
    sure: list[list[bool]] = field(default_factory=list)
    """For each `break`, which of the names that paths join at have a value there."""


Rule = Callable[["Translation", Any], Any]


class Translation:
    """One kernel being translated for one set of argument types."""

    def __init__(
        self,
        inputs: Inputs,
        settings: Settings,
        guesses: dict[Any, Any],
        expressions: Mapping[type, Rule],
        statements: Mapping[type, Callable[..., None]],
        sequence: Callable[..., None],
        keep: Callable[[Translation, Elementwise], Value],
        product: Callable[[Translation, Sequence[Value], Span], Value],
    ) -> None:
        self.inputs = inputs
        inputs.nesting = lambda: self.nesting
        self.settings = settings
        self.guesses = guesses
        self.retyping = Retyping()
        self.known: dict[int, Expr] = {}
        self.locals: list[Local] = []
        self.scratch: dict[int, Buffer] = {}
        self.results: dict[int, Buffer] = {}
        self.options: list[Any] = []
        self.chosen: int | None = None
        self.out: list[Statement] = []
        self.open: list[list[Statement]] = []
        self.at_end: list[tuple[list[Statement], Callable[[], None]]] = []
        self.frames: list[Frame] = []
        self.active: list[Any] = []
        """The `SlotTree`s that the loops and branches around assign."""
        self.ranges: dict[int, tuple[Expr, Expr]] = {}
        self.loop_names: list[tuple[str, Expr]] = []
        self.branches: list[Expr] = []
        self.discarded: ast.expr | None = None
        self.paths = Paths()
        self.owners: dict[Any, list[tuple[Frame, str]]] = {}
        self.labels = self.indices = self.depth = self.conditional = self.inlined = 0
        self._expressions = expressions
        self._statements = statements
        self._sequence = sequence
        self._keep = keep
        self.product = product

    # -- places ---------------------------------------------------------------------------------

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def span(self, node: ast.AST) -> Span:
        """Where the user wrote it."""
        return self.frame.source.span(node)

    def refuse(self, node: ast.AST, what: str, why: str = "", help: str = "") -> FusewrightError:
        """An error at the user's line for something the language does not have."""
        return UnsupportedError(what, self.span(node), why=why, help=help)

    # -- the dialect ----------------------------------------------------------------------------

    def read(self, function: FunctionType) -> Source:
        """The definition of a function that is called."""
        dialect = self.settings.dialect
        return sources.read(function) if dialect is None else dialect.read(function)

    def row(self, target: Any) -> Callable[..., Value] | None:
        """How the dialect translates a call of this object; None where it says nothing."""
        dialect = self.settings.dialect
        try:
            return None if dialect is None else dialect.functions.get(target)
        except TypeError:
            return None

    def rule(self, name: str, operands: tuple[Number, ...], span: Span) -> types.Rule:
        """What an operation computes in, and what comes out."""
        dialect = self.settings.dialect
        return (types.rule_of if dialect is None else dialect.rule)(name, operands, span)

    def converted(self, number: Number, dtype: DType) -> Expr:
        """What is stored of a number in an element of this type."""
        dialect = self.settings.dialect
        return (types.converted if dialect is None else dialect.converted)(
            number, dtype, number.span
        )

    # -- dispatch -------------------------------------------------------------------------------

    def expression(self, node: ast.expr) -> Value:
        """What an expression stands for; statements it needs are written before."""
        rule = self._expressions.get(type(node))
        if rule is None:
            raise self.refuse(
                node,
                f"a kernel cannot contain {spelled(node)}",
                help=INSTEAD.get(type(node).__name__, EXPRESSION),
            )
        value: Value = rule(self, node)
        return value

    def statement(self, node: ast.stmt, after: frozenset[str], tail: frozenset[int]) -> None:
        """Translate one statement; `after` is read later, the blocks of `tail` end here."""
        rule = self._statements.get(type(node))
        if rule is None:
            raise self.refuse(
                node,
                f"a kernel cannot contain {spelled(node)}",
                help=INSTEAD.get(type(node).__name__, STATEMENT),
            )
        rule(self, node, after, tail)

    def sequence(
        self, body: Sequence[ast.stmt], after: frozenset[str], tail: frozenset[int]
    ) -> None:
        """Translate statements one after the other."""
        self._sequence(self, body, after, tail)

    def jumps(self, after: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
        """What is live where `continue` and `break` go."""
        loop = self.frame.loops[-1] if self.frame.loops else None
        return (loop.on_continue, loop.on_break) if loop else (after, after)

    # -- what is written ------------------------------------------------------------------------

    def write(self, statement: Statement) -> None:
        if isinstance(statement, Let):
            self.retyping.note(statement.local, statement.value)
            if not self.locals[statement.local].mutable:
                self.known[statement.local] = statement.value
        self.out.append(statement)

    @contextmanager
    def block(self) -> Iterator[list[Statement]]:
        """Collect the statements written inside."""
        before, self.out = self.out, []
        self.open.append(before)
        self.depth += 1
        try:
            yield self.out
            ended = [look for block, look in self.at_end if block is self.out]
            self.at_end = [each for each in self.at_end if each[0] is not self.out]
            for look in ended:
                look()
        finally:
            self.open.pop()
            self.out = before
            self.depth -= 1

    @property
    def nesting(self) -> int:
        """How many loops are around."""
        return sum(len(frame.loops) for frame in self.frames)

    def label(self) -> int:
        self.labels += 1
        return self.labels

    def index(self) -> int:
        self.indices += 1
        return self.indices - 1

    def new_local(self, name: str, dtype: DType, mutable: bool) -> int:
        self.locals.append(Local(name, dtype, mutable))
        return len(self.locals) - 1

    def let(self, name: str, number: Number) -> Number:
        """The number under a name of its own, computed here and once."""
        slot = self.new_local(name, number.dtype, False)
        self.write(Let(slot, number.expr, number.span))
        return Number(local(slot, number.dtype), number.origin, number.span)

    def fixed(self, number: Number, name: str = "") -> Number:
        """The number as it is now, whatever is written later."""
        return number if self.is_stable(number.expr) else self.let(name or "_", number)

    def lasting(self, value: Value) -> Value:
        """A value that keeps what it is now, whatever is written later; arrays are references."""
        if isinstance(value, Number):
            return self.fixed(value)
        if isinstance(value, Elementwise):
            return self._keep(self, value)
        if isinstance(value, Zipped):
            return replace(value, parts=tuple(self.lasting(part) for part in value.parts))
        if isinstance(value, TupleValue):
            return replace(value, items=tuple(self.lasting(item) for item in value.items))
        if isinstance(value, Space):
            dims = tuple((self.fixed(a), self.fixed(b), self.fixed(c)) for a, b, c in value.dims)
            return replace(value, dims=dims)
        return value

    def written_out(self, expr: Expr) -> Expr:
        """The expression with what variables of one value stand for."""

        def rule(node: Expr) -> Expr | None:
            known = self.known.get(node.attr) if node.name == "local" else None
            return None if known is None else self.written_out(known)

        return rewrite(expr, rule, {})

    def is_stable(self, expr: Expr) -> bool:
        """Whether no statement can change what the expression means."""
        return not any(
            node.name == "load" or (node.name == "local" and self.locals[node.attr].mutable)
            for node in postorder([expr])
        )

    def named(self, name: str, number: Number) -> Number:
        """What a name stands for: short positions stay expressions, everything else is computed
        here.
        """
        expr = number.expr
        if not expr.args and self.is_stable(expr):
            return number
        short = expr.dtype is INT64 and _size(expr, SMALL) <= SMALL
        return number if short and self.is_stable(expr) else self.let(name, number)

    def check(
        self, condition: Expr, reason: Reason, message: str, values: tuple[Expr, ...], span: Span
    ) -> None:
        """End the kernel with an error unless the condition holds."""
        self.write(Check(condition, reason, message, values, tuple(self.loop_names), span))

    def scratch_buffer(self, dtype: DType, extents: tuple[Expr, ...]) -> int:
        number = self.inputs.next_buffer()
        self.scratch[number] = Buffer(number, dtype, extents)
        return number


def _size(expr: Expr, limit: int) -> int:
    """Nodes of an expression written as a tree, at most a little over the limit."""
    total = 1
    for arg in expr.args:
        if total > limit:
            break
        total += _size(arg, limit - total)
    return total
