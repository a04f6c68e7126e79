"""NumPy's arrays passed to kernels inside `fw.lazy()`: pending until the block ends."""

from __future__ import annotations

import gc

import numpy as np

import fusewright as fw
from fusewright.frontends.arrays import trace


@fw.kernel
def scale(x, y, c):
    for i in range(x.shape[0]):
        y[i] = x[i] * c


@fw.kernel
def add(x, y, z):
    for i in range(x.shape[0]):
        z[i] = x[i] + y[i]


@fw.kernel
def running(x, y):
    for i in range(1, x.shape[0]):
        y[i] = 0.5 * y[i - 1] + x[i]


def test_raw_arrays_in_a_lazy_block() -> None:
    a, b, c = np.arange(4.0), np.zeros(4), np.zeros(4)
    before = scale.stats.raised
    with fw.lazy():
        scale(a, b, 2.0)
        add(a, b, c)
        running(a, c)
        assert b.tolist() == [0] * 4, "nothing has run"
    assert scale.stats.raised == before + 1
    assert (b.tolist(), c.tolist()) == ([0, 2, 4, 6], [0, 1, 2.5, 4.25])
    b[:] = 0
    assert c.tolist() == [0, 1, 2.5, 4.25]


def test_sync_in_a_lazy_block() -> None:
    a, b, c = np.arange(4.0), np.zeros(4), np.zeros(4)
    with fw.lazy():
        scale(a, b, 2.0)
        fw.sync()
        assert b.tolist() == [0, 2, 4, 6]
        running(a, c)
        scale(b, b, 0.5)
        fw.sync()
        assert (b.tolist(), c.tolist()) == (a.tolist(), [0, 1, 2.5, 4.25])
        b[:] = 1  # between, the memory is the user's
        fw.sync()
        scale(b, c, 3.0)
    assert (b.tolist(), c.tolist()) == ([1] * 4, [3] * 4)


def test_nothing_remembers_the_arrays_of_a_call() -> None:
    @fw.kernel
    def sums(x, y):
        for i in range(1, x.shape[0]):
            y[i] = y[i - 1] + x[i]

    before = trace.watched
    with fw.lazy():
        sums(np.arange(4.0), np.zeros(4))
    gc.collect()
    assert trace.watched == before


def test_overlapping_arrays_in_a_lazy_block() -> None:
    for shift in (0, 1, 2):
        found, wanted = np.arange(6.0), np.arange(6.0)
        with fw.lazy():
            scale(found[:4], found[:4], 3.0)
            add(found[:4], found[shift : shift + 4], found[2:])
            scale(found, found, 2.0)
        scale.__wrapped__(wanted[:4], wanted[:4], 3.0)
        add.__wrapped__(wanted[:4], wanted[shift : shift + 4], wanted[2:])
        scale.__wrapped__(wanted, wanted, 2.0)
        assert found.tolist() == wanted.tolist()


def test_shared_and_pending_in_a_lazy_block() -> None:
    memory = np.arange(4.0)
    with fw.lazy():
        a = fw.asarray(memory, copy=False)
        t = a + 1
        scale(a, a, 10.0)
        u = a + 1
        scale(memory, memory, 2.0)
    assert memory.tolist() == [0, 20, 40, 60]
    assert t.tolist() == [1, 2, 3, 4]
    assert u.tolist() == [1, 11, 21, 31]
