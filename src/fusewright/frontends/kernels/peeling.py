"""Loops and choices whose paths are kept apart (`apart.py`), written as branches."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from fusewright.frontends.kernels import spaces
from fusewright.frontends.kernels.apart import is_apart
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.syntax import hidden, jumps_of, placed


def rewritten(t: Translation, node: ast.stmt, rest: Sequence[ast.stmt]) -> list[ast.stmt] | None:
    """A statement and what follows it, the paths apart; None where they may meet."""
    choice = _choice(node)
    if choice is not None and is_apart(t, choice):
        yes, no = (_with_value(node, value) for value in (choice.body, choice.orelse))
        return [ast.copy_location(ast.If(choice.test, [yes, *rest], [no, *rest]), choice)]
    if (
        isinstance(node, ast.For | ast.While)
        and is_apart(t, node)
        and id(node) not in t.paths.peeled
    ):
        return _first_apart(t, node, rest)
    return None


def _choice(node: ast.stmt) -> ast.IfExp | None:
    """`x if c else y`, where it is all that its statement computes."""
    value: ast.expr | None = None
    if isinstance(node, ast.Return | ast.Assign) or (
        isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    ):
        value = node.value
    return value if isinstance(value, ast.IfExp) else None


def _with_value(node: ast.stmt, value: ast.expr) -> ast.stmt:
    found = copy.copy(node)
    assert isinstance(found, ast.Return | ast.Assign | ast.AugAssign)
    found.value = value
    return found


def _first_apart(
    t: Translation, node: ast.For | ast.While, rest: Sequence[ast.stmt]
) -> list[ast.stmt] | None:
    """A loop, its first iteration before the others; a jump would have to leave both."""
    if any(jumps_of(node.body, (ast.Break, ast.Continue))):
        return None
    over = [*node.orelse, *rest]
    mark = t.label()
    if isinstance(node, ast.While):
        once = ast.For(ast.Name(f"·{mark}", ast.Store()), hidden("(0,)"), node.body, [])
        again = ast.While(node.test, node.body, [])
        t.paths.peeled.update({id(once): once, id(again): again})
        return placed([ast.If(node.test, [once, again, *over], over)], node)
    if not spaces.are_bounds_named(t, node.iter, mark):
        return None
    first = ast.For(node.target, hidden(f"(·low{mark},)"), node.body, [])
    target = ast.Assign([node.target], hidden(f"·low{mark} + ·turn{mark} * ·step{mark}"))
    others = ast.For(
        ast.Name(f"·turn{mark}", ast.Store()), hidden(f"range(1, ·count{mark})"),
        [target, *node.body], [],
    )  # fmt: skip
    t.paths.peeled.update({id(first): first, id(others): others})
    return placed([ast.If(hidden(f"·count{mark} > 0"), [first, others, *over], over)], node)
