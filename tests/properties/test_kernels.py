"""A kernel means what CPython makes of the undecorated function, bit for bit, on every target.

`FUSEWRIGHT_TEST_EXAMPLES` sets the number of random kernels; without it a fixed small set runs.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from tests.evaluators import installed
from tests.kernel_runs import is_refused, loaded, same_as_cpython
from tests.properties import random_complex, random_scratch
from tests.properties.chance import examples
from tests.properties.random_kernels import Writer, arguments

CASES = examples(20)


@pytest.fixture(autouse=True, scope="module")
def evaluator() -> Iterator[None]:
    """Kernels choose their target themselves."""
    with installed("driver"):
        yield


def agrees(source: str, values: Any, file: Any) -> bool:
    """Whether a kernel is compiled; what it computes is CPython's then."""
    note(source)
    kernel = loaded(source, file)
    refused = is_refused(kernel, values)
    if not refused:
        same_as_cpython(kernel, *values)
    return not refused


ran: list[bool] = []


complex_ran: list[bool] = []


@CASES
@given(seed=st.integers(0, 2**30), statements=st.integers(1, 9))
def test_random_kernels_of_complex_numbers(
    seed: int, statements: int, tmp_path_factory: Any
) -> None:
    source = random_complex.Writer(random.Random(seed).randint, statements).source()
    values = random_complex.arguments(seed)
    folder = tmp_path_factory.mktemp("complex")
    complex_ran.append(agrees(source, values, folder / f"random_complex_{len(complex_ran)}.py"))


@CASES
@given(seed=st.integers(0, 2**30), statements=st.integers(1, 14))
def test_random_kernels(seed: int, statements: int, tmp_path_factory: Any) -> None:
    source = Writer(random.Random(seed).randint, statements).source()
    folder = tmp_path_factory.mktemp("kernels")
    ran.append(agrees(source, arguments(seed), folder / f"random_kernel_{len(ran)}.py"))


@examples(5)
@given(seed=st.integers(0, 2**30), statements=st.integers(1, 6))
def test_random_kernels_with_arrays_of_their_own(
    seed: int, statements: int, tmp_path_factory: Any
) -> None:
    source = random_scratch.Writer(random.Random(seed).randint, statements).source()
    values = random_scratch.arguments(seed)
    folder = tmp_path_factory.mktemp("scratch")
    agrees(source, values, folder / f"random_scratch_{seed}_{statements}.py")


def test_most_random_kernels_ran() -> None:
    assert sum(ran) > len(ran) / 3
    assert sum(complex_ran) > len(complex_ran) / 3
