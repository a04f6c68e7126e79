"""Views that have names do not keep their array from being written in place (`looking.py`)."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.at_once import at_once

import fusewright.numpy as fnp
from fusewright._core import native

ROOT = Path(__file__).parents[3]
WINDOWED = 5  # functions in a window of 50 steps: every few megabytes Python counts what was made


def run(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.core.looking", *words],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(native is None, reason="without the core everything is Python's")
def test_steps_enter_no_python() -> None:
    lines = [line.rsplit(maxsplit=2) for line in run("steady").splitlines()]
    assert len(lines) == 6
    assert [line for line in lines if int(line[2]) > WINDOWED] == []


def test_random_programs() -> None:
    assert run("random", "0", "300") == "equal\n"


def test_readers_in_other_threads() -> None:
    """Each row holds one number everywhere: so does whatever another thread sees of it."""
    a, seen = fnp.zeros((50, 600)), []

    def write() -> None:
        for k in range(1, 400):
            q = a[k % 50]
            a[(k + 1) % 50] = 0.0 * q + float(k)

    def read() -> None:
        for k in range(400):
            q = a[k % 50]
            seen.append(np.asarray(q * 2.0 - q))

    at_once([write, read, read], 1e-6)
    assert all(np.isfinite(row).all() for row in seen)
    np.testing.assert_array_equal(np.asarray(a)[(399 + 1) % 50], 399.0)
