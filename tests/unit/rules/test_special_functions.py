"""lgamma, J0 and J1 against mpmath, in units of what their errors are bounded by; what they and
gamma give at the edges.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from ctypes.util import find_library
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp
from tests.unit.compiled import compiled
from tests.unit.ulps import SWEEP, arguments

from fusewright.ir.dtypes import FLOAT32, FLOAT64, DType
from fusewright.ir.expr import op, param
from fusewright.ir.interpret import Environment, evaluate
from fusewright.rules.decompose import decompose

COUNT = 150 * SWEEP
EDGES = [
    0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, 2.0, -1.0, -2.0, -170.0, -1e15, -1e300, 5e-324,
    -5e-324, 171.7, 1e300, -185.5, -184.5, 2.0**60,
]  # fmt: skip


def _sizes(dtype: DType, *ends: float) -> np.ndarray[Any, Any]:
    """Numbers between each two neighbouring ends, and close to the ends."""
    rng = np.random.default_rng(5)
    parts = [rng.uniform(a, b, COUNT) for a, b in pairwise(ends)]
    parts += [np.array(ends)]
    parts += [
        end + rng.standard_normal(COUNT) * 10.0 ** rng.uniform(-14, -2, COUNT) for end in ends
    ]
    return np.concatenate(parts).astype(dtype.numpy)


def _worst(
    name: str,
    x: np.ndarray[Any, Any],
    exact: Callable[[Any], Any],
    unit: Callable[[Any, Any], Any],
) -> tuple[float, float]:
    dtype = FLOAT64 if x.dtype == np.float64 else FLOAT32
    got = compiled(decompose(op(name, param(0, dtype))), width=8)(x)
    errors = []
    with mpmath.workprec(300):
        for value, argument in zip(got, x, strict=True):
            at = mp.mpf(float(argument))
            true = exact(at)
            errors.append(float(abs(mp.mpf(float(value)) - true) / unit(at, true)))
    place = int(np.argmax(errors))
    return errors[place], float(x[place])


def _ulp(dtype: DType) -> Callable[[Any, Any], Any]:
    info = np.finfo(dtype.numpy)

    def unit(_: Any, value: Any) -> Any:
        exponent = mpmath.frexp(value)[1] - 1 if value else int(info.minexp)
        return mpmath.ldexp(1, max(exponent, int(info.minexp)) - int(info.nmant))

    return unit


def _lgamma(x: Any) -> Any:
    return mp.re(mp.loggamma(x))


@pytest.mark.parametrize("dtype", [FLOAT64, FLOAT32], ids=str)
def test_gamma(dtype: DType) -> None:
    """Close to its poles, too, and where the result is subnormal."""
    ends = (0.5, 1.0, 1.5, 2.0, 3.0, 20.0, 34.5) + ((100.0, 170.0) if dtype is FLOAT64 else ())
    x = np.concatenate([_sizes(dtype, *ends), -_sizes(dtype, *ends)])
    tiny = 10.0 ** np.random.default_rng(1).uniform(-307 if dtype is FLOAT64 else -37, 0, COUNT)
    below = np.random.default_rng(2).uniform(
        *((-184, -170) if dtype is FLOAT64 else (-42, -34)), COUNT
    )
    x = np.concatenate([x, tiny, -tiny, below]).astype(dtype.numpy)
    x = x[(x > 0) | (x != np.floor(x))]
    error, place = _worst("gamma", x, mp.gamma, _ulp(dtype))
    assert error <= 4, f"gamma({place!r}): {error} ulp"


@pytest.mark.parametrize("dtype", [FLOAT64, FLOAT32], ids=str)
def test_lgamma_above_zero(dtype: DType) -> None:
    x = _sizes(dtype, 0.0, 0.6, 1.0, 2.0, 2.5, 3.0, 20.0, 1000.0, 1e6)
    x = np.concatenate([x[x > 0], np.abs(arguments(dtype.numpy, COUNT, 3))])
    x = x[np.isfinite(x) & (x > 0) & (x < np.finfo(dtype.numpy).max / 1000)]
    error, place = _worst("lgamma", x, _lgamma, _ulp(dtype))
    assert error <= 4, f"lgamma({place!r}): {error} ulp"


@pytest.mark.parametrize("dtype", [FLOAT64, FLOAT32], ids=str)
def test_lgamma_below_zero(dtype: DType) -> None:
    """In ulp of the greater of the result and 1: there are zeros between the integers."""
    x = -_sizes(dtype, 0.5, 1.5, 2.457, 2.7476, 3.5, 10.0, 200.0, 1e5)
    x = np.concatenate([x, -(10.0 ** np.random.default_rng(1).uniform(-30, 0, COUNT))])
    x = x.astype(dtype.numpy)
    x = x[(x < 0) & (x != np.floor(x))]
    ulp = _ulp(dtype)
    error, place = _worst("lgamma", x, _lgamma, lambda at, true: ulp(at, max(abs(true), 1)))
    assert error <= 4, f"lgamma({place!r}): {error} ulp"


@pytest.mark.parametrize("dtype", [FLOAT64, FLOAT32], ids=str)
@pytest.mark.parametrize("n", [0, 1])
def test_bessel(n: int, dtype: DType) -> None:
    """In ulp of 1, or of sqrt(2 / (pi x)) where that is less; J1 relatively near 0."""
    x = _sizes(dtype, -3.0, 0.0, 2.405, 3.832, 4.0, 5.52, 8.0, 12.0, 100.0, 1e4)
    one = mp.mpf(float(np.finfo(dtype.numpy).eps))

    def unit(at: Any, _: Any) -> Any:
        return one * min(1, mp.sqrt(2 / (mp.pi * abs(at)))) if at else one

    error, place = _worst(f"j{n}", x, lambda at: mp.besselj(n, at), unit)
    assert error <= 3.5, f"j{n}({place!r}): {error} units"
    small = (10.0 ** np.random.default_rng(2).uniform(-30, 0, COUNT)).astype(dtype.numpy)
    error, place = _worst(f"j{n}", small, lambda at: mp.besselj(n, at), _ulp(dtype))
    assert error <= 3, f"j{n}({place!r}): {error} ulp"


@pytest.mark.parametrize("n", [0, 1])
def test_bessel_far(n: int) -> None:
    x = 2.0 ** np.random.default_rng(3).uniform(14, 200, COUNT // 2)

    def unit(at: Any, _: Any) -> Any:
        return mp.sqrt(2 / (mp.pi * at)) * mp.mpf(2) ** -52

    error, place = _worst(f"j{n}", x, lambda at: mp.besselj(n, at), unit)
    assert error <= 3.5, f"j{n}({place!r}): {error} units"


C_NAMES = {"gamma": "tgamma", "lgamma": "lgamma", "j0": "j0", "j1": "j1"}


@pytest.mark.parametrize("name", C_NAMES)
def test_edges_are_those_of_c(name: str) -> None:
    function = getattr(ctypes.CDLL(find_library("m")), C_NAMES[name])
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
    x = np.array(EDGES)
    want = np.array([function(value) for value in EDGES])
    got = compiled(decompose(op(name, param(0, FLOAT64))), width=8)(x)
    np.testing.assert_allclose(got, want, rtol=1e-15, atol=1e-163)
    zeros = (want == 0) & (got == 0)
    assert np.array_equal(np.signbit(want[zeros]), np.signbit(got[zeros]))


@pytest.mark.parametrize("name", C_NAMES)
def test_one_definition(name: str) -> None:
    """Vectors, single elements and the interpreter give the same bits."""
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.uniform(-20, 30, 61), 10.0 ** rng.uniform(-20, 20, 20), EDGES])
    root = decompose(op(name, param(0, FLOAT64)))
    want = evaluate(root, Environment(params={0: x}))
    for width in (1, 4, 8):
        got = compiled(root, width=width)(x)
        assert np.array_equal(got, want, equal_nan=True)
        assert np.array_equal(np.signbit(got), np.signbit(want))
