"""What the core does without asking Python: values without elements, lists of numbers beside small
arrays, kernels whose rows are computed a stretch at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native
from fusewright.base import hooks
from fusewright.targets.cpu import native as programs

needs_core = pytest.mark.skipif(native is None, reason="it is the core's")
BASE = np.linspace(0.0, 1.0, 5000)
NONE: Any = np.arange(0)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many values each request that Python got was for."""
    float((fw.asarray(BASE) + 1.0).sum())  # the driver is loaded
    before, is_driver = hooks.evaluate, hooks.is_driver
    found: list[int] = []

    def evaluate(nodes: Any) -> None:
        found.append(len(nodes))
        before(nodes)

    hooks.set_evaluate(evaluate, is_driver)
    yield found
    hooks.set_evaluate(before, is_driver)


def into_nothing(np: Any, x: Any) -> Any:
    x[NONE] -= x[NONE] // 7
    x[5:5] += np.sin(x[6:6])
    return x


EMPTY: dict[str, Callable[[Any, Any], Any]] = {
    "written": into_nothing,
    "listed": lambda np, x: (x[5:5] > 3).tolist(),
    "smallest": lambda np, x: np.minimum(x[5:5], 1.0) * 2.0,
    "joined": lambda np, x: np.concatenate((x[5:5] * 2.0, x)),
}


@needs_core
@pytest.mark.parametrize("name", EMPTY)
def test_values_without_elements_are_known(name: str, asked: list[int]) -> None:
    ours, theirs = EMPTY[name](fnp, fw.asarray(BASE)), EMPTY[name](np, BASE.copy())
    assert np.array_equal(np.asarray(ours), theirs)
    assert len(asked) <= 1  # what has elements


@needs_core
@pytest.mark.parametrize(
    "operation",
    [
        lambda part: part - [1.0, 2.0, 3.0],
        lambda part: [1, 2, 3] * part,
        lambda part: part < (0.5, 0, 1),
        lambda part: part - [np.float64(2.0), 1, np.int64(3)],
        lambda part: part * [[1.0], [2.0]],
        lambda part: np.minimum(part, [0.1, 0.2, 0.3]),
    ],
)
def test_a_list_of_numbers_is_a_small_array_of_numpys(operation: Callable[[Any], Any]) -> None:
    with fw.options(small=512):
        ours, theirs = operation(fw.asarray(BASE)[3:6]), operation(BASE[3:6])
    assert type(ours) is np.ndarray
    assert ours.dtype == theirs.dtype
    assert np.array_equal(ours, theirs)


@needs_core
def test_a_list_is_added_where_the_part_is() -> None:
    ours, theirs = fw.asarray(BASE), BASE.copy()
    for array in (ours, theirs):
        array[3:6] += [1, 2.0, 3]
    assert np.array_equal(np.asarray(ours), theirs)


def test_lists_that_hold_more_than_numbers_stay_what_they_are() -> None:
    part = fw.asarray(BASE)[3:5]
    with pytest.raises(TypeError):
        part - ["a", "b"]
    with pytest.raises(ValueError):
        part - [1.0, 2.0, 3.0]
    assert (part == [None, BASE[4]]).tolist() == [False, True]
    assert np.array_equal(np.asarray(part - [part[0], 1.0]), BASE[3:5] - [BASE[3], 1.0])


def thrice(u: Any) -> Any:
    for _ in range(3):
        u = u[1:-1, 1:-1] * 0.25 + u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
    return u


@needs_core
@pytest.mark.parametrize("shape", [(300, 4000), (40, 9000), (300, 700), (7, 7)])
def test_rows_in_stretches_are_the_cores(
    shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: list[tuple[bool, bool]] = []

    def form(runner: Any, real: Callable[[Any], Any] = programs.form) -> Any:
        found = real(runner)
        made.extend((step.kernel.tiled, found is not None) for step in runner.steps)
        return found

    monkeypatch.setattr(programs, "form", form)
    u = np.random.default_rng(1).random(shape)
    fw.cache_clear()
    options = {"interpret": False, "background": False, "cache_dir": str(tmp_path)}
    with fw.options(small=0, **options):
        for _ in range(3):
            assert np.array_equal(np.asarray(thrice(fw.asarray(u) * 1.0)), thrice(u))
    assert made == [] or set(made) == {(True, True)}
    assert made or shape != (300, 4000)
