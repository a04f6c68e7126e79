"""The size check finds what is too long, and lets a decision excuse the soft cap only."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

TOOL = Path(__file__).resolve().parents[3] / "tools" / "sizes.py"


@pytest.fixture(scope="module")
def sizes() -> dict[str, Any]:
    return runpy.run_path(str(TOOL))


def _function(lines: int) -> str:
    return 'def f():\n    """Not\n    counted.\n    """\n' + "    x = 1\n" * (lines - 1)


@pytest.mark.parametrize(
    ("text", "name", "code"),
    [
        (_function(40), "`src/a.py::f`", 0),
        (_function(41), "nothing", 1),
        (_function(41), "`src/a.py::f`", 0),
        (_function(61), "`src/a.py::f`", 1),
        ("x = 1\n" * 400, "nothing", 0),
        ("x = 1\n" * 401, "nothing", 1),
        ("x = 1\n" * 401, "`src/a.py`", 0),
        ("x = 1\n" * 601, "`src/a.py`", 1),
        ("class C:\n" + "".join("    " + ln + "\n" for ln in _function(41).splitlines()), "", 1),
    ],
)
def test_caps(sizes: dict[str, Any], tmp_path: Path, text: str, name: str, code: int) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(text)
    (tmp_path / "docs" / "decisions").mkdir(parents=True)
    (tmp_path / "docs" / "decisions" / "0009-sizes.md").write_text(f"{name} is a table.")
    assert sizes["main"](tmp_path) == code


def _c_function(lines: int) -> str:
    return "static int\nlong_name(int a)\n{\n" + "    a++;\n" * (lines - 2) + "}\n"


@pytest.mark.parametrize(
    ("text", "owed", "code"),
    [
        (_c_function(40), "", 0),
        (_c_function(41), "", 1),
        (_c_function(41), "src/a.c::long_name 41", 0),
        (_c_function(42), "src/a.c::long_name 41", 1),
        (_c_function(41), "src/a.c::long_name 43", 1),
        (_c_function(12), "src/a.c::long_name 41", 1),
        ("int a;\n", "src/a.c::long_name 41", 1),
        ("int a;\n" * 400, "", 0),
        ("int a;\n" * 401, "", 1),
        ("int a;\n" * 900, "src/a.c 900", 0),
        ("int a;\n" * 901, "src/a.c 900", 1),
    ],
)
def test_c_and_debts(
    sizes: dict[str, Any], tmp_path: Path, text: str, owed: str, code: int
) -> None:
    for folder in ("src", "tools", "docs/decisions"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "src" / "a.c").write_text(text)
    (tmp_path / "tools" / "debts.txt").write_text(owed)
    assert sizes["main"](tmp_path) == code


@pytest.mark.parametrize(
    ("second", "known", "code"),
    [("class A: ...", "", 1), ("class A: ...", "A", 0), ("class B: ...", "", 0),
     ("class B: ...", "A", 1), ("def f():\n    class A: ...", "", 1)],
)  # fmt: skip
def test_class_names(tmp_path: Path, second: str, known: str, code: int) -> None:
    tool = runpy.run_path(str(TOOL.parent / "class_names.py"))
    (tmp_path / "src" / "inner").mkdir(parents=True)
    (tmp_path / "tools").mkdir()
    (tmp_path / "src" / "a.py").write_text("class A: ...")
    (tmp_path / "src" / "inner" / "a.py").write_text(second)
    (tmp_path / "tools" / "same_names.txt").write_text(known)
    assert len(tool["complaints"](tmp_path)) == code
