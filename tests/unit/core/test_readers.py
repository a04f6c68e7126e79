"""What runs in NumPy on our memory because it only reads: it may be handed writable windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.frontends.arrays import opaque

Call = Callable[[Any, Any, Any], Any]
CALLS: dict[str, Call] = {
    "argmax": lambda np, a, i: np.argmax(a),
    "argmin": lambda np, a, i: a.argmin(axis=0),
    "bincount": lambda np, a, i: np.bincount(i, a),
    "choose": lambda np, a, i: np.choose(i % 2, [a, -a]),
    "convolve": lambda np, a, i: np.convolve(a, a[:1]),
    "correlate": lambda np, a, i: np.correlate(a, a[:3], "same"),
    "repeat": lambda np, a, i: np.repeat(a, 1),
    "take": lambda np, a, i: np.take(a, i),
    "method take": lambda np, a, i: a.take(i, axis=0),
}  # fmt: skip


@pytest.mark.parametrize("size", (40, 5_000, 50_000))
@pytest.mark.parametrize("name", CALLS)
def test_results_are_new_and_operands_stay(name: str, size: int) -> None:
    rng = np.random.default_rng(size)
    a, i = rng.random(size), rng.integers(0, size, size)
    ours, places = fw.asarray(a, copy=True), fw.asarray(i, copy=True)
    want = CALLS[name](np, a, i)
    for _ in range(3):
        got = CALLS[name](fnp, ours, places)
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-13)
        if isinstance(got, fw.Array) and got.shape:
            assert not np.shares_memory(np.asarray(got), np.asarray(ours))
            got[...] = 7
    np.testing.assert_array_equal(np.asarray(ours), a)
    np.testing.assert_array_equal(np.asarray(places), i)


def _name(function: Any) -> str:
    return f"{type(function).__name__} {function.__name__}"


@pytest.mark.parametrize("function", sorted(opaque.READERS, key=_name), ids=_name)
def test_readers_write_nothing(function: Any) -> None:
    """None of them takes an operand to write into but by the name `out`, which is lent a copy."""
    assert "overwrite" not in (function.__doc__ or "")


@pytest.mark.parametrize("exponent", (2, 2.0, np.float64(2), np.int64(2), True, 3, -2))
@pytest.mark.parametrize("dtype", ("float32", "float64", "float16", "int32", "complex64"))
def test_powers_by_two(dtype: str, exponent: Any) -> None:
    a = (np.random.default_rng(1).random(3000) * 30 + 1).astype(dtype)
    try:
        want = np.power(a, exponent)
    except (ValueError, OverflowError) as error:
        with pytest.raises(type(error)):
            fnp.power(fw.asarray(a), exponent)
        return
    for _ in range(3):
        got = np.asarray(fnp.power(fw.asarray(a), exponent))
        assert got.dtype == want.dtype
        if exponent == 2 and type(exponent) in (int, float) and dtype in ("float32", "float64"):
            np.testing.assert_array_equal(got, want)
        np.testing.assert_allclose(got, want, rtol=2e-3 if dtype == "float16" else 2e-6)


def test_an_exponent_given_to_a_replayed_function() -> None:
    """Its value decides which operation it is, recorded or not."""
    x = fw.asarray(np.random.default_rng(4).random(3000) * 30)
    power = fw.jit(lambda a, n: fnp.power(a, n))
    for exponent in (3, 2.5, 2, 2.0, 3, 2):
        for _ in range(3):
            got, want = power(x, exponent), fnp.power(x, exponent)
            np.testing.assert_array_equal(np.asarray(got), np.asarray(want))
            if exponent == 2:
                np.testing.assert_array_equal(np.asarray(want), np.asarray(x) * np.asarray(x))
