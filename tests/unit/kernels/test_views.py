"""Arrays in other forms: the memory of the array they are of, as in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernel_runs import same_as_cpython
from tests.unit.kernels import view_kernels as views
from tests.unit.kernels.data import Numbers

import fusewright as fw

numbers = Numbers(7)
reals, whole = numbers.reals, numbers.whole


@pytest.mark.parametrize("shape", [(3, 4), (6, 2), (1, 12), (2, 6)])
def test_forms(shape: tuple[int, int]) -> None:
    same_as_cpython(views.live, reals(max(shape), 4))
    same_as_cpython(views.forms, reals(*shape), 2)
    same_as_cpython(views.forms, whole(*shape), 6)
    same_as_cpython(views.in_place, reals(*shape), reals(*shape))
    same_as_cpython(views.rounds, reals(*shape))
    same_as_cpython(views.sum_of_flat, reals(*shape))
    same_as_cpython(views.pairs, reals(*shape))


def test_forms_of_computed_arrays() -> None:
    same_as_cpython(views.of_computed, reals(3, 4))
    same_as_cpython(views.parts_of_complex, reals(5) + 1j * reals(5))


def test_other_layouts() -> None:
    for a in (reals(4, 3).T, reals(3, 8)[:, ::2], reals(3, 4)[::-1]):
        same_as_cpython(views.rounds, a)
        same_as_cpython(views.sum_of_flat, a)
        same_as_cpython(views.pairs, a)


def test_numbers() -> None:
    same_as_cpython(views.of_numbers, 1.5)
    same_as_cpython(views.of_numbers, reals(3))


@pytest.mark.parametrize("a", [reals(3, 4), reals(3, 8)[:, ::2], reals(5, 2)[1:4]])
def test_views_that_are_returned(a: Any) -> None:
    """They share the argument's memory where NumPy's do."""
    wanted = views.returned_views.__wrapped__(a)
    for _ in range(2):
        for x, y in zip(views.returned_views(a), wanted, strict=True):
            np.testing.assert_array_equal(x, y, strict=True)
            assert np.shares_memory(x, a) == np.shares_memory(y, a)
            first = [each.__array_interface__["data"][0] for each in (x, y)]
            assert first[0] == first[1] or not np.shares_memory(x, a)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_any_shape(data: st.DataObject) -> None:
    """`reshape` between shapes that are only known at the call."""
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    size = int(np.prod(shape))
    first = data.draw(st.sampled_from([k for k in range(1, size + 1) if size % k == 0]))
    second = data.draw(st.sampled_from([k for k in range(1, size // first + 1) if size % k == 0]))
    a = np.arange(size, dtype=float).reshape(shape)
    found = outer(a, first, second)
    if size % (first * second):
        return
    np.testing.assert_array_equal(found, a.reshape(first, -1, second) * 2, strict=True)


def outer(a: Any, first: int, second: int) -> Any:
    """The kernel's result; None where the sizes do not fit, which must be said."""
    if a.size % (first * second):
        with pytest.raises(ValueError, match="cannot have a shape"):
            doubled(a, first, second)
        return None
    return doubled(a, first, second)


@fw.kernel
def doubled(a: Any, first: Any, second: Any) -> Any:
    b = a.reshape(first, -1, second)
    return b * 2


REFUSED = {
    "sizes": (views.misfit, (reals(3, 4), 5), ValueError, "12 elements cannot have a shape of 10"),
    "unsure": (views.unsure, (reals(3, 4).T,), fw.FusewrightError, "`a` is written to"),
    "unsure later": (views.unsure_later, (reals(3, 4).T,), fw.FusewrightError, "is written before"),
    "axis": (views.unknown_axis, (reals(3), 0), fw.FusewrightError, "an axis that is a Python int"),
    "squeezed": (views.squeezed, (reals(3, 1),), fw.FusewrightError, "without an axis"),
    "part": (views.into_a_part, (reals(3) * 1j,), fw.FusewrightError, "real or imaginary part"),
    "named part": (views.into_a_named_part, (reals(3) * 1j,), fw.FusewrightError, "imaginary part"),
    "two open": (views.two_open, (reals(3),), fw.FusewrightError, "more than one -1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    kernel, arguments, error, text = REFUSED[name]
    with pytest.raises(error, match=text) as found:
        kernel(*arguments)
    assert "view_kernels.py:" in str(found.value)
    assert "^" in str(found.value)
