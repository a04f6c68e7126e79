"""The page of names lists all names of the package, where their docstrings are, and each says
something.
"""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path

import fusewright as fw

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "python.md"
NOT_LISTED = {"__version__", "numpy", "min", "max"}
"""No functions of ours: a string, a module, Python's own."""


def test_the_page_lists_every_public_name() -> None:
    listed = re.findall(r"^::: (\S+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    found = {}
    for path in listed:
        module, _, name = path.rpartition(".")
        found[name] = getattr(import_module(module), name)
    assert set(found) == set(fw.__all__) - NOT_LISTED
    for name, value in found.items():
        assert getattr(fw, name) is value
        assert value.__doc__, name


def test_the_site_finds_every_docstring() -> None:
    """It reads sources, so each listed name is a function or a class where the page says it is."""
    for path in re.findall(r"^::: (\S+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE):
        module, _, name = path.rpartition(".")
        tree = ast.parse(Path(import_module(module).__file__ or "").read_text(encoding="utf-8"))
        defined = {
            node.name: ast.get_docstring(node)
            for node in tree.body
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node)
        }
        assert name in defined, path


def test_what_is_not_listed_is_not_ours() -> None:
    assert fw.min is min and fw.max is max
