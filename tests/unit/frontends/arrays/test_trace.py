"""The pending list: bounded, flushed at iteration boundaries, safe under threads and fork."""

from __future__ import annotations

import gc
import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fusewright.frontends.arrays as fa
from fusewright.base import hooks, options
from fusewright.frontends.arrays import sharing, trace
from fusewright.ir.graph import LEAF, Node

Flushes = list[tuple[int, int]]


@pytest.fixture
def flushes() -> Iterator[Flushes]:
    """(values asked for, nodes pending) of every evaluation."""
    seen: Flushes = []
    inner, is_driver = hooks.evaluate, hooks.is_driver

    def evaluate(nodes: Sequence[Node]) -> None:
        seen.append((len(nodes), len(trace.pending)))
        inner(nodes)

    trace.flush()
    trace.pending.clear()
    hooks.set_evaluate(evaluate)
    yield seen
    hooks.set_evaluate(inner, is_driver)


def test_dead_temporaries_are_never_computed(flushes: Flushes) -> None:
    x = fa.asarray(np.ones(3))
    for _ in range(1000):
        x * 2.0 + 1.0
    assert not flushes
    assert len(trace.pending) <= trace.LIMIT + 1


def test_a_long_loop_flushes_at_its_own_period(flushes: Flushes) -> None:
    x, y = fa.asarray(np.ones(3)), fa.asarray(np.full(3, 2.0))
    for _ in range(1500):
        x = x * 0.5 + y
        y = y - x * 0.001
    assert len(flushes) > 5
    # The first two leave what only later values need: it is stored when it is asked for again.
    assert len(set(flushes[2:])) == 1, "every flush has the structure of the one before"
    assert max(pending for _, pending in flushes) <= trace.HARD_LIMIT
    want_x, want_y = np.ones(3), np.full(3, 2.0)
    for _ in range(1500):
        want_x = want_x * 0.5 + want_y
        want_y = want_y - want_x * 0.001
    np.testing.assert_array_equal(np.asarray(x), want_x)
    np.testing.assert_array_equal(np.asarray(y), want_y)


def test_two_phases_do_not_disturb_each_other(flushes: Flushes) -> None:
    def phase(x: Any, factor: float) -> Any:
        for _ in range(200):
            x = x * factor
            x = x + 1.0
        return x

    x = fa.asarray(np.ones(2))
    for factor in (0.5, 0.25, 0.5):
        x = phase(x, factor)
    want = np.ones(2)
    for factor in (0.5, 0.25, 0.5):
        want = phase(want, factor)
    np.testing.assert_array_equal(np.asarray(x), want)


def test_straight_code_is_bounded(flushes: Flushes) -> None:
    body = "\n".join(["x = x + 1.0"] * 1000)
    scope = {"x": fa.asarray(np.zeros(2))}
    exec(compile(body, "straight", "exec"), scope)
    assert flushes
    assert max(pending for _, pending in flushes) <= trace.HARD_LIMIT + 1
    assert float(scope["x"][0]) == 1000.0


def test_dead_nodes_do_not_keep_memory(flushes: Flushes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "BYTES_LIMIT", 1 << 20)
    owners = []
    for _ in range(40):
        x = fa.asarray(np.zeros(1 << 15))
        owners.append(weakref.ref(x._node.value[0].owner))
        x + 1.0
    del x
    gc.collect()
    assert sum(owner() is not None for owner in owners) < 15


def test_held_values_are_computed_together(flushes: Flushes) -> None:
    x = fa.asarray(np.arange(4.0))
    held = [x + float(n) for n in range(5)]
    x * 3.0
    trace.flush()
    assert [asked for asked, _ in flushes] == [5]
    assert [float(value[0]) for value in held] == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_a_flush_leaves_constants_alone(flushes: Flushes) -> None:
    zeros, numbers = fa.zeros(1 << 30), fa.arange(1 << 30)
    x, y = fa.asarray(np.ones(2)), fa.asarray(np.ones(2))
    for _ in range(300):
        x = x + y
    assert flushes
    assert zeros._node.kind != LEAF
    assert numbers._node.kind != LEAF
    assert x.tolist() == [301.0, 301.0]


def test_threads_record_at_once() -> None:
    failures: list[str] = []

    def work(seed: int) -> None:
        x, want = fa.asarray(np.full(8, float(seed))), np.full(8, float(seed))
        for step in range(300):
            x = x * 0.5 + float(step)
            want = want * 0.5 + float(step)
        if not np.array_equal(np.asarray(x), want):
            failures.append(f"thread {seed}")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_fork_while_another_thread_evaluates() -> None:
    x = fa.asarray(np.arange(3.0)) + 1.0
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with trace.lock:
            held.set()
            release.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    child = os.fork()
    if child == 0:
        os._exit(0 if float(x.sum()) == 6.0 else 1)
    release.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


def test_spans_point_at_the_line() -> None:
    x = fa.asarray(np.ones(2))
    with options.options(spans=True):
        y = x + 1.0
    line = y._node.line
    assert line is not None
    assert line[0] == __file__
    source = Path(__file__).read_text().splitlines()[line[1] - 1]
    assert source[line[2] - 1 : line[3] - 1] == "x + 1.0"
    assert (x + 1.0)._node.line is None


def test_shared_memory_closes_the_gate_only_while_it_lives() -> None:
    trace.flush()
    trace.forget_loop()  # of the tests before
    data = np.ones(3)
    before = trace.gate
    x = fa.asarray(data, copy=False)
    assert trace.gate < 0
    y = x + 1.0
    data[:] = 7.0
    np.testing.assert_array_equal(np.asarray(y), np.full(3, 2.0))
    del x, y
    gc.collect()
    assert trace.gate == before
    assert not sharing.lazy_block.owed
