"""Python source to syntax trees, also where several threads parse at once.

CPython 3.11 counts the depth of a tree under construction once per interpreter: where two threads
build trees in turns, both end with `SystemError: AST constructor recursion depth mismatch`.
"""

from __future__ import annotations

import ast
import contextlib
import os
import threading
from typing import Any

ATTEMPTS = 8
"""Of one text: threads of the user's parse without the lock."""
_alone = threading.RLock()


def parse_module(source: str | bytes, filename: str = "<unknown>") -> ast.Module:
    """The tree of a file's text.  Raises SyntaxError."""
    tree: ast.Module = _parse(source, filename, "exec")
    return tree


def parse_expression(source: str) -> ast.expr:
    """The tree of one expression.  Raises SyntaxError."""
    body: ast.expr = _parse(source, "<unknown>", "eval").body
    return body


def _parse(source: str | bytes, filename: str, mode: str) -> Any:
    with _alone:
        for _ in range(ATTEMPTS - 1):
            with contextlib.suppress(SystemError):
                return compile(source, filename, mode, ast.PyCF_ONLY_AST, dont_inherit=True)
        return compile(source, filename, mode, ast.PyCF_ONLY_AST, dont_inherit=True)


def _anew() -> None:
    """A forked child has one thread, and nobody there gives back what another one held."""
    global _alone
    _alone = threading.RLock()


os.register_at_fork(after_in_child=_anew)
