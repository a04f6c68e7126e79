"""Perfectly nested loops are one loop of several dims, where bounds allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fusewright.ir.expr import Expr, postorder
from fusewright.ir.loops.statements import (
    For,
    Statement,
    blocks,
    inner_dims,
    with_blocks,
)
from fusewright.plan.loops.legality.live_in import Locals, assigned


def flattened(loop: For) -> For:
    """Perfectly nested loops as one, where the inner bounds do not depend on the outer loops."""
    while len(loop.body) == 1 and isinstance(loop.body[0], For):
        inner = loop.body[0]
        own = {dim.index for dim in loop.dims}
        given = assigned(inner.body)
        bounds = [bound for dim in inner.dims for bound in (dim.low, dim.high)]
        if inner.declared != loop.declared or depends(bounds, own) or reads(bounds, given):
            break
        loop = replace(loop, dims=loop.dims + inner_dims(inner), body=inner.body)
    return loop


def depends(places: Sequence[Expr], loops: set[int]) -> bool:
    """Whether a place or a bound changes along one of these loops, as far as it shows."""
    return any(node.name == "index" and node.attr in loops for node in postorder(places))


def reads(places: Sequence[Expr], changing: Locals) -> bool:
    """Whether a place or a bound depends on memory, or on variables that change."""
    return any(
        node.name == "load" or (node.name == "local" and node.attr in changing)
        for node in postorder(places)
    )


def all_flattened(body: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Every loop of a body flattened."""
    fresh: list[Statement] = []
    for statement in body:
        statement = with_blocks(statement, [all_flattened(b) for b in blocks(statement)])
        fresh.append(flattened(statement) if isinstance(statement, For) else statement)
    return tuple(fresh)
