"""Whole programs give NumPy's results under `fusewright run`, fused and not.

Each runs in a process of its own: a crash is one failed test.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PROGRAMS = sorted(
    path for path in HERE.iterdir()
    if (path.suffix == ".py" and not path.name.startswith(("test_", "conftest")))
    or (path / "__main__.py").exists()
)  # fmt: skip


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 9


@pytest.mark.parametrize("option", ["--fuse", "--no-fuse", "--threads=1"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_program(program: Path, option: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fusewright", "run", "--compare", option, str(program)],
        env=os.environ | {"FUSEWRIGHT_CACHE_DIR": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "All results agree." in done.stderr
    assert done.stdout
    assert re.search(r"NumPy [\d.]+ \w+, Fusewright", done.stderr)
