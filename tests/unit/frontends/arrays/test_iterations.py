"""Where loops begin anew, found from frames alone, and flushes of whole iterations."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import fusewright.frontends.arrays as fa
import fusewright.numpy as fnp
from fusewright.base import hooks
from fusewright.frontends.arrays import iterations, trace
from fusewright.frontends.arrays.bytecode import loops_of
from fusewright.frontends.arrays.iterations import Loop, frames, wrapped
from fusewright.ir.graph import Node


def nested(note: Callable[[], None]) -> None:
    for _ in range(2):
        for _ in range(3):
            note()
            note()
        note()


def calling(note: Callable[[], None]) -> None:
    def helper() -> None:
        note()
        note()

    for _ in range(2):
        helper()
        helper()


def boundaries(program: Callable[[Callable[[], None]], None]) -> list[Loop | None]:
    """What is found between each two records of a program."""
    places: list[Any] = []

    def note() -> None:
        places.append(frames(sys._getframe(1)))

    program(note)
    return [wrapped(a, b) for a, b in itertools.pairwise(places)]


def test_nested_loops_are_told_apart() -> None:
    found = boundaries(nested)
    outer, inner = (Loop(loop.depth, loop.code, *loops_of(nested.__code__)[k])
                    for k, loop in enumerate([found[1]] * 2) if loop is not None)  # fmt: skip
    once = [None, inner, None, inner, None, None]
    assert found == [*once, outer, *once]
    assert outer.holds(inner)
    assert not inner.holds(outer)


def test_a_call_twice_in_an_iteration_is_no_boundary() -> None:
    found = boundaries(calling)
    assert [loop is not None for loop in found] == [False] * 3 + [True] + [False] * 3
    assert found[3] is not None
    assert found[3].code is calling.__code__


@pytest.fixture
def flushed() -> Iterator[list[int]]:
    """The iteration in which each flush happened."""
    seen: list[int] = []
    inner, is_driver = hooks.evaluate, hooks.is_driver

    def evaluate(nodes: Sequence[Node]) -> None:
        frame = sys._getframe(1)
        while frame.f_back is not None and "step" not in frame.f_locals:
            frame = frame.f_back
        seen.append(frame.f_locals.get("step", -1))
        inner(nodes)

    trace.flush()
    trace.pending.clear()
    trace.forget_loop()
    hooks.set_evaluate(evaluate)
    yield seen
    hooks.set_evaluate(inner, is_driver)
    trace.forget_loop()


def plain(count: int) -> Any:
    x, y = fa.asarray(np.ones(3)), fa.asarray(np.full(3, 2.0))
    for step in range(count):  # noqa: B007 - the fixture reads it
        x = x * 0.5 + y
        y = y - x * 0.001
    return x, y


def in_stages(count: int) -> Any:
    x = y = fa.asarray(np.ones(3))
    for step in range(count):  # noqa: B007
        for weight in (0.5, 0.25, 0.125, 0.0625):
            x = x + y * weight
        y = y * 0.5
        y = y - x * 0.001
    return x, y


def sometimes_more(count: int) -> Any:
    x = y = fa.asarray(np.ones(3))
    for step in range(count):
        x = x * 0.5 + y
        if step % 7 == 0:
            y = y - x * 0.001
    return x, y


def by_calls(count: int) -> Any:
    def half(a: Any, b: Any) -> Any:
        return a * 0.5 + b

    x = y = fa.asarray(np.ones(3))
    for step in range(count):  # noqa: B007
        x = half(x, y)
        y = half(y, x)
    return x, y


def in_lists(count: int, size: int) -> Any:
    """Lists of arrays, as a lattice Boltzmann program has them: short loops in each time step."""
    parts = [fa.asarray(np.full(size, 1.0 + part)) for part in range(16)]
    for step in range(count):  # noqa: B007
        mean = parts[0]
        for part in parts[1:]:
            mean = mean + part
        wanted = [mean * (0.01 * each) + mean * mean * 1e-6 - mean * 0.002 for each in range(16)]
        parts = [
            part * 0.5 + target - part * 0.01 for part, target in zip(parts, wanted, strict=True)
        ]
        for each, part in enumerate(parts):
            part[0] = each
    return parts


@pytest.mark.parametrize("size", [3, 20_000])
def test_a_time_step_of_short_loops_is_computed_at_once(size: int, flushed: list[int]) -> None:
    """Each of the loops inside comes round more often than the step, and makes less work."""
    in_lists(60, size)
    gaps = [b - a for a, b in itertools.pairwise(flushed)]
    assert set(gaps[-40:]) == {1}, gaps


@pytest.mark.parametrize("program", [plain, in_stages, by_calls])
def test_every_flush_has_the_same_number_of_iterations(program: Any, flushed: list[int]) -> None:
    program(600)
    gaps = {b - a for a, b in itertools.pairwise(flushed[2:])}
    assert len(flushed) > 5
    assert len(gaps) == 1
    first = list(flushed)
    flushed.clear()
    trace.forget_loop()
    program(600)
    assert flushed == first


def test_iterations_of_different_length_are_flushed_at_their_boundary(flushed: list[int]) -> None:
    x, y = sometimes_more(600)
    assert len(flushed) > 5
    assert max(b - a for a, b in itertools.pairwise(flushed)) < 4 * iterations.WORK
    want = [np.ones(3), np.ones(3)]
    for step in range(600):
        want[0] = want[0] * 0.5 + want[1]
        if step % 7 == 0:
            want[1] = want[1] - want[0] * 0.001
    np.testing.assert_array_equal(np.asarray(x), want[0])
    np.testing.assert_array_equal(np.asarray(y), want[1])


def test_what_is_set_anew_is_not_computed(flushed: list[int]) -> None:
    """`t` and `unused` are held at every boundary, but no later iteration looks at them."""
    x = fa.asarray(np.ones(3))
    asked: list[int] = []
    inner = hooks.evaluate

    def evaluate(nodes: Sequence[Node]) -> None:
        asked.append(len(nodes))
        inner(nodes)

    hooks.set_evaluate(evaluate)
    for step in range(400):  # noqa: B007
        t = x * 0.25
        unused = x - 1.0
        x = x * 0.5 + t
    assert len(asked) > 3
    assert set(asked) == {1}
    assert unused.tolist() != t.tolist()


def test_what_is_collected_is_computed(flushed: list[int]) -> None:
    x = fa.asarray(np.ones(3))
    kept = []
    for step in range(400):
        x = x * 0.5 + 1.0
        kept.append(x.sum() + float(step))
    assert len(flushed) > 3
    pending = sum(value._node.kind != trace.LEAF for value in kept)
    assert pending < 2 * iterations.WORK


def in_regions(np_: Any, count: int, seen: list[int]) -> Any:
    """Fields written in place, with values between them that each iteration sets anew."""
    n = 400
    speed, level = np_.zeros((n, n + 1)), np_.ones((n, n))
    level[n // 2] = 2.0
    highest = np_.abs(level)
    for step in range(count):
        speed[:, 1:-1] -= 0.1 * (level[:, 1:] - level[:, :-1])
        flow = speed * 0.5
        level -= 0.1 * (flow[:, 1:] - flow[:, :-1])
        level *= 0.99
        height = np_.abs(level)
        highest = np_.maximum(highest, np_.where(height > 1.0, step * 0.25, 0.5))
        seen.append(len(trace.pending))
    return speed, flow, level, highest


def test_values_between_what_is_carried_stay_pending(flushed: list[int]) -> None:
    """`flow` and `height` are computed on the way to `level`: that is no reason to store them."""
    wanted: list[list[str]] = []
    inner = hooks.evaluate

    def evaluate(nodes: Sequence[Node]) -> None:
        wanted.append(sorted(f"{node.op}{node.kind}" for node in nodes))
        inner(nodes)

    hooks.set_evaluate(evaluate)
    got = in_regions(fnp, 40, [])
    flushes = [nodes for nodes in wanted if nodes]
    for ours, theirs in zip(got, in_regions(np, 40, []), strict=True):
        np.testing.assert_array_equal(np.asarray(ours), theirs)
    assert len(flushes) > 5
    assert {tuple(nodes) for nodes in flushes[1:12]} == {("6", "maximum2", "multiply2")}


def test_a_loop_over_large_arrays_is_found_early() -> None:
    trace.flush()
    trace.forget_loop()
    lengths: list[int] = []
    in_regions(fnp, 30, lengths)
    assert max(lengths) <= trace.EARLY + 3 * 20
    assert max(lengths[10:]) <= 2 * 18


HALTED: dict[str, Callable[[Any], Any]] = {
    "mean": lambda x: x - x.mean() * 0.1,
    "count": lambda x: x + fnp.sum(x > 0) * 1e-9,
    "norm": lambda x: x / fnp.sqrt(fnp.sum(x * x)) * 100.0,
    "scan": lambda x: fnp.cumsum(x) * 1e-3 + x,
}
"""Iterations in which something waits until all of an array is there."""


@pytest.mark.parametrize("step", HALTED, ids=HALTED)
def test_iterations_that_wait_for_a_whole_array_are_computed_one_by_one(step: str) -> None:
    trace.flush()
    trace.forget_loop()
    next_of = HALTED[step]
    x, lengths = fnp.asarray(np.linspace(-1.0, 1.0, 100_000)), []
    for _ in range(60):
        x = next_of(x)
        lengths.append(len(trace.pending))
    trace.forget_loop()
    assert max(lengths) <= trace.EARLY + 3 * 12
    assert max(lengths[20:]) <= 2 * 12


def test_the_core_sees_the_frames_that_python_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = sys._getframe()
    by_the_core = frames(frame)[:-1]  # this frame goes on
    monkeypatch.setattr(iterations, "native", None)
    assert frames(frame)[:-1] == by_the_core != []
