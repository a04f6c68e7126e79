"""Row writes while somebody listens move what the run without a listener moves."""

import subprocess
import sys
from pathlib import Path

import pytest

from fusewright._core import native

ROOT = Path(__file__).parents[3]
COUNT = 12


@pytest.mark.skipif(native is None, reason="moves at once are the core's")
def test_bytes_are_the_rows() -> None:
    command = [sys.executable, "-m", "tests.unit.core.telling", str(COUNT)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = [tuple(map(int, line.split())) for line in told.splitlines()]
    assert len(lines) == COUNT
    # Each row is read, computed and written; with versions of the array it is rows times this.
    assert all(moved <= 6 * size for moved, size in lines), lines
