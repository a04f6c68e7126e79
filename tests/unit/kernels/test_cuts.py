"""Slices of computed steps, split arrays, and powers modulo a number: as in CPython."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import assert_same, same_as_cpython
from tests.unit.kernels import cut_kernels as cuts
from tests.unit.kernels.data import Numbers

import fusewright as fw

reals = Numbers(5).reals


@pytest.mark.parametrize("step", [1, 2, 3, 20, -1, -2, -7, -20])
def test_each_step(step: int) -> None:
    a = reals(13)
    for low, high in ((0, 13), (2, 9), (9, 2), (-4, 50), (50, -50), (-50, 4)):
        wanted = cuts.every.__wrapped__(a, low, high, step)
        assert_same(cuts.every(a, low, high, step), wanted, f"{low}:{high}:{step}")
        assert cuts.every(a[:0], low, high, step) == (0.0, 0)


def test_in_every_way_to_run() -> None:
    for step in (2, -3):
        same_as_cpython(cuts.every, reals(9), 1, 8, step)
        same_as_cpython(cuts.every_from_an_end, np.arange(11.0), step)
        same_as_cpython(cuts.of_a_plane, reals(5, 7), step, 2)
        same_as_cpython(cuts.written, reals(12), step)
    same_as_cpython(cuts.strides, reals(9))


def test_of_other_steps() -> None:
    for step, other in ((1, 1), (2, -1), (-2, 3), (9, -9)):
        a = reals(6, 8)
        assert_same(
            cuts.of_a_plane(a, step, other), cuts.of_a_plane.__wrapped__(a, step, other), "plane"
        )


def test_a_view_is_given_back() -> None:
    a = reals(10)
    for step in (3, -3):
        found = cuts.given_back(a, step)
        np.testing.assert_array_equal(found, a[::step])
        assert np.shares_memory(found, a)


def test_no_step() -> None:
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        cuts.given_back(reals(4), 0)


def test_split() -> None:
    for size in (0, 1, 3, 4, 11):
        same_as_cpython(cuts.uneven, np.arange(float(size)))
    same_as_cpython(cuts.even, reals(8))
    for k in (-2, 1, 4, 40):
        same_as_cpython(cuts.at_places, np.arange(9.0), k)
    same_as_cpython(cuts.planes, reals(6, 12))


def test_what_does_not_divide() -> None:
    with pytest.raises(ValueError, match="array split does not result in an equal division"):
        cuts.halves(reals(7))


def test_a_number_of_parts_that_is_computed() -> None:
    @fw.kernel
    def split(a: Any, n: int) -> Any:
        return np.array_split(a, n)[0] * 2

    with pytest.raises(fw.FusewrightError, match="a literal from 1 to 64"):
        split(reals(8), 2)


@pytest.mark.parametrize("modulus", [1, 2, 7, -7, 97, 10**9 + 7, 2**61 - 1, 2**62 + 5, -(2**45)])
def test_powers_modulo(modulus: int) -> None:
    for base in (0, 1, 3, -5, 10**9, -(2**62)):
        for exponent in (0, 1, 2, 13, 10**9, 2**62 + 1):
            assert cuts.modular(base, exponent, modulus) == pow(base, exponent, modulus)


def test_inverses() -> None:
    for base, modulus in ((3, 7), (-3, 7), (3, -7), (10, 10**9 + 7), (1, 1), (5, 2**61 - 1)):
        for exponent in (-1, -6):
            assert cuts.modular(base, exponent, modulus) == pow(base, exponent, modulus)
    with pytest.raises(ValueError, match="not invertible"):
        cuts.modular(2, -1, 4)
    with pytest.raises(ValueError, match="3rd argument cannot be 0"):
        cuts.modular(2, 5, 0)


def test_powers_modulo_in_a_loop() -> None:
    same_as_cpython(cuts.is_prime, 60, np.zeros(60, bool))


def test_floats_have_none() -> None:
    with pytest.raises(fw.FusewrightError, match="integers only"):
        cuts.modular(2.0, 3, 5)
