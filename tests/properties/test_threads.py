"""Programs that run in several threads at once give the bits that each gives alone: kernels, array
statements, `lazy()` blocks, settings of one thread, errors in another.
"""

from __future__ import annotations

import random
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.evaluators import installed
from tests.properties.chance import EXAMPLES
from tests.properties.lazy_kernels import Machine, Sharing, program, run

import fusewright as fw
from fusewright.frontends.arrays import trace

ROUNDS = max(4, EXAMPLES // 8)
THREADS = 4
SETTINGS: tuple[dict[str, Any], ...] = ({}, {"fuse": False}, {"threads": 1}, {"check": True}, {})


@pytest.fixture(autouse=True, scope="module")
def evaluator() -> Iterator[None]:
    with installed("driver"):
        yield


@pytest.fixture(autouse=True)
def often() -> Iterator[None]:
    """Threads take turns as often as the interpreter lets them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def at_once(*works: Callable[[], None]) -> None:
    """Run each in a thread of its own; the first error of any."""
    errors: list[str] = []

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException:  # noqa: BLE001 - it fails the test
            errors.append(traceback.format_exc())

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors[0]


def programs(seed: int, mode: str, options: dict[str, Any], make: Any) -> Callable[[], None]:
    def work() -> None:
        for number in range(ROUNDS):
            draw = random.Random(seed * 1000 + number)
            statements = program(draw.randint, draw.choice((12, 60, 150)))
            wanted = run(statements, "plain", {})
            assert run(statements, mode, options, make) == wanted, (seed, number, mode, options)

    return work


@pytest.mark.parametrize("make", [Machine, Sharing], ids=["own", "shared"])
@pytest.mark.parametrize("seed", range(3))
def test_programs_of_several_threads(seed: int, make: Any) -> None:
    before = trace.watched  # arrays of other tests may be shared with NumPy
    choices = [SETTINGS[(seed + n) % len(SETTINGS)] for n in range(THREADS - 1)]
    works = [programs(seed * 10 + n, "lazy", given, make) for n, given in enumerate(choices)]
    at_once(*works, programs(seed * 10 + THREADS, "blocks", {}, make))
    assert not trace.is_held() and trace.watched == before


@fw.kernel
def advance(x, lo, hi):
    for i in range(lo, hi):
        x[i] = x[i] * 0.5 + i


@fw.jit
def halved(x: Any, more: float) -> Any:
    return x * 0.5 + more


def test_errors_stay_in_their_thread() -> None:
    def refused() -> None:
        for _ in range(ROUNDS * 20):
            x, y = fw.asarray(np.ones(3)) + 1.0, fw.asarray(np.ones(4)) * 2.0
            with pytest.raises(fw.FusewrightError):
                x + y
            with pytest.raises(fw.FusewrightError):
                advance(x, "from", 3)
            with pytest.raises(ZeroDivisionError), fw.lazy():
                data = np.ones(3)
                advance(data, 0, 3)
                _ = 1 / 0
            assert data.tolist() == [0.5, 1.5, 2.5]

    at_once(refused, *(programs(n, ("lazy", "blocks")[n % 2], {}, Machine) for n in range(3)))


def region(x: Any, lo: int, hi: int, step: int) -> None:
    x[lo:hi] = x[lo:hi] * 0.5 + step


def through_a_view(x: Any, lo: int, hi: int, step: int) -> None:
    view = x[lo:hi]
    view *= 0.5
    view[...] = view + step


def elements(x: Any, lo: int, hi: int, step: int) -> None:
    x[lo + step % (hi - lo)] += step
    x[[lo, hi - 1]] = float(step)


def by_kernel(x: Any, lo: int, hi: int, step: int) -> None:
    (advance if not isinstance(x, np.ndarray) else advance.__wrapped__)(x, lo, hi)


WRITES = (region, through_a_view, elements, by_kernel)


@pytest.mark.parametrize("size", [40, 4000])
@pytest.mark.parametrize("write", WRITES, ids=lambda write: write.__name__)
def test_regions_of_one_array(write: Any, size: int) -> None:
    """Threads that write to different regions lose nothing of each other's."""
    shared, wanted = fw.asarray(np.zeros(size)), np.zeros(size)
    part = size // THREADS

    def work(number: int) -> Callable[[], None]:
        def steps() -> None:
            for step in range(50):
                write(shared, number * part, number * part + part, step)
                if step % 17 == number:
                    float(shared[number * part])

        return steps

    for number in range(THREADS):
        for step in range(50):
            write(wanted, number * part, number * part + part, step)
    at_once(*map(work, range(THREADS)))
    assert np.array_equal(np.asarray(shared), wanted)


def test_functions_recorded_at_once() -> None:
    start = np.arange(8.0)
    shared = fw.asarray(start)

    def recorded() -> None:
        for step in range(ROUNDS * 10):
            function = fw.jit(lambda x, more: x * 0.5 + more)
            for _ in range(2):
                found = np.asarray(function(shared, float(step)))
                assert np.array_equal(found, start * 0.5 + step)

    def plain() -> None:
        for step in range(ROUNDS * 20):
            assert np.array_equal(np.asarray(shared * 2.0 + step), start * 2.0 + step)
            assert np.array_equal(np.asarray(halved(shared, 1.0)), start * 0.5 + 1.0)
            assert float(shared[3]) == 3.0  # a lazy number while the other thread records

    at_once(recorded, recorded, plain, plain)
    assert not trace.is_held()
