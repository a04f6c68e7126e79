"""Calls with lazy arrays: what they record, when they run, and that nothing shows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.base.errors import KernelError
from fusewright.frontends.arrays import trace
from fusewright.ir.graph import LEAF
from fusewright.runtime import profile
from fusewright.runtime.profile import KernelRecord


@fw.kernel
def copy(x, y):
    for i in range(x.shape[0]):
        y[i] = x[i]


@fw.kernel
def put(x, value):
    for i in range(x.shape[0]):
        x[i] = value


@fw.kernel
def put_range(x, low, high, value):
    for i in range(low, high):
        x[i] = value


@fw.kernel
def add(x, y, z):
    for i in range(x.shape[0]):
        z[i] = x[i] + y[i]


@fw.kernel
def scale(x, y, c):
    for i in range(x.shape[0]):
        y[i] = x[i] * c


@fw.kernel
def halves(s, x, y):
    for i in range(s.shape[0]):
        x[i // 2] = s[i]
        y[i] = x[i // 2]


@fw.kernel
def running(x, y):
    for i in range(1, x.shape[0]):
        y[i] = 0.5 * y[i - 1] + x[i]


@fw.kernel
def dot(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * y[i]
    return s


@fw.kernel
def largest(x):
    best, place = x[0], 0
    for i in range(x.shape[0]):
        if x[i] > best:
            best, place = x[i], i
    return best, place


def vector(*values: float) -> Any:
    return fw.asarray(np.array(values))


def kernels_of(run: Any) -> list[Any]:
    """The steps that ran while a function did."""
    with profile.listen() as seen:
        run()
    return [step for flush in seen.flushes for step in flush.steps]


# -- laziness: the probes of programs that a queue of kernels got wrong -------------------------


def test_a_value_is_read_before_it_is_overwritten() -> None:
    a, b = vector(1, 2, 3), vector(0, 0, 0)
    copy(a, b)
    put(a, 5.0)
    assert a.tolist() == [5, 5, 5]
    assert b.tolist() == [1, 2, 3]


def test_partial_writes_add_up() -> None:
    a = fw.asarray(np.zeros(8))
    put_range(a, 0, 4, 1.0)
    put_range(a, 4, 8, 2.0)
    assert a.tolist() == [1, 1, 1, 1, 2, 2, 2, 2]


def test_writes_by_the_host_wait() -> None:
    a, b, c = vector(1, 2), vector(0, 0), vector(0, 0)
    copy(a, b)
    a[0] = 100
    copy(a, c)
    a.fill(7)
    assert (a.tolist(), b.tolist(), c.tolist()) == ([7, 7], [1, 2], [100, 2])


def test_a_reduction_reads_what_was_there() -> None:
    a = vector(1, 2, 3)
    r = dot(a, a)
    put(a, 2.0)
    assert a.tolist() == [2, 2, 2]
    assert float(r) == 14.0


def test_raw_numpy_arrays_are_complete() -> None:
    a, b = np.arange(3.0), np.zeros(3)
    copy(a, b)
    assert b.tolist() == [0, 1, 2]
    mixed = vector(4, 5, 6)
    copy(mixed, b)
    assert b.tolist() == [4, 5, 6]
    copy(b, mixed)
    b[:] = 0
    assert mixed.tolist() == [4, 5, 6]


def test_what_numpy_sees_is_complete() -> None:
    a = vector(1, 2, 3)
    put(a, 4.0)
    seen = a.view(np.ndarray)
    assert seen.tolist() == [4, 4, 4]
    put(a, 5.0)
    assert seen.tolist() == [5, 5, 5]
    seen[0] = 9
    b = vector(0, 0, 0)
    copy(a, b)
    assert b.tolist() == [9, 5, 5]


def test_shared_memory_is_complete() -> None:
    memory = np.zeros(4)
    a = fw.asarray(memory, copy=False)
    put(a, 3.0)
    assert memory.tolist() == [3] * 4
    running(a, a)
    assert memory.tolist() == [3, 4.5, 5.25, 5.625]


def test_indices_that_are_not_injective() -> None:
    s, x, y = vector(1, 2, 3, 4), vector(0, 0), fw.asarray(np.zeros(4))
    halves(s, x, y)
    assert (x.tolist(), y.tolist()) == ([2, 4], [1, 2, 3, 4])


def test_views_see_writes() -> None:
    v = fw.asarray(np.zeros(4))
    s = v[1:]
    scale(vector(1, 2, 3, 4), v, 2.0)
    assert s.tolist() == [4, 6, 8]
    put(s, 1.0)
    assert v.tolist() == [2, 1, 1, 1]


def test_increments_add_up() -> None:
    a, one = fw.asarray(np.zeros(5)), fw.asarray(np.ones(5))
    for _ in range(4):
        add(a, one, a)
    assert float(dot(a, one)) == 20.0


def test_dead_temporaries() -> None:
    a = vector(1, 2)
    for k in range(10):
        t = fnp.empty(2)
        scale(a, t, float(k))
        a = a + t
    assert a.tolist() == [math.factorial(10), 2 * math.factorial(10)]


# -- numbers ------------------------------------------------------------------------------------


def test_a_reduction_is_a_number() -> None:
    a = vector(1, 2, 2)
    total = 1.0
    total += dot(a, a)
    assert total == 10.0
    assert math.sqrt(dot(a, a)) == 3.0
    assert f"{dot(a, a):.2f}" == "9.00"
    r = dot(a, a)
    assert (r <= 9, r < 9, r <= 9, r == 9, r != 9) == (True, False, True, True, False)
    assert (2 * r, r / 2, 1 - r, -r, r**0.5, abs(-r)) == (18, 4.5, -8, -9, 3, 9)
    assert (int(r), bool(r), round(r), hash(r), complex(r)) == (9, True, 9, hash(9.0), 9)
    assert np.asarray(r).shape == ()
    assert [10, 20][int(r) - 8] == 20


def test_integers_index() -> None:
    a = vector(1, 7, 2)
    best, place = largest(a)
    assert float(best) == 7.0
    assert [10, 20, 30][place] == 20
    assert type(place) is int


def test_a_pending_number_is_an_argument() -> None:
    a, b = vector(1, 2, 2), vector(0, 0, 0)
    r = dot(a, a)
    scale(a, b, r)
    assert r._node.kind != LEAF, "nothing has run"
    assert b._node.kind != LEAF
    assert b.tolist() == [9, 18, 18]
    running(a, b)
    put(b, dot(b, b))
    assert b[0] == 9.0**2 + 22.5**2 + 29.25**2 or b[0] == b[1]


# -- what becomes of calls ----------------------------------------------------------------------


def test_calls_and_statements_are_one_kernel() -> None:
    a, b, out = (fw.asarray(np.arange(100.0) + k) for k in range(3))
    fw.evaluate(a, b, out)

    def program() -> None:
        t, u = fnp.empty(100), fnp.empty(100)
        add(a, b, t)
        v = t * 2 + 1
        scale(v, u, 3.0)
        out[1:-1] = u[2:] - u[:-2]
        fw.evaluate(out)

    steps = kernels_of(program)
    assert [type(step) for step in steps] == [KernelRecord]


def test_temporaries_that_live_on_are_not_stored() -> None:
    a, t, out = (fw.asarray(np.arange(64.0)) for _ in range(3))
    fw.evaluate(a, t, out)

    def program() -> None:
        scale(a, t, 2.0)
        add(a, t, out)
        fw.evaluate(out)

    for _ in range(3):
        (step,) = kernels_of(program)
        assert step.bytes_written == 64 * 8
    assert t._node.kind != LEAF
    assert t.tolist() == [2.0 * k for k in range(64)]


def test_counts() -> None:
    @fw.kernel
    def own(x, y):
        for i in range(x.shape[0]):
            y[i] = x[i] + 1

    x, y = vector(1, 2), vector(0, 0)
    for _ in range(5):
        own(x, y)
    own(x[:1], y[1:])
    assert y.tolist() == [2, 2]
    assert (own.stats.calls, own.stats.raised, own.stats.deferred) == (6, 6, 0)
    before = running.stats
    running(vector(1, 2, 3), vector(1, 2, 3))
    assert running.stats.deferred == before.deferred + 1
    assert running.stats.raised == before.raised


def test_a_deferred_call_works_in_place() -> None:
    x, y = fw.asarray(np.ones(1000)), fw.asarray(np.ones(1000))
    fw.evaluate(x, y)
    where = y._node.value[0].address
    running(x, y)
    fw.evaluate(y)
    assert y._node.value[0].address == where
    kept = y + 0
    put(x, 3.0)
    running(x, y)
    assert y._node.kind != LEAF
    assert (kept[1], y[1]) == (1.5, 3.5)


def test_a_deferred_call_runs_once() -> None:
    @fw.kernel
    def both(x, y):
        for i in range(1, x.shape[0]):
            x[i] += x[i - 1]
            y[i] += x[i]

    x, y = vector(1, 1, 1), vector(0, 0, 0)
    both(x, y)
    assert x.tolist() == [1, 2, 3]
    assert y.tolist() == [0, 2, 3]
    assert x.tolist() == [1, 2, 3]


def test_captured_values_may_change() -> None:
    factor = 2.0

    @fw.kernel
    def times(x):
        for i in range(x.shape[0]):
            x[i] = x[i] * factor

    x = vector(1, 1)
    times(x)
    times(x)
    factor = 10.0
    times(x)
    assert x.tolist() == [40, 40]


def test_recipes_follow_shapes_types_and_aliases() -> None:
    for dtype in (np.float64, np.float32, np.float64):
        for n in (3, 5, 3):
            x, y = fw.asarray(np.arange(n, dtype=dtype)), fw.asarray(np.zeros(n, dtype))
            scale(x, y, 2.5)
            scale(x, x, 3)
            scale(y, x, fw.asarray(np.ones(1)).sum())
            assert y.dtype == x.dtype == dtype
            assert x.tolist() == y.tolist() == [2.5 * k for k in range(n)]


def test_steering_numbers() -> None:
    x = fw.asarray(np.zeros(6))
    for low, high in ((0, 3), (3, 6), (1, 2), (5, 5), (4, 2)):
        put_range(x, low, high, low + 1)
    assert x.tolist() == [1, 2, 1, 4, 4, 4]


# -- bad input ----------------------------------------------------------------------------------


def test_errors_come_at_the_call() -> None:
    @fw.kernel
    def wrong(x):
        for i in range(x.shape[0]):
            x[i] = y[i]  # noqa: F821

    x = vector(1, 2)
    pending = x + 1
    with pytest.raises(KernelError, match="name `y` is not defined"):
        wrong(x)
    assert pending.tolist() == [2, 3]
    frozen = fnp.broadcast_to(x, (3, 2))[0]
    with pytest.raises(KernelError, match="written"):
        put(frozen, 1.0)


def test_checked_calls_run_at_once() -> None:
    x = vector(1, 2)
    with fw.options(check=True), pytest.raises(fw.FusewrightError, match="out of bounds"):
        put_range(x, 0, 3, 7.0)
    assert x.tolist() == [7, 7]


def test_an_index_outside_is_no_array_statement() -> None:
    x = fw.asarray(np.zeros(10))
    before = put_range.stats.raised
    put_range(x[:4], 0, 5, 1.0)
    assert put_range.stats.raised == before


def test_nothing_is_lost_when_a_program_fails() -> None:
    x, y = vector(1, 2), vector(0, 0)
    scale(x, y, 2.0)
    with pytest.raises(ZeroDivisionError):
        1 / 0  # noqa: B018
    assert y.tolist() == [2, 4]


def test_a_long_chain_flushes() -> None:
    x = fw.asarray(np.ones(16))
    for _ in range(3000):
        scale(x, x, 1.0)
        running(x, x)
    assert len(trace.pending) < 6000
    assert np.isfinite(x[15])
