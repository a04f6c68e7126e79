"""Planning and writing code take time in proportion to the operations of a flush."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.costs.growing import grows_linearly

import fusewright as fw
import fusewright.numpy as fnp
from fusewright import driver
from fusewright.base.options import current
from fusewright.frontends.arrays import trace
from fusewright.plan.fuse import MOST_MEMBERS, MOST_NESTS
from fusewright.plan.plan import Kernel
from fusewright.targets.cpu import compiler

LENGTH = 1000
ROW = 40_000
SIDE = 200


def _row() -> Any:
    return fw.asarray(np.linspace(0.1, 1.0, ROW))


def _square() -> Any:
    return fw.asarray(np.linspace(0.1, 1.0, SIDE * SIDE).reshape(SIDE, SIDE))


def independent(n: int) -> list[Any]:
    x = _row()
    return [x * float(i) for i in range(n)]


def of_many_arrays(n: int) -> list[Any]:
    return [_row()[:1000] * float(i) for i in range(n)]


def of_many_sizes(n: int) -> list[Any]:
    x = _row()
    return [x[: 1000 + i] * float(i) for i in range(n)]


def held_steps(n: int) -> list[Any]:
    x, held = _row(), []
    for _ in range(n):
        x = x * 0.5
        held.append(x)
    return held


def chain(n: int) -> list[Any]:
    x, y = _row(), _row()
    for i in range(n):
        x, y = (y, x * y) if (i * i + i // 7) % 3 else (y + x, x)
    return [x, y]


def totals(n: int) -> list[Any]:
    x = _row()
    return [(x * float(i)).sum() for i in range(n // 2)]


def softmax(n: int) -> list[Any]:
    x = _square()
    for _ in range(n // 6):
        e = fnp.exp(x - x.max(axis=1, keepdims=True))
        x = e / e.sum(axis=1, keepdims=True)
    return [x]


def stencil(n: int) -> list[Any]:
    u = _square()
    for _ in range(n // 6):
        v = u.copy()
        v[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
        u = v
    return [u]


def rolled(n: int) -> list[Any]:
    u = _square()
    for _ in range(n // 8):
        around = fnp.roll(u, 1, 0) + fnp.roll(u, -1, 0) + fnp.roll(u, 1, 1) + fnp.roll(u, -1, 1)
        u = u + 0.1 * (around - 4 * u)
    return [u]


def rolled_again(n: int) -> list[Any]:
    u = _square()
    for i in range(n):
        u = fnp.roll(u, 1 + i % 2, i % 2)
    return [u]


def masked(n: int) -> list[Any]:
    u = _square()
    mask = u > 0.5
    for _ in range(n // 8):
        u = u + 0.1 * (fnp.roll(u, 1, 0) - u)
        u[mask] = 0.0
        u[0, :] = 0.0
        u[:, -1] = 1.0
    return [u]


def joined(n: int) -> list[Any]:
    u = _row()
    for _ in range(n // 2):
        u = fnp.concatenate((u[1:], u[:1]))
    return [u]


def grown(n: int) -> list[Any]:
    u = _row()
    for i in range(n):
        u = fnp.append(u, float(i))
    return [u]


def grown_rows(n: int) -> list[Any]:
    u = _square()
    for _ in range(n // 2):
        u = fnp.vstack((u, u[:1]))
    return [u]


def padded(n: int) -> list[Any]:
    u = _square()
    for _ in range(n // 6):
        p = fnp.pad(u, 1, mode="edge")
        u = 0.25 * (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2])
    return [u]


def written(n: int) -> list[Any]:
    u = _row()
    for i in range(n):
        u[i * 7 : i * 7 + 5] = float(i)
    return [u]


def stacked(n: int) -> list[Any]:
    u = _row()
    return [fnp.stack([u[:100] * float(i) for i in range(n)])]


def summed(n: int) -> list[Any]:
    rows = [fw.asarray(np.full(6000, float(i)))[:3000] for i in range(n // 2)]
    return [sum(rows[1:], rows[0])]


def shorter(n: int) -> list[Any]:
    u = _row()
    for _ in range(n // 2):
        u = u[1:] + u[:-1]
    return [u]


PROGRAMS = [
    independent, of_many_arrays, of_many_sizes, held_steps, chain, totals, softmax, stencil, rolled,
    rolled_again, masked, joined, grown, grown_rows, padded, written, stacked, summed, shorter,
]  # fmt: skip


def _built(program: Callable[[int], list[Any]], n: int) -> tuple[list[Any], Any]:
    """The nodes of one flush and its compiled form; nothing runs."""
    options = current()._replace(interpret=False, background=False)
    trace.hold(1)
    try:
        results = program(n)
        nodes = [result._node for result in results]
        order, runner = driver.prepare(nodes, options)
    finally:
        trace.hold(-1)
        trace.pending.clear()
    return order, runner


@pytest.fixture(autouse=True)
def _uncached(tmp_path: Any) -> Any:
    with fw.options(cache_dir=str(tmp_path), background=False):
        yield


@pytest.mark.parametrize("program", PROGRAMS)
def test_time_is_linear(program: Callable[[int], list[Any]]) -> None:
    def compiled(n: int) -> None:
        fw.cache_clear()
        compiler.forget()
        _built(program, n)

    assert grows_linearly(compiled, LENGTH)


@pytest.mark.parametrize("program", PROGRAMS)
def test_kernels_stay_small(program: Callable[[int], list[Any]]) -> None:
    _, runner = _built(program, 300)
    for kernel in runner.plan.steps:
        if isinstance(kernel, Kernel):
            assert len(kernel.members) <= MOST_MEMBERS
            assert sum(len(m.stage.nests) for m in kernel.members) <= MOST_NESTS


@pytest.mark.parametrize("program", [independent, chain, rolled, masked, grown])
def test_four_thousand_operations(program: Callable[[int], list[Any]]) -> None:
    order, _ = _built(program, 4000)
    assert len(order) >= 4000


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_are_those_of_small_flushes(program: Callable[[int], list[Any]]) -> None:
    length = 96
    trace.hold(1)
    try:
        together = program(length)
    finally:
        trace.hold(-1)
    fw.evaluate(*together)
    with fw.options(fuse=False):
        apart = program(length)
        fw.evaluate(*apart)
    for one, other in zip(together, apart, strict=True):
        assert np.asarray(one).tobytes() == np.asarray(other).tobytes()
