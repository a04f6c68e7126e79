"""The page of names lists all names of the package, where their docstrings are, and each says
something.
"""

from __future__ import annotations

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


def test_what_is_not_listed_is_not_ours() -> None:
    assert fw.min is min and fw.max is max
