"""Neighbouring loops, fused or not, do what CPython does, bit for bit, on every target.

`FUSEWRIGHT_TEST_EXAMPLES` sets the number of random kernels; without it a fixed small set runs.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from tests.evaluators import installed
from tests.kernel_runs import loaded, outcome, same_as_cpython, short_strips
from tests.properties.chance import examples
from tests.properties.random_loops import Writer, arguments

CASES = examples(15)
ran: list[int] = []


@pytest.fixture(autouse=True, scope="module")
def evaluator() -> Iterator[None]:
    """Kernels choose their target themselves."""
    with installed("driver"):
        yield


def overflows(kernel: Any, values: tuple[Any, ...]) -> bool:
    """Whether CPython has no meaning for the program."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            outcome(kernel.__wrapped__, values)
    except (ArithmeticError, ValueError, RuntimeWarning):
        return True
    return False


@CASES
@given(seed=st.integers(0, 2**30), loops=st.integers(2, 6))
def test_random_loops(seed: int, loops: int, tmp_path_factory: Any) -> None:
    source = Writer(random.Random(seed).randint, loops).source()
    note(source)
    path = tmp_path_factory.mktemp("loops") / f"random_loops_{len(ran)}.py"
    kernel = loaded(source, path)
    values = arguments(seed)
    if overflows(kernel, values):
        return
    with short_strips():
        same_as_cpython(kernel, *values)
    ran.append(kernel.stats.fused)


def test_most_of_them_fused() -> None:
    assert sum(bool(count) for count in ran) > len(ran) / 3
