"""Small updates that follow one another run in one launch, and large ones do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.plan.serial import MOST_PHASES
from fusewright.runtime import profile


def line(u: Any, steps: int) -> Any:
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[0] = u[1]
        u[-1] = u[-2]
    return u


def plate(u: Any, steps: int) -> Any:
    for _ in range(steps):
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] - 2 * u[1:-1, 1:-1])
        u[0, :] = u[1, :]
        u[-1, :] = u[-2, :] * 0.5
        u[:, 0] = u[:, 1]
        u[:, -1] = u[0, :1] + 1.0
    return u


def points(u: Any, steps: int) -> Any:
    """Overlapping, strided, and of varying place."""
    for step in range(steps):
        u[3] = u[4] * 0.5
        u[100:110] = u[40:50] + u[3]
        u[::7] = u[1::7][: len(u[::7])] if len(u[1::7]) >= len(u[::7]) else 0.25
        u[2:9] += u[4:11]
        u[step % 5 + 20] = float(step)
    return u


def summed(u: Any, steps: int) -> Any:
    """A reduction between patches runs alone."""
    for _ in range(steps):
        u[0] = u[1] * 0.5
        u[-1] = u.sum() * 0.001
        u[1:3] = u[2:4]
    return u


Program = Callable[[Any, int], Any]


def run(program: Program, values: Any, steps: int) -> tuple[Any, list[int]]:
    """The result, and the kernels of each flush."""
    with profile.listen() as record:
        result = fw.evaluate(program(fw.asarray(values), steps))
    return np.asarray(result), [len(flush.steps) for flush in record.flushes]


SMALL = [(line, (2000,)), (plate, (50, 50)), (points, (2000,)), (summed, (300,))]


def spelled(case: Any) -> str:
    """A name that is the same in every process."""
    return str(getattr(case, "__name__", case))


@pytest.mark.parametrize(("program", "shape"), SMALL, ids=spelled)
@pytest.mark.parametrize("steps", [4, 60])
def test_bits_are_those_of_numpy(program: Program, shape: Any, steps: int) -> None:
    values = np.random.default_rng(4).random(shape)
    got, _ = run(program, values, steps)
    with fw.options(fuse=False):
        unfused, _ = run(program, values, steps)
    np.testing.assert_array_equal(got, unfused)
    if program is not summed:
        np.testing.assert_array_equal(got, program(values.copy(), steps))


@pytest.mark.parametrize(("program", "shape"), SMALL[:3], ids=spelled)
def test_small_updates_are_one_launch(program: Program, shape: Any) -> None:
    _, counts = run(program, np.random.default_rng(4).random(shape), 60)
    assert len(counts) > 2
    assert max(counts[1:-1]) <= 2
    assert counts[0] <= 3


def test_large_updates_keep_launches_that_may_run_in_parallel() -> None:
    """Those of one iteration, each by itself, or iterations as one launch that threads share."""
    values = np.random.default_rng(4).random(200_000)
    with fw.options(threads=2), profile.listen() as record:
        result = fw.evaluate(line(fw.asarray(values), 60))
    for flush in record.flushes[:-1]:
        assert len(flush.steps) >= 3 or [kernel.threads for kernel in flush.steps] == [2]
    np.testing.assert_array_equal(np.asarray(result), line(values.copy(), 60))


def test_size_classes_share_the_recording_not_the_code() -> None:
    """The small form is compiled apart: the large one keeps its threads."""
    values = np.random.default_rng(4).random(2000)
    _, small = run(line, values, 30)
    _, large = run(line, np.tile(values, 100), 30)
    _, again = run(line, values, 30)
    assert small == again
    assert sum(large) > sum(small)


def test_a_launch_has_a_bounded_number_of_phases() -> None:
    def patches(u: Any, count: int) -> Any:
        for k in range(count):
            u[k : k + 2] = u[k + 4 : k + 6] * 0.5
        return u

    values = np.random.default_rng(4).random(400)
    got, counts = run(patches, values, 3 * MOST_PHASES)
    np.testing.assert_array_equal(got, patches(values.copy(), 3 * MOST_PHASES))
    assert sum(counts) >= 3


def test_a_view_taken_before_a_patch_keeps_its_old_value() -> None:
    u = fw.asarray(np.arange(50.0))
    fnp.exp(u)
    for k in range(6):
        old = u[:5] * 1.0
        u[k] = u[k + 1]
        u[k + 10] = 7.0
    want = np.arange(50.0)
    for k in range(6):
        kept = want[:5] * 1.0
        want[k] = want[k + 1]
        want[k + 10] = 7.0
    np.testing.assert_array_equal(np.asarray(old), kept)
    np.testing.assert_array_equal(np.asarray(u), want)


BORDERS: dict[str, Callable[[Any], None]] = {
    "another row": lambda u: u.__setitem__((0, slice(None)), u[1, :]),
    "turned round": lambda u: u.__setitem__((slice(None), 3), u[::-1, 4]),
    "computed": lambda u: u.__setitem__((0, slice(None)), 0.5 * u[1, :]),
    "in place": lambda u: u[5, :].__isub__(u[6, :] * 0.5),
    "a number": lambda u: u.__setitem__((slice(None), -1), 2.0),
}


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("interpret", [True, False])
def test_the_border_of_a_large_array_is_written_in_place(interpret: bool, border: str) -> None:
    values = np.random.default_rng(4).random((300, 300))
    ours, plain = fw.evaluate(fw.asarray(values) * 1.0), values * 1.0
    BORDERS[border](ours)
    BORDERS[border](plain)
    places = set()
    with fw.options(interpret=interpret):
        for _ in range(20):
            BORDERS[border](ours)
            BORDERS[border](plain)
            places.add(fw.evaluate(ours)._node.value[0].address)
    assert len(places) == 1, "the array was copied to be written in"
    np.testing.assert_array_equal(np.asarray(ours), plain)
