"""What kernels take from outside, as CPython does: angles, medians, named constants, `*args`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import same_as_cpython
from tests.unit.kernels import outside_kernels as kernels
from tests.unit.kernels.data import Numbers

import fusewright as fw

reals = Numbers(23).reals


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4"])
def test_angles(dtype: str) -> None:
    a = (reals(7) * 100).astype(dtype)
    same_as_cpython(kernels.angles, a, 12.5)
    same_as_cpython(kernels.angles, a, 7)


@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_medians_of_what_is_there(n: int) -> None:
    a = reals(n)
    same_as_cpython(kernels.median_of_known, a)
    a[n // 2] = np.nan
    if n > 1:
        same_as_cpython(kernels.median_of_known, a)
    a[::3] = np.nan
    if n > 2:
        same_as_cpython(kernels.median_of_known, a)


@pytest.mark.parametrize("d", [0, 1])
def test_named_constants(d: int) -> None:
    same_as_cpython(kernels.directed, reals(3), d)


def test_more_arguments() -> None:
    same_as_cpython(kernels.with_more, reals(4), (3, 0.5))


@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_ranges_of_types(n: int) -> None:
    same_as_cpython(kernels.ranges, n)


def test_starred_arguments_of_numpys_are_refused() -> None:
    @fw.kernel
    def kernel(a: Any, p: Any) -> Any:
        return np.clip(a, *p)

    with pytest.raises(fw.FusewrightError, match="a starred argument"):
        kernel(reals(3), (0.0, 1.0))
