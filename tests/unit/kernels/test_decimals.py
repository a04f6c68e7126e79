"""`round(x, digits)` has CPython's bits, `np.round` to a computed number of digits NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import same_as_cpython

import fusewright as fw

RNG = np.random.default_rng(11)
WHOLE = RNG.integers(-(10**6), 10**6, 60)


@fw.kernel
def literal_digits(a: Any, out: Any) -> Any:
    for i in range(len(a)):
        x = float(a[i])
        out[i, 0] = round(x, 0)
        out[i, 1] = round(x, 2)
        out[i, 2] = round(x, -2)
        out[i, 3] = round(x, ndigits=15)
        out[i, 4] = round(x, 22)
    return round(2.675, 2), round(15, -1), round(True), round(0.5, None)


@fw.kernel
def computed_digits(a: Any, digits: Any, out: Any) -> None:
    for i in range(len(a)):
        out[i] = round(float(a[i]), digits)


@fw.kernel
def of_integers(a: Any, digits: Any, out: Any) -> None:
    for i in range(len(a)):
        out[i, 0] = round(int(a[i]), digits)
        out[i, 1] = round(int(a[i]), 2) + round(int(a[i]), -3)


@fw.kernel
def as_numpy_does(a: Any, digits: Any) -> Any:
    out = np.zeros_like(a)
    for i in range(len(a)):
        out[i] = round(a[i], digits) + round(a[i], 1)
    return out, np.round(a, digits), a.round(decimals=digits)


def near_ties(digits: int) -> Any:
    """Decimal halves, the floats beside them, and values of all sizes."""
    halves = (WHOLE + 0.5) / 10.0**digits
    sizes = RNG.standard_normal(200) * 10.0 ** RNG.integers(-25, 25, 200)
    beside = np.nextafter(halves, np.inf), np.nextafter(halves, -np.inf)
    edges = 2.0 ** np.array([-30, -1, 51, 52, 53, 60]) + 0.5
    special = [0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, 1e308, 2.675, 5e22, -0.4]
    return np.concatenate((halves, *beside, sizes, edges, special, 5 * 10.0 ** np.arange(23)))


def test_literal_digits() -> None:
    for digits in (0, 2, 15):
        a = near_ties(digits)
        same_as_cpython(literal_digits, a, np.zeros((len(a), 5)))


@pytest.mark.parametrize("digits", [0, 1, 7, 22, -1, -5, -22])
def test_computed_digits(digits: int) -> None:
    a = near_ties(digits)
    found, wanted = np.zeros_like(a), np.zeros_like(a)
    computed_digits(a, digits, found)
    computed_digits.__wrapped__(a, digits, wanted)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


@pytest.mark.parametrize("digits", [2, 0, -1, -6, -18])
def test_integers(digits: int) -> None:
    a = np.concatenate((WHOLE * 5, RNG.integers(-(10**18), 10**18, 60)))
    same_as_cpython(of_integers, a, digits, np.zeros((len(a), 2), np.int64))


@pytest.mark.parametrize("digits", [3, 0, -2])
def test_as_numpy_does(digits: int) -> None:
    same_as_cpython(as_numpy_does, RNG.standard_normal(30) * 1000, digits)
    same_as_cpython(as_numpy_does, (RNG.standard_normal(30) * 1000).astype(np.float32), digits)


def test_too_many_digits() -> None:
    with pytest.raises(ValueError, match="more than 22 digits"):
        computed_digits(np.ones(3), 23, np.zeros(3))
