"""Lengths over the whole range, and comparisons of roots and lengths with one number: the answer is
that of the value itself, rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.compiled import compiled, feature_sets

from fusewright.ir.dtypes import BOOL, FLOAT32, FLOAT64, DType
from fusewright.ir.expr import Expr, const, op, param, postorder, typed_op
from fusewright.ir.interpret import Environment, evaluate
from fusewright.rules.decompose import decompose
from fusewright.rules.decompose.lengths import (
    LEAST_SQUARE,
    MOST_SQUARE,
    least_square,
    most_square,
)
from fusewright.rules.decompose.terms import Term

Floats = np.ndarray[Any, Any]
ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
}
LIMITS = [
    0.0, -0.0, 5e-324, 1e-320, 2.0**-1022, 2.0**-537, 2.0**-511, 2.0**-450, 2.0**-440, 1e-100,
    0.1, 1.0, 2.0, math.pi, 1e100, 2.0**490, 2.0**500, 2.0**512, 1.7e308, math.inf, math.nan,
    -1.0, -math.inf, -5e-324,
]  # fmt: skip


def _around(values: Any, dtype: DType = FLOAT64) -> Floats:
    """The values with their neighbours up to the fourth."""
    found = [np.asarray(values, dtype.numpy)]
    with np.errstate(all="ignore"):
        for target in (math.inf, -math.inf):
            step = found[0]
            for _ in range(4):
                step = np.nextafter(step, dtype.numpy.type(target))
                found.append(step)
    return np.concatenate(found)


def _edges() -> tuple[Floats, Floats]:
    """Pairs whose squares lie at the borders of the ordinary, and special values."""
    border = [math.sqrt(LEAST_SQUARE), math.sqrt(MOST_SQUARE), 2.0**-500, 2.0**500, 2.0**511.5]
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, 2.0**-1022, 1.7e308, 1.0, -3.0]
    values = np.concatenate([_around(border), special])
    return np.repeat(values, values.size), np.tile(values, values.size)


def _wide(count: int, seed: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(count) * 2.0 ** rng.integers(-1070, 970, count)
    y = x * rng.standard_normal(count) * 2.0 ** rng.integers(-40, 40, count)
    return x, y


@pytest.mark.parametrize("features", feature_sets())
def test_lengths_at_the_borders(features: str) -> None:
    x, y = _edges()
    root = decompose(op("hypot", param(0, FLOAT64), param(1, FLOAT64)))
    got = compiled(root, 8, features)(x, y)
    alone = compiled(root, 1, features)(x, y)
    np.testing.assert_array_equal(got.view("u8")[~np.isnan(got)], alone.view("u8")[~np.isnan(got)])
    with mpmath.workprec(2300):
        for a, b, length in zip(x, y, got, strict=True):
            if math.isinf(a) or math.isinf(b):
                assert length == math.inf
            elif math.isnan(a) or math.isnan(b):
                assert math.isnan(length)
            else:
                exact = mpmath.sqrt(mpmath.mpf(float(a)) ** 2 + mpmath.mpf(float(b)) ** 2)
                if exact >= mpmath.mpf(2) ** 1024:
                    assert length == math.inf
                    continue
                error = abs(mpmath.mpf(float(length)) - exact) / mpmath.mpf(math.ulp(length))
                assert error <= 1.5, (a, b, length)


def test_lengths_of_many_sizes() -> None:
    x, y = _wide(4000, 1)
    root = decompose(op("hypot", param(0, FLOAT64), param(1, FLOAT64)))
    got = compiled(root)(x, y)
    with mpmath.workprec(2300):
        for a, b, length in zip(x, y, got, strict=True):
            exact = mpmath.sqrt(mpmath.mpf(float(a)) ** 2 + mpmath.mpf(float(b)) ** 2)
            error = abs(mpmath.mpf(float(length)) - exact) / mpmath.mpf(math.ulp(length))
            assert error <= 1.5, (a, b, length)


def _bounds(c: float, dtype: DType) -> tuple[float, float]:
    x = Term(param(0, dtype))
    found = (
        evaluate(bound(x).expr, Environment(params={0: dtype.numpy.type(c)}))
        for bound in (least_square, most_square)
    )
    least, most = (float(value) for value in found)
    return least, most


def _check_bounds(c: float, dtype: DType) -> None:
    kind = dtype.numpy.type
    c = float(kind(c))
    least, most = _bounds(c, dtype)
    if math.isnan(c):
        assert math.isnan(least) and math.isnan(most)
        return
    with np.errstate(all="ignore"):
        # sqrt(s) >= c exactly from `least` on, sqrt(s) <= c exactly up to `most`
        assert np.sqrt(kind(least)) >= c or (least == math.inf and c > np.finfo(kind).max)
        if least > 0:
            assert np.sqrt(np.nextafter(kind(least), kind(0))) < c
        if c < 0:
            assert most < 0 and np.nextafter(kind(most), kind(1)) == 0
            return
        assert np.sqrt(kind(most)) <= c
        if most < math.inf:
            assert np.sqrt(np.nextafter(kind(most), kind(math.inf))) > c


@pytest.mark.parametrize("dtype", [FLOAT64, FLOAT32], ids=str)
def test_bounds_of_squares(dtype: DType) -> None:
    rng = np.random.default_rng(2)
    with np.errstate(all="ignore"):
        sizes = rng.uniform(1, 2, 400) * 2.0 ** rng.integers(-1074, 1024, 400)
        sizes = np.concatenate([sizes, rng.uniform(0.1, 1e3, 400), _around(LIMITS)])
        sizes = np.unique(sizes.astype(dtype.numpy))
    for c in sizes:
        _check_bounds(float(c), dtype)


@settings(max_examples=200, deadline=None)
@given(st.floats())
def test_bounds_of_any_square(c: float) -> None:
    _check_bounds(c, FLOAT64)


def _compared(name: str, value: Expr, left: bool) -> Expr:
    c = param(2, value.dtype)
    return decompose(typed_op(name, BOOL, *((value, c) if left else (c, value))))


def _want(name: str, value: Floats, c: float, left: bool) -> Floats:
    return ORDERS[name](value, c) if left else ORDERS[name](c, value)


@pytest.mark.parametrize("left", [True, False], ids=["value first", "number first"])
@pytest.mark.parametrize("name", ORDERS)
def test_a_compared_length_is_never_made(name: str, left: bool) -> None:
    length = op("hypot", param(0, FLOAT64), param(1, FLOAT64))
    root = _compared(name, length, left)
    assert "hypot_far" not in {node.name for node in postorder([root])}
    function, lengths = compiled(root), compiled(decompose(length))
    edges, wide = _edges(), _wide(600, 3)
    x, y = (np.concatenate(pair) for pair in zip(edges, wide, strict=True))
    sizes = lengths(x, y)
    near = _around(np.random.default_rng(4).choice(sizes, 12))
    for c in (*LIMITS, *near):
        got = function(x, y, np.full(x.shape, c)).astype(bool)
        np.testing.assert_array_equal(got, _want(name, sizes, c, left), f"{c!r}")


@pytest.mark.parametrize("squares", [False, True], ids=["any", "sum of squares"])
@pytest.mark.parametrize("left", [True, False], ids=["value first", "number first"])
@pytest.mark.parametrize("dtype", [FLOAT64, FLOAT32], ids=str)
@pytest.mark.parametrize("name", ORDERS)
def test_a_compared_root_is_never_made(name: str, dtype: DType, left: bool, squares: bool) -> None:
    x, y = param(0, dtype), param(1, dtype)
    inner = op("add", op("multiply", x, x), op("multiply", y, y)) if squares else x
    root = _compared(name, op("sqrt", inner), left)
    function = compiled(root)
    with np.errstate(all="ignore"):
        a, b = (np.concatenate([e, w]).astype(dtype.numpy)
                for e, w in zip(_edges(), _wide(600, 5), strict=True))  # fmt: skip
        value = np.sqrt(a * a + b * b) if squares else np.sqrt(a)
        limits = [dtype.numpy.type(c) for c in LIMITS]
        near = _around(np.random.default_rng(6).choice(value, 12), dtype)
        for c in (*limits, *near):
            got = function(a, b, np.full(a.shape, c)).astype(bool)
            np.testing.assert_array_equal(got, _want(name, value, c, left), f"{c!r}")


def test_a_number_for_each_element_is_compared_with_the_root() -> None:
    x = param(0, FLOAT64)
    root = decompose(op("less", op("sqrt", x), op("add", x, const(1.0, FLOAT64))))
    assert "sqrt" in {node.name for node in postorder([root])}
