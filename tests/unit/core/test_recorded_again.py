"""What a call records is remembered by its kind, through every door: the bits are those of calls
that nothing is remembered of, and what depends on values is never remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.base.errors import StrictError

TIMES = 6
"""Calls: the third has a judgement, the fourth is the first that may be recorded by its form."""
CALLS: dict[str, Callable[..., Any]] = {
    "gradient": lambda np, a, b, s: np.gradient(a),
    "several": lambda np, a, b, s: tuple(np.gradient(s)),
    "std": lambda np, a, b, s: np.std(a),
    "var along": lambda np, a, b, s: np.var(s, axis=1, keepdims=True),
    "ddof": lambda np, a, b, s: np.std(s, axis=0, ddof=1),
    "diff": lambda np, a, b, s: np.diff(a, n=2),
    "trace": lambda np, a, b, s: np.trace(s),
    "nan_to_num": lambda np, a, b, s: np.nan_to_num(a),
    "nanmax": lambda np, a, b, s: np.nanmax(s, axis=0),
    "modf": lambda np, a, b, s: np.modf(a * 4),
    "reduce": lambda np, a, b, s: np.add.reduce(a),
    "accumulate": lambda np, a, b, s: np.maximum.accumulate(a),
    "outer": lambda np, a, b, s: np.subtract.outer(s[0], b[:9]),
    "method": lambda np, a, b, s: s.std(axis=0),
    "a view": lambda np, a, b, s: np.diff(a[3:-2]),
    "a turned one": lambda np, a, b, s: np.var(s.T, axis=0),
    "twice the same": lambda np, a, b, s: np.allclose(a, a),
    "a list": lambda np, a, b, s: np.concatenate([a, b, a]),
    "many": lambda np, a, b, s: np.concatenate([a] * 20),
    "where": lambda np, a, b, s: np.where(a > 0.5, 1.0, b),
    "pending": lambda np, a, b, s: np.trapezoid(a * b + 1.0),
    "a type": lambda np, a, b, s: np.sqrt(a, dtype=np.float32),
    "NumPy's number": lambda np, a, b, s: np.clip(a, np.float64(0.25), np.float64(0.5)),
}


def operands(seed: int, size: int) -> list[Any]:
    draw = np.random.default_rng(seed)
    arrays = draw.random(size) - 0.25, draw.random(size), draw.random((size // 40, 40))
    return [fw.asarray(array) for array in arrays]


def bits(result: Any) -> list[tuple[Any, ...]]:
    several = result if isinstance(result, tuple | list) else (result,)
    arrays = [np.asarray(each) for each in several]
    return [(type(each).__name__, a.dtype, a.shape, a.tobytes()) for each, a in
            zip(several, arrays, strict=True)]  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("size", [5000, 400])
def test_bits_are_those_of_calls_of_which_nothing_is_known(name: str, size: int) -> None:
    call = CALLS[name]
    for seed in range(TIMES):
        got = bits(call(fnp, *operands(seed, size)))
        with fw.options(interpret=False):  # what `jit` records is recorded by Python
            want = bits(fw.jit(lambda *given: call(fnp, *given))(*operands(seed, size)))
        assert [each[1:] for each in got] == [each[1:] for each in want], seed


def test_numbers_count_by_their_value() -> None:
    array = fw.asarray(np.linspace(-1, 1, 3001))
    for low in (-0.5, -0.5, -0.5, -0.5, 0.25, -0.0, 0.0, -0.5):
        got = np.asarray(fnp.clip(array, low, None))
        np.testing.assert_array_equal(got, np.clip(np.asarray(array), low, None))


def test_what_depends_on_values_is_not_remembered() -> None:
    for seed in range(TIMES):
        counts = np.random.default_rng(seed).integers(0, 3, 700)
        values = np.random.default_rng(seed).random(700)
        got = fnp.repeat(fw.asarray(values), fw.asarray(counts))
        np.testing.assert_array_equal(np.asarray(got), np.repeat(values, counts))
        got = fnp.trim_zeros(fw.asarray(values * (values > 0.4)))
        np.testing.assert_array_equal(np.asarray(got), np.trim_zeros(values * (values > 0.4)))


def test_what_writes_is_not_remembered() -> None:
    for seed in range(TIMES):
        values = np.random.default_rng(seed).random((30, 40))
        array, out = fw.asarray(values), fw.asarray(np.zeros(40))
        fnp.add.reduce(array, out=out)
        np.testing.assert_allclose(np.asarray(out), values.sum(axis=0))
        fnp.std(array, axis=0, out=out)
        np.testing.assert_allclose(np.asarray(out), values.std(axis=0))


def test_what_numpy_runs_is_refused_when_strict() -> None:
    array = fw.asarray(np.random.default_rng(0).random(900))
    for _ in range(TIMES):
        fnp.gcd.outer(fw.asarray(np.arange(30)), fw.asarray(np.arange(30)))
        fnp.gradient(array)
    with fw.options(strict=True):
        fnp.gradient(array)
        with pytest.raises(StrictError):
            fnp.gcd.outer(fw.asarray(np.arange(30)), fw.asarray(np.arange(30)))


def test_errors_are_those_of_the_first_call() -> None:
    array = fw.asarray(np.random.default_rng(0).random((20, 30)))
    for _ in range(TIMES):
        fnp.std(array, axis=1)
        with pytest.raises(np.exceptions.AxisError):
            fnp.std(array, axis=2)


def test_functions_recorded_for_replay() -> None:
    array = np.random.default_rng(0).random(902)
    for _ in range(TIMES):
        fnp.gradient(fw.asarray(array))
    replayed = fw.jit(lambda x: fnp.gradient(x) * 2)
    for _ in range(4):
        got = replayed(fw.asarray(array))
        np.testing.assert_array_equal(np.asarray(got), np.gradient(array) * 2)
