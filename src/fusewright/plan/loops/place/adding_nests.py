"""Nests that add up: what they look like, and what their rows have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, postorder, typed_op
from fusewright.ir.loops.statements import For, If, Let, Statement, Store, expressions, walk
from fusewright.plan.loops.legality.live_in import assigned, used
from fusewright.plan.loops.normalise.perfect_nests import depends, reads
from fusewright.plan.loops.normalise.rename import Body


def is_perfect(loop: For) -> bool:
    """Whether all its loops are its dims."""
    return not any(isinstance(statement, For) for statement in walk(loop.body))


def groups(body: Body) -> list[Body]:
    """Each loop of a body, and what stands between them."""
    found: list[Body] = []
    for statement in body:
        plain = not isinstance(statement, For)
        if plain and found and not isinstance(found[-1][-1], For):
            found[-1] = (*found[-1], statement)
        else:
            found.append((statement,))
    return found


def share(groups: Sequence[Body]) -> bool:
    """Whether one of several bodies sets a variable that another one uses."""
    touched = [(assigned(group), assigned(group) | used(group)) for group in groups]
    return any(a is not b and a[0] & b[1] for a in touched for b in touched)


def may_fit(loop: For) -> bool:
    """Whether a nest looks like one that adds up: it, or loops in its body, and plain statements,
    loops of the same bounds in all iterations.
    """
    own, changing = {dim.index for dim in loop.dims}, assigned(loop.body)
    inner = [s for s in walk(loop.body) if isinstance(s, For)]
    if len(loop.dims) < (2 if inner else 3):
        return False
    for statement in walk(loop.body):
        if not isinstance(statement, Let | Store | If | For):
            return False
        if isinstance(statement, If) and any(isinstance(s, For) for s in walk((statement,))):
            return False
    every = [dim for s in (loop, *inner) for dim in s.dims]
    bounds = [bound for dim in every for bound in (dim.low, dim.high)]
    return not (depends(bounds, own) or reads(bounds, changing))


def pieces(trips: Expr, size: int) -> Expr:
    """How many pieces of a size cover a number of iterations."""
    return typed_op("floor_divide", INT64, linear.plus(trips, size - 1), const(size, INT64))


def shared(body: Sequence[Statement], row: int) -> list[Expr]:
    """The loads in the loops of a body that are the same in all rows, and change in each turn."""
    body = tuple(body)
    changing = assigned(body)
    found: dict[Expr, None] = {}
    for loop in walk(body):
        if isinstance(loop, For):
            turns = {dim.index for dim in loop.dims}
            for node in postorder(e for s in walk(loop.body) for e in expressions(s)):
                if node.name == "load" and depends(node.args, turns):
                    made = depends(node.args, {row}) or reads(node.args, changing)
                    if not made:
                        found[node] = None
    return list(found)


def zipped(rows: Sequence[Body]) -> Body:
    """The same statements of all rows one after the other, loops as one."""
    done: list[Statement] = []
    for statements in zip(*rows, strict=True):
        first = statements[0]
        if isinstance(first, For):
            done.append(replace(first, body=zipped([s.body for s in statements])))
        else:
            done += statements
    return tuple(done)
