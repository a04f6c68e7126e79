"""Loops of small statements are not slower than NumPy's, whatever follows what."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fusewright._core import native

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(native is None, reason="without the core everything is recorded in Python")
def test_every_statement_after_every_other() -> None:
    """1.2 times was measured; the machine that tests may be busy."""
    command = (sys.executable, "-m", "tools.sweep", "--sizes", "1000", "--limit", "2")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "36 loops, 0 above" in done.stdout
