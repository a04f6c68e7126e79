"""Array statements that need memory of their own do what NumPy does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import outcome, same_as_cpython
from tests.unit.kernels import stored_kernels as kernels

A, B = np.array([1.0, 0, -2, 3]), np.ones(4)
M, K = np.arange(16.0).reshape(4, 4), np.array([2, 0, 1, 2])
CASES: dict[Any, tuple[Any, ...]] = {
    kernels.both_ways: (A,),
    kernels.unknown_way: (A, 1),
    kernels.one_row_for_all: (M,),
    kernels.own_transpose: (M,),
    kernels.written_since: (A, B),
    kernels.written_in_the_loop: (A, B),
    kernels.beside_a_call: (A, B),
    kernels.result: (A,),
    kernels.matrix_sum: (M,),
    kernels.along_an_axis: (A, M),
    kernels.integer_mean: (K, A),
    kernels.into_a_computed_array: (A, B),
    kernels.returned: (A, B),
    kernels.masked: (A,),
    kernels.table: (A, K),
    kernels.own_elements_by_a_table: (A, K),
    kernels.into_a_transpose: (M,),
    kernels.made_like: (A,),
}


@pytest.mark.parametrize("kernel", CASES, ids=lambda k: k.__name__)
def test_stored(kernel: Any) -> None:
    same_as_cpython(kernel, *CASES[kernel])


@pytest.mark.parametrize(
    ("kernel", "arguments"), [(kernels.matrix_product, (A, M)), (kernels.float_dot, (A, B))]
)
def test_products(kernel: Any, arguments: tuple[Any, ...]) -> None:
    """Of small whole numbers the order of adding does not show."""
    for x, y in zip(
        outcome(kernel, arguments)[1], outcome(kernel.__wrapped__, arguments)[1], strict=True
    ):
        np.testing.assert_array_equal(x, y)
