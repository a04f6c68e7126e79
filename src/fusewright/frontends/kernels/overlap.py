"""In which order a loop may store what NumPy computes wholly before it stores anything.

    a[1:] = a[:-1]   ->   for k in reversed(range(n - 1)): a[k + 1] = a[k]

An iteration that reads the element that another one writes must run before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from fusewright.ir import linear
from fusewright.ir.expr import Expr, postorder
from fusewright.ir.loops.statements import Statement, Store, expressions, walk

Distance = tuple[int, ...]


class Unordered(Exception):
    """No order of the loops is known to be right."""


def loads_of(body: Sequence[Statement]) -> list[Expr]:
    """Everything that statements read."""
    return [x for statement in walk(tuple(body)) for x in loads_in(expressions(statement))]


def loads_in(found: Iterable[Expr]) -> list[Expr]:
    """The elements that expressions read."""
    return [node for node in postorder(found) if node.name == "load"]


Natural = Callable[[Expr], bool]
"""Whether a position is surely at least 0."""


def backwards(
    loads: Sequence[Expr], store: Store, indices: Sequence[int], natural: Natural
) -> list[bool]:
    """For each loop (by its index) whether it runs from the end: then every element that is read is
    as it was before the statement.
    """
    found = (distance(load.args, store.indices, indices, natural) for load in loads)
    distances = [each for each in found if each is not None]
    turned = []
    for place in range(len(indices)):
        ahead = {each[place] > 0 for each in distances if each[place]}
        if len(ahead) > 1:
            raise Unordered
        turned.append(ahead == {False})
        distances = [each for each in distances if not each[place]]
    return turned


def distance(
    read: Sequence[Expr], written: Sequence[Expr], loops: Sequence[int], natural: Natural
) -> Distance | None:
    """How many iterations later what is read is written; None where it never is.

    Positions that no loop moves are either equal or never meet.
    """
    if len(read) != len(written):
        raise Unordered
    steps = dict.fromkeys(loops, 0)
    pairs = [*zip(read, written, strict=True)]
    if all(linear.distance(here, there) == 0 for here, there in pairs):
        return tuple(steps.values())
    if any(_hides(each, loops) for each in (*read, *written)):
        raise Unordered
    is_known = True
    for here, there in pairs:
        gap = linear.distance(here, there)
        moving = {t.attr: c for t, c in linear.terms(there).items() if _is_loop(t, loops)}
        if not moving:
            ahead = linear.minus(here, there)
            if gap or natural(linear.minus(ahead, 1)) or natural(linear.minus(-1, ahead)):
                return None
            is_known = is_known and not any(_is_loop(t, loops) for t in linear.terms(here))
        elif gap is None:
            is_known = False
        else:
            ((loop, stride),) = moving.items()
            if gap % stride:
                return None
            steps[loop] = gap // stride
    if not is_known:
        raise Unordered
    return tuple(steps.values())


def _hides(expr: Expr, loops: Sequence[int]) -> bool:
    """Whether a loop moves a position by more than steps: in a quotient, or through a table."""
    hidden = (term for term in linear.terms(expr) if term.name != "index")
    return any(_is_loop(node, loops) for node in postorder(hidden))


def _is_loop(term: Expr, loops: Sequence[int]) -> bool:
    return term.name == "index" and term.attr in loops


def is_same_place(
    loads: Sequence[Expr], store: Store, indices: Sequence[int], natural: Natural
) -> bool:
    """Whether each iteration reads at most the element it writes, should the arrays be one."""
    try:
        found = [distance(load.args, store.indices, indices, natural) for load in loads]
    except Unordered:
        return False
    return not any(any(each) for each in found if each is not None)
