"""NumPy's global random numbers in kernels: the same ones, and the generator goes on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import same_as_cpython, settings
from tests.unit.kernels import random_kernels as kernels
from tests.unit.kernels.data import Numbers

import fusewright as fw

numbers = Numbers(7)
reals = numbers.reals


@pytest.fixture(autouse=True)
def seeded() -> None:
    np.random.seed(5)


@pytest.mark.parametrize("seed", [0, 1, 12345, 2**32 - 1])
def test_the_same_numbers(seed: int) -> None:
    same_as_cpython(kernels.numbers, 700, seed)
    same_as_cpython(kernels.orders, reals(9), 7, seed)
    same_as_cpython(kernels.weighted, np.array([0.25, 0.5, 0.125, 0.125]), seed)


def parts(value: Any) -> list[Any]:
    """The numbers and arrays of a result."""
    return [x for each in value for x in parts(each)] if isinstance(value, tuple) else [value]


def test_bell_curves() -> None:
    """Logarithms have the errors stated."""
    for n in (1, 2, 5, 500):
        found, wanted = kernels.bells(n, 3), kernels.bells.__wrapped__(n, 3)
        for x, y in zip(parts(found), parts(wanted), strict=True):
            assert type(x) is type(y)
            np.testing.assert_allclose(x, y, rtol=1e-14)


def state() -> str:
    """The state of NumPy's global generator."""
    return repr(np.random.get_state())


def test_the_generator_goes_on() -> None:
    wanted, own = np.zeros(1000), np.zeros(1000)
    last = kernels.going_on.__wrapped__(wanted)
    after = state()
    for chosen in settings():
        np.random.seed(5)
        with fw.options(**chosen):
            assert kernels.going_on(own) == last
        assert own.tolist() == wanted.tolist()
        assert state() == after


def test_lazy_arrays() -> None:
    wanted, own = np.zeros(10), fw.asarray(np.zeros(10))
    kernels.going_on.__wrapped__(wanted)
    np.random.seed(5)
    kernels.going_on(own)
    assert np.asarray(own).tolist() == wanted.tolist()


def test_errors() -> None:
    for kernel in (kernels.too_many, kernels.negative_seed):
        for function in (kernel, kernel.__wrapped__):
            with pytest.raises(ValueError, match=r"larger sample|Seed must be between"):
                function(3)


@pytest.mark.parametrize(("kernel", "argument"), [(kernels.rows, reals(3, 3)), (kernels.other, 3)])
def test_refused(kernel: Any, argument: Any) -> None:
    with pytest.raises(
        fw.FusewrightError, match=r"shuffle of an array|cannot call poisson"
    ) as found:
        kernel(argument)
    assert "random_kernels.py:" in str(found.value)
    assert "^" in str(found.value)
