"""The committed coefficients are those `tools/fit.py` derives; its exchange levels the error."""

from __future__ import annotations

import math

import pytest
from mpmath import mpf
from tools import fit

from fusewright.ir.dtypes import FLOAT32, FLOAT64
from fusewright.rules.decompose import coefficients


@pytest.mark.parametrize("name", ["exp", "sin", "log_direct", "erf_tail", "inverse_cube_root"])
def test_coefficients_are_derived(name: str) -> None:
    row = next(row for row in fit.FITS if row.name == name)
    table = getattr(coefficients, name.upper())
    for degree, dtype in zip(row.degrees, (FLOAT64, FLOAT32), strict=True):
        if degree:
            derived, _ = fit.remez(row, degree)
            assert [float(c) for c in derived] == pytest.approx(table[dtype], rel=1e-9)


def test_exchange_levels_the_error() -> None:
    """The best line for x**2 on [0, 1] is x - 1/8, off by 1/8 at both ends and in the middle."""
    line, worst = fit.remez(fit.Fit("square", lambda x: x * x, mpf(0), mpf(1), (1, 0)), 1)
    assert [float(c) for c in line] == pytest.approx([-0.125, 1.0])
    assert math.isclose(float(worst), 0.125)
