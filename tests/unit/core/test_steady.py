"""Steady loops: bounded memory and pending work, no compilation after the first iterations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright import driver
from fusewright.frontends.arrays import trace
from fusewright.runtime import background, buffers
from fusewright.runtime.limits import resident_memory


def pendulum(steps: int, start: int = 0) -> list[Any]:
    x, v = fw.asarray(np.linspace(0, 1, 16)), fw.asarray(np.zeros(16))
    for _ in range(start, steps):
        a = -fnp.sin(x) - 0.1 * v
        v = v + 0.01 * a
        x = x + 0.01 * v
    return [x, v]


def shrinking(steps: int, start: int = 0) -> list[Any]:
    """The numbers differ in every iteration."""
    x = fw.asarray(np.linspace(0, 1, 16))
    for step in range(start, steps):
        x = x * (1.0 - 1.0 / (step + 2)) + step * 1e-9
    return [x]


def asked(steps: int, start: int = 0) -> list[Any]:
    x, total = fw.asarray(np.linspace(0, 1, 16)), 0.0
    for _ in range(start, steps):
        x = x * 0.999 + 0.001
        total += float(x.sum())
    return [x, total]


def written(steps: int, start: int = 0) -> list[Any]:
    x = fnp.zeros((8, 8))
    for _ in range(start, steps):
        x[1:-1, 1:-1] = 0.25 * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) + 0.1
    return [x]


def branches(steps: int, start: int = 0) -> list[Any]:
    x = fw.asarray(np.linspace(0, 1, 16))
    for step in range(start, steps):
        if step // 700 % 2:
            x = fnp.sqrt(x * x + 1.0) - 0.5
        else:
            x = x * 0.5 + 0.25
    return [x]


def resized(steps: int, start: int = 0) -> list[Any]:
    wide, narrow = fw.asarray(np.linspace(0, 1, 64)), fw.asarray(np.linspace(0, 1, 4))
    for step in range(start, steps):
        if step // 700 % 2:
            wide = wide * 0.5 + 0.25
        else:
            narrow = narrow * 0.5 + 0.25
    return [wide, narrow]


LOOPS = (pendulum, shrinking, asked, written, branches, resized)
by_name: Any = pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)


@by_name
def test_loops_stay_small(loop: Callable[..., list[Any]]) -> None:
    for _ in range(2):
        loop(25_000)  # every branch and shape, left wherever a flush may fall
        fw.sync()
        background.wait()  # LLVM takes memory of its own
    for _ in range(8):  # a block or a huge page may come now and then; what leaks, leaks each time
        compiled, memory, size = driver.cached(), buffers.statistics(), resident_memory()
        results = loop(30_000)
        assert len(trace.pending) <= trace.HARD_LIMIT + 1
        assert driver.cached() == compiled, "nothing new to compile"
        fw.sync()
        mapped = buffers.statistics().mapped - memory.mapped
        resident = resident_memory() - size
        del results
        if mapped <= 0 and resident < 4 << 20:
            break
    else:
        pytest.fail(f"grew by {mapped} bytes of blocks, {resident} in all, in the last round too")


@by_name
def test_loops_compute_what_numpy_does(
    loop: Callable[..., list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = [np.asarray(value) for value in loop(3000)]
    with fw.options(target="reference"):
        plain = [np.asarray(value) for value in loop(3000)]
    for mine, theirs in zip(ours, plain, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
