"""What is written to a few columns runs with the rows in lanes, and gives NumPy's bits: for every
rank, type and number of columns, across blocks of rows and parts of threads.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from tests.evaluators import begin

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.codegen.trees.columns import MOST_ROWS

SHAPES = [(1, 1), (7, 3), (300, 2), (1000, 9), (513, 17), (2, 700, 3), (40, 33, 4), (3, 5, 40, 2),
          (1, 1, 600, 5), (30, 300), (5000, 1)]  # fmt: skip
DTYPES = ["f8", "f4", "i4", "i8", "u1", "?", "c16", "f2", "i2"]


def _filled(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray[Any, Any]:
    values = np.random.default_rng(seed).normal(size=shape) * 50
    return values.astype(dtype) if dtype != "u1" else np.abs(values).astype(dtype)


def _program(np: Any, first: Any, second: Any, chosen: random.Random) -> Any:
    """Assignments to columns of an array, from columns and rows of others."""
    a, b = np.asarray(first).copy(), np.asarray(second)
    columns = a.shape[-1]
    for _ in range(chosen.randint(1, 6)):
        k, other = chosen.randrange(columns), chosen.randrange(columns)
        width = chosen.choice((1, 1, 1, 2, 4))
        match chosen.randrange(7):
            case 0:
                a[..., k] = b[..., other]
            case 1:
                a[..., k] = a[..., other]
            case 2:
                a[..., k : k + 1] = b[..., other : other + 1]
            case 3:
                a[..., k] = np.roll(a[..., k], chosen.choice((1, -1, 3)), axis=-1)
            case 4:
                part = a[..., k : k + width]
                a[..., k : k + width] = b[..., :1] | part if a.dtype == bool else part + b[..., :1]
            case 5:
                a[..., -1 - k] = 3
            case 6:
                a = a.copy()
                a[chosen.randrange(a.shape[0]) :, ..., k] = b[0, ..., 0].ravel()[0]
    return a


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_columns_have_numpys_bits(shape: tuple[int, ...], dtype: str) -> None:
    for seed in range(6):
        first, second = _filled(shape, dtype, seed), _filled(shape, dtype, seed + 100)
        wanted = _program(np, first, second, random.Random(seed))
        for options in ({"threads": 1}, {"threads": 2}, {"features": "avx2"}):
            with fw.options(small=0, interpret=False, **options):
                begin()
                found = _program(fnp, first, second, random.Random(seed))
                assert np.asarray(found).tobytes() == np.asarray(wanted).tobytes(), (seed, options)


def _loops(shape: tuple[int, ...], column: Any, dtype: str = "f8") -> str:
    with fw.options(small=0, interpret=False), fw.lazy():
        x = fnp.asarray(_filled(shape, dtype, 0)).copy()
        x[..., column] = fnp.asarray(_filled(x[..., column].shape, dtype, 1)) * 3
        return fw.show(x, "loops")


@pytest.mark.parametrize("column", [0, 2, -1, slice(1, 2)], ids=str)
@pytest.mark.parametrize("shape", [(400, 9), (40, 50, 9)], ids=str)
def test_rows_are_in_lanes(shape: tuple[int, ...], column: Any) -> None:
    row = "ijk"[len(shape) - 2]
    text = _loops(shape, column)
    assert any(f"for {row} in" in line and "lanes" in line for line in text.splitlines()), text


@pytest.mark.parametrize(("column", "dtype"), [(slice(0, 8), "f8"), (0, "u1")])
def test_rows_are_not_in_lanes(column: Any, dtype: str) -> None:
    text = _loops((400, 40), column, dtype)
    assert not any("for i in" in line and "lanes" in line for line in text.splitlines()), text


def test_a_column_is_one_element_wide() -> None:
    """Its extent is a literal, so that its loop along the row is none."""
    with fw.options(small=0, interpret=False), fw.lazy():
        x = fnp.asarray(_filled((300, 40), "f8", 0)) + 1
        text = fw.show(x[:, 7:8] * 2, "loops")
    assert f"rows = {MOST_ROWS}" in text, text
