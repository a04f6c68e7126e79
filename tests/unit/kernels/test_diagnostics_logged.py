"""Diagnostics go through `logging`; a program that has set none up sees them on standard error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import logging
import numpy as np
import fusewright as fw
{setup}

@fw.kernel
def both(a, b, c):
    for i in range(a.shape[0]):
        b[i] = a[i] * 2
    for i in range(a.shape[0]):
        c[i] = b[i] + 1

with fw.options(diagnostics="text"):
    both(*np.ones((3, 4096)))
"""
SETUPS = {
    "": "fused: lines 9 and 11: on (i)",
    "logging.basicConfig()": "INFO:fusewright.fusion:kernel both",
    "logging.getLogger('fusewright').setLevel(logging.WARNING)": "",
}


@pytest.mark.parametrize("setup", SETUPS)
def test_what_a_program_sees(tmp_path: Path, setup: str) -> None:
    (tmp_path / "p.py").write_text(PROGRAM.format(setup=setup))
    done = subprocess.run(
        [sys.executable, "p.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert SETUPS[setup] in done.stderr
    assert done.stderr.count("fused: ") == bool(SETUPS[setup])
