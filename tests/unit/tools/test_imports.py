"""Every name of the package that tests, benchmarks, examples and tools import is there, also where
they are skipped because another package is missing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SOURCE = ROOT / "src"
FOLDERS = ("tests", "benchmarks", "examples", "tools")
BUILT = {"fusewright._core": {"_native"}}
"""What is no file of Python's."""


def file_of(module: str) -> Path | None:
    """The file of a module; None where there is none."""
    path = SOURCE.joinpath(*module.split("."))
    found = (path / "__init__.py", path.with_suffix(".py"))
    return next((each for each in found if each.exists()), None)


@cache
def names_of(file: Path) -> set[str] | None:
    """What a module's text binds; None where it may bind anything (`__getattr__`, `import *`)."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(each.asname or each.name).partition(".")[0] for each in node.names}
    return None if names & {"__getattr__", "*"} else names


def is_there(module: str, name: str) -> bool:
    file = file_of(module)
    if file is None:
        return False
    names = names_of(file)
    return (
        names is None
        or name in names | BUILT.get(module, set())
        or bool(file_of(f"{module}.{name}"))
    )


def missing(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fusewright"):
            for each in node.names:
                if not is_there(str(node.module), each.name):
                    yield f"{file.relative_to(ROOT)}:{node.lineno}: {node.module}.{each.name}"


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_is_imported_is_there(folder: str) -> None:
    files = list((ROOT / folder).rglob("*.py"))
    assert files
    assert [each for file in files for each in missing(file)] == []


def test_a_name_that_has_moved_is_found() -> None:
    assert is_there("fusewright.runtime", "background")
    assert not is_there("fusewright.targets.cpu", "background")
