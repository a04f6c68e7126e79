"""Vector loops begin with a part of a vector, so that the others write whole lines: right wherever
an array begins, and nothing beside it is touched.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fusewright as fw
from fusewright.ir.loops.statements import For, walk
from fusewright.plan.loops.plan import Settings

LENGTHS = (1, 7, 16, 95, 96, 97, 130, 300)


@fw.kernel
def scaled(a: Any, b: Any, c: Any) -> None:
    for i in range(1, a.shape[0] - 1):
        b[i] = a[i - 1] + a[i + 1]
        c[i] = a[i] * 2


@fw.kernel
def rows(a: Any, b: Any) -> None:
    for i, j in fw.ndrange(a.shape[0], a.shape[1]):
        b[i, j] = a[i, j] + i * j


def placed(offset: int, shape: tuple[int, ...], dtype: str) -> tuple[Any, Any]:
    """An array that begins so many elements after a line, and all around it."""
    count = int(np.prod(shape))
    raw = np.full(count + 256, 77, dtype)
    first = -(raw.ctypes.data // raw.itemsize) % (64 // raw.itemsize) + 64 + offset
    return raw[first : first + count].reshape(shape), raw


@pytest.mark.parametrize("features", ["avx2", "auto"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8"])
@pytest.mark.parametrize("offset", [0, 1, 3, 15])
def test_nothing_beside_an_array_is_touched(dtype: str, offset: int, features: str) -> None:
    for length in LENGTHS:
        (a, _), (b, around_b), (c, around_c) = (
            placed(offset + k, (length,), dtype) for k in (0, 0, 5)
        )
        a[:] = np.arange(length)
        wanted_b, wanted_c = around_b.copy(), around_c.copy()
        place = (b.ctypes.data - around_b.ctypes.data) // b.itemsize
        other = (c.ctypes.data - around_c.ctypes.data) // c.itemsize
        if length > 2:
            wanted_b[place + 1 : place + length - 1] = a[:-2] + a[2:]
            wanted_c[other + 1 : other + length - 1] = a[1:-1] * 2
        with fw.options(features=features):
            scaled(a, b, c)
        assert around_b.tobytes() == wanted_b.tobytes()
        assert around_c.tobytes() == wanted_c.tobytes()


@pytest.mark.parametrize("width", [5, 63, 100, 257])
def test_each_row_begins_anew(width: int) -> None:
    for offset in (0, 2):
        (a, _), (b, around) = (placed(offset, (9, width), "float32") for _ in range(2))
        a[:] = np.random.default_rng(3).normal(size=a.shape)
        wanted = around.copy()
        place = (b.ctypes.data - around.ctypes.data) // 4
        terms = np.multiply.outer(np.arange(9), np.arange(width)).astype("f4")
        wanted[place : place + a.size] = (a + terms).ravel()
        rows(a, b)
        assert around.tobytes() == wanted.tobytes()


def test_work_of_strips_is_no_more_than_that_of_the_loop() -> None:
    """A strip is as long as what is left of the loop, not as a whole strip, where that is less."""

    def shifted(a: Any, b: Any) -> None:
        for i in range(1, a.shape[0] - 1):
            b[i] = a[i - 1] + a[i + 1]
        for i in range(2, a.shape[0] - 2):
            a[i] = b[i - 1] + b[i + 1]

    kernel = fw.kernel(shifted)
    kernel(np.ones(100), np.ones(100))
    (found,) = next(iter(kernel.specialisations.values()))
    (code,) = found.compiled.values()
    plan = code.plan
    outer = [
        s for s in walk(plan.kernel.body) if isinstance(s, For) and s.dims[0].index in plan.work
    ]
    ends, strips = (str(plan.work[loop.dims[0].index]) for loop in outer)
    assert "imin(2, add(p0, -2))" in ends
    assert f"imin(imin({Settings().elements}" in strips
    assert "add(p0, -2)" in strips
