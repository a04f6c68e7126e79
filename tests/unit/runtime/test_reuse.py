"""Updates in place: never where an element may be read after it was overwritten."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright import driver
from fusewright.ir import graph
from fusewright.runtime import trace
from fusewright.runtime.reuse import CHAIN

LENGTH = 1000

Update = Callable[[Any, Any, Any], Any]
"""NumPy or ours, the array, pending values; what becomes of its first half."""

SAME_PLACE: dict[str, Update] = {
    "map": lambda m, x, p: x * p + x,
    "where": lambda m, x, p: m.where(x > 3, x, p),
    "nothing": lambda m, x, p: p * 2,
}
MOVED: dict[str, Update] = {
    "flip": lambda m, x, p: x[::-1] + p,
    "flip of a sum": lambda m, x, p: (x + p)[::-1],
    "roll": lambda m, x, p: m.roll(x + p, 3),
    "gather": lambda m, x, p: (x + p)[m.asarray(np.arange(LENGTH // 2)[::-1].copy())],
    "pieces": lambda m, x, p: m.concatenate([(x + p)[250:], (x + p)[:250]]),
    "broadcast": lambda m, x, p: x[0:1] + p,
    "transposed": lambda m, x, p: ((x + p).reshape(20, 25).T * 1.0).reshape(LENGTH // 2),
    "reversed sum": lambda m, x, p: m.cumsum(x[::-1] * p)[::-1],
}


def updated(m: Any, value: Update) -> Any:
    x, p = m.asarray(np.arange(float(LENGTH))) * 1.0, m.asarray(np.linspace(1, 2, LENGTH // 2))
    if m is fnp:
        fw.evaluate(x)
    x[: LENGTH // 2] = value(m, x[: LENGTH // 2], p * 3.0)
    return x


@pytest.mark.parametrize("value", (SAME_PLACE | MOVED).values(), ids=SAME_PLACE | MOVED)
def test_values_are_those_of_numpy(value: Update) -> None:
    np.testing.assert_allclose(np.asarray(updated(fnp, value)), updated(np, value), rtol=1e-15)


@pytest.mark.parametrize("value", SAME_PLACE.values(), ids=SAME_PLACE)
def test_what_reads_its_own_place_works_in_place(value: Update) -> None:
    assert len(trace.take([updated(fnp, value)._node]).reusable) == 1


@pytest.mark.parametrize("value", MOVED.values(), ids=MOVED)
def test_what_reads_another_place_is_stored_before(value: Update) -> None:
    slice_ = trace.take([updated(fnp, value)._node])
    (version,) = slice_.reusable
    assert slice_.staged == {slice_.slots[version.args[1]]}


def test_what_is_most_of_an_array_is_a_new_one() -> None:
    x = fnp.asarray(np.arange(float(LENGTH))) * 1.0
    fw.evaluate(x)
    x[1:] = x[:-1] * 2.0
    assert not trace.take([x._node]).reusable
    np.testing.assert_array_equal(np.asarray(x)[:4], [0, 0, 2, 4])


def test_versions_of_pending_values_follow_one_another_in_place() -> None:
    x = fnp.zeros((28, 100))  # few enough that no flush comes between
    for row in range(1, 28):
        x[row] = fnp.arange(100) * 0.5 + x[row - 1]
    slice_ = trace.take([x._node])
    versions = [node for node in slice_.order if node.kind == graph.ASSEMBLE]
    assert len(versions) == 27 and len(slice_.reusable) == len(versions) - CHAIN
    assert len(slice_.outputs) == 1
    np.testing.assert_array_equal(np.asarray(x)[3], np.arange(100) * 1.5)


READERS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "map": lambda m, old, x: old * x[30:40],
    "sum": lambda m, old, x: (old * x[10:20]).sum(),
    "total": lambda m, old, x: old * x.sum(),
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize("first", [True, False])
def test_code_knows_which_leaves_share_memory(reader: Any, first: bool, tmp_path: Path) -> None:
    """Two programs that differ in nothing else: in one the other array is the array itself."""

    def program(m: Any, shared: bool) -> Any:
        x, y, z = (m.asarray(np.arange(100.0)) * 1.0 for _ in range(3))
        if m is fnp:
            fw.evaluate(x, y, z)
            assert x._node.kind == graph.LEAF
        old = (x if shared else y)[10:20] + 1
        x[12:14] = z[50:52] * 700
        return reader(m, old, x)

    driver.cache_clear()
    with fw.options(cache_dir=str(tmp_path)):
        for shared in (first, not first):
            want = program(np, shared)
            np.testing.assert_allclose(np.asarray(program(fnp, shared)), want, rtol=1e-12)


HELD: dict[str, Callable[[Any], Any]] = {
    "of a view": lambda x: x[: LENGTH // 2] + 1.0,
    "of all": lambda x: (x + 1.0)[: LENGTH // 2],
    "a copy": lambda x: x[: LENGTH // 2].copy(),
    "a reduction": lambda x: x[: LENGTH // 2] * 0 + x.sum(),
    "of one element": lambda x: x[0] + x[: LENGTH // 2],
    "two steps": lambda x: (x[: LENGTH // 2] + 1.0) * 2.0,
}


@pytest.mark.parametrize("length", [LENGTH, 100 * LENGTH])
@pytest.mark.parametrize("value", HELD.values(), ids=HELD)
def test_what_was_computed_from_the_old_version_keeps_its_value(
    value: Callable[[Any], Any], length: int
) -> None:
    def program(m: Any) -> tuple[Any, ...]:
        x = m.asarray(np.arange(float(length))) * 1.0
        if m is fnp:
            fw.evaluate(x)
        y = value(x)
        z = y - 3.0
        x[: LENGTH // 2] = z * 2.0
        x[: LENGTH // 4] = x[LENGTH // 4 : LENGTH // 2] + y[: LENGTH // 4]
        if m is fnp:
            fw.evaluate(x)
        return x, y, z

    for mine, theirs in zip(program(fnp), program(np), strict=True):
        np.testing.assert_allclose(np.asarray(mine), theirs, rtol=1e-15)


SOURCES: dict[str, Callable[[Any, Any], Any]] = {
    "reshaped": lambda m, x: (x + 0.5).reshape(-1, 10).reshape(-1),
    "sorted": lambda m, x: m.sort(x),
    "a scan": lambda m, x: m.cumsum(x),
    "mapped": lambda m, x: x * 2.0,
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_region_with_gaps_of_a_pending_value(source: Callable[[Any, Any], Any]) -> None:
    def program(m: Any) -> tuple[Any, ...]:
        x = m.asarray(np.arange(100.0 * LENGTH)) * 1.0
        if m is fnp:
            fw.evaluate(x)
        y = source(m, x)
        seen = y + 1.0
        y[::2] = seen[::2] * 3.0
        if m is fnp:
            fw.evaluate(y)
        return x, y, seen

    for mine, theirs in zip(program(fnp), program(np), strict=True):
        np.testing.assert_allclose(np.asarray(mine), theirs, rtol=1e-12)
