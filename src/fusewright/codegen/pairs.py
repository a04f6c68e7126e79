"""The stores of both parts of a complex number as one: in vectors, parts side by side are shuffled
into each other and written at once, instead of element by element.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fusewright.ir import linear
from fusewright.ir.expr import Expr, load, postorder, typed_op
from fusewright.ir.loops.statements import Let, Statement, Store, expressions


def updated(store: Store) -> Expr:
    """What the element gets."""
    if not store.combine:
        return store.value
    dtype = store.value.dtype
    return typed_op(store.combine, dtype, load(store.buffer, store.indices, dtype), store.value)


def in_pairs(body: Sequence[Statement]) -> Iterator[Statement | tuple[Store, Store]]:
    """The statements, with stores of both parts as pairs; what stands between them comes first."""
    rest = list(body)
    while rest:
        first = rest.pop(0)
        between = rest[:1] if rest and isinstance(rest[0], Let) else []
        after = rest[len(between) : len(between) + 1]
        if isinstance(first, Store) and after and _is_pair(first, between, after[0]):
            second = after[0]
            assert isinstance(second, Store)
            yield from between
            yield first, second
            rest = rest[len(between) + 1 :]
        else:
            yield first


def _is_pair(first: Store, between: Sequence[Statement], second: Statement) -> bool:
    if not isinstance(second, Store) or not first.indices:
        return False
    parts = (linear.constant(first.indices[-1]), linear.constant(second.indices[-1]))
    same = (first.buffer, first.indices[:-1]) == (second.buffer, second.indices[:-1])
    roots = [e for s in (*between, second) for e in expressions(s)]
    made = {s.local for s in between if isinstance(s, Let)}
    return (
        same
        and parts == (0, 1)
        and not any(node.name == "load" for node in postorder(roots))
        and not any(
            node.name == "local" and node.attr in made for node in postorder(expressions(first))
        )
    )
