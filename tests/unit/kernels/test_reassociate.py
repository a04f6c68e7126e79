"""`fw.options(reassociate=True)`: sums and products of floats in vectors and on threads; without it
they keep their order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import same_as_cpython, small_work_on_threads

import fusewright as fw


def total(a: Any) -> Any:
    """A sum."""
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


def differences(a: Any) -> Any:
    """A sum of what is subtracted, and of some iterations only."""
    s = 1.0
    t = 0.0
    for i in range(a.shape[0]):
        s -= a[i] * 2
        if a[i] > 0:
            t += a[i]
    return s, t


def product(a: Any) -> Any:
    """A product."""
    p = 1.0
    for i in range(a.shape[0]):
        p *= 1.0 + a[i] * 1e-3
    return p


def rows(m: Any, out: Any) -> None:
    """A sum for each row, in vectors along it."""
    for i in range(m.shape[0]):
        s = 0.0
        for j in range(m.shape[1]):
            s += m[i, j]
        out[i] = s


def running(a: Any) -> Any:
    """A sum that every iteration reads: its order is what it means."""
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
        a[i] = s
    return s


SIZES = (0, 1, 7, 1000)
R = np.random.default_rng(4)


def data(size: int, dtype: Any = np.float64) -> Any:
    return R.normal(size=size).astype(dtype)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("function", [total, differences, product])
def test_close_to_python(function: Any, threads: int) -> None:
    for size in SIZES:
        for dtype in (np.float64, np.float32):
            kernel, a = fw.kernel(function), data(size, dtype)
            with fw.options(reassociate=True, threads=threads), small_work_on_threads():
                found = kernel(a)
                assert kernel.stats.ordered_loops == 0, str(kernel.explain())
            np.testing.assert_allclose(
                found, function(a), rtol=1e-12 if dtype is np.float64 else 1e-4, atol=1e-3
            )


@pytest.mark.parametrize("function", [total, differences, product, running])
def test_in_order_without(function: Any) -> None:
    for size in SIZES[2:]:
        same_as_cpython(fw.kernel(function), data(size))


def test_rows_in_vectors() -> None:
    m, out = data(50 * 37).reshape(50, 37), np.zeros(50)
    kernel = fw.kernel(rows)
    with fw.options(reassociate=True):
        kernel(m, out)
    np.testing.assert_allclose(out, m.sum(1), rtol=1e-12)
    inner = kernel.explain().codes[0].loops[1]
    assert (inner.names, inner.vectors, inner.folds) == (("j",), True, ("s",))


def test_a_value_that_is_read_keeps_its_order() -> None:
    kernel, a = fw.kernel(running), data(100)
    wanted = a.copy()
    running(wanted)
    with fw.options(reassociate=True, threads=2), small_work_on_threads():
        kernel(a)
    assert a.tobytes() == wanted.tobytes()


def test_special_values() -> None:
    kernel = fw.kernel(total)
    with fw.options(reassociate=True, threads=2), small_work_on_threads():
        assert np.isnan(kernel(np.array([1.0, np.nan, 2.0] * 20)))
        assert kernel(np.array([1.0, np.inf, 2.0] * 20)) == np.inf
