"""A store that both ways through a branch end with comes after it.

    if c:                 if c:
      b[i] = x              v = x
    else:           ->    else:
      b[i] = y              v = y
                          b[i] = v

In vectors it then writes whole vectors, and the value is known to what reads the element next: a
load that follows masked stores has to wait until they are in the cache.
"""

from __future__ import annotations

from dataclasses import replace

from fusewright.ir.expr import local, postorder
from fusewright.ir.loops.statements import (
    If,
    Kernel,
    Let,
    Local,
    Statement,
    Store,
    blocks,
    with_blocks,
)
from fusewright.plan.loops.legality.live_in import assigned
from fusewright.plan.loops.normalise.rename import Body, Numbers


def stores_last(kernel: Kernel, numbers: Numbers) -> Kernel:
    """The kernel with such stores after their branches."""
    body = _block(kernel.body, numbers)
    return replace(kernel, body=body, locals=tuple(numbers.locals))


def _block(body: Body, numbers: Numbers) -> Body:
    found: list[Statement] = []
    for statement in body:
        fresh = with_blocks(statement, [_block(inner, numbers) for inner in blocks(statement)])
        found += _split(fresh, numbers) if isinstance(fresh, If) else [fresh]
    return tuple(found)


def _split(branch: If, numbers: Numbers) -> list[Statement]:
    """The branch, and the store that comes after it."""
    if not (branch.body and branch.orelse):
        return [branch]
    first, second = branch.body[-1], branch.orelse[-1]
    if not (isinstance(first, Store) and isinstance(second, Store)):
        return [branch]
    place = (first.buffer, first.indices, first.combine)
    if place != (second.buffer, second.indices, second.combine) or not is_fixed(branch, first):
        return [branch]
    dtype = first.value.dtype
    number = numbers.local(Local("_", dtype, mutable=True))
    bodies = [
        (*block[:-1], Let(number, store.value, store.span))
        for block, store in ((branch.body, first), (branch.orelse, second))
    ]
    return [with_blocks(branch, bodies), replace(first, value=local(number, dtype))]


def is_fixed(branch: If, store: Store) -> bool:
    """Whether the store's place is the same after the branch as in it."""
    changed = assigned((branch,))
    return not any(
        node.name == "load" or (node.name == "local" and node.attr in changed)
        for node in postorder(store.indices)
    )
