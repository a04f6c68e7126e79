"""A fused body reads before it writes.

A load that follows a store to another array at the same place within its page waits for that store
(the processor compares the low 12 bits of addresses first), and arrays of one size are often placed
alike.  In a body of several loops that would cost more than fusing saves.
"""

from __future__ import annotations

from dataclasses import replace

from fusewright.ir.expr import Expr, local, postorder
from fusewright.ir.loops.statements import (
    For,
    Kernel,
    Let,
    Local,
    Statement,
    Store,
    blocks,
    expressions,
    walk,
    with_blocks,
)
from fusewright.plan.loops.normalise.rename import Body, Numbers, rewritten

MOST = 12
"""Loads moved to the front, at most: each holds a register until it is used."""


def reads_first(kernel: Kernel, numbers: Numbers) -> Kernel:
    """The kernel with such loads at the beginning of their loop's body."""
    body = _block(kernel, kernel.body, numbers)
    return replace(kernel, body=body, locals=tuple(numbers.locals))


def _block(kernel: Kernel, body: Body, numbers: Numbers) -> Body:
    fresh: list[Statement] = []
    for statement in body:
        inner = [_block(kernel, block, numbers) for block in blocks(statement)]
        statement = with_blocks(statement, inner)
        if isinstance(statement, For):
            statement = replace(statement, body=_ordered(kernel, statement.body, numbers))
        fresh.append(statement)
    return tuple(fresh)


def _ordered(kernel: Kernel, body: Body, numbers: Numbers) -> Body:
    late = _late(kernel, body)
    if not late or len(late) > MOST:
        return body
    kept = {node: local(numbers.local(Local("_", node.dtype)), node.dtype) for node in late}
    lets = tuple(Let(variable.attr, node, body[0].span) for node, variable in kept.items())
    return (*lets, *rewritten(body, kept.get))


def _late(kernel: Kernel, body: Body) -> list[Expr]:
    """Loads after a store that may as well stand before it, and that surely happen."""
    stored = {s.buffer for s in walk(body) if isinstance(s, Store)}
    found: dict[Expr, None] = {}
    storing = False
    for statement in body:
        if not isinstance(statement, Let | Store):
            break
        for node in postorder(expressions(statement)):
            if storing and node.name == "load" and _is_free(kernel, node, stored):
                found[node] = None
        storing = storing or isinstance(statement, Store)
    return list(found)


def _is_free(kernel: Kernel, node: Expr, stored: set[int]) -> bool:
    plain = all(inner.name not in ("local", "load") for inner in postorder(node.args))
    return plain and all(b != node.attr and kernel.apart(node.attr, b) for b in stored)
