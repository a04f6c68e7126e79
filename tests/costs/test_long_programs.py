"""Long histories: a program of any length takes time in proportion to its steps, whatever the
steps are, and nothing in us recurses over a program.
"""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.costs.growing import grows_linearly

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.frontends.arrays import trace

SIZE = 600
"""Elements: more than NumPy keeps to itself."""
LENGTH = 3000
MANY = 100_000
DEEP = 3 * sys.getrecursionlimit()

Step = Callable[[Any, int], Any]

TABLE = np.arange(SIZE)[::-1].copy()
FUNCTIONS: list[Step] = [
    lambda x, i: fnp.sin(x), lambda x, i: fnp.sqrt(abs(x)), lambda x, i: x + 1.0,
    lambda x, i: x * 0.5, lambda x, i: fnp.maximum(x, 0.25),
]  # fmt: skip


def _written(change: Callable[[Any, int], None]) -> Step:
    def step(x: Any, i: int) -> Any:
        change(x, i)
        return x

    return step


def _masked(x: Any, i: int) -> None:
    x[x > 0.5] = 0.25


def _sliced(x: Any, i: int) -> None:
    x[i % 2 :] = i


def _element(x: Any, i: int) -> None:
    x[i % 2] = i


def _shifted(x: Any, i: int) -> None:
    x[1:] += x[:-1] * 0.1


STEPS: dict[str, Step] = {
    "elementwise": lambda x, i: x * 0.999 + 0.001,
    "another function": lambda x, i: FUNCTIONS[(i * i + i // 7) % 5](x, i),
    "views": lambda x, i: x[::-1],
    "views of what is pending": lambda x, i: x[::-1] + 1.0,
    "reshapes": lambda x, i: x.reshape((2, -1) if x.ndim == 1 else -1),
    "transposes": lambda x, i: x.reshape(2, -1).T.reshape(-1) * 0.5,
    "broadcasts": lambda x, i: fnp.broadcast_to(x, (2, x.size))[1],
    "casts": lambda x, i: x.astype("float32").astype("float64"),
    "reductions": lambda x, i: x - x.sum() * 1e-6,
    "reductions along an axis": lambda x, i: (x.reshape(2, -1) * 0.5).sum(axis=0).repeat(2),
    "scans": lambda x, i: fnp.cumsum(x) * 0.01,
    "library steps": lambda x, i: fnp.sort(x) + 0.5,
    "transforms": lambda x, i: fnp.fft.ifft(fnp.fft.fft(x)).real,
    "gathers": lambda x, i: x[TABLE],
    "where": lambda x, i: fnp.where(x > 0.5, x * 0.5, x + 0.1),
    "masked writes": _written(_masked),
    "written slices": _written(_sliced),
    "written elements": _written(_element),
    "shifted sums": _written(_shifted),
    "rolls": lambda x, i: 0.5 * (fnp.roll(x, 1) + fnp.roll(x, -1)),
    "concatenation": lambda x, i: fnp.concatenate((x[1:], x[:1])),
    "nested concatenation": lambda x, i: fnp.concatenate(
        (x[:1], fnp.concatenate((x[2:], x[:1])), x[1:2])
    ),
    "stacks": lambda x, i: fnp.stack((x, x * 0.5))[i % 2],
    "growth": lambda x, i: fnp.hstack((x, x[:1])),
    "appended": lambda x, i: fnp.append(x, float(i)),
    "inserted": lambda x, i: fnp.insert(x, 1, 2.0) if x.size < 2 * SIZE else x[:SIZE],
    "deleted": lambda x, i: fnp.delete(x, 1) if x.size > SIZE // 2 else fnp.tile(x, 2),
}
"""One step of a program, by its kind."""


def _start() -> Any:
    return fw.asarray(np.linspace(0.0, 1.0, SIZE))


def _program(step: Step, most: int = 4 * SIZE) -> Callable[[int], Any]:
    """Steps one after the other; an array that grows is cut from time to time, since NumPy's own
    time is quadratic there.
    """

    def run(length: int) -> Any:
        x = _start()
        for i in range(length):
            x = step(x, i)
            if x.size > most:
                x = x[:SIZE]
        return np.asarray(x)

    return run


@pytest.mark.parametrize("name", STEPS)
def test_time_is_linear(name: str) -> None:
    assert grows_linearly(_program(STEPS[name]), LENGTH)


@pytest.mark.parametrize("name", ["views", "reshapes", "elementwise", "written slices", "casts"])
def test_a_hundred_thousand_steps(name: str) -> None:
    _program(STEPS[name])(MANY)
    assert len(trace.pending) < MANY // 10


@pytest.mark.parametrize("name", ["growth", "appended"])
def test_a_history_that_grows(name: str) -> None:
    length = 10_000
    x = np.asarray(_program(STEPS[name], most=1 << 30)(length))
    expected = _history(name, length)
    assert np.array_equal(x, expected)


def _history(name: str, length: int) -> Any:
    start = np.linspace(0.0, 1.0, SIZE)
    tail = np.arange(length) * 1.0 if name == "appended" else np.full(length, start[0])
    return np.concatenate((start, tail))


@pytest.mark.parametrize("held", [False, True])
def test_steps_that_come_from_no_loop(held: bool) -> None:
    kept: list[Any] = []

    def descend(x: Any, depth: int) -> Any:
        if held:
            kept.append(x)
        return x if depth == 0 else descend(x * 0.5 + 1.0, depth - 1)

    before = sys.getrecursionlimit()
    sys.setrecursionlimit(before + DEEP)
    try:
        x = descend(_start(), DEEP)
    finally:
        sys.setrecursionlimit(before)
    assert np.allclose(np.asarray(x), 2.0)
    assert len(trace.pending) < DEEP


def test_written_out_programs() -> None:
    length = DEEP
    text = "\n".join(f"x = x * 0.5 + {i % 7}.0" for i in range(length))
    names = {"x": _start()}
    exec(compile(text, "<written out>", "exec"), names)
    assert np.all(np.isfinite(np.asarray(names["x"])))


def _pending(length: int) -> Any:
    """A chain of so many pending steps."""
    x = _start()
    for i in range(length):
        x = x[::-1] + float(i % 3)
    return x


USES: dict[str, Callable[[Any], object]] = {
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "repr": repr,
    "print": str,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "equality": lambda x: bool((x == x).all()),
    "iteration": list,
    "number": lambda x: float(x[0]),
    "array": np.asarray,
    "death": lambda x: None,
    "explained": lambda x: str(fw.explain(lambda: x + 1.0)),
}


@pytest.mark.parametrize("name", USES)
def test_nothing_recurses_over_what_is_pending(name: str) -> None:
    trace.hold(1)
    try:
        x = _pending(DEEP)
        USES[name](x)
        del x
    finally:
        trace.hold(-1)


def test_dead_chains_are_let_go() -> None:
    trace.hold(1)
    try:
        x = _pending(MANY)
        del x
        trace.pending.clear()
    finally:
        trace.hold(-1)


def test_recursion_of_the_program_is_its_own() -> None:
    def endless(x: Any) -> Any:
        return endless(x + 1.0)

    with pytest.raises(RecursionError):
        endless(_start())
