"""Shortcuts: the same values as the general way, and only where a slice is what it was learned
from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright import driver
from fusewright.base import hooks
from fusewright.ir import graph
from fusewright.runtime import trace
from fusewright.targets.cpu import shortcut


@pytest.fixture(autouse=True)
def _driver() -> Iterator[None]:
    before = hooks.evaluate
    hooks.set_evaluate(driver.evaluate)
    driver.cache_clear()
    yield
    driver.cache_clear()
    hooks.set_evaluate(before)


def inputs(count: int, dtype: Any = float) -> list[Any]:
    return [fw.asarray((np.arange(count) + 2 * n + 1).astype(dtype)) for n in range(3)]


def learned(record: Callable[[], Any]) -> int:
    """Evaluate until a shortcut is there; how many there are."""
    for _ in range(shortcut.AFTER):
        fw.evaluate(record())
    return sum(map(len, shortcut.shortcuts.values()))


def walks(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Fills with every slice that is taken the general way."""
    taken: list[Any] = []

    def take(requested: Any) -> Any:
        taken.append(requested)
        return trace.take(requested)

    monkeypatch.setattr(driver, "take", take)
    return taken


def program(np_: Any, a: Any, b: Any, s: Any) -> Any:
    return np_.sqrt(a * a + b * s) - np_.where(a > 2, a, b)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int16"])
@pytest.mark.parametrize("shape", [(1,), (7,), (3, 4), (0,)])
def test_same_values_for_any_shape_and_scalar(dtype: str, shape: tuple[int, ...]) -> None:
    a, b = (np.arange(12).reshape(3, 4).astype(dtype) + n for n in range(2))
    a, b = (np.resize(v, shape) for v in (a, b))
    ours = [fw.asarray(v) for v in (a, b)]
    with fw.options(fuse=True):
        for number in range(3 * shortcut.AFTER):
            value = ours[0] * ours[1] + number - ours[0]
            want = a * b + np.array(number).astype(dtype) - a
            np.testing.assert_array_equal(np.asarray(fw.evaluate(value)), want)


def test_a_learned_slice_takes_no_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, _ = inputs(5)
    assert learned(lambda: program(fnp, a, b, 2.0)) == 1
    taken = walks(monkeypatch)
    other, another, _ = inputs(9)
    result = fw.evaluate(program(fnp, other, another, 3.0))
    want = program(np, np.asarray(other), np.asarray(another), 3.0)
    np.testing.assert_array_equal(np.asarray(result), want)
    assert not taken


@pytest.mark.parametrize(
    "odd",
    [
        lambda a, b, c: program(fnp, a[::-1], b, 2.0),
        lambda a, b, c: program(fnp, a, b.astype(np.float32), 2.0),
        lambda a, b, c: program(fnp, a, b + c, 2.0),
        lambda a, b, c: fnp.sqrt(a * b + b * 2.0) - fnp.where(a > 2, a, b),
        lambda a, b, c: fnp.sqrt(a * a + b * 2.0) - fnp.where(a >= 2, a, b),
        lambda a, b, c: program(fnp, a[:1], b, 2.0),
    ],
)  # fmt: skip
def test_anything_else_goes_the_general_way(
    odd: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    arrays = inputs(5)
    assert learned(lambda: program(fnp, *arrays[:2], 2.0)) == 1
    taken = walks(monkeypatch)
    got = np.asarray(fw.evaluate(odd(*arrays)))
    assert taken
    with fw.options(target="reference"):
        np.testing.assert_array_equal(got, np.asarray(fw.evaluate(odd(*arrays))))


def test_large_arrays_are_left_to_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, _ = inputs(5)
    assert learned(lambda: program(fnp, a, b, 2.0)) == 1
    taken = walks(monkeypatch)
    large, other, _ = inputs(100_000)
    fw.evaluate(program(fnp, large, other, 2.0))
    assert taken


def test_what_is_held_is_computed_at_most_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, _ = inputs(5)
    learned(lambda: fnp.exp(a * b))
    taken = walks(monkeypatch)
    held = a * b
    fw.evaluate(fnp.exp(held))
    assert held._node.demands == 1 and held._node.kind == graph.MAP
    assert not taken
    fw.evaluate(fnp.exp(held))
    assert held._node.kind == graph.LEAF
    assert taken


def test_the_options_are_part_of_what_is_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b, _ = inputs(5)
    assert learned(lambda: a * b) == 1
    taken = walks(monkeypatch)
    with fw.options(fuse=False):
        fw.evaluate(a * b)
    assert len(taken) == 1
    fw.evaluate(a * b)
    assert len(taken) == 1


def test_reductions_and_several_results_have_none() -> None:
    a, b, _ = inputs(5)
    assert learned(lambda: (a * b).sum()) == 0
    for _ in range(shortcut.AFTER):
        fw.evaluate(a * b, a + b)
    assert not shortcut.shortcuts
