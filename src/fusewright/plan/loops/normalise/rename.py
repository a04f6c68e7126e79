"""Statements with other loops, variables or array elements in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field, replace

from fusewright.base.values import dataclass
from fusewright.ir.expr import Expr, index, local, rewrite
from fusewright.ir.loops.statements import (
    Check,
    For,
    If,
    Kernel,
    Let,
    Local,
    Print,
    Shown,
    Statement,
    Store,
    While,
    blocks,
    walk,
    with_blocks,
)

Rule = Callable[[Expr], Expr | None]
Body = tuple[Statement, ...]


@dataclass(slots=True)
class Numbers:
    """Fresh numbers of loops and variables; `parts` are loops that were cut out of one."""

    next_index: int
    locals: list[Local]
    parts: set[int] = field(default_factory=set)

    @staticmethod
    def after(kernel: Kernel) -> Numbers:
        """Numbers that a kernel does not use."""
        used = [dim.index for s in walk(kernel.body) if isinstance(s, For) for dim in s.dims]
        return Numbers(1 + max(used, default=-1), list(kernel.locals))

    def index(self) -> int:
        """A new loop."""
        self.next_index += 1
        return self.next_index - 1

    def local(self, like: Local) -> int:
        """A new variable."""
        self.locals.append(like)
        return len(self.locals) - 1


def rewritten(body: Iterable[Statement], rule: Rule) -> Body:
    """Every expression of a body rewritten bottom-up."""
    return tuple(_statement(statement, rule) for statement in body)


def _statement(statement: Statement, rule: Rule) -> Statement:
    def put(root: Expr) -> Expr:
        return rewrite(root, rule, {})

    if isinstance(statement, Let):
        statement = replace(statement, value=put(statement.value))
    elif isinstance(statement, Store):
        places = tuple(map(put, statement.indices))
        statement = replace(statement, indices=places, value=put(statement.value))
    elif isinstance(statement, For):
        dims = tuple(replace(d, low=put(d.low), high=put(d.high)) for d in statement.dims)
        statement = replace(statement, dims=dims)
    elif isinstance(statement, If | While):
        statement = replace(statement, condition=put(statement.condition))
    elif isinstance(statement, Print):
        pieces = tuple(
            replace(
                piece,
                value=put(piece.value),
                imaginary=piece.imaginary and put(piece.imaginary),
            )
            if isinstance(piece, Shown)
            else piece
            for piece in statement.pieces
        )
        statement = replace(statement, pieces=pieces)
    elif isinstance(statement, Check):
        statement = replace(
            statement,
            condition=put(statement.condition),
            values=tuple(map(put, statement.values)),
            loops=tuple((name, put(value)) for name, value in statement.loops),
        )
    return with_blocks(statement, [rewritten(block, rule) for block in blocks(statement)])


def reindexed(body: Iterable[Statement], renamed: dict[int, Expr]) -> Body:
    """Loop indices replaced by expressions."""

    def rule(node: Expr) -> Expr | None:
        return renamed.get(node.attr) if node.name == "index" else None

    return rewritten(body, rule)


def copied(body: Iterable[Statement], numbers: Numbers) -> Body:
    """The same once more, with loops and variables of its own (those that get one value)."""
    body = tuple(body)
    loops = {dim.index: numbers.index() for s in walk(body) if isinstance(s, For) for dim in s.dims}
    variables = {
        s.local: numbers.local(numbers.locals[s.local])
        for s in walk(body)
        if isinstance(s, Let) and not numbers.locals[s.local].mutable
    }

    return renamed(body, loops, variables)


def renamed(body: Iterable[Statement], loops: dict[int, int], variables: dict[int, int]) -> Body:
    """Other loops and variables in the place of these."""

    def rule(node: Expr) -> Expr | None:
        if node.name == "index" and node.attr in loops:
            return index(loops[node.attr], node.dtype)
        if node.name == "local" and node.attr in variables:
            return local(variables[node.attr], node.dtype)
        return None

    return _renumbered(rewritten(body, rule), loops, variables)


def _renumbered(body: Body, loops: dict[int, int], variables: dict[int, int]) -> Body:
    fresh = []
    for statement in body:
        if isinstance(statement, Let) and statement.local in variables:
            statement = replace(statement, local=variables[statement.local])
        elif isinstance(statement, For):
            dims = tuple(replace(d, index=loops.get(d.index, d.index)) for d in statement.dims)
            statement = replace(statement, dims=dims)
        inner = [_renumbered(block, loops, variables) for block in blocks(statement)]
        fresh.append(with_blocks(statement, inner))
    return tuple(fresh)
