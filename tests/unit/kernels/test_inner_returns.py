"""Functions that kernels call and that return new arrays at several places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fusewright as fw


def axis_of(q):  # type: ignore[no-untyped-def]
    if q[3] == 0.0:
        return np.array([0, 0, 1, 0], dtype=np.float64)
    elif np.isinf(q[3]):
        return np.append(q[:3], np.pi)
    else:
        return np.append(q[:3] / 2, 2 * q[3])


def rotation_of(q):  # type: ignore[no-untyped-def]
    if q[3] == 0.0:
        return np.array([1, 0, 0, 0], dtype=np.float64)
    r = np.append(q[3], q[:3] * 3)
    return r / 2


def start(q, n):  # type: ignore[no-untyped-def]
    if n > 2:
        r = np.zeros(4)
        r[0] = q[0]
        return r
    return np.ones(4)


def doubled(q, n):  # type: ignore[no-untyped-def]
    if n % 2:
        return q + 1
    return q * 2


def of_rows(function: Any) -> Any:
    @fw.kernel
    def rows(x):  # type: ignore[no-untyped-def]
        out = np.empty(x.shape)
        for i in range(x.shape[0]):
            out[i] = function(x[i])
        return out

    return rows


def of_numbers(function: Any) -> Any:
    @fw.kernel
    def sums(x):  # type: ignore[no-untyped-def]
        total = np.zeros(4)
        for i in range(6):
            made = function(x[i % 3], i)
            total += made
            made[0] = 100.0  # is no one's but this iteration's
        return total

    return sums


ROWS = np.array([[0.1, 0.2, 0.3, 0.4], [0.1, 0.2, 0.3, 0.0], [0.1, 0.2, 0.3, np.inf]])


@pytest.mark.parametrize("function", [axis_of, rotation_of])
def test_arrays_of_sizes_found_at_the_call(function: Any) -> None:
    kernel = of_rows(function)
    np.testing.assert_array_equal(kernel(ROWS), kernel.__wrapped__(ROWS))


@pytest.mark.parametrize("function", [start, doubled])
def test_the_memory_is_the_calls_own(function: Any) -> None:
    kernel = of_numbers(function)
    np.testing.assert_array_equal(kernel(ROWS), kernel.__wrapped__(ROWS))


def test_sizes_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fit together"):
        of_rows(axis_of)(np.ones((2, 2)))


def test_an_array_that_others_know_is_never_written_to() -> None:
    def either(x, y):  # type: ignore[no-untyped-def]
        if x[0] > 0.5:
            return x
        return y * 2

    @fw.kernel
    def use(x, y):  # type: ignore[no-untyped-def]
        z = either(x, y)
        z[1] = 7.0
        return x[1]

    with pytest.raises(fw.FusewrightError, match="on one path"):
        use(np.ones(3), np.ones(3))
