"""Which loops of a kernel may run several iterations at once: the verdict code generation obeys.

This is the simplest proof: the innermost loop writes each element at a place of its own, reads what
is written at that very place only, and hands nothing to the next iteration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fusewright.base.source import Span
from fusewright.ir import linear
from fusewright.ir.expr import Expr, index, postorder
from fusewright.ir.loops.statements import (
    NOWHERE,
    For,
    If,
    Kernel,
    Let,
    Statement,
    Store,
    expressions,
    walk,
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the last dim of a loop may run in any order, or why not, and which line says so."""

    parallel: bool
    why: str = ""
    span: Span = NOWHERE


Access = tuple[int, tuple[Expr, ...], Span]


def independent(kernel: Kernel, loop: For) -> Verdict:
    """The verdict on a loop's last dim.

    Theorem: iterations i != j touch no common element, one of them writing, if every written place
    has one index `i + c` (c the same for all i) and others that do not depend on i, and every other
    access to memory that is written has the same indices.
    """
    inside = list(walk(loop.body))
    for statement in inside:
        if not isinstance(statement, Let | Store | If):
            kind = type(statement).__name__.lower()
            return Verdict(False, _WORDS.get(kind, kind), statement.span)
    changing = {s.local for s in inside if isinstance(s, Let)}
    carried = _carried(kernel, loop, inside)
    if carried is not None:
        return carried
    dim = loop.dims[-1].index
    stores = [(s.buffer, s.indices, s.span) for s in inside if isinstance(s, Store)]
    for buffer, indices, span in stores:
        if not _is_own_place(indices, dim, changing):
            what = _array(kernel, buffer)
            return Verdict(False, f"{what} is not written at a place of its own", span)
    return _conflict(kernel, stores, list(_loads(inside))) or Verdict(True)


_WORDS = {
    "while": "it contains a loop whose length is not known",
    "for": "it is not the innermost loop",
    "block": "an iteration may end early",
    "leave": "it may be left early",
    "print": "lines are printed in order",
    "check": "indices are checked in order",
}


def _array(kernel: Kernel, buffer: int) -> str:
    return f"the array b{buffer} ({kernel.buffers[buffer].dtype})"


def _conflict(kernel: Kernel, stores: list[Access], loads: list[Access]) -> Verdict | None:
    for buffer, indices, _ in stores:
        for other, places, span in (*stores, *loads):
            same = other == buffer and places == indices
            if not same and (other == buffer or not kernel.apart(buffer, other)):
                what = _array(kernel, other)
                why = "is read or written at another place too"
                if other != buffer:
                    why = f"may share memory with {_array(kernel, buffer)}, which is written"
                return Verdict(False, f"{what} {why}", span)
    return None


def _loads(inside: Iterable[Statement]) -> Iterator[Access]:
    for statement in inside:
        for node in postorder(expressions(statement)):
            if node.name == "load":
                yield node.attr, node.args, statement.span


def _is_own_place(indices: tuple[Expr, ...], dim: int, changing: set[int]) -> bool:
    moving = 0
    for expr in indices:
        total = linear.terms(expr)
        count = total.pop(index(dim), 0)
        moving += count == 1
        if count not in (0, 1) or not all(_is_fixed(term, dim, changing) for term in total):
            return False
    return moving == 1


def _is_fixed(expr: Expr, dim: int, changing: set[int]) -> bool:
    """Whether an expression has one value in all iterations."""
    return not any(
        node.name == "load"
        or (node.name == "index" and node.attr == dim)
        or (node.name == "local" and node.attr in changing)
        for node in postorder([expr])
    )


def _carried(kernel: Kernel, loop: For, inside: list[Statement]) -> Verdict | None:
    """A variable that one iteration hands to the next, or to what follows the loop."""
    own = {s.local: s.span for s in inside if isinstance(s, Let) and kernel.locals[s.local].mutable}
    if not own:
        return None
    within = {id(statement) for statement in inside}
    for statement in walk(kernel.body):
        if id(statement) not in within and statement is not loop:
            for number in reads(statement):
                if number in own:
                    name = kernel.locals[number].name
                    return Verdict(False, f"`{name}` is used after the loop", own[number])
    exposed = _exposed(loop.body, set())[0] & set(own)
    if exposed:
        number = min(exposed)
        name = kernel.locals[number].name
        return Verdict(False, f"`{name}` goes from one iteration to the next", own[number])
    return None


def reads(statement: Statement) -> set[int]:
    """The variables a statement itself reads."""
    return {node.attr for node in postorder(expressions(statement)) if node.name == "local"}


def _exposed(body: tuple[Statement, ...], given: set[int]) -> tuple[set[int], set[int]]:
    """The variables read before they are surely given a value, and those given one at the end."""
    exposed: set[int] = set()
    given = set(given)
    for statement in body:
        exposed |= reads(statement) - given
        if isinstance(statement, Let):
            given.add(statement.local)
        elif isinstance(statement, If):
            first, after_first = _exposed(statement.body, given)
            second, after_second = _exposed(statement.orelse, given)
            exposed |= first | second
            given = after_first & after_second
    return exposed, given
