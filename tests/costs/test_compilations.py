"""What is compiled, and that it is compiled once: for many shapes, many scalars, many steps of a
loop.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.costs.counted import PROGRAMS, arrays, evaluated, expression, heat_step, kernels

import fusewright as fw
import fusewright.numpy as fnp
from fusewright import driver
from fusewright.base.figures import ROWS
from fusewright.frontends.arrays import trace
from fusewright.runtime import background, buffers
from fusewright.targets.cpu import ahead, compiler, threads
from fusewright.targets.cpu.features import machine_flags

SHAPES = [(40, 30), (41, 29), (64, 64), (1000, 17), (17, 1000), (300, 200), (700, 16)]
WIDTHS = (10, 100, 1000, 8000, 30_000, 100_000, 300_000)


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The texts compiled since the test began, with an empty disk cache."""
    texts: list[str] = []
    background.wait()  # for what other tests left to it
    trace.flush()
    trace.forget_loop()
    trace.carried.spots.clear()
    compiler.forget()
    real = compiler.job

    def counting(text: str, *rest: Any, **named: Any) -> Any:
        texts.append(text)
        return real(text, *rest, **named)

    monkeypatch.setattr(compiler, "job", counting)
    with fw.options(cache_dir=str(tmp_path), background=False):
        evaluated(lambda np, a, *_: a + 1.5, arrays())  # the thread pool's own code
        texts.clear()
        yield texts


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_one_kernel_for_many_shapes(name: str, compilations: list[str]) -> None:
    before = driver.cached()
    for rows, columns in SHAPES:
        evaluated(PROGRAMS[name].run, arrays(rows, columns))
    assert driver.cached() - before == 1
    assert len(compilations) == 1


def test_sizes_fall_into_few_classes(compilations: list[str]) -> None:
    """Whether rows stay in cache is part of the structure: one kernel for each class of widths."""
    before = driver.cached()
    for columns in WIDTHS:
        evaluated(PROGRAMS["softmax"].run, arrays(3, columns))
        evaluated(PROGRAMS["softmax"].run, arrays(3, columns + 1))
    assert driver.cached() - before <= len(ROWS) + 1 < len(WIDTHS)


def test_a_new_structure_is_compiled(compilations: list[str]) -> None:
    inputs = arrays()
    for count in range(1, 4):
        evaluated(lambda np, a, b, *_: sum([a * b] * count), inputs)  # noqa: B023
        assert len(compilations) == count


def test_scalars_are_arguments(compilations: list[str]) -> None:
    a, b, *_ = arrays(70, 50)
    for k in range(12):
        got = np.asarray(a * (0.5 + k) + b / (k + 1.0))
        np.testing.assert_array_equal(got, np.asarray(a) * (0.5 + k) + np.asarray(b) / (k + 1.0))
    assert len(compilations) == 1


def test_options_that_change_code_compile_anew(compilations: list[str]) -> None:
    inputs = arrays(8, 8)
    evaluated(expression, inputs)
    with fw.options(features="avx2"):
        evaluated(expression, inputs)
    assert len(compilations) == (2 if "avx512f" in machine_flags() else 1)
    count = len(compilations)
    with fw.options(threads=1):
        evaluated(expression, inputs)
    assert len(compilations) == count


def test_the_caches_are_hit(compilations: list[str]) -> None:
    inputs = arrays()
    origins = [[k.origin for k in kernels(expression, inputs)] for _ in range(2)]
    assert origins == [["compiled"], ["memory"]]
    fw.cache_clear()
    assert [k.origin for k in kernels(expression, inputs)] == ["disk"]
    assert len(compilations) == 1


def test_background_code_is_compiled_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    levels: list[int] = []
    compiler.forget()
    real = compiler.job

    def counting(text: str, features: Any, level: int, **named: Any) -> Any:
        levels.append(level)
        return real(text, features, level, **named)

    monkeypatch.setattr(compiler, "job", counting)
    with fw.options(cache_dir=str(tmp_path), background=True):
        for _ in range(4):
            evaluated(expression, arrays())
            background.wait()
    assert 1 <= len(levels) <= 2
    assert sorted(set(levels)) == sorted(levels)


def steps(u: Any, count: int, dt: float) -> Any:
    for k in range(count):
        u = heat_step(fnp, u) * (1 - dt / (k + 1))
    return u


def test_a_steady_loop_has_three_structures(compilations: list[str]) -> None:
    """The first iterations, those in between, the rest; a second run finds them all."""
    u = arrays(50, 40)[0]
    before = driver.cached()
    fw.evaluate(steps(u, 120, 1e-3))
    count = len(compilations)
    assert driver.cached() - before <= 3
    for run in range(3):
        fw.evaluate(steps(u, 120, 2e-3 * run))
    assert driver.cached() - before <= 3
    assert len(compilations) == count <= 8


def waves(np: Any, count: int) -> Any:
    """A program with variables carried, set anew, looked at now and then, and used after."""
    u, v = np.ones((40, 30)), np.zeros((40, 30))
    u[10:20, 5:9] = 2.0
    peak, norms = np.abs(u), []
    for step in range(count):
        slope = u[1:, :] - u[:-1, :]
        v[1:-1, :] += 0.1 * (slope[1:, :] - slope[:-1, :])
        u += 0.1 * v
        height = np.abs(u)
        peak = np.maximum(peak, height)
        if step % 30 == 29:
            norms.append(float(np.sum(height * height)))
    return [u, peak, height - peak.mean(), np.asarray(norms)]


def test_a_program_run_again_compiles_nothing(compilations: list[str]) -> None:
    want = waves(np, 150)
    before = driver.cached()
    counts = []
    for _ in range(3):
        got = waves(fnp, 150)
        fw.evaluate(*got)
        counts.append((driver.cached() - before, len(compilations)))
        for ours, theirs in zip(got, want, strict=True):
            np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-12)
    first, *later = counts
    assert later == [later[0]] * 2
    assert later[0][0] <= first[0] + 1 <= 9  # the loop is known from the first: one flush is longer


def test_a_loop_that_reads_a_value_each_time_compiles_once(compilations: list[str]) -> None:
    u = arrays(50, 40)[0]
    norms = []
    for k in range(30):
        u = u * 0.99 + 0.01 * k
        norms.append(float((u * u).sum()))
    assert len(compilations) <= 2
    assert len(set(norms)) == 30


def test_nothing_grows_with_the_iterations() -> None:
    u = arrays(60, 50)[0]

    def run(count: int) -> tuple[int, int, int]:
        nonlocal u
        for _ in range(count):
            u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] - u[:-2, 1:-1])
        fw.evaluate(u)
        trace.prune()
        gc.collect()
        return driver.cached(), buffers.statistics().mapped, sys.getallocatedblocks()

    run(400)
    before = run(400)
    for _ in range(4):
        after = run(400)
    assert after[0] == before[0]
    assert after[1] <= before[1]  # what other tests left to the pool may be given up meanwhile
    assert after[2] - before[2] < 400
    assert len(trace.pending) <= trace.HARD_LIMIT


@pytest.mark.parametrize("quick", [True, False])
def test_the_pool_is_compiled_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, quick: bool
) -> None:
    """Better code is no quicker: what the first process makes is what all use."""
    background.wait()
    levels: list[int] = []
    real = compiler.job

    def counting(text: str, features: Any, level: int, **named: Any) -> Any:
        levels.append(level)
        return real(text, features, level, **named)

    monkeypatch.setattr(compiler, "job", counting)
    monkeypatch.setattr(ahead, "entry", lambda name: None)  # as where nothing was compiled ahead
    compiler.forget()
    with fw.options(cache_dir=str(tmp_path), background=quick):
        first = threads.thread_image()
        background.wait()
        again = threads.thread_image()
    assert levels == [0]
    assert again == first
