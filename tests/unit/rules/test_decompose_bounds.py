"""Every transcendental against mpmath over the whole range, in ulp; signs, NaN and infinities
exactly as NumPy gives them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp
from tests.unit.compiled import compiled
from tests.unit.ulps import SPECIAL, SWEEP, arguments, worst

from fusewright.ir.dtypes import FLOAT32, FLOAT64, DType
from fusewright.ir.expr import op, param
from fusewright.rules.decompose import decompose

LN2 = math.log(2.0)
# name: (bound in ulp, exact function, points to look around)
UNARY: dict[str, tuple[float, Callable[[Any], Any], tuple[float, ...]]] = {
    "exp": (1, mp.exp, (0.0, LN2 / 2, -745.1, 709.7, 88.7, -103.9)),
    "exp2": (2, lambda x: mp.mpf(2) ** x, (0.0, 0.5, -1074.0, 1024.0, 128.0, -149.0)),
    "expm1": (2, mp.expm1, (0.0, LN2 / 2, -LN2 / 2, 709.7, -37.0)),
    "log": (1, mp.log, (1.0, 0.70710678, 1.41421356, 0.5)),
    "log2": (2, lambda x: mp.log(x, 2), (1.0, 0.70710678, 2.0, 0.5)),
    "log10": (2, mp.log10, (1.0, 10.0, 0.1)),
    "log1p": (2, mp.log1p, (0.0, -1.0, 0.4142, -0.2929)),
    "sin": (1, mp.sin, (0.0, math.pi / 4, math.pi, 2.0**16, 2.0**40, 1e5 * math.pi)),
    "cos": (1, mp.cos, (0.0, math.pi / 4, math.pi / 2, 2.0**16, 2.0**40, 1e5 * math.pi)),
    "tan": (1, mp.tan, (0.0, math.pi / 4, math.pi / 2, 2.0**16, 2.0**40, 1e5 * math.pi)),
    "tanh": (1, mp.tanh, (0.0, 0.5493, -0.5493, 9.0, 19.0)),
    "sinh": (2, mp.sinh, (0.0, 0.3466, 710.4, 89.4)),
    "cosh": (2, mp.cosh, (0.0, 0.3466, 710.4, 89.4)),
    "arcsin": (2, mp.asin, (0.0, 0.5, -0.5, 1.0, -1.0)),
    "arccos": (2, mp.acos, (0.0, 0.5, -0.5, 1.0, -1.0)),
    "arctan": (2, mp.atan, (0.0, 0.5, 2.0, -0.5, -2.0)),
    "arcsinh": (2, mp.asinh, (0.0, 0.5, -0.5, 2.0**28, 2.0**13)),
    "arccosh": (2, mp.acosh, (1.0, 2.0, 2.0**28, 2.0**13)),
    "arctanh": (2, mp.atanh, (0.0, 0.5, -0.5, 1.0, -1.0)),
    "cbrt": (2, lambda x: mp.sign(x) * mp.cbrt(abs(x)), (0.0, 1.0, 8.0, 0.35, 2.83)),
    "erf": (2, mp.erf, (0.0, 1.0, -1.0, 6.0)),
    "erfc": (2, mp.erfc, (0.0, 0.75, 1.0, 6.0, 26.5, 9.2)),
}
_HUGE = 2.0**60  # beyond it these grow or settle; mpmath would try to work it out
_SETTLED: dict[str, Callable[[float], float]] = {
    "exp": lambda x: math.inf if x > 0 else 0.0,
    "exp2": lambda x: math.inf if x > 0 else 0.0,
    "expm1": lambda x: math.inf if x > 0 else -1.0,
    "sinh": lambda x: math.copysign(math.inf, x),
    "cosh": lambda x: math.inf,
    "tanh": lambda x: math.copysign(1.0, x),
    "erf": lambda x: math.copysign(1.0, x),
    "erfc": lambda x: 0.0 if x > 0 else 2.0,
}


def _exact(name: str, function: Callable[[Any], Any], x: float) -> Any:
    if math.isnan(x):
        return mp.nan
    if abs(x) > _HUGE and name in _SETTLED:
        return mp.mpf(_SETTLED[name](x))
    if math.isinf(x):
        with np.errstate(all="ignore"):
            return mp.mpf(float(getattr(np, name)(x)))
    if name.startswith("log") and x <= (-1.0 if name == "log1p" else 0.0):
        with np.errstate(all="ignore"):
            return mp.mpf(float(getattr(np, name)(x)))
    return function(mp.mpf(x))


def _precision(name: str, x: np.ndarray[Any, Any]) -> int:
    """Enough bits for the trigonometry of 2**1024."""
    return 1200 if name in ("sin", "cos", "tan") else 200


@pytest.mark.parametrize("dtype", [FLOAT64, FLOAT32], ids=str)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, dtype: DType) -> None:
    bound, function, centres = UNARY[name]
    x = arguments(dtype.numpy, 800 * SWEEP, 1, centres)
    got = compiled(decompose(op(name, param(0, dtype))), width=8)(x)
    with mpmath.workprec(_precision(name, x)):
        exact = [_exact(name, function, float(value)) for value in x]
        error, place = worst(got, exact)
    assert error <= bound, f"{name}({x[place]!r}) = {got[place]!r}: {error} ulp"
    if name not in ("erf", "erfc"):
        assert _same_special(name, got, (x,))


def _same_special(name: str, got: np.ndarray[Any, Any], args: tuple[Any, ...]) -> bool:
    """Zeros (with their sign), infinities and NaN stand where NumPy has them."""
    with np.errstate(all="ignore"):
        want = getattr(np, name)(*args)
    zeros = (want == 0) & (got == 0)
    return bool(
        np.array_equal(np.isnan(want), np.isnan(got))
        and np.array_equal(np.signbit(want[zeros]), np.signbit(got[zeros]))
    )


def _log_sum(a: Any, b: Any, base: Any) -> Any:
    return max(a, b) + mp.log1p(base ** -abs(a - b)) / mp.log(base)


BINARY: dict[str, tuple[float, Callable[[Any, Any], Any]]] = {
    "power": (2, lambda a, b: a**b),
    "arctan2": (2, mp.atan2),
    "hypot": (2, mp.hypot),
    "logaddexp": (2, lambda a, b: _log_sum(a, b, mp.e)),
    "logaddexp2": (2, lambda a, b: _log_sum(a, b, mp.mpf(2))),
}


def _pairs(name: str, dtype: DType) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(7)
    count = 4000 * SWEEP
    if name == "power":
        size = np.exp(rng.uniform(-20, 20, count))
        a, b = size, rng.uniform(-30, 30, count)
        a[::4] = 1.0 + rng.standard_normal(a[::4].size) * 1e-4
        b[::4] *= 1e5
        a[1::4] = -np.rint(a[1::4] % 50)
        b[1::4] = np.rint(b[1::4])
    elif name.startswith("log"):  # a negative greater operand has another bound
        a = abs(rng.standard_normal(count)) * 10.0 ** rng.uniform(-6, 3, count)
        b = a + rng.standard_normal(count) * 10.0 ** rng.uniform(-4, 2, count)
    else:
        a = rng.standard_normal(count) * 10.0 ** rng.uniform(-300, 300, count)
        b = a * rng.standard_normal(count) * 10.0 ** rng.uniform(-3, 3, count)
    with np.errstate(all="ignore"):
        return a.astype(dtype.numpy), b.astype(dtype.numpy)


@pytest.mark.parametrize("dtype", [FLOAT64, FLOAT32], ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str, dtype: DType) -> None:
    bound, function = BINARY[name]
    a, b = _pairs(name, dtype)
    kept = np.isfinite(a) & np.isfinite(b) & (a != 0) & (b != 0)
    a, b = a[kept], b[kept]
    got = compiled(decompose(op(name, param(0, dtype), param(1, dtype))), width=8)(a, b)
    with mpmath.workprec(200):
        exact = [function(mp.mpf(float(x)), mp.mpf(float(y))) for x, y in zip(a, b, strict=True)]
        error, place = worst(got, exact)
    assert error <= bound, f"{name}({a[place]!r}, {b[place]!r}) = {got[place]!r}: {error} ulp"


@pytest.mark.parametrize("dtype", [FLOAT64, FLOAT32], ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_special_pairs(name: str, dtype: DType) -> None:
    values = np.array([*SPECIAL, 2.5, -3.0, 4.0, 2.0**53 + 2, -(2.0**53) - 2])
    with np.errstate(all="ignore"):
        values = values.astype(dtype.numpy)
    a, b = np.repeat(values, values.size), np.tile(values, values.size)
    got = compiled(decompose(op(name, param(0, dtype), param(1, dtype))), width=8)(a, b)
    with np.errstate(all="ignore"):
        want = getattr(np, name)(a, b)
    assert _same_special(name, got, (a, b))
    exact = np.isinf(want) | (want == 0)
    assert np.array_equal(got[exact], want[exact])
    finite = np.isfinite(want)
    np.testing.assert_array_max_ulp(got[finite], want[finite], maxulp=5)
