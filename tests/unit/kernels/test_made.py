"""Functions and comprehensions inside kernels, and assertions, are what CPython makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import same_as_cpython
from tests.unit.kernels import made_kernels

import fusewright as fw
from fusewright.base.errors import AssertedError

NAMES = [
    "inner_function", "changed_on_a_path", "own_names", "functions_of_functions", "early_ends",
    "sums", "extremes", "questions", "written_out", "row_products", "named_values",
    "until_break", "bits",
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", NAMES)
def test_as_in_cpython(name: str, dtype: str) -> None:
    values = np.random.default_rng(4).normal(size=11).astype(dtype)
    values[5] = values[2]
    for c in (1.5, 0.25):
        same_as_cpython(getattr(made_kernels, name), values, c)


def test_assertions_are_looked_at_where_checks_are() -> None:
    a = np.array([1.0, -2.0, 3.0])
    assert made_kernels.checked(a, 3) == 2.0
    assert made_kernels.checked(a, 0) == 0.0
    with fw.options(check=True):
        assert made_kernels.checked(a[:1], 1) == 1.0
        with pytest.raises(AssertionError, match="n must be positive") as caught:
            made_kernels.checked(a, 0)
        assert isinstance(caught.value, AssertedError)
        assert 'assert n > 0, "n must be positive"' in str(caught.value)
        with pytest.raises(AssertedError, match=r"a\[i\] >= 0") as caught:
            made_kernels.checked(a, 3)
        assert "i=1" in str(caught.value).replace(" ", "")


@fw.kernel
def greatest(a: Any) -> float:
    return max(x for x in a)


def test_the_greatest_of_nothing() -> None:
    assert greatest(np.arange(3.0)) == 2.0
    with fw.options(check=True), pytest.raises(AssertedError, match="min or max of nothing"):
        greatest(np.zeros(0))


@fw.kernel
def rows_times_vector(a: Any, x: Any, y: Any) -> None:
    for i in range(a.shape[0]):
        y[i] = sum(a[i, k] * x[k] for k in range(a.shape[1]))


def test_a_sum_inside_a_parallel_loop_keeps_it_parallel() -> None:
    a, x = np.random.default_rng(1).normal(size=(40, 7)), np.arange(7.0)
    y, wanted = np.zeros(40), np.zeros(40)
    rows_times_vector(a, x, y)
    rows_times_vector.__wrapped__(a, x, wanted)
    assert y.tobytes() == wanted.tobytes()
    assert rows_times_vector.stats.parallel_loops == 1
