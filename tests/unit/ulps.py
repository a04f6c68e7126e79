"""Errors in units in the last place against mpmath, and arguments worth trying."""

from __future__ import annotations

import math
import os
from typing import Any

import mpmath
import numpy as np

Array = np.ndarray[Any, Any]
SWEEP = int(os.environ.get("FUSEWRIGHT_TEST_SWEEP", "1"))
"""Multiplies the number of arguments: 1 in CI, 100 for a long look."""

SPECIAL = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, math.inf, -math.inf, math.nan, 3.0, 1e-300, -1e-300,
    5e-324, -5e-324, 1e-45, -1e-45, 2.2250738585072014e-308, 1.1754943508222875e-38,
    1.7976931348623157e308, -1.7976931348623157e308, 3.4028234663852886e38, math.pi, math.e, 1e5,
    -745.13, -745.14, 709.78, 709.79, 88.72, 88.73, -103.97, -103.98, 1e22, 1e-8, 6.0, 27.2, -6.0,
    0.75,
]  # fmt: skip


def arguments(dtype: Any, count: int, seed: int, centres: tuple[float, ...] = ()) -> Array:
    """Random bit patterns, every order of magnitude, the neighbourhoods of the centres, the special
    values.
    """
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    info = np.finfo(dtype)
    patterns = rng.integers(0, 1 << (8 * dtype.itemsize), count, dtype=f"u{dtype.itemsize}")
    scaled = rng.standard_normal(count) * 10.0 ** rng.uniform(-8, 4, count)
    parts = [patterns.view(dtype), scaled, rng.uniform(-2, 2, count), np.array(SPECIAL)]
    for centre in centres:
        distances = 10.0 ** rng.uniform(-12, -1, count // 4)
        parts.append(centre + rng.standard_normal(count // 4) * distances)
        steps = np.arange(-8, 9) * float(np.spacing(dtype.type(centre or info.tiny)))
        parts.append(centre + steps)
    with np.errstate(all="ignore"):
        return np.concatenate([part.astype(dtype) for part in parts])


def _ulp(value: Any, info: Any) -> Any:
    """The spacing of the format at an exact value."""
    if value == 0:
        return mpmath.mpf(float(info.smallest_subnormal))
    exponent = mpmath.frexp(value)[1] - 1
    return mpmath.ldexp(1, max(exponent, int(info.minexp)) - int(info.nmant))


def error(got: float, exact: Any, info: Any) -> float:
    """How far `got` is from an exact value, in ulp; infinite where the kind of result is wrong."""
    if isinstance(exact, mpmath.mpc) or mpmath.isnan(exact):
        return 0.0 if math.isnan(got) else math.inf
    if mpmath.isinf(exact):
        return 0.0 if got == float(exact) else math.inf
    limit = mpmath.ldexp(1, int(info.maxexp))
    if math.isinf(got):  # right from half a step below the first power of two that does not fit
        largest = limit - _ulp(limit / 2, info)
        return 0.0 if got * mpmath.sign(exact) > 0 and abs(exact) >= largest else math.inf
    if math.isnan(got):
        return math.inf
    return float(abs(mpmath.mpf(got) - exact) / _ulp(exact, info))


def worst(got: Array, exact: list[Any]) -> tuple[float, int]:
    """The greatest error and where it is."""
    info = np.finfo(got.dtype)
    errors = [error(float(g), e, info) for g, e in zip(got, exact, strict=True)]
    place = int(np.argmax(errors))
    return errors[place], place
