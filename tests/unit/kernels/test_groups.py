"""Groups of deferred calls: what is never stored, what is computed on a second demand, how long
they grow, and that nobody waits for their code.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.properties.test_deferred_groups import halved, picked, running, smoothed, total

import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native
from fusewright.frontends.arrays import trace
from fusewright.ir.graph import LEAF, PART
from fusewright.kernels import deferred, units
from fusewright.kernels.groups import Group
from fusewright.runtime import background, buffers

N = 500
needs_core = pytest.mark.skipif(native is None, reason="Python's form computes what is held")


@pytest.fixture(autouse=True)
def joined_at_once() -> Iterator[None]:
    deferred.forget()
    units.known_units.clear()
    with fw.options(background=False):
        yield


def arrays(count: int) -> tuple[list[Any], list[Any]]:
    rng = np.random.default_rng(count)
    plain = [rng.random(N) * 4 for _ in range(count)]
    mine = [fw.asarray(x) for x in plain]
    fw.evaluate(*mine)
    return mine, [x.copy() for x in plain]


def three(x: Any, y: Any, t: Any, u: Any, out: Any, by: float = 0.5, plain: bool = False) -> None:
    first, second = (k.__wrapped__ if plain else k for k in (halved, smoothed))
    first(x, t)
    second(t, y, u, by)
    first(u, out)


def allocated(run: Callable[[], object], times: int = 10) -> float:
    """Blocks of memory that a call takes."""
    for _ in range(4):
        run()
    before = buffers.statistics().allocations
    for _ in range(times):
        run()
    return (buffers.statistics().allocations - before) / times


def pending(array: Any) -> bool:
    return bool(array._node.kind != LEAF)


# -- temporaries ----------------------------------------------------------------------------------


def test_temporaries_of_a_step_get_no_memory() -> None:
    (x, y, out), (p, q, r) = arrays(3)

    def step() -> None:
        three(x, y, fnp.empty(N), fnp.zeros(N), out)
        fw.evaluate(out)

    assert allocated(step) <= (0 if native is not None else 10)
    three(p, q, np.zeros(N), np.zeros(N), r, plain=True)
    assert out.tolist() == r.tolist()


@needs_core
def test_hoisted_temporaries_get_no_memory_until_somebody_asks() -> None:
    (x, y, t, u, out), (p, q, s, v, r) = arrays(5)

    def step() -> None:
        three(x, y, t, u, out)
        fw.evaluate(out)

    assert allocated(step) <= 1
    assert pending(t) and pending(u)
    three(p, q, s, v, r, plain=True)
    assert (u.tolist(), t.tolist(), out.tolist()) == (v.tolist(), s.tolist(), r.tolist())
    assert not pending(t)


@needs_core
def test_a_recipe_outlives_what_it_has_read() -> None:
    (x, y, t, u, out), (p, q, s, v, r) = arrays(5)
    for _ in range(3):
        three(x, y, t, u, out)
        fw.evaluate(out)
        x += 1.0
        y[3] = -2.0
        fw.evaluate(x, y)
        three(p, q, s, v, r, plain=True)
        p += 1.0
        q[3] = -2.0
    assert pending(t)
    assert (t.tolist(), u.tolist()) == (s.tolist(), v.tolist())
    assert (x.tolist(), y.tolist(), out.tolist()) == (p.tolist(), q.tolist(), r.tolist())


def test_what_is_held_twice_is_computed_at_most_twice() -> None:
    (x, y, t, u, out), (p, q, s, v, r) = arrays(5)
    for _ in range(3):
        three(x, y, t, u, out)
        fw.evaluate(out)
    before = units.joined_runs()
    for each in (t, u, t, u):
        fw.evaluate(each)
    assert units.joined_runs() - before <= 1
    three(p, q, s, v, r, plain=True)
    assert (t.tolist(), u.tolist()) == (s.tolist(), v.tolist())


def test_an_array_that_is_written_in_part_keeps_the_rest() -> None:
    (x, t), (p, s) = arrays(2)
    for _ in range(3):
        halved(x, t)
        running(t, x)  # leaves x[0]
        fw.evaluate(x)
        halved.__wrapped__(p, s)
        running.__wrapped__(s, p)
    assert (x.tolist(), t.tolist()) == (p.tolist(), s.tolist())


def test_an_array_that_is_shorter_than_the_loop_is_not_overwritten() -> None:
    (x, y), (p, q) = arrays(2)
    for _ in range(2):
        long, wide = fnp.full(N + 3, 7.0), np.full(N + 3, 7.0)
        halved(x, long)
        smoothed(long, y, x, 0.5)
        halved.__wrapped__(p, wide)
        smoothed.__wrapped__(wide, q, p, 0.5)
        assert (long.tolist(), x.tolist()) == (wide.tolist(), p.tolist())


# -- the same calls again -------------------------------------------------------------------------


@needs_core
def test_python_sees_no_call_of_a_known_sequence(monkeypatch: pytest.MonkeyPatch) -> None:
    (x, y, t, u, out), (p, q, s, v, r) = arrays(5)

    def step(by: float, plain: bool = False) -> Any:
        kernel = total.__wrapped__ if plain else total
        if plain:
            three(p, q, s, v, r, by, plain=True)
            return kernel(r, by)
        three(x, y, t, u, out, by)
        return float(kernel(out, by))

    for by in (0.5, 0.25, 0.75):
        assert step(by) == step(by, plain=True)
    codes = len(units.known_units)
    monkeypatch.setattr(deferred, "defer", lambda *_: pytest.fail("Python deferred a call"))
    monkeypatch.setattr(Group, "__call__", lambda *_: pytest.fail("Python ran a group"))
    for by in (0.125, 3.0):
        assert step(by) == step(by, plain=True)
    assert len(units.known_units) == codes, "numbers are no part of the code"


def test_another_pattern_of_arrays_and_back() -> None:
    (x, y, t, u, out), (p, q, s, v, r) = arrays(5)
    for k in range(8):
        if k % 3 == 2:
            three(x, x, t, t, out)
            three(p, p, s, s, r, plain=True)
        elif k % 3 == 1:
            three(x, y, x, u, out)
            three(p, q, p, v, r, plain=True)
        else:
            three(x, y, t, u, out)
            three(p, q, s, v, r, plain=True)
        assert out.tolist() == r.tolist()
    for mine, theirs in zip((x, y, t, u), (p, q, s, v), strict=True):
        assert mine.tolist() == theirs.tolist()


def test_an_exception_between_calls_loses_nothing() -> None:
    (x, y, t), (p, q, s) = arrays(3)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            halved(x, t)
            smoothed(t, x, y, 1 / 0)
        with pytest.raises(fw.FusewrightError):
            smoothed(t, x, y, "no number")
        running(t, y)
        halved.__wrapped__(p, s)
        running.__wrapped__(s, q)
        assert (t.tolist(), y.tolist()) == (s.tolist(), q.tolist())


# -- how long they grow, and who waits ------------------------------------------------------------


def test_a_thousand_calls_that_nobody_asks_for() -> None:
    (x, t), (p, s) = arrays(2)
    table, plain_table = fw.asarray(np.arange(N)[::-1].copy()), np.arange(N)[::-1].copy()
    for _ in range(500):
        running(x, t)
        picked(t, table, x)
        running.__wrapped__(p, s)
        picked.__wrapped__(s, plain_table, p)
        node = x._node
        assert node.kind != PART or len(node.args[0].value.calls) <= deferred.MOST_CALLS
        assert len(trace.pending) < 2000
    assert (x.tolist(), t.tolist()) == (p.tolist(), s.tolist())


def test_a_group_of_large_kernels_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deferred, "MOST_OPERATIONS", 60)
    (x, t), (p, s) = arrays(2)
    for _ in range(8):
        halved(x, t)
        halved(t, x)
        assert len(x._node.args[0].value.calls) <= 4
        halved.__wrapped__(p, s)
        halved.__wrapped__(s, p)
    assert x.tolist() == p.tolist()


def test_results_come_while_the_joined_kernel_is_compiled() -> None:
    (x, y, t, u, out), (p, q, s, v, r) = arrays(5)
    compiler_is_free = threading.Event()
    before = units.joined_runs()
    with fw.options(background=True):
        background.submit(compiler_is_free.wait)  # as a compilation of any length
        try:
            for _ in range(3):
                three(x, y, t, u, out)
                three(p, q, s, v, r, plain=True)
                assert out.tolist() == r.tolist()
            assert units.joined_runs() == before
        finally:
            compiler_is_free.set()
        background.wait()
        for _ in range(2):
            three(x, y, t, u, out)
            fw.evaluate(out)
        assert units.joined_runs() > before
    assert out.tolist() == r.tolist()


@fw.kernel
def stepped(a: Any, b: Any, by: Any) -> None:
    for i in range(1, a.shape[0]):
        b[i] = b[i - 1] * by + a[i]


@needs_core
@pytest.mark.parametrize(
    "by", [2, -1.5, np.float32(0.1), np.float16(1e-3), np.int8(-3), np.uint64(2**63 + 5), True]
)
def test_the_core_runs_calls_on_views_and_numbers_of_any_type(by: Any) -> None:
    (x, y), (a, b) = arrays(2)

    def both_ways() -> None:
        for here, there in ((x[3:-1], y[4:]), (y[:40], x[10:50])):
            stepped(here, there, by)
        fw.evaluate(x, y)
        for here, there in ((a[3:-1], b[4:]), (b[:40], a[10:50])):
            stepped.__wrapped__(here, there, by)

    with np.errstate(all="ignore"):
        both_ways()
        by_python, ran = units.runs, units.joined_runs()
        for _ in range(3):
            both_ways()
    assert units.joined_runs() == ran + 3
    assert units.runs == by_python
    for mine, plain in ((x, a), (y, b)):
        assert np.asarray(mine).tobytes() == plain.tobytes()
