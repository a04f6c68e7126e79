"""Arrays reduced along some of their dims: NumPy's bits, also of floats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernel_runs import assert_same, outcome, same_as_cpython
from tests.unit.kernels import reduction_kernels as sums
from tests.unit.kernels.data import Numbers

import fusewright as fw

numbers = Numbers(7)
reals, whole = numbers.reals, numbers.whole

KERNELS = [sums.all_of_it, sums.first, sums.last, sums.places, sums.turned]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_two_dims(kernel: Any) -> None:
    same_as_cpython(kernel, reals(40, 19))
    same_as_cpython(kernel, whole(3, 4))


def test_more_dims() -> None:
    same_as_cpython(sums.middle, reals(5, 9, 12))
    same_as_cpython(sums.places, reals(5, 9, 12))
    same_as_cpython(sums.parts, reals(23, 31))
    some = np.where(reals(5, 9) > 0.5, np.nan, reals(5, 9))
    same_as_cpython(sums.without_nan, some)
    same_as_cpython(sums.counted, reals(5, 9), 1)
    same_as_cpython(sums.in_a_loop, reals(6, 5), np.zeros(6))


def same_bits(kernel: Any, *arguments: Any) -> None:
    """The kernel does what the function does, compiled in one way."""
    wanted = outcome(kernel.__wrapped__, arguments)
    assert_same(outcome(kernel, arguments)[0], wanted[0], kernel.__name__)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([*KERNELS, sums.parts]),
    st.sampled_from([1, 2, 7, 8, 9, 40, 129, 300]),
    st.sampled_from([1, 2, 3, 8, 17, 130, 1000]),
    st.sampled_from([np.float64, np.float32, np.int64, np.int8, np.bool_]),
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_any_shape(kernel: Any, rows: int, columns: int, dtype: Any) -> None:
    if dtype is np.bool_ and kernel in (sums.all_of_it, sums.first, sums.last, sums.parts):
        return  # NumPy does not subtract truth values
    values = reals(rows, columns) * 30
    same_bits(kernel, values.astype(dtype))


@settings(max_examples=30, deadline=None)
@given(st.tuples(*[st.sampled_from([1, 2, 9, 20, 33])] * 3))
def test_any_shape_of_three_dims(shape: tuple[int, ...]) -> None:
    same_bits(sums.middle, reals(*shape))
    same_bits(sums.last, reals(*shape))


def test_means_of_whole_numbers() -> None:
    for n in (1, 100, 8192, 8193, 20000):
        same_bits(sums.turned, whole(n, 1))
        a = np.random.default_rng(n).integers(-(2**30), 2**30, (n, 2))
        assert sums.turned(a)[3].tolist() == sums.turned.__wrapped__(a)[3].tolist()


def test_numbers() -> None:
    same_as_cpython(sums.of_a_number, 2.5)
    same_as_cpython(sums.of_a_number, np.float32(-2.5))


def test_lazy_arrays() -> None:
    a = reals(30, 40)
    found = sums.first(fw.asarray(a))
    for x, y in zip(found, sums.first.__wrapped__(a), strict=True):
        np.testing.assert_array_equal(np.asarray(x), y)


REFUSED = {
    "layout": (sums.unknown_layout, reals(5, 4).T, "may not lie in C order"),
    "apart": (sums.apart, reals(2, 3, 4), "do not follow one another"),
    "axis": (sums.too_far, reals(2, 3), "axis 2 is out of bounds for an array of 2 dims"),
    "twice": (sums.twice, reals(2, 3), "named twice"),
    "argument": (sums.other_argument, reals(2, 3), "argument `initial` of np.sum"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    kernel, array, text = REFUSED[name]
    with pytest.raises(fw.FusewrightError, match=text) as found:
        kernel(array)
    assert "reduction_kernels.py:" in str(found.value)
    assert "^" in str(found.value)


def test_an_axis_that_is_an_argument() -> None:
    a = reals(4, 5)
    for axis in (-1, 0, 1, 0):
        for keepdims in (True, False):
            found = sums.softmax(a, axis, keepdims)
            for x, y in zip(found, sums.softmax.__wrapped__(a, axis, keepdims), strict=True):
                np.testing.assert_allclose(x, y, rtol=1e-14, strict=True)
    assert sums.softmax(a)[0].shape == (4, 5)
