"""Sequences of launches, host writes and reads: always what running them one by one gives."""

import math

import numpy as np
import pytest

import fusewright as fw
import fusewright.bridges.pykokkos as pk

N = 8


@pk.workunit
def copy(i, to, of):
    to[i] = of[i]


@pk.workunit
def put(i, a, value):
    a[i] = value


@pk.workunit
def put_from(i, a, first, value):
    a[first + i] = value


@pk.workunit
def increase(i, a):
    a[i] += 1.0


@pk.workunit
def dot(i, acc, a, b):
    acc += a[i] * b[i]


@pk.workunit
def halves(i, a, s):
    a[i // 2] = s[i]


@pk.workunit
def from_halves(i, b, a):
    b[i] = a[i // 2]


@pytest.fixture
def views():
    a, b = pk.View([N], pk.double), pk.View([N], pk.double)
    a[:] = np.arange(N)
    return a, b


def test_read_then_overwritten(views):
    a, b = views
    pk.parallel_for(N, copy, to=b, of=a)
    pk.parallel_for(N, put, a=a, value=5.0)
    assert list(a) == [5.0] * N and list(b) == list(range(N))


def test_two_partial_writes(views):
    a, _ = views
    pk.parallel_for(4, put_from, a=a, first=0, value=1.0)
    pk.parallel_for(4, put_from, a=a, first=4, value=2.0)
    assert list(a) == [1.0] * 4 + [2.0] * 4


def test_host_write_after_a_launch(views):
    a, b = views
    pk.parallel_for(N, copy, to=b, of=a)
    a[0] = 100.0
    assert b[0] == 0.0 and a[0] == 100.0


def test_fill_after_a_launch(views):
    a, b = views
    pk.parallel_for(N, copy, to=b, of=a)
    a.fill(7)
    assert list(b) == list(range(N)) and list(a) == [7.0] * N


def test_reduction_then_overwritten(views):
    a, _ = views
    total = pk.parallel_reduce(N, dot, a=a, b=a)
    pk.parallel_for(N, put, a=a, value=2.0)
    assert a[0] == 2.0 and total == sum(k * k for k in range(N))


def test_numpy_arrays_are_complete():
    array = np.zeros(N)
    pk.parallel_for(N, put, a=array, value=3.0)
    assert (array == 3.0).all()


def test_exports_are_complete(views):
    a, _ = views
    pk.parallel_for(N, put, a=a, value=3.0)
    assert (np.asarray(a) == 3.0).all()
    pk.parallel_for(N, put, a=a, value=4.0)
    pk.fence()
    assert (a.data == 4.0).all()


def test_two_iterations_at_one_place(views):
    a, b = views
    s = pk.View([N], pk.double)
    s[:] = np.arange(N) * 10.0
    pk.parallel_for(pk.RangePolicy(pk.Serial, 0, N), halves, a=a, s=s)
    pk.parallel_for(N, from_halves, b=b, a=a)
    assert list(b) == [s[2 * (k // 2) + 1] for k in range(N)]


def test_subview_of_written_view(views):
    a, b = views
    part = a[1:]
    pk.parallel_for(N, put, a=a, value=9.0)
    pk.parallel_for(N - 1, copy, to=b, of=part)
    assert list(b)[: N - 1] == [9.0] * (N - 1)


def test_results_are_numbers(views):
    a, b = views
    a.fill(1.0)
    total = 1.0
    total += pk.parallel_reduce(N, dot, a=a, b=a)
    assert total == N + 1
    assert math.sqrt(pk.parallel_reduce(N, dot, a=a, b=a)) == math.sqrt(N)
    assert f"{pk.parallel_reduce(N, dot, a=a, b=a):.2f}" == "8.00"
    assert pk.parallel_reduce(N, dot, a=a, b=a) <= 9
    pk.parallel_for(N, put, a=b, value=pk.parallel_reduce(N, dot, a=a, b=a))
    assert list(b) == [8.0] * N


def test_several_increments(views):
    a, _ = views
    a.fill(0.0)
    for _ in range(4):
        pk.parallel_for(N, increase, a=a)
    assert list(a) == [4.0] * N


def test_reduction_is_compared(views):
    a, _ = views
    a.fill(1.0)
    assert pk.parallel_reduce(N, dot, a=a, b=a) == 8


def test_dead_temporaries(views):
    _, b = views
    for k in range(20):
        temporary = pk.View([N], pk.double)
        pk.parallel_for(N, put, a=temporary, value=float(k))
        pk.parallel_for(N, copy, to=b, of=temporary)
    assert list(b) == [19.0] * N


def test_printing_happens_at_once(capfd):
    pk.parallel_for(pk.RangePolicy(pk.Serial, 0, 3), shown, scale=0.5)
    pk.printf("%5.2f|%-4d|%s\n", 1.5, 3, "end")
    text = capfd.readouterr().out
    assert text == "0: 0.00\n1: 0.50\n2: 1.00\n 1.50|3   |end\n"


@pk.workunit
def shown(i, scale):
    pk.printf("%d: %.2lf\n", i, i * scale)


def test_timers_and_fences_wait(views):
    a, _ = views
    timer = pk.Timer()
    for wait in (timer.seconds, timer.reset, pk.fence, pk.flush):
        pk.parallel_for(N, increase, a=a)
        assert fw.explain(a.array).kernels
        wait()
        assert not fw.explain(a.array).kernels


def test_launches_are_recorded_and_fuse(views):
    a, b = views
    temporary = pk.View([N], pk.double)
    for _ in range(2):
        pk.parallel_for(N, copy, to=temporary, of=a)
        pk.parallel_for(N, increase, a=temporary)
        pk.parallel_for(N, copy, to=b, of=temporary)
        assert len(fw.explain(b.array).kernels) == 1
    assert list(b) == [k + 1.0 for k in range(N)] == list(temporary)
