"""Lazy numbers behave like NumPy's."""

from __future__ import annotations

import math
import numbers
import operator

import numpy as np
import pytest

import fusewright as fw
import fusewright.frontends.arrays as fa
import fusewright.numpy as fnp


def test_a_full_index_and_a_full_reduction_are_numbers() -> None:
    x = fa.asarray(np.arange(4.0))
    assert type(x[2]) is np.float64  # it is known
    for value in (x[2], x.sum() / 3.0, (x + 0.0)[2], (x * 1.0).reshape(2, 2)[1, 0]):
        assert type(value) in (fa.Scalar, np.float64)
        assert isinstance(value, numbers.Number)
        assert value.shape == ()
        assert value == 2.0
        assert hash(value) == hash(2.0)
        assert {value: "two"}[2.0] == "two"
    assert type(x[2, ...]) is not fa.Scalar


def test_conversions() -> None:
    x = fa.asarray(np.array([2, 5]))
    assert int(x[1]) == 5
    assert float(x[1]) == 5.0
    assert complex(x[1]) == 5 + 0j
    assert list(range(10))[x[1]] == 5
    assert bool(x[0])
    assert round(x.mean(), 1) == 3.5
    assert math.floor(x.mean()) == 3
    assert math.ceil(x.mean()) == 4
    assert math.trunc(x.mean()) == 3
    assert divmod(x[1], 2) == (2, 1)
    assert pow(x[1], 2) == 25
    assert f"{x.mean():.2f}" == "3.50"
    assert repr(x.mean()) == "np.float64(3.5)"
    assert str(x.mean()) == "3.5"
    assert math.sqrt(x[1] - 1) == 2.0
    with pytest.raises(TypeError):
        list(range(10))[x.mean()]


def test_in_place_makes_a_new_number() -> None:
    x = fa.asarray(np.arange(3.0))
    total = x.sum()
    kept = total
    total += 1.0
    assert (kept, total) == (3.0, 4.0)
    element = x[1]
    x[1] = 50.0
    assert element == 1.0


def test_numbers_have_strong_types() -> None:
    single = fa.asarray(np.ones(3, np.float32))
    double = fa.asarray(np.ones(3)).sum()
    assert (single * double).dtype == np.float64
    assert (single * 2.0).dtype == np.float32
    assert (single * np.float64(2)).dtype == np.float64


def test_weak_scalars_compare_by_value() -> None:
    x = fa.asarray(np.array([0, 255], np.uint8))
    assert (x < 300).tolist() == [True, True]
    assert (x > -1).tolist() == [True, True]
    assert (x == 2**70).tolist() == [False, False]
    assert (x < 300).tolist() == [True, True]


def test_zero_dimensional_arrays_are_mutable() -> None:
    x = fa.asarray(np.array(3.0))
    assert type(x) is fa.Array
    x[...] = 4.0
    x += 1.0
    x[()] = x * 2.0
    assert x == 10.0
    assert type(x + 1.0) in (fa.Scalar, np.float64)


def test_odd_comparisons() -> None:
    x = fa.asarray(np.arange(2))
    assert (x == None).tolist() == [False, False]  # noqa: E711
    assert (x != None).tolist() == [True, True]  # noqa: E711
    assert (x == "text") is False or not np.any(np.asarray(x == "text"))
    for other in (b"text", object(), {}, np.array(["a", "b"]), np.datetime64("2026-11-27"), Odd()):
        for compare in (operator.eq, operator.ne):
            wanted = compare(np.arange(2), other)
            assert np.array_equal(np.asarray(compare(x, other)), np.asarray(wanted)), other


class Odd:
    """Another library's array: its type is none of NumPy's."""

    dtype = "category of 3"


WRITES = {
    "item": lambda np, x: operator.setitem(x, ..., 1),
    "out": lambda np, x: np.add(x, 1, out=x),
    "copyto": lambda np, x: np.copyto(x, 1),
    "masked copyto": lambda np, x: np.copyto(x, 1, where=True),
    "at": lambda np, x: np.add.at(x, (), 1),
    "place": lambda np, x: np.place(x, [True], [1]),
    "out of a sum": lambda np, x: np.sum([1, 2], out=x),
}


@pytest.mark.parametrize("name", WRITES)
def test_numbers_are_no_places_to_write_to(name: str) -> None:
    with fw.options(small=0):
        for module, x in ((np, np.arange(600.0).sum()), (fnp, (fnp.arange(600.0) * 2).sum())):
            with pytest.raises(TypeError):
                WRITES[name](module, x)
