"""No public name costs a program of small arrays more than NumPy's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tools.name_calls import SKIPPED, calls, operands

from fusewright._core import native

ROOT = Path(__file__).resolve().parents[2]
MARGIN = "1.5+3e-7"
"""Wider than what the table is made with: the machine that tests may be busy."""


@pytest.mark.skipif(native is None, reason="without the core everything is recorded")
def test_nothing_costs_more_than_numpy_on_plain_arrays() -> None:
    command = (sys.executable, "-m", "tools.names", "--sizes", "3", "--limit", MARGIN)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ")][1:]
    assert int(done.stdout.split(" calls timed")[0].rsplit("\n", 1)[-1]) > 600
    assert not [row for row in rows if not row.split("|")[-2].strip()]


@pytest.mark.filterwarnings("ignore")
def test_every_function_is_called() -> None:
    called = {call.name for call in calls(operands(9) | {"np": np, "g": np.random.default_rng(1)})}
    functions = {
        name for name in np.__all__
        if callable(getattr(np, name)) and not isinstance(getattr(np, name), type)
    }  # fmt: skip
    assert functions - called <= SKIPPED
