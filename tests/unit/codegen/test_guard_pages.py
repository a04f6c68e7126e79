"""Compiled code touches nothing beside the arrays it is given."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_nothing_beside_an_array_is_touched() -> None:
    """In a process of its own: it is killed at the first byte read or written there."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.guard_pages"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, "\n".join(done.stdout.splitlines()[-3:]) + done.stderr[-2000:]
