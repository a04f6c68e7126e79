"""NumPy arrays in `lazy()` blocks: known again from block to block, and never kept from their
owner.
"""

from __future__ import annotations

import gc
import threading
import weakref
from sys import getrefcount
from typing import Any

import numpy as np
import pytest
from tests.properties.test_deferred_groups import halved, smoothed

import fusewright as fw
from fusewright._core import native
from fusewright.kernels import run

N = 40


@fw.kernel
def scaled(a: Any, b: Any, by: float) -> None:
    for i in range(b.shape[0]):
        b[i] = a[i] * by + 1.0


@fw.kernel
def copied(a: Any, b: Any) -> None:
    for i in range(b.shape[0]):
        b[i] = a[i]


def arrays(count: int) -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(count)
    return [rng.random(N) * 4 for _ in range(count)]


def body(x: Any, y: Any, t: Any, by: float = 0.5, plain: bool = False) -> None:
    first, second, third = (k.__wrapped__ if plain else k for k in (scaled, halved, smoothed))
    first(x, t, by)
    second(t, y)
    third(y, x, t, by)
    first(t, x, 0.25)


def block(x: Any, y: Any, t: Any, by: float = 0.5) -> None:
    with fw.lazy():
        body(x, y, t, by)


def both(count: int = 3) -> tuple[list[Any], list[Any]]:
    mine = arrays(count)
    return mine, [x.copy() for x in mine]


def same(mine: list[Any], theirs: list[Any]) -> bool:
    return all(a.tobytes() == b.tobytes() for a, b in zip(mine, theirs, strict=True))


@pytest.mark.skipif(native is None, reason="Python's form looks everything up")
def test_python_sees_no_call_of_a_known_block(monkeypatch: pytest.MonkeyPatch) -> None:
    mine, theirs = both()
    with fw.options(background=False):
        for by in (0.5, 0.25, 0.125):
            block(*mine, by)
            body(*theirs, by, plain=True)
        monkeypatch.setattr(run, "run", lambda *_: pytest.fail("Python recorded a call"))
        for by in (3.0, 0.5):
            block(*mine, by)
            body(*theirs, by, plain=True)
    assert same(mine, theirs)


def test_the_host_writes_between_blocks() -> None:
    mine, theirs = both()
    for k in range(4):
        block(*mine)
        body(*theirs, plain=True)
        for each in (mine, theirs):
            each[0][k] = -k
            each[2][:] = 7.0
        assert same(mine, theirs)


def test_arrays_are_not_kept() -> None:
    mine, _ = both()
    block(*mine)
    before = [getrefcount(x) for x in mine]
    for _ in range(3):
        block(*mine)
    assert [getrefcount(x) for x in mine] == before
    gone = [weakref.ref(x) for x in mine]
    mine.clear()
    gc.collect()
    assert all(each() is None for each in gone)


def test_other_arrays_at_the_same_place() -> None:
    for k in range(30):
        mine = [np.full(N + k % 3, float(k + n)) for n in range(3)]
        theirs = [x.copy() for x in mine]
        block(*mine)
        body(*theirs, plain=True)
        assert same(mine, theirs)
        del mine


def test_arrays_that_share_memory() -> None:
    rng = np.random.default_rng(1)
    for low, high in ((0, 5), (5, 0), (0, 20), (0, 0)):
        memory = rng.random(80)
        other = memory.copy()
        mine, theirs = ([m[low : low + N], m[high : high + N]] for m in (memory, other))
        t, u = np.zeros(N), np.zeros(N)
        for _ in range(3):
            block(*mine, t)
            body(*theirs, u, plain=True)
        assert same([memory, t], [other, u])


def test_parts_and_transposes() -> None:
    base = np.random.default_rng(2).random((N, 3))
    other = base.copy()
    for _ in range(3):
        block(*base.T)
        body(*other.T, plain=True)
        block(*(np.ascontiguousarray(c) for c in base.T))
    assert same([base], [other])


def test_an_array_changes_its_shape_in_a_block() -> None:
    (x, y), (p, q) = (np.arange(12.0), np.zeros(12)), (np.arange(12.0), np.zeros(12))
    for _ in range(3):
        with fw.lazy():
            scaled(x, y, 2.0)
            y.shape = (3, 4)
            scaled(x, y, 2.0)
            y.shape = (12,)
            scaled(y, x, 1.0)
        scaled.__wrapped__(p, q, 2.0)
        q.shape = (3, 4)
        scaled.__wrapped__(p, q, 2.0)
        q.shape = (12,)
        scaled.__wrapped__(q, p, 1.0)
    assert same([x, y], [p, q])


def test_read_only_arrays_are_refused_again() -> None:
    x, y = arrays(2)
    for _ in range(3):
        with fw.lazy():
            scaled(x, y, 2.0)
    y.flags.writeable = False
    with fw.lazy(), pytest.raises(fw.FusewrightError, match="written"):
        scaled(x, y, 2.0)
    with fw.lazy():
        scaled(y, x, 2.0)
    assert x.tobytes() == (y * 2.0 + 1).tobytes()


def test_an_error_in_a_block_loses_nothing() -> None:
    mine, theirs = both()
    for _ in range(3):
        with pytest.raises(ZeroDivisionError), fw.lazy():
            body(*mine)
            scaled(mine[0], mine[1], 1 / 0)
        body(*theirs, plain=True)
        assert same(mine, theirs)


def test_a_copy_is_the_array_of_then() -> None:
    x, y, z = arrays(3)
    first = x.copy()
    for _ in range(3):
        with fw.lazy():
            copied(x, y)
            scaled(z, x, 0.5)
        assert y.tobytes() == first.tobytes()
        first = x.copy()


def test_arrays_of_ours_that_read_a_block_live_on() -> None:
    x, y, _ = arrays(3)
    kept = []
    for k in range(4):
        out = fw.asarray(np.zeros(N))
        with fw.lazy():
            scaled(x, out, 2.0)
            scaled(y, x, 0.5 + k)
        kept.append((out, out.tolist()))
        y += 1.0
    for out, content in kept:
        assert out.tolist() == content
    assert kept[1][1] != kept[2][1]


def test_blocks_of_several_threads() -> None:
    wrong: list[Any] = []

    def work(seed: int) -> None:
        mine = [x * seed for x in arrays(3)]
        theirs = [x.copy() for x in mine]
        try:
            for _ in range(100):
                block(*mine)
                body(*theirs, plain=True)
        except Exception as error:  # noqa: BLE001 - of a thread: told below
            wrong.append((seed, error))
        if not same(mine, theirs):
            wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 2, 3)]
    with fw.lazy():  # a block of this thread is open meanwhile
        for thread in threads[:2]:
            thread.start()
        for thread in threads[:2]:
            thread.join()
    threads[2].start()
    work(4)
    threads[2].join()
    assert not wrong
