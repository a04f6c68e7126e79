"""What makes programs fast is at work: each test fails where it has silently stopped to be."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright import driver
from fusewright._core import native
from fusewright.base import hooks
from fusewright.frontends.arrays import trace
from fusewright.frontends.arrays import ufuncs as recording
from fusewright.runtime import limits, profile
from fusewright.targets.cpu import threads

needs_native = pytest.mark.skipif(native is None, reason="there is no native core")


def values_only(steps: int) -> Any:
    x = fw.asarray(np.linspace(0, 1, 16))
    for _ in range(steps):
        x = x * 0.5 + 0.25
    return x


def regions(steps: int) -> Any:
    u = fw.asarray(np.linspace(0, 1, 64))
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[0] = u[1]
        u[-1] = u[-2]
    return u


def several(steps: int) -> Any:
    u, v = fw.asarray(np.ones((8, 8))), fw.asarray(np.ones((8, 8)))
    for _ in range(steps):
        u[1:-1, 1:-1] -= 0.01 * (v[1:-1, 2:] - v[1:-1, :-2])
        v[1:-1, 1:-1] += 0.01 * (u[2:, 1:-1] - u[:-2, 1:-1])
        v[:, 0] = 0
        u[-1, :] = 1
    return u + v


@pytest.fixture
def nothing_shared() -> Iterator[None]:
    """No array of another test that shares NumPy's memory makes every record wait."""
    watched = trace.watched
    trace.watch(-watched)
    yield
    trace.watch(watched)


@needs_native
@pytest.mark.usefixtures("nothing_shared")
@pytest.mark.parametrize("loop", [values_only, regions, several])
def test_loops_are_flushed_from_memos(loop: Callable[[int], Any]) -> None:
    fw.evaluate(loop(1000))
    before = native.steady_flushes()
    fw.evaluate(loop(1000))
    assert native.steady_flushes() - before > 5


@needs_native
def test_every_run_of_a_loop_flushes_as_often() -> None:
    x, flushes = fw.asarray(np.ones(1)), []
    for _ in range(30):
        before, y = native.steady_flushes(), x
        for _ in range(5000):
            y = y * 0.5 + x
        flushes.append(native.steady_flushes() - before)
    first, *others = flushes  # the first run's loop has to be found
    assert max(others) - min(others) <= 4, flushes
    assert max(others) - first <= 8, flushes


@needs_native
@pytest.mark.parametrize("loop", [values_only, regions, several])
def test_loops_run_without_python(
    loop: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    fw.evaluate(loop(1000))
    calls = 0
    evaluate = hooks.evaluate

    def counted(nodes: Any) -> None:
        nonlocal calls
        calls += 1
        evaluate(nodes)

    monkeypatch.setattr(hooks, "evaluate", counted)
    fw.evaluate(loop(1000))
    assert calls <= 2


@needs_native
@pytest.mark.parametrize(
    "program",
    [
        lambda x: x + 1,
        lambda x: fnp.sqrt(x * x + 1),
        lambda x: x.sum(),
        lambda x: (x + 1)[1:-1],
        lambda x: (x + 1).reshape(4, 4) * 2,
    ],
)
def test_known_structures_run_without_python(
    program: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    x = fw.asarray(np.linspace(0, 1, 16))
    for _ in range(2):
        fw.evaluate(program(x))

    def refuse(nodes: Any) -> None:
        raise AssertionError("the core left it to Python")

    monkeypatch.setattr(hooks, "evaluate", refuse)
    fw.evaluate(program(x))


@needs_native
def test_arrays_are_the_core_s() -> None:
    x = fw.asarray(np.ones(3))
    assert isinstance(x, native.Handle) and isinstance((x + 1)._node, native.Node)
    assert type(fnp.sqrt).__mro__.count(native.Function)


@pytest.mark.parametrize(("fuse", "kernels"), [(True, 1), (False, 3)])
def test_operations_fuse_unless_told_not_to(fuse: bool, kernels: int) -> None:
    x = fw.asarray(np.linspace(0, 1, 1000))
    with fw.options(fuse=fuse):
        assert len(fw.explain(fnp.sqrt(x * 2 + 1)).kernels) == kernels


def test_a_structure_is_compiled_once() -> None:
    for n in (11, 12, 4000):
        fw.evaluate(fw.asarray(np.ones(n)) * 2 - 7)
        compiled = driver.cached()
    fw.evaluate(fw.asarray(np.ones(999)) * 3 - 8)
    assert driver.cached() == compiled


def test_another_process_finds_the_code_on_disk(tmp_path: Any) -> None:
    program = (
        "import numpy, fusewright as fw\n"
        f"with fw.options(cache_dir={str(tmp_path)!r}, interpret=False):\n"
        "    fw.evaluate(fw.asarray(numpy.ones(50)) * 2 + 1)\n"
        "    from fusewright import driver\n"
        "    print(*(runner.origin for runner in driver.runners.values()))\n"
    )
    origins = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert [each.stdout.split() for each in origins] == [["compiled"], ["disk"]]


@pytest.mark.skipif(limits.default_threads() < 2, reason="one processor")
def test_large_work_is_shared_out() -> None:
    x = fw.asarray(np.linspace(0, 1, 1_000_000))
    with profile.listen() as record:
        fw.evaluate(fnp.exp(x) * 2)
    assert [kernel.threads for kernel in record.kernels] == [limits.default_threads()]


@needs_native
@pytest.mark.skipif(limits.default_threads() < 2, reason="one processor")
def test_large_work_is_shared_out_by_the_core() -> None:
    used: list[int] = []

    def counted(*given: int) -> None:
        used.append(given[-1])
        threads.launch(*given)

    x = fw.asarray(np.linspace(0, 1, 1_000_000))
    for _ in range(2):
        fw.evaluate(fnp.exp(x) * 2)
    rest = (threads.own_scratch, limits.default_threads, threads.take_team, threads.give_team)
    native.set_threads(counted, *rest)
    try:
        fw.evaluate(fnp.exp(x) * 2)
    finally:
        native.set_threads(threads.launch, *rest)
    assert used == [limits.default_threads()]


@needs_native
def test_updates_at_indices_are_numpys_own_on_our_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """`np.add.at` in a loop took 20 times NumPy's time in the general function."""

    def general(*given: Any) -> None:
        raise AssertionError("the general function was called")

    x, at = fw.asarray(np.zeros(2000)), np.array([1, 5, 1])
    with fw.options(interpret=True):
        for _ in range(100):  # the first steps of a process are recorded
            fnp.add.at(x, at, 1.0)
        fw.evaluate(x)
        monkeypatch.setattr(recording, "call", general)
        fnp.add.at(x, at, 1.0)
    assert x[1] == 202.0 and x[5] == 101.0
