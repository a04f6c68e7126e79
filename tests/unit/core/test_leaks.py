"""What the core takes it gives back: references, blocks of memory, places in lists."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.frontends.arrays import trace
from fusewright.runtime import buffers
from fusewright.runtime.limits import resident_memory

TIMES = 3000
X, Y = fw.asarray(np.arange(8.0)), fw.asarray(np.arange(8.0)[::-1].copy())
MASK, WIDE = fw.asarray(np.arange(8) % 2 == 0), fw.asarray(np.ones((3, 8)))
LONG = fw.asarray(np.ones(10_000))


@fw.jit
def replayed(a: Any, b: float) -> Any:
    return a * b, a + b


def store(value: Any) -> None:
    x = fnp.zeros(8)
    x[2:5] = value
    x += value
    fw.evaluate(x)


def held() -> None:
    values = [X + float(n) for n in range(20)]
    fw.evaluate(values[3])
    fw.evaluate(*values)


def written(key: Any, value: Any) -> None:
    pending = X + 1.0
    pending[key] = value
    fw.evaluate(pending)


def viewed() -> None:
    whole = fw.asarray(np.ones(8))
    whole[1:-1] += whole[2:] * 0.5
    fw.evaluate(whole)


PATHS: dict[str, Callable[[], Any]] = {
    "recorded and dead": lambda: X * 2.0 + Y,
    "evaluated": lambda: fw.evaluate(X * 2.0 + Y),
    "a number": lambda: float((X * Y).sum()),
    "a view": lambda: fw.evaluate(X[1:] + Y[:-1]),
    "a view of what is pending": lambda: fw.evaluate((X + 1.0)[1:] * 2.0),
    "broadcast": lambda: fw.evaluate(WIDE * X + 1),
    "where": lambda: fw.evaluate(fnp.where(MASK, X, 1.5)),
    "a function": lambda: fw.evaluate(fnp.hypot(X, Y)),
    "in place": lambda: store(3.0),
    "in place from an array": lambda: store(fw.asarray(2.0)),
    "replayed": lambda: replayed(X, 0.5),
    "held": held,
    "many": lambda: fw.evaluate(X + 1, X + 2, X * 3),
    "refused": lambda: X + object(),
    "refused shapes": lambda: X + WIDE[:, :5],
    "refused types": lambda: X << 1,
    "too large": lambda: fw.asarray(np.ones(2, np.int8)) + 300,
    "refused subscript": lambda: X[1, 2, 3],
    "refused call": lambda: fnp.hypot(X),
    "to NumPy": lambda: np.asarray(X + 1),
    "a region written": lambda: written(slice(1, 5), X[2:6] * 2.0),
    "a region filled": lambda: written(slice(1, 5), 0.5),
    "an element written": lambda: written(3, X[2] + 1.0),
    "a region refused": lambda: written(slice(1, 5), X[:2]),
    "a view in place": viewed,
    "an element of what is pending": lambda: float((X + 1.0)[3] * 2.0),
    "reductions": lambda: fw.evaluate(WIDE.sum(0), WIDE.max(axis=-1, keepdims=True), X.mean()),
    "a reduction refused": lambda: WIDE.sum(5),
    "blocks of 80 KB": lambda: fw.evaluate(LONG + 1.0),
    "a power": lambda: fw.evaluate(X**2 + X**3 + X**0.5),
}


def state() -> tuple[int, int, int]:
    gc.collect()
    pool = buffers.statistics()
    return sys.getallocatedblocks(), pool.in_use, len(trace.pending)


def repeat(path: Callable[[], Any], times: int) -> None:
    for _ in range(times):
        with suppress(Exception):
            path()


@pytest.mark.parametrize("name", PATHS)
def test_nothing_stays(name: str) -> None:
    path = PATHS[name]
    repeat(path, 1000)  # what is kept once: code, tables, spare nodes
    trace.flush()
    growth = []
    for _ in range(3):
        before = state()
        repeat(path, TIMES)
        trace.flush()
        growth.append(tuple(b - a for a, b in zip(before, state(), strict=True)))
    blocks, memory, pending = (min(column) for column in zip(*growth, strict=True))
    assert blocks < TIMES // 20, growth
    assert memory < TIMES * 4 and pending <= 0, growth


def test_chains_of_a_million_die() -> None:
    x = fw.asarray(np.ones(4))
    repeat(lambda: chain(x), 2)
    before = resident_memory()
    repeat(lambda: chain(x), 2)
    assert resident_memory() - before < 1 << 26
    assert len(trace.pending) <= trace.HARD_LIMIT + 1


def chain(x: Any) -> None:
    """Pending work is bounded, and a million values in a row need no stack to die."""
    nodes = x._node
    for _ in range(1_000_000):
        nodes = type(nodes)(2, "negative", (nodes,), nodes.dtype, nodes.shape)
    del nodes
