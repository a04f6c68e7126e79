"""Refused kernels: each is refused at the call, at the user's line, before anything is written."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from tests.errors import refused_lists, refused_made, refused_parts
from tests.errors.refused_kernels import CASES as KERNELS
from tests.errors.refused_kernels import ELSEWHERE

import fusewright as fw
from fusewright.base import errors

CASES = {**KERNELS, **refused_made.CASES, **refused_parts.CASES, **refused_lists.CASES}


@pytest.mark.parametrize("name", CASES)
def test_refused(name: str) -> None:
    kernel, arguments, words = CASES[name]
    before = copy.deepcopy([a for a in arguments if isinstance(a, np.ndarray)])
    with pytest.raises(fw.FusewrightError) as caught:
        kernel(*arguments)
    text = str(caught.value)
    assert words in text
    where = caught.value.where
    assert where is not None
    with open(where[0]) as file:
        line = file.read().splitlines()[where[1] - 1]
    assert name in ELSEWHERE or "# <" in line, text
    assert "^" in text
    after = [a for a in arguments if isinstance(a, np.ndarray)]
    for a, b in zip(before, after, strict=True):
        np.testing.assert_array_equal(a, b)


@fw.kernel
def outside(a, n):
    for i in range(n):
        for j in range(2):
            a[i + j] = i


@fw.kernel
def divides(a, n):
    a[0] = 7 % n


@fw.kernel
def raises(a, e):
    a[0] = a[1] ** e[0]


def checked(target: str) -> Any:
    return fw.options(check=True, target=target)


@pytest.mark.parametrize("target", ["cpu", "reference"])
def test_bounds(target: str) -> None:
    a = np.zeros(4)
    with checked(target), pytest.raises(errors.BoundsError) as caught:
        outside(a, 5)
    text = str(caught.value)
    assert "index 4 is out of bounds for dim 0 of `a`, which has 4 elements" in text
    assert "in the iteration i = 3, j = 1" in text
    assert "a[i + j] = i" in text
    assert a.tolist() == [0, 1, 2, 3]  # what ran before has been written


@pytest.mark.parametrize("target", ["cpu", "reference"])
def test_division(target: str) -> None:
    with checked(target), pytest.raises(ZeroDivisionError, match="division by zero"):
        divides(np.zeros(1), 0)


@pytest.mark.parametrize("target", ["cpu", "reference"])
def test_integer_power(target: str) -> None:
    with checked(target), pytest.raises(ValueError, match="negative integer power"):
        raises(np.arange(3), np.array([-1]))


def test_arguments() -> None:
    for bad, words in (
        (([1.0, 2.0], 3), "argument `a` is a list"),
        ((np.zeros(3, np.clongdouble), 3), "elements of type complex256"),
        ((np.zeros(3, ">f8"), 3), "elements of type >f8"),
        ((np.zeros(3), 2**70), "argument `n` is 1180591620717411303424"),
        ((np.ma.masked_array([1.0, 2.0]), 1), "argument `a` is a MaskedArray"),
        ((np.zeros(3),), "missing a required argument: 'n'"),
        ((np.zeros(25, np.uint8)[1:].view(np.float64), 1), "is not aligned"),
    ):
        with pytest.raises(fw.FusewrightError) as caught:
            outside(*bad)
        assert words in str(caught.value)
        assert caught.value.where is not None
        assert caught.value.where[0] == __file__


def test_no_source() -> None:
    space: dict[str, Any] = {"fw": fw}
    exec("@fw.kernel\ndef f(a):\n    a[0] = 1\n", space)
    with pytest.raises(fw.FusewrightError, match="the source of f cannot be read"):
        space["f"](np.zeros(1))


def test_not_a_function() -> None:
    with pytest.raises(fw.FusewrightError, match="not of builtin_function"):
        fw.kernel(len)
    with pytest.raises(fw.FusewrightError, match="integers="):
        fw.kernel(outside.__wrapped__, integers="pascal")


@fw.kernel(integers="c")
def calls_another(a):
    divides(a, 2)


def test_other_integers() -> None:
    with pytest.raises(fw.FusewrightError, match="divides divides integers in another way"):
        calls_another(np.zeros(1))


def test_stars() -> None:
    @fw.kernel
    def stars(*arrays):
        pass

    with pytest.raises(fw.FusewrightError, match=r"a kernel cannot take \*arrays"):
        stars(np.zeros(1))
