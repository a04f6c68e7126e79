"""Programs that hand arrays to other people's packages print under `fusewright run` what they print
in Python: those of the packages that are installed.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = sorted((Path(__file__).resolve().parent / "packages").glob("*.py"))


def packages(program: Path) -> set[str]:
    """What a program imports, but for Python's own library."""
    found = set()
    for node in ast.walk(ast.parse(program.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    return found - sys.stdlib_module_names


def output(words: list[str], settings: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        env=os.environ | {"PYTHONWARNINGS": "ignore", "MPLBACKEND": "Agg"} | settings,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 25


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem.rstrip("_"))
def test_what_packages_do_with_arrays_is_what_they_do_with_numpys(
    program: Path, tmp_path: Path
) -> None:
    missing = [name for name in packages(program) if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    plain = output([str(program)], {})
    assert plain
    for small in ("0", "512"):
        settings = {"FUSEWRIGHT_CACHE_DIR": str(tmp_path / "cache"), "FUSEWRIGHT_SMALL": small}
        assert output(["-m", "fusewright", "run", str(program)], settings) == plain, small
