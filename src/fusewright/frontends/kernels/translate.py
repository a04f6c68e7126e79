"""From a Python function and the types of its arguments to a kernel of `ir.loops`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import field, replace
from types import FunctionType
from typing import Any

from fusewright.base.errors import FusewrightError, InternalError, KernelError
from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.frontends.kernels import (
    access,
    apart,
    assigning,
    calls,
    choices,
    chosen,
    comprehensions,
    fresh,
    leaving,
    lists,
    loops,
    matrices,
    operators,
    owned,
    returned,
    statements,
)
from fusewright.frontends.kernels.context import Frame, Settings, Translation
from fusewright.frontends.kernels.inlining import run_frame
from fusewright.frontends.kernels.inputs import Apart, Capture, Fit, Inputs
from fusewright.frontends.kernels.liveness import Liveness, nested_reads
from fusewright.frontends.kernels.retyping import Restart
from fusewright.frontends.kernels.source import Source
from fusewright.frontends.kernels.values import (
    ArrayKind,
    Path,
    Value,
)
from fusewright.ir.expr import postorder
from fusewright.ir.loops.statements import (
    Block,
    For,
    If,
    Kernel,
    Let,
    Print,
    Statement,
    While,
    blocks,
    expressions,
    walk,
)

EXPRESSIONS: dict[type, Callable[[Translation, Any], Any]] = {
    ast.Name: access.name,
    ast.Constant: access.constant,
    ast.Attribute: access.attribute,
    ast.Subscript: access.subscript,
    ast.Slice: access.slice_,
    ast.Tuple: access.tuple_,
    ast.List: access.list_,
    ast.BinOp: operators.binary,
    ast.UnaryOp: choices.unary,
    ast.Compare: choices.compare,
    ast.BoolOp: choices.boolean,
    ast.IfExp: choices.conditional,
    ast.Call: calls.call,
    ast.Lambda: comprehensions.lambda_,
    ast.ListComp: comprehensions.list_of,
    ast.NamedExpr: choices.named,
}
STATEMENTS: dict[type, Callable[..., None]] = {
    ast.Assign: assigning.assign,
    ast.AnnAssign: assigning.annotated,
    ast.AugAssign: assigning.augmented,
    ast.Expr: statements.expression_statement,
    ast.If: statements.if_,
    ast.For: loops.for_,
    ast.While: loops.while_,
    ast.Break: statements.break_,
    ast.Continue: statements.continue_,
    ast.Return: leaving.return_,
    ast.Raise: leaving.raise_,
    ast.Pass: statements.pass_,
    ast.Assert: leaving.assert_,
    ast.FunctionDef: comprehensions.function,
}
MOST_RESTARTS = 1000
"""Each one settles the type of a variable; types only widen."""


@dataclass(frozen=True, slots=True)
class Translated:
    """A kernel and where what it is given comes from.

    `paths` are the given buffers' (None for a result); `scalars` those of the scalars.  `result`
    says what the call returns: (buffer, origin) for a number, or a tuple of such.  `names` are the
    user's for arrays that the kernel makes.
    `fits` and `apart` are what each call must meet before anything runs.
    """

    kernel: Kernel
    paths: tuple[Path | None, ...]
    kinds: tuple[ArrayKind | None, ...]
    scalars: tuple[Path, ...]
    captures: tuple[Capture, ...]
    captured_objects: dict[str, tuple[FunctionType, str]]
    result: Any
    makes: tuple[int, ...] = ()
    fits: tuple[Fit, ...] = ()
    apart: tuple[Apart, ...] = ()
    grows: bool = False
    draws: bool = False
    names: dict[int, str] = field(default_factory=dict)


def translate(
    function: FunctionType, source: Source, make_inputs: Callable[[], Inputs], settings: Settings
) -> Translated:
    """Translate a function; `make_inputs` gives its arguments afresh."""
    guesses: dict[Any, Any] = {}
    for _ in range(MOST_RESTARTS):
        try:
            return _once(function, source, make_inputs(), settings, guesses)
        except Restart:
            continue
    raise InternalError(f"the types of {function.__name__} do not settle", ("record",))


def _once(
    function: FunctionType,
    source: Source,
    inputs: Inputs,
    settings: Settings,
    guesses: dict[Any, Any],
) -> Translated:
    t = Translation(
        inputs,
        settings,
        guesses,
        EXPRESSIONS,
        STATEMENTS,
        statements.sequence,
        fresh.kept,
        matrices.multiplied,
    )
    liveness = Liveness(nested_reads(source.tree.body))
    frame = Frame(source, function, (), {}, liveness, t.label())
    span = source.span(source.tree)
    for name, kind in inputs.kinds.items():
        frame.env[name] = inputs.argument((name,), kind, span)
    value = _value(t, frame)
    place = _returned(source)
    result = chosen.result(t, place) if t.options else returned.results(t, value, t.results, place)
    body = _without_unused(tuple(t.out))
    if inputs.grows:
        _refuse_prints(body)
    kernel = _assemble(function.__name__, t, _buffers(result), body)
    return _translated(kernel, inputs, result, owned.names(t))


def _translated(kernel: Kernel, inputs: Inputs, result: Any, names: dict[int, str]) -> Translated:
    given = kernel.given
    return Translated(
        kernel,
        tuple(inputs.buffer_paths.get(number) for number in given),
        tuple(inputs.buffer_kinds.get(number) for number in given),
        tuple(inputs.scalar_paths),
        tuple(inputs.captures.values()),
        dict(inputs.captured_objects),
        result,
        tuple(sorted(inputs.made)),
        tuple(inputs.fits),
        tuple(inputs.apart.values()),
        inputs.grows,
        inputs.draws,
        names,
    )


def _value(t: Translation, frame: Frame) -> Value:
    """Translate the body; an error may be one of types that are not the right ones yet."""
    try:
        value = run_frame(t, frame)
    except FusewrightError:
        t.retyping.end()
        lists.refuse_unfilled(t)
        apart.keep(t)
        raise
    t.retyping.end()
    lists.refuse_unfilled(t)
    return value


def _assemble(
    name: str,
    t: Translation,
    shown: frozenset[int],
    body: tuple[Statement, ...],
) -> Kernel:
    """The kernel; new arrays that are not `shown` to the caller are needed inside only."""
    inputs = t.inputs
    buffers = {**inputs.buffers, **t.scratch, **t.results}
    for number in inputs.made - shown:
        buffers[number] = replace(buffers[number], dead=True)
    return Kernel(
        name,
        tuple(buffers[number] for number in sorted(buffers)),
        frozenset(t.scratch),
        tuple(inputs.sources),
        tuple(inputs.dtypes),
        tuple(t.locals),
        body,
    )


def _refuse_prints(body: tuple[Statement, ...]) -> None:
    """A kernel with lists may run again from its start."""
    for statement in walk(body):
        if isinstance(statement, Print):
            raise KernelError(
                "print in a kernel with lists that grow",
                statement.span,
                why="where a list has too little room the kernel runs again from its start",
                help="return what is to be printed, or print it after the call",
            )


def _buffers(result: Any) -> frozenset[int]:
    """The buffers of what is returned."""
    if isinstance(result, returned.Returned):
        return frozenset((result.buffer,))
    if isinstance(result, returned.ReturnedList):
        return _buffers(result.items)
    if isinstance(result, chosen.Chosen):
        return _buffers(result.options)
    return frozenset().union(*map(_buffers, result)) if result is not None else frozenset()


def _returned(source: Source) -> Span:
    """The first value that the function returns."""
    returns = (node for node in ast.walk(source.tree) if isinstance(node, ast.Return))
    return source.span(next((node.value for node in returns if node.value), source.tree))


def _without_unused(body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Without variables that nothing reads, and without branches and loops that do nothing."""
    while True:
        used = {
            node.attr
            for statement in walk(body)
            for node in postorder(expressions(statement))
            if node.name == "local"
        }
        shorter = _kept(body, used)
        if shorter == body:
            return body
        body = shorter


def _kept(body: tuple[Statement, ...], used: set[int]) -> tuple[Statement, ...]:
    kept: list[Statement] = []
    for statement in body:
        if isinstance(statement, Let) and statement.local not in used:
            continue
        if blocks(statement):
            statement = _rebuilt(statement, used)
            if not isinstance(statement, While) and not any(blocks(statement)):
                continue
        kept.append(statement)
    return tuple(kept)


def _rebuilt(statement: Statement, used: set[int]) -> Statement:
    if isinstance(statement, For):
        return replace(statement, body=_kept(statement.body, used))
    if isinstance(statement, Block):
        return Block(statement.label, _kept(statement.body, used), statement.span)
    if isinstance(statement, If):
        body, orelse = (_kept(part, used) for part in (statement.body, statement.orelse))
        return If(statement.condition, body, orelse, statement.span)
    assert isinstance(statement, While)
    head, body = (_kept(part, used) for part in (statement.head, statement.body))
    return While(head, statement.condition, body, statement.span)
