"""Numbers as people read them are spelt in one place."""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Iterator
from pathlib import Path

import fusewright
from fusewright.base import words

PACKAGE = Path(fusewright.__file__).parent
UNIT = re.compile(r"^ ?([kKMGT]i?B|ms|us|µs)\b(?!-)|^(kB|[KMGT]iB)$")
"""A unit behind a number that is printed: the text that follows `{...}` in an f-string."""
USERS = ("cli/demo/", "cli/gallery/programs/")
"""Programs of users, which print as they like."""


def test_examples() -> None:
    assert doctest.testmod(words).failed == 0
    assert doctest.testmod(words).attempted >= 5


def _spelt(tree: ast.AST) -> Iterator[ast.JoinedStr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            for value, after in zip(node.values, node.values[1:], strict=False):
                text = after.value if isinstance(after, ast.Constant) else ""
                if isinstance(value, ast.FormattedValue) and UNIT.match(str(text)):
                    yield node


def test_nobody_else_spells_units() -> None:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name == "base/words.py" or name.startswith(USERS):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found += [f"{name}:{each.lineno}: {ast.unparse(each)}" for each in _spelt(tree)]
    assert found == []
