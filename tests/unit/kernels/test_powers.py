"""Powers of floats by literals: nearer than the C library's, special values its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from tests.kernel_runs import loaded

INF = float("inf")
TINY, LARGE = 5e-324, 1.7e308
SPECIAL = [0.0, -0.0, INF, -INF, np.nan, 1e-310, -1e-310, 1e200, -1e200, 1e-200, TINY, LARGE, -1.0]
EXPONENTS = [-3, -2, -1, 0.5, 1.5, 3, 4, 5, 7, 10, 31, 64]


def powers(exponent: Any, folder: Path) -> Any:
    return loaded(
        "import fusewright as fw\n\n@fw.kernel\ndef kernel(a, out):\n"
        f"    for i in range(len(a)):\n        out[i] = a[i] ** {exponent}\n",
        folder / f"powers_{abs(hash(exponent))}.py",
    )


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_errors(exponent: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    kernel = powers(exponent, tmp_path)
    values = np.concatenate([np.abs(rng.normal(size=300)), np.exp(rng.normal(size=200) * 4)])
    found = np.zeros_like(values)
    kernel(values, found)
    with mpmath.workprec(300):
        for x, y in zip(values.tolist(), found.tolist(), strict=True):
            if not np.isfinite(y):
                continue
            error = abs(mpmath.mpf(y) - mpmath.mpf(x) ** exponent) / np.spacing(abs(y))
            assert error < 0.52, (x, exponent)
    single = values.astype(np.float32)
    out = np.zeros_like(single)
    kernel(single, out)
    with np.errstate(all="ignore"):
        wanted = (single.astype(np.float64) ** exponent).astype(np.float32)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_special_values(exponent: Any, tmp_path: Path) -> None:
    values = np.array(SPECIAL)
    found = np.zeros_like(values)
    powers(exponent, tmp_path)(values, found)
    with np.errstate(all="ignore"):
        wanted = np.array([np.float64(x) ** exponent for x in SPECIAL])
    np.testing.assert_array_equal(found, wanted)
    some = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found)[some], np.signbit(wanted)[some])
