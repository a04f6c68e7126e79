"""Minima and maxima of floats run in vectors and on threads, and are what CPython gives: the sign
of a zero and numbers that are none included.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import same_as_cpython, small_work_on_threads
from tests.unit.kernels import extreme_kernels

import fusewright as fw

NAN, INF = float("nan"), float("inf")
R = np.random.default_rng(6)
NUMBERS = R.normal(size=83)
MIXED = R.choice([0.0, -0.0, 1.0, -1.0, NAN, INF, -INF], size=83)
ARRAYS: dict[str, Any] = {
    "numbers": NUMBERS,
    "none": NUMBERS[:0],
    "one": NUMBERS[:1],
    "below zero": -abs(NUMBERS),
    "zeros": R.choice([0.0, -0.0], size=83),
    "zeros and below": np.minimum(R.choice([0.0, -0.0], size=83), NUMBERS) * (NUMBERS > 0.5),
    "none of them a number": np.full(40, NAN),
    "some not": np.where(NUMBERS > 1.0, NAN, NUMBERS),
    "mixed": MIXED,
    "without end": np.full(40, -INF),
}
STARTS = (0.0, -0.0, -5.0, 5.0, NAN, -INF, INF)
VECTORS = ("greatest", "least", "both", "numpy_greatest", "numpy_least", "of_a_matrix")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("name", [*VECTORS, "swapped", "with_place"])
def test_as_in_cpython(name: str, array: str, dtype: Any) -> None:
    kernel = getattr(extreme_kernels, name)
    values = ARRAYS[array].astype(dtype)
    for start in STARTS:
        wanted = kernel.__wrapped__(values, dtype(start))
        for threads in (1, 2):
            with fw.options(threads=threads), small_work_on_threads():
                found = kernel(values, dtype(start))
            for x, y in zip(np.atleast_1d(found), np.atleast_1d(wanted), strict=True):
                same = x.tobytes() == y.tobytes() or (x != x and y != y)
                assert same, (start, found, wanted)


@pytest.mark.parametrize("name", VECTORS)
def test_they_run_in_vectors_and_on_threads(name: str) -> None:
    kernel = fw.kernel(getattr(extreme_kernels, name).__wrapped__)
    same_as_cpython(kernel, np.where(NUMBERS > 1.0, NAN, NUMBERS), np.float64(0.1))
    with fw.options(threads=2):
        kernel(NUMBERS, np.float64(0.1))
        first = kernel.explain().codes[0].loops[0]
    assert first.vectors, str(kernel.explain())
    assert first.threads, str(kernel.explain())


@pytest.mark.parametrize("name", VECTORS)
def test_threads_and_one_thread_agree_on_many_numbers(name: str) -> None:
    kernel = getattr(extreme_kernels, name)
    for special in (None, 0.0, -0.0, NAN):
        values = np.random.default_rng(8).normal(size=300_000)
        if special is not None:
            values[200_001:] = -abs(values[200_001:])
            values[[17, 250_000]] = special
        found = []
        for threads in (1, 2):
            with fw.options(threads=threads):
                found.append(np.atleast_1d(kernel(values, np.float64(-INF))).tobytes())
        assert found[0] == found[1]


def test_what_keeps_its_order() -> None:
    for name in ("swapped", "with_place"):
        kernel = fw.kernel(getattr(extreme_kernels, name).__wrapped__)
        kernel(NUMBERS, np.float64(0.0))
        assert kernel.stats.parallel_loops == 0
