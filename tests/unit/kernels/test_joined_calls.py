"""Calls that are no array statements, and run as one kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.kernel_runs import small_work_on_threads
from tests.unit.kernels.test_lazy_calls import dot, running

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.kernels import units


def _in_order(x: Any, y: Any, t: Any, plain: bool = False) -> list[float]:
    first, second = (k.__wrapped__ if plain else k for k in (running, dot))
    first(x, y)
    first(y, t)
    r = second(t, x)
    first(t[1:], y[:-1])
    return [float(r), float(second(y, t))]


def test_deferred_calls_are_joined() -> None:
    with fw.options(background=False):
        for _ in range(3):
            before = units.joined_runs()
            mine = [fw.asarray(np.arange(5.0)), fw.asarray(np.ones(5)), fnp.zeros(5)]
            theirs = [np.arange(5.0), np.ones(5), np.zeros(5)]
            assert _in_order(*mine) == _in_order(*theirs, plain=True)
            for a, b in zip(mine, theirs, strict=True):
                assert a.tolist() == b.tolist()
            assert units.joined_runs() > before


def test_a_value_that_is_held_ends_a_group() -> None:
    x, y = fw.asarray(np.array([1.0, 2, 3])), fw.asarray(np.ones(3))
    running(x, y)
    kept = y.copy()
    running(x, y)
    assert y._node.args[0] is not kept._node.args[0]
    assert kept.tolist() == [1, 2.5, 4.25]
    assert y.tolist() == [1, 2.5, 4.25]
    running(y, x)
    total = dot(x, x)
    assert x._node.args[0] is total._node.args[0]


def test_groups_are_capped() -> None:
    x = fw.asarray(np.ones(8))
    y = np.ones(8)
    for _ in range(100):
        running(x, x)
        running.__wrapped__(y, y)
    calls = len(x._node.args[0].value.calls)
    assert 0 < calls <= 32
    assert x.tolist() == y.tolist()


def test_two_arrays_with_one_value() -> None:
    for length in (1, 3):
        x, y = np.arange(5.0), np.arange(5.0)
        a = fw.asarray(x)
        b = a.copy()
        for _ in range(length):
            running(a, b)
            running.__wrapped__(x, y)
        running(b, a)
        running.__wrapped__(y, x)
        assert (a.tolist(), b.tolist()) == (x.tolist(), y.tolist())


@fw.kernel
def kept_apart(a: Any, b: Any, c: Any) -> None:
    for i in range(a.shape[0]):
        b[i] = a[i] * 2
    fw.nofuse()
    for i in range(a.shape[0]):
        c[i] += b[i]


@fw.kernel
def placed(a: Any, table: Any, b: Any) -> None:
    fw.assume_unique(table)
    for i in range(a.shape[0]):
        b[table[i]] = a[i]


@fw.kernel
def repeated(table: Any) -> None:
    last = 0
    for i in range(table.shape[0]):
        last = max(table[i] // 2, last)
        table[i] = last


@fw.kernel
def scattered(a: Any, table: Any, b: Any) -> None:
    for i in range(a.shape[0]):
        b[table[i]] = a[i]


def _placed(x: Any, table: Any, y: Any, z: Any, plain: bool = False) -> None:
    calls = (kept_apart, placed, repeated, scattered)
    apart, place, repeat, scatter = (k.__wrapped__ if plain else k for k in calls)
    place(x, table, y)
    apart(y, z, x)
    repeat(table)
    scatter(x, table, y)


def test_fences_and_unique_tables_in_groups() -> None:
    """A table is without repeated values only until another call writes it."""
    table = np.random.default_rng(3).permutation(300)
    for threads in (1, 2):
        with fw.options(background=False, threads=threads), small_work_on_threads():
            for _ in range(2):
                before = units.joined_runs()
                theirs = [np.arange(300.0), table.copy(), np.ones(300), np.zeros(300)]
                mine = [fw.asarray(array) for array in theirs]
                _placed(*mine)
                _placed(*theirs, plain=True)
                for a, b in zip(mine, theirs, strict=True):
                    assert a.tolist() == b.tolist()
                assert units.joined_runs() > before
