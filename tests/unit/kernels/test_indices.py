"""Indices that are arrays, and arrays of sizes that are found on the way: as in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernel_runs import assert_same, outcome, same_as_cpython
from tests.unit.kernels import index_kernels as kernels
from tests.unit.kernels.data import Numbers

import fusewright as fw

numbers = Numbers(7)
reals = numbers.reals

K = np.array([0, -1, 2, 2])
MASK = np.array([True, False, True, True, False])


def test_reads() -> None:
    same_as_cpython(kernels.read, reals(5, 4), K, MASK)
    same_as_cpython(kernels.read_more, reals(5, 4), K.astype(np.int8), MASK)
    same_as_cpython(kernels.placed, reals(5, 4), MASK)
    same_as_cpython(kernels.three_dims, reals(4, 5, 3), K)


def test_nothing_is_selected() -> None:
    none, empty = np.zeros(5, bool), np.array([], int)
    same_as_cpython(kernels.read, reals(5, 4), empty, none)
    same_as_cpython(kernels.placed, -np.abs(reals(5, 4)), none)
    same_as_cpython(kernels.write_one_dim, reals(5), empty, none, reals(5))


def test_writes() -> None:
    same_as_cpython(kernels.write, reals(5, 4), K, MASK, reals(4))
    same_as_cpython(kernels.write, reals(5, 4), K, MASK, 2.5)
    same_as_cpython(kernels.write_one_dim, reals(5), K, MASK, reals(5))
    same_as_cpython(kernels.through_a_view, reals(3, 4))
    for n in (0, 1, 2, 3, 9, 40):
        same_as_cpython(kernels.shifted, reals(n), reals(n))


def test_sizes_that_are_found_on_the_way() -> None:
    for n in (0, 3, 40, 5000):
        same_as_cpython(kernels.sizes, reals(n), np.zeros(2))


@settings(max_examples=40, deadline=None)
@given(
    st.integers(3, 9),
    st.integers(3, 9),
    st.lists(st.integers(-3, 2), max_size=12),
    st.integers(0, 2**32),
)
def test_any_table(rows: int, columns: int, table: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    k, mask = np.array(table, np.int64), rng.random(rows) > 0.5
    for kernel, arguments in (
        (kernels.read, (k, mask)),
        (kernels.write, (k, mask, rng.normal(size=columns))),
    ):
        given_ = (rng.normal(size=(rows, columns)), *arguments)
        wanted = outcome(kernel.__wrapped__, given_)
        found = outcome(kernel, given_)
        assert_same(found[0], wanted[0], kernel.__name__)
        assert_same(list(found[1]), list(wanted[1]), kernel.__name__)


def test_lazy_arrays() -> None:
    a = reals(5, 4)
    found = kernels.read(fw.asarray(a), K, MASK)
    for x, y in zip(found, kernels.read.__wrapped__(a, K, MASK), strict=True):
        np.testing.assert_array_equal(np.asarray(x), y)


def test_a_mask_that_does_not_fit() -> None:
    with pytest.raises(ValueError, match="5 and 4 elements"):
        kernels.counts(reals(5), MASK[:4], 2.0)
    with pytest.raises(ValueError, match="3 elements are selected, and 4 values given"):
        kernels.counts(reals(5), MASK, reals(4))


def test_an_index_outside() -> None:
    with fw.options(check=True), pytest.raises(IndexError, match="index 7 is out of bounds"):
        kernels.read(reals(5, 4), np.array([7]), MASK)


REFUSED: dict[str, tuple[Any, tuple[Any, ...], str]] = {
    "floats": (kernels.of_floats, (reals(3),), "an array of float64 as an index"),
    "too many": (kernels.too_many, (reals(3), K), "2 indices into an array of rank 1"),
    "two sizes": (kernels.two_sizes, (reals(3),), "the sizes of two dims"),
    "narrower": (kernels.narrower, (np.arange(5), K), "into elements of int64"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    kernel, arguments, text = REFUSED[name]
    with pytest.raises(fw.FusewrightError, match=text) as found:
        kernel(*arguments)
    assert "index_kernels.py:" in str(found.value)
    assert "^" in str(found.value)
