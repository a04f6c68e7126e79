"""Statements that the translation writes itself, of those that the user wrote."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from fusewright.base.source import parse_expression
from fusewright.frontends.kernels.liveness import NESTED

_LETTER = "_dot_"


def jumps_of(body: Sequence[ast.AST], kinds: Any) -> Iterator[ast.AST]:
    """The jumps of these statements that belong to a loop around them."""
    for node in body:
        if isinstance(node, kinds):
            yield node
        elif isinstance(node, ast.For | ast.While):
            yield from jumps_of(node.orelse, kinds)
        elif not isinstance(node, NESTED):
            yield from jumps_of(list(ast.iter_child_nodes(node)), kinds)


def hidden(text: str) -> ast.expr:
    """An expression over names with a middle dot, which no program has."""
    tree = parse_expression(text.replace("·", _LETTER))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = node.id.replace(_LETTER, "·")
    return tree


def placed(nodes: list[ast.stmt], near: ast.AST) -> list[ast.stmt]:
    """What was written new stands where the statement does that it was written for."""
    for node in (n for each in nodes for n in ast.walk(each)):
        if "lineno" in node._attributes and not hasattr(node, "lineno"):
            ast.copy_location(node, near)
    return nodes
