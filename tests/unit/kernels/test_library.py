"""NumPy's functions of whole arrays in kernels: their results, their bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import same_as_cpython
from tests.unit.kernels import library_kernels as kernels
from tests.unit.kernels.data import Numbers

import fusewright as fw

numbers = Numbers(7)
reals = numbers.reals


@pytest.mark.parametrize("n", [4, 7, 40])
def test_other_places(n: int) -> None:
    same_as_cpython(kernels.joined, reals(n), reals(n + 3))
    same_as_cpython(kernels.joined_matrices, reals(n, 5))
    same_as_cpython(kernels.moved, reals(n, 9), n - 3)
    same_as_cpython(kernels.matrices, reals(n), reals(n, n), n)


@pytest.mark.parametrize("n", [3, 5, 40])
def test_along_a_dim(n: int) -> None:
    same_as_cpython(kernels.along, reals(n, 6))
    same_as_cpython(kernels.along, np.where(reals(n, 6) > 1, np.nan, reals(n, 6)))
    a = np.sort(reals(n))
    v = np.concatenate((reals(20), a, [np.nan, np.inf, -np.inf]))
    same_as_cpython(kernels.searched, a, v)
    same_as_cpython(kernels.interpolated, v, a, reals(n))
    same_as_cpython(
        kernels.searched, reals(n), v
    )  # not sorted: searches differ by where they begin
    same_as_cpython(kernels.interpolated, v, reals(n), reals(n))
    same_as_cpython(kernels.counted, np.arange(n) * 7 % 5, reals(n))


def test_elements() -> None:
    same_as_cpython(kernels.rounded, reals(50) * 100)
    same_as_cpython(kernels.rounded, (reals(50) * 100).astype(np.float32))
    same_as_cpython(kernels.compared, np.array([1, np.nan, np.inf, -np.inf, 2.5]))
    same_as_cpython(kernels.ranges, -1.5, 100.25)
    same_as_cpython(kernels.ranges, 3, 1)
    same_as_cpython(kernels.of_tuples, reals(5))


def close(found: Any, wanted: Any) -> None:
    """Alike but for the order in which NumPy's library adds."""
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-12, strict=True)


def test_products() -> None:
    for n in (1, 2, 7, 30):
        arguments = reals(n, n), reals(n, n), reals(n)
        close(kernels.products(*arguments), kernels.products.__wrapped__(*arguments))
        arguments = reals(3, 4, n), reals(3, n, 2), reals(n)
        close(kernels.stacks(*arguments), kernels.stacks.__wrapped__(*arguments))
        whole = [np.rint(9 * each).astype(np.int64) for each in (reals(n, n), reals(n, n))]
        same_as_cpython(kernels.misfit, *whole)


REFUSED: dict[str, tuple[Any, tuple[Any, ...], Any, str]] = {
    "ranks": (
        kernels.unlike,
        (reals(3), reals(3, 3)),
        fw.FusewrightError,
        "of 1 and 2 dims",
    ),
    "rows": (kernels.unlike, (reals(3, 2), reals(3, 3)), ValueError, "dims of 2 and 3 elements"),
    "number": (kernels.number_at_number, (reals(3), 2.0), fw.FusewrightError, "product @ of array"),
    "inner": (kernels.misfit, (reals(3, 4), reals(5, 2)), ValueError, "4 and 5 elements"),
    "digits": (kernels.digits, (reals(3), 2), fw.FusewrightError, "digits that is a Python float"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    kernel, arguments, error, text = REFUSED[name]
    with pytest.raises(error, match=text) as found:
        kernel(*arguments)
    assert "library_kernels.py:" in str(found.value)
    assert "^" in str(found.value)


def test_a_share_beyond_all() -> None:
    with pytest.raises(ValueError, match="range"):
        kernels.share(reals(3), 101)


def test_bins_in_no_order() -> None:
    with pytest.raises(ValueError, match="monotonically"):
        kernels.binned(np.array([1.0, 3, 2]), reals(3))


def test_negative_counts() -> None:
    with pytest.raises(ValueError, match="no negative elements"):
        kernels.negative_counts(np.array([1, -1]))
