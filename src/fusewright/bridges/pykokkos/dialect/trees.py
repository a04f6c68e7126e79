"""Small pieces of syntax tree, and templates to fill in."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fusewright.base.source import parse_module


def name(text: str) -> ast.Name:
    """A variable that is read."""
    return ast.Name(text, ast.Load())


def target(text: str) -> ast.Name:
    """A variable that is written."""
    return ast.Name(text, ast.Store())


def given(value: Any) -> ast.Constant:
    """An object that the tree holds itself."""
    return ast.Constant(value)


def call(function: Any, *args: ast.expr) -> ast.Call:
    """A call of an object that the tree holds."""
    return ast.Call(given(function), list(args), [])


def assign(text: str, value: ast.expr) -> ast.Assign:
    """`text = value`."""
    return ast.Assign([target(text)], value)


def loop(index: str, space: ast.expr, body: Sequence[ast.stmt]) -> ast.For:
    """`for index in space: body`."""
    return ast.For(target(index), space, list(body) or [ast.Pass()], [])


def tuple_of(items: Iterable[ast.expr]) -> ast.Tuple:
    """`a, b`."""
    return ast.Tuple(list(items), ast.Load())


def fill(text: str, parts: Mapping[str, Any]) -> list[ast.stmt]:
    """The statements of a template.  A name in `parts` is replaced by the expression or the
    statements that stand there; other objects become constants.  What the template says stands
    nowhere in the user's file: it gets the place of what it is put into.
    """
    body = parse_module(text).body
    for node in body:
        _forget_places(node)
    return [statement for node in body for statement in _filled(_Fill(parts), node)]


def _forget_places(root: ast.stmt) -> None:
    for node in ast.walk(root):
        for field in node._attributes:
            delattr(node, field)


def _filled(fill_: _Fill, node: ast.stmt) -> list[ast.stmt]:
    found = fill_.visit(node)
    return list(found) if isinstance(found, list) else [found]


class _Fill(ast.NodeTransformer):
    def __init__(self, parts: Mapping[str, Any]) -> None:
        self.parts = parts

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id not in self.parts:
            return node
        part = self.parts[node.id]
        if isinstance(part, ast.expr):
            return copy.deepcopy(part)
        return ast.Name(part, node.ctx) if isinstance(part, str) else given(part)

    def visit_Expr(self, node: ast.Expr) -> Any:
        """A statement that is a name alone stands for a list of statements."""
        part = self.parts.get(node.value.id) if isinstance(node.value, ast.Name) else None
        return copy.deepcopy(part) if isinstance(part, list) else self.generic_visit(node)


class Rename(ast.NodeTransformer):
    """Variables under other names, or other expressions in their place where they are read."""

    def __init__(self, names: Mapping[str, str | ast.expr]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        found = self.names.get(node.id)
        if found is None:
            return node
        if isinstance(found, str):
            return ast.copy_location(ast.Name(found, node.ctx), node)
        fresh = copy.deepcopy(found)
        if hasattr(fresh, "ctx"):
            fresh.ctx = node.ctx
        return ast.copy_location(fresh, node)


def at(place: ast.AST, nodes: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements, standing where `place` does unless they have a place of their own."""
    for root in nodes:
        for node in ast.walk(root):
            if isinstance(node, ast.expr | ast.stmt) and not hasattr(node, "lineno"):
                ast.copy_location(node, place)
    return list(nodes)
