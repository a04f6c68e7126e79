"""What a function records is learnt once for each kind of call: later calls give the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native
from fusewright.frontends.arrays import recipes, trace

needs_core = pytest.mark.skipif(native is None, reason="recipes are the core's")

Call = Callable[[Any, Any, Any], Any]
CALLS: dict[str, Call] = {
    "roll": lambda np, a, b: np.roll(a, 3, axis=0),
    "roll both": lambda np, a, b: np.roll(a, (1, -2), axis=(0, 1)),
    "roll flat": lambda np, a, b: np.roll(a, 5),
    "concatenate": lambda np, a, b: np.concatenate((a, b)),
    "itself": lambda np, a, b: np.concatenate((a, a, b), axis=1),
    "hstack": lambda np, a, b: np.hstack([a, b]),
    "stack": lambda np, a, b: np.stack([a, b], axis=-1),
    "diff": lambda np, a, b: np.diff(a, n=2, axis=1),
    "gradient": lambda np, a, b: np.gradient(a),
    "gradient of one": lambda np, a, b: np.gradient(a, 0.1, axis=0),
    "pad": lambda np, a, b: np.pad(a, 1),
    "pad by edges": lambda np, a, b: np.pad(a, ((1, 0), (2, 1)), mode="edge"),
    "clip": lambda np, a, b: np.clip(a, 0.25, 0.75),
    "method clip": lambda np, a, b: a.clip(0.25, 0.75),
    "triu": lambda np, a, b: np.triu(a, k=1),
    "trapezoid": lambda np, a, b: np.trapezoid(a, dx=0.5, axis=0),
    "cross": lambda np, a, b: np.cross(a[:, :3], b[:, :3]),
    "nan_to_num": lambda np, a, b: np.nan_to_num(a, nan=1.5),
    "isclose": lambda np, a, b: np.isclose(a, b, rtol=0.5),
    "select": lambda np, a, b: np.select([a > 0.5, b > 0.2], [a, b], 0.0),
    "tile": lambda np, a, b: np.tile(a, (2, 1)),
    "flip": lambda np, a, b: np.flip(a, 0),
    "squeeze": lambda np, a, b: np.squeeze(a[None]),
    "split": lambda np, a, b: np.split(a, 2),
    "cumulative": lambda np, a, b: np.cumsum(a, axis=1),
    "max": lambda np, a, b: np.max(a, axis=0, keepdims=True),
    "where": lambda np, a, b: np.where(a > b, a, 1.0),
    "a view": lambda np, a, b: np.roll(a[1:-1, 2:], 1, axis=1),
    "turned": lambda np, a, b: np.concatenate((a.T, b.T)),
}  # fmt: skip


def operands(seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.random((12, 10)), rng.random((12, 10))


def parts(value: Any) -> Sequence[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


@pytest.mark.parametrize("name", CALLS)
def test_every_call_gives_what_numpy_gives(name: str) -> None:
    call = CALLS[name]
    with fw.options(small=0):
        for seed in range(6):  # the first two are told apart, the third is learnt
            a, b = operands(seed)
            ours = parts(call(fnp, fw.asarray(a) * 1.0, fw.asarray(b) + 0.0))
            theirs = parts(call(np, a, b))
            assert len(ours) == len(theirs)
            for mine, wanted in zip(ours, theirs, strict=True):
                assert mine.dtype == wanted.dtype
                assert np.allclose(np.asarray(mine), wanted, rtol=1e-14, atol=0.0)  # sums by ours


@needs_core
def test_a_learnt_call_runs_no_python(monkeypatch: pytest.MonkeyPatch) -> None:
    with fw.options(small=0):
        for seed in range(4):
            value = fnp.roll(fw.asarray(operands(seed)[0]) * 2.0, 1, axis=0)
        seen: list[Any] = []
        monkeypatch.setattr("fusewright.numpy.arranging.rolled", lambda *given: seen.append(given))
        value = fnp.roll(fw.asarray(operands(9)[0]) * 2.0, 1, axis=0)
        assert not seen
        assert np.array_equal(np.asarray(value), np.roll(operands(9)[0] * 2.0, 1, axis=0))


@needs_core
@pytest.mark.parametrize(
    "function",
    [
        lambda a: float(a.sum()) * a,  # looks at a value
        lambda a: a[1:],  # gives a view
        lambda a: a,  # gives the operand
        lambda a: a + fw.asarray(np.ones(5)),  # uses what is in memory
        lambda a: a.fill(0.0) or a + 1.0,  # writes to it
        lambda a: {"sum": a.sum()},
        lambda a: 1 / 0,
    ],
)
def test_what_is_no_matter_of_shapes_alone_is_not_learnt(function: Callable[..., Any]) -> None:
    with fw.options(small=0):
        value = fw.asarray(np.arange(5.0)) * 3.0
        before = len(trace.pending)
        assert recipes.learn(function, (value,), {}) is False
        assert len(trace.pending) <= before
        assert value.tolist() == [0.0, 3.0, 6.0, 9.0, 12.0]


@needs_core
def test_nothing_is_computed_from_what_was_learnt_on() -> None:
    """Not even where somebody holds it: an error's frames, or the function itself."""
    held: list[Any] = []

    def keeps(a: Any) -> Any:
        held.append((a[1:] * 2.0) + a[:-1])
        return float(held[-1].sum()) * a

    with fw.options(small=0):
        value = fw.asarray(np.arange(5.0)) * 3.0
        assert recipes.learn(keeps, (value,), {}) is False
        trace.flush()
        assert value.tolist() == [0.0, 3.0, 6.0, 9.0, 12.0]


@needs_core
def test_learning_leaves_no_gap_in_the_list() -> None:
    """The loop's boundary is found by what stands in the list as it was recorded."""
    a = fnp.asarray(np.random.default_rng(0).random((40, 40)))
    with fw.options(small=0):
        trace.flush()
        kept = [a * 2.0]
        for _ in range(4):
            kept.append(fnp.roll(kept[-1] + 1.0, 3, axis=0))
    assert native.whole() == 0
    np.testing.assert_array_equal(kept[1], np.roll(np.asarray(a) * 2.0 + 1.0, 3, axis=0))


COPIES: dict[str, Callable[[Any, Any], Any]] = {
    "roll": lambda np, v: np.roll(v, 0, axis=0),
    "roll flat": lambda np, v: np.roll(v, v.size),
    "copy": lambda np, v: v.copy(),
    "repeat": lambda np, v: np.repeat(v, 1, axis=0),
    "tile": lambda np, v: np.tile(v, 1),
    "concatenate": lambda np, v: np.concatenate([v]),
    "clip": lambda np, v: np.clip(v, None, None),
    "pad": lambda np, v: np.pad(v, 0),
}
"""Functions that give a new array with all of the old one's elements."""


@pytest.mark.parametrize("view", ["whole", "rows", "columns", "turned"])
@pytest.mark.parametrize("name", COPIES)
def test_what_moves_nothing_is_a_copy(name: str, view: str) -> None:
    """However often it was called, and whether its operand waits, is in memory, or is a view."""
    views: dict[str, Callable[[Any], Any]] = {
        "whole": lambda x: x, "rows": lambda x: x[1:], "columns": lambda x: x[:, 2:],
        "turned": lambda x: x.T,
    }  # fmt: skip
    with fw.options(small=0):
        for seed in range(6):
            for is_known in (False, True):
                x = fw.asarray(operands(seed)[0]) * 2.0
                if is_known:
                    float(x.sum())
                v = views[view](x)
                made = COPIES[name](fnp, v)
                v[...] = v + 1.0
                wanted = COPIES[name](np, views[view](operands(seed)[0] * 2.0))
                np.testing.assert_array_equal(np.asarray(made), wanted)
                made[...] = 0.0
                np.testing.assert_array_equal(np.asarray(x).min() > 0.0, True)
