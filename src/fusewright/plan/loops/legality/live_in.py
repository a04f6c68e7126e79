"""Which variables of a kernel of loops a statement uses as others have left them.

A variable that is given a value in every iteration before it is read belongs to the iteration; one
that is read first is handed on from the iteration before, or from outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fusewright.ir.expr import postorder
from fusewright.ir.loops.statements import (
    Block,
    For,
    If,
    Let,
    Statement,
    While,
    expressions,
    walk,
)

Locals = frozenset[int]


def reads(statement: Statement) -> Locals:
    """The variables a statement itself reads."""
    return frozenset(n.attr for n in postorder(expressions(statement)) if n.name == "local")


def assigned(body: Iterable[Statement]) -> Locals:
    """The variables that get a value somewhere in a body."""
    return frozenset(s.local for s in walk(tuple(body)) if isinstance(s, Let))


def used(body: Iterable[Statement]) -> Locals:
    """The variables that are read somewhere in a body."""
    return frozenset().union(*map(reads, walk(tuple(body))))


def exposed(body: Iterable[Statement]) -> Locals:
    """The variables a body may read before it gives them a value."""
    return _exposed(tuple(body), frozenset())[0]


def _exposed(body: tuple[Statement, ...], given: Locals) -> tuple[Locals, Locals]:
    """What is read before it surely has a value, and what surely has one at the end."""
    found: Locals = frozenset()
    for statement in body:
        if not isinstance(statement, While):  # its head comes before its condition
            found |= reads(statement) - given
        if isinstance(statement, Let):
            given |= {statement.local}
        elif isinstance(statement, If):
            first, after_first = _exposed(statement.body, given)
            second, after_second = _exposed(statement.orelse, given)
            found |= first | second
            given = after_first & after_second
        elif isinstance(statement, While):
            first, given = _exposed(statement.head, given)
            found |= first | (reads(statement) - given) | _exposed(statement.body, given)[0]
        elif isinstance(statement, For | Block):  # its body may not run, or end early
            found |= _exposed(statement.body, given)[0]
    return found, given


def read_from(body: Sequence[Statement], live: Locals) -> list[Locals]:
    """For each place of a body, the end included, the variables whose values there some statement
    from there on may read, or that are `live` after it: one backward pass.

    A variable that is given a value on the way counts all the same: loops may change places.
    """
    found = [live]
    for statement in reversed(body):
        more = exposed((statement,))
        found.append(found[-1] if more <= found[-1] else found[-1] | more)
    return found[::-1]
