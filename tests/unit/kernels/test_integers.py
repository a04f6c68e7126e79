"""Integers of Python's and NumPy's in kernels: powers, 64 bits without a sign, literals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import same_as_cpython

import fusewright as fw

BITS = np.uint64(0xFFFFFFFFFFFFFFF1)


@fw.kernel
def powers(base: Any, exponent: Any, a: Any, k: Any, out: Any) -> Any:
    for i in range(len(a)):
        out[i, 0] = a[i] ** exponent
        out[i, 1] = base ** k[i]
        out[i, 2] = a[i] ** k[i]
        out[i, 3] = (-1) ** i + pow(base, exponent)
    return base**exponent, exponent**0, a**exponent, 2**k


@fw.kernel
def split_mix(x: Any, a: Any) -> Any:
    for i in range(len(a)):
        x = x + np.uint64(0x9E3779B97F4A7C15)
        z = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z & 0xFFFFFFFFFFFFFF00) * BITS
        a[i] = z ^ (z >> np.uint64(31))
        if a[i] > 0xFFFFFFFFFFFFFFF0 or z == 0x9E3779B97F4A7C15:
            a[i] = 0x9E3779B97F4A7C15
    return x, -9223372036854775808, 0xFFFFFFFFFFFFFFFF


@fw.kernel
def bits_of_int(x: Any) -> Any:
    return x & 0xFFFFFFFFFFFFFFFF


@fw.kernel
def bits_in_a_loop(n: Any) -> Any:
    h = 0xFFFFFFFFFFFFFFFF
    for _ in range(n):
        h = h >> 1
    return h


@fw.kernel
def greatest(a: Any) -> Any:
    most, least = -1, 0
    for i in range(len(a)):
        most = max(most, a[i])
        least = a[i] if a[i] < least else least
    return most, least


def test_powers() -> None:
    a, k = np.arange(-3, 6), np.arange(9) % 5
    for base, exponent in ((3, 4), (-2, 3), (0, 0), (7, 1)):
        same_as_cpython(powers, base, exponent, a, k, np.zeros((9, 4), np.int64))


@pytest.mark.parametrize("base", [2, np.int64(2)])
def test_negative_powers(base: Any) -> None:
    a, k = np.arange(3), np.arange(3)
    with fw.options(check=True), pytest.raises(ValueError, match="negative integer power"):
        powers(base, -1, a, k, np.zeros((3, 4), np.int64))


def test_bits() -> None:
    same_as_cpython(split_mix, np.uint64(5), np.zeros(20, np.uint64))
    with pytest.raises(fw.FusewrightError, match="out of bounds for int64"):
        bits_of_int(5)
    for steps in (0, 1, 3, 40):  # before the first step it is no int64
        assert bits_in_a_loop(steps) == bits_in_a_loop.__wrapped__(steps)


def test_extremes_from_a_literal() -> None:
    a = np.random.default_rng(0).standard_normal(30)
    for each in (a, a.astype(np.float32), (a * 9).astype(np.int64), (a * 9).astype(np.int8)):
        same_as_cpython(greatest, each)
