"""When a repeated step changes nothing any more: the condition under which the state after a turn
is the state before it, so that all further turns may be left out.

A masked update keeps what its mask leaves out, and a mask computed from what it keeps stays as it
is.  The proof is by rewriting: the condition is taken to be false (or true) everywhere, and every
part of the step must then become the state itself.

>>> from fusewright.ir.dtypes import BOOL, FLOAT64
>>> from fusewright.ir.expr import const, op, param
>>> x = param(0, FLOAT64)
>>> small = op("less", x, const(2.0, FLOAT64))
>>> standstill([op("where", small, op("multiply", x, x), x)], [x], ())
Standstill(condition=less(p0, 2.0), value=False, steady=())
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from fusewright.ir.dtypes import BOOL
from fusewright.ir.expr import Expr, const, postorder, rebuild


class Standstill(NamedTuple):
    """Where `condition` is `value`, a turn changes nothing; all following turns neither, if these
    (by number) of the scalars that may vary are the same in all turns.
    """

    condition: Expr
    value: bool
    steady: tuple[int, ...]


def standstill(
    step: Sequence[Expr], state: Sequence[Expr], varying: Sequence[Expr]
) -> Standstill | None:
    """The first condition in the step that is enough; None where there is none."""
    nodes = list(postorder(step))
    asked = dict.fromkeys(node.args[0] for node in nodes if node.name == "where")
    asked.update((node, None) for node in nodes if node.dtype is BOOL and node in state)
    for condition in asked:
        if not any(node in state for node in postorder([condition])):
            continue
        for value in (False, True):
            if _assumed(nodes, condition, value, step) == list(state):
                used = set(postorder([condition]))
                steady = tuple(n for n, leaf in enumerate(varying) if leaf in used)
                return Standstill(condition, value, steady)
    return None


def _assumed(
    nodes: Sequence[Expr], condition: Expr, value: bool, step: Sequence[Expr]
) -> list[Expr]:
    """The step where the condition is known."""
    memo = {condition: const(value, BOOL)}
    for node in nodes:
        if node not in memo:
            known = rebuild(node, tuple(memo.get(arg, arg) for arg in node.args))
            memo[node] = _simpler(known)
    # A condition that is part of the state stays as it is: what became of it is its value.
    back = {memo[condition]: condition}
    return [back.get(memo[root], memo[root]) for root in step]


def _simpler(node: Expr) -> Expr:
    rule = _RULES.get(node.name)
    return node if rule is None else rule(node)


def _where(node: Expr) -> Expr:
    condition, yes, no = node.args
    if condition.name == "const":
        return yes if condition.attr else no
    return node


def _and(node: Expr) -> Expr:
    return _bools(node, absorbing=False)


def _or(node: Expr) -> Expr:
    return _bools(node, absorbing=True)


def _bools(node: Expr, absorbing: bool) -> Expr:
    if any(arg.dtype is not BOOL for arg in node.args):
        return node
    for one, other in (node.args, node.args[::-1]):
        if one.name == "const":
            return one if bool(one.attr) is absorbing else other
    return node


def _not(node: Expr) -> Expr:
    (arg,) = node.args
    if arg.name == "const" and arg.dtype is BOOL:
        return const(not arg.attr, BOOL)
    return node


def _cast(node: Expr) -> Expr:
    (arg,) = node.args
    if arg.name == "const" and arg.dtype is BOOL and not node.dtype.is_complex:
        return const(arg.attr, node.dtype)
    return node


def _sum(node: Expr) -> Expr:
    """x + 0 is x for whole numbers; -0.0 + 0 is not -0.0."""
    if node.dtype.is_integer:
        left, right = node.args
        if right.name == "const" and right.attr == 0:
            return left
        if node.name == "add" and left.name == "const" and left.attr == 0:
            return right
    return node


_RULES: dict[str, Callable[[Expr], Expr]] = {
    "where": _where,
    "bitwise_and": _and,
    "logical_and": _and,
    "bitwise_or": _or,
    "logical_or": _or,
    "invert": _not,
    "logical_not": _not,
    "cast": _cast,
    "add": _sum,
    "subtract": _sum,
}
