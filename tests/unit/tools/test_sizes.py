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
