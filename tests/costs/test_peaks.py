"""Memory: no program needs much more than under NumPy, and what is freed goes back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.costs.hungry import PROGRAMS

import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native
from fusewright.runtime import buffers
from fusewright.runtime.limits import resident_memory

pytestmark = pytest.mark.skipif(
    native is None, reason="in place and operation by operation only in the core"
)
CHILD = Path(__file__).with_name("hungry.py")
MIB = 1 << 20
ROOM = 64 * MIB
"""The aim is 40 MiB: these are generous, since compilers and thread pools vary."""
WATCHED = (
    "written_columns", "views_written", "parts_dropped", "sequence_of_sizes", "training", "phases",
    "stacking",
)  # fmt: skip


def peak(name: str, module: str) -> int:
    """The most bytes resident in a process that runs a program."""
    command = [sys.executable, str(CHILD), name, module]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[1])


@pytest.mark.parametrize("name", WATCHED)
def test_peak_is_near_that_of_numpy(name: str) -> None:
    theirs = peak(name, "numpy")
    assert peak(name, "fusewright") <= 1.15 * theirs + ROOM


@pytest.mark.parametrize("name", ["written_columns", "views_written", "phases", "in_place"])
def test_bytes_in_use_are_few(name: str) -> None:
    """Of the pool's memory, counted; in multiples of the program's largest array."""
    largest = {"written_columns": 64, "views_written": 64, "phases": 72, "in_place": 80}[name]
    before = buffers.statistics().in_use
    buffers.large_blocks.peak = 0
    PROGRAMS[name](fnp)
    most = max(buffers.statistics().peak - before, 0)
    assert most <= 2.6 * largest * 1_000_000


def test_freed_memory_goes_back() -> None:
    fw.evaluate(fnp.ones(1000) + 1)
    buffers.trim()
    before = resident_memory()
    x = fnp.ones(40_000_000) * 2.0
    fw.evaluate(x)
    assert resident_memory() - before > 250 * MIB
    del x
    assert resident_memory() - before < 60 * MIB


def test_pending_work_lets_large_operands_go() -> None:
    before = resident_memory()
    parts = []
    for step in range(30):
        x = fw.asarray(np.full((1000, 1000), float(step)))
        parts.append(x[:, ::100] * 2.0)
    del x
    assert resident_memory() - before < 120 * MIB
    assert [float(part[0, 0]) for part in parts] == [2.0 * step for step in range(30)]
