"""Whoever asks for values is told once that they are known, whatever computing them took."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fusewright._core import native

pytestmark = pytest.mark.skipif(native is None, reason="the native core is not in use")


def _printed(folder: Path, program: str, *words: str) -> str:
    """What a program prints in a process of its own, with an empty cache folder."""
    return subprocess.run(
        [sys.executable, "-c", program, *words],
        env=os.environ | {"FUSEWRIGHT_CACHE_DIR": str(folder)},
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip


PROGRAM = """
import sys
import numpy as np
import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native
from fusewright.frontends.arrays import trace

def waves(x, library, many):
    for k in range(1, many):  # run alone, one after the other, where there is no compiled code
        x = library.sin(k * x) + library.cos(x / k)
    return x

told, usual = [], trace._settle
trace._settle = lambda: (told.append(len(trace.pending)), usual())
given = np.linspace(0.0, 1.0, int(sys.argv[1]))
np.asarray(waves(fw.asarray(given), fnp, 2))  # the core knows the functions from here on
found = waves(fw.asarray(given), fnp, 6)
trace._tell_core()
native.set_armed(True)  # as in a loop
del told[:]
computed = np.asarray(found)
assert np.allclose(computed, waves(given, np, 6), rtol=1e-13)
print(len(told))
"""


@pytest.mark.parametrize("size", [20, 700])
def test_a_request_of_many_operations_is_told_once(size: int, tmp_path: Path) -> None:
    printed = _printed(tmp_path, PROGRAM, str(size))
    assert printed == "1\n"


SHARED = """
import numpy as np
import fusewright as fw
import fusewright.numpy as fnp
from fusewright.frontends.arrays import trace

weights = fw.asarray(np.ones((40, 40)))
seen = memoryview(weights)  # from here on others see the memory
told, usual = [], trace._settle
trace._settle = lambda: (told.append(len(trace.pending)), usual())
trace._tell_core()
rows = fw.asarray(np.arange(1600.0).reshape(40, 40))
for k in range(200):
    weights[3, k % 40] = 2.0
    assert float((rows + k)[0, 1]) == k + 1.0
    assert float((weights * 2.0)[3, k % 40]) == 4.0
print(len(told) < 40, len(told))
"""


def test_memory_that_others_see_is_no_reason_to_ask(tmp_path: Path) -> None:
    """Each of 400 evaluations asked Python what comes next: a third of a program's time."""
    printed = _printed(tmp_path, SHARED)
    assert printed.startswith("True "), printed


STEADY = """
import fusewright as fw
import fusewright.numpy as np
from fusewright.frontends.arrays import trace

told, usual = [], trace._settle
trace._settle = lambda: (told.append(len(trace.pending)), usual())
trace._tell_core()

def stage(x, t):
    e = 0.25 * np.sin(t) * x**2 + x
    return 0.001 * (np.sin(e) * np.cos(e) + e)

paths = np.zeros((20, 501, 2))
paths[:, 0, 0] = 0.5
for n in range(500):  # particles: a column is read, and the next one written
    x = paths[:, n, 0]
    k1 = stage(x, n)
    k2 = stage(x + k1, n)
    k3 = stage(x + k2, n)
    paths[:, n + 1, 0] = x + k3
float(paths.sum())
print(len(told) < 150, len(told))
"""


def test_a_steady_loop_asks_for_nothing(tmp_path: Path) -> None:
    """A flush in the core is one request: its parts were taken for values somebody asked for, and
    each of them called Python (2,700 times in 500 steps of such a program).
    """
    printed = _printed(tmp_path, STEADY)
    assert printed.startswith("True "), printed
