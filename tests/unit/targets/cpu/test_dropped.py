"""Fused code that is slower than its operations one by one is dropped, and `explain` says so."""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fusewright as fw
from fusewright._core import native
from fusewright.runtime import background
from fusewright.targets.cpu import due

pytestmark = pytest.mark.skipif(native is None, reason="the core runs operations one by one")
BASE = np.linspace(0.0, 1.0, 5000)
WANTED = (BASE * 2.0 + 1.0) * BASE
TRIALS = 32
KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
MANY, PATIENCE = 100, 120.0
"""Runs between two looks, and seconds, for the code to be compiled and taken."""
Run = Callable[[], Any]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """A request of three operations, as users run it."""
    fw.cache_clear()
    due.slow.clear()
    settings: dict[str, Any] = {"cache_dir": str(tmp_path), "interpret": True, "threads": 1}
    with fw.options(small=0, **settings):
        x = fw.asarray(BASE)

        def ask() -> Any:
            return np.asarray((x * 2.0 + 1.0) * x)

        yield ask
    fw.cache_clear()
    due.slow.clear()


def fused(run: Run) -> Any:
    """The request's program, once the core runs its final code."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        for _ in range(MANY):  # looking at all objects is what takes long
            run()
        background.wait()
        known = [each for each in gc.get_objects() if type(each) is native.Program]
        for each in known:
            each.trials = 0
        run()
        for each in known:
            if each.trials == 1:
                return each
    return None


def slowed(program: Any, address: int) -> tuple[Any, list[int]]:
    """Let the program's kernel take 2 ms more; what must be kept, and its calls."""
    calls: list[int] = []
    kernel = KERNEL(address)

    def waits(words: int, low: int, high: int, scratch: int) -> None:
        calls.append(high)
        time.sleep(2e-3)
        kernel(words, low, high, scratch)

    slow = KERNEL(waits)
    program.use(0, ctypes.cast(slow, ctypes.c_void_p).value, 0)
    program.trials = 0
    return slow, calls


def test_code_that_wins_stays(run: Run) -> None:
    program = fused(run)
    assert program is not None
    for _ in range(2 * TRIALS):
        assert np.array_equal(run(), WANTED)
    assert not program.slow
    assert not due.slow


def test_code_that_loses_is_dropped(run: Run) -> None:
    program = fused(run)
    steps = [step for step in program.owner.steps if hasattr(step, "address")]
    kept, calls = slowed(program, steps[0].address)
    for _ in range(4 * TRIALS):
        assert np.array_equal(run(), WANTED)
    assert program.slow
    assert due.slow == {program.name}
    assert len(calls) <= TRIALS + 1, "it runs no more"
    assert "dropped: its operations were faster one by one" in str(fw.explain(run))
    assert kept is not None
