"""Constants that may depend on hardware are found, in Python and in C, and each has a kind."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tools.constants import LIST, MOST_DEBTS, ROOT, complaints, found_in, listed, main


def _package(tmp_path: Path, name: str, text: str, kinds: str = "") -> Path:
    file = tmp_path / "src" / "fusewright" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    (tmp_path / "tools").mkdir(exist_ok=True)
    (tmp_path / LIST).write_text(kinds)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("plan/a.py", "LARGE = 1 << 20\n", ["LARGE"]),
        ("plan/a.py", "LARGE: int = 4096\n", ["LARGE"]),
        ("plan/a.py", "SHARE = 0.75\n", ["SHARE"]),
        ("plan/a.py", "A, B = 3, 1 << 20\n", ["B"]),
        ("plan/a.py", "ROWS = (8, 4096)\n", ["ROWS"]),
        ("plan/a.py", 'FEW = 8\n"""Arrays that the cache holds."""\n', ["FEW"]),
        ("plan/a.py", "FEW = 8  # streams that are followed\n", ["FEW"]),
        ("plan/a.py", 'FEW = 8\n"""Names in a line of text."""\n', []),
        ("plan/a.py", "NAMES = ('a', 'b')\nlower = 1 << 20\nTRUE = True\n", []),
        ("plan/a.py", "def f(x):\n    return x > 1 << 20 or x < 1e-6\n", ["f 1 << 20", "f 1e-06"]),
        ("machine/a.py", "LARGE = 1 << 20\n", []),
        ("_core/a.c", "#define LARGE (1 << 20) /* bytes */\n", ["LARGE"]),
        ("_core/a.c", "#define FEW 8 /* of a cache line */\n", ["FEW"]),
        ("_core/a.c", "#define FEW 8 /* of a name */\n", []),
        ("_core/a.c", "static const int64_t rows[] = {8, 4096};\n", ["rows"]),
        ("_core/a.c", "int f(int x) { return x > 1 << 20; } /* 1 << 22 */\n", ["inline 1 << 20"]),
    ],
)
def test_found(tmp_path: Path, name: str, text: str, found: list[str]) -> None:
    root = _package(tmp_path, name, text)
    assert found_in(root) == Counter(f"{name}::{each}" for each in found)


def test_what_is_wrong_with_the_list(tmp_path: Path) -> None:
    text = "LARGE = 1 << 20\nKNOWN = 1 << 21\nODD = 0.5\n"
    kinds = "bound plan/a.py::KNOWN\nmisc plan/a.py::ODD\nhardware plan/a.py::GONE\n"
    said = complaints(_package(tmp_path, "plan/a.py", text, kinds))
    assert [line.partition(":")[0] for line in said[:3]] == ["plan/a.py"] * 3
    assert "LARGE: read it" in said[0] and "GONE: not there" in said[1] and "misc" in said[2]
    assert said[3].startswith(f"1 constants depend on hardware: {MOST_DEBTS}")
    assert len(said) == 4


def test_the_package_has_no_others() -> None:
    assert main(ROOT) == 0
    assert sum(kind == "hardware" for kind in listed(ROOT).values()) == MOST_DEBTS
