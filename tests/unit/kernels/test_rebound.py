"""A name that a loop or a branch gives another array: copied where nobody else sees the old one,
refused where somebody does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import same_as_cpython
from tests.unit.kernels import rebound_kernels as kernels
from tests.unit.kernels.data import Numbers

import fusewright as fw

numbers = Numbers(5)
reals = numbers.reals


@pytest.mark.parametrize("n", [0, 1, 3])
def test_products(n: int) -> None:
    whole = np.rint(3 * reals(3, 3))
    same_as_cpython(kernels.products, whole, n)
    same_as_cpython(kernels.power, whole, n)


@pytest.mark.parametrize("n", [0, 2, 3])
def test_in_loops(n: int) -> None:
    same_as_cpython(kernels.rolled, reals(6), n)
    same_as_cpython(kernels.parameter, reals(9), n)
    same_as_cpython(kernels.in_a_view_before, reals(5), n)
    normalised = kernels.normalised
    found, wanted = (each(np.ones(4), n) for each in (normalised, normalised.__wrapped__))
    np.testing.assert_allclose(found, wanted, rtol=1e-15)


@pytest.mark.parametrize("flag", [True, False])
def test_in_branches(flag: bool) -> None:
    same_as_cpython(kernels.sorted_or_not, reals(7), flag)
    same_as_cpython(kernels.small_and_large, reals(14), flag)
    same_as_cpython(kernels.other_size, reals(5), reals(5), flag)


def test_other_sizes() -> None:
    with pytest.raises(ValueError, match="an array of 5 elements, and on another path of 4"):
        kernels.other_size(reals(5), reals(4), True)
    same_as_cpython(kernels.other_size, reals(5), reals(4), False)


@pytest.mark.parametrize("kernel", [kernels.in_a_tuple, kernels.in_a_view, kernels.by_a_condition])
def test_what_another_name_shows_is_not_overwritten(kernel: Any) -> None:
    """It was: `t = (x, i)` had the new elements after `x = x + 1`."""
    with pytest.raises(fw.FusewrightError, match=r"`.` and `x` are one local array") as found:
        kernel(reals(5), 3)
    assert "x.copy()" in found.value.help


@pytest.mark.parametrize("n", [0, 1, 3])
def test_an_argument_is_the_callers(n: int) -> None:
    same_as_cpython(kernels.an_argument, reals(5), n)
