"""Arrays that a kernel makes and returns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import same_as_cpython
from tests.unit.kernels import fresh_kernels as fresh

import fusewright as fw

RNG = np.random.default_rng(23)


def reals(size: int) -> Any:
    """Numbers of both signs."""
    return RNG.normal(size=size)


CASES: dict[str, tuple[Any, ...]] = {
    "of an argument": (fresh.of_an_argument, 7),
    "of no elements": (fresh.of_an_argument, 0),
    "of shapes": (fresh.of_shapes, reals(5)),
    "like": (fresh.like, reals(50)),
    "work array": (fresh.work_array, reals(50), 7),
    "computed sizes": (fresh.computed_sizes, 1.0, 0.01),
    "expression": (fresh.expression, reals(50), reals(50)),
    "part": (fresh.part, reals(50)),
    "part after a check": (fresh.part_after_a_check, reals(50), 0.25),
    "turned part": (fresh.turned_part, reals(6)),
    "written after": (fresh.written_after, reals(20)),
    "copied before": (fresh.copied_before, reals(20)),
    "either 1": (fresh.either, np.ones(9)),
    "either 2": (fresh.either, -np.ones(9)),
    "small": (fresh.small,),
    "in a loop": (fresh.in_a_loop, reals(20)),
    "from functions": (fresh.from_functions, reals(20)),
    "sieve": (fresh.sieve, 200),
    "raising, not": (fresh.raising, 9),
    "spread": (fresh.spread, reals(500)),
    "picked": (fresh.picked, 7),
    "whole powers": (fresh.whole_powers, 20, np.zeros(20, int)),
}


@pytest.mark.parametrize("name", CASES)
def test_new_arrays(name: str) -> None:
    kernel, *arguments = CASES[name]
    same_as_cpython(kernel, *arguments)
    for _ in range(2):  # calls like earlier ones take a shorter way
        same_as_cpython(kernel, *arguments)


@pytest.mark.parametrize("length", [0, 1, 2, 3, 17, 100])
def test_sorting(length: int) -> None:
    mixed = np.random.default_rng(length).permutation(length)
    some = mixed - 3.5
    some[:1] = np.nan
    for values in (mixed - 3.5, mixed * 3, some):
        same_as_cpython(fresh.sorting, values, 4)


def test_each_call_has_arrays_of_its_own() -> None:
    first, second = fresh.of_an_argument(5), fresh.of_an_argument(5)
    first[:] = 9
    assert second.tolist() == [0, 0.5, 1, 1.5, 2]
    assert fresh.of_an_argument(3).tolist() == [0, 0.5, 1], "sizes are no part of the key"


def test_an_argument_is_returned_itself() -> None:
    a, b = reals(5), reals(6)
    for _ in range(3):
        x, y, z, _ = fresh.own_argument(a, b)
        assert x is a
        assert y is b
        assert np.shares_memory(z, a)
        assert z.shape == (4,)


def test_errors_come_before_anything_runs() -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="negative"):
            fresh.of_an_argument(-1)
    assert fresh.of_an_argument(2).tolist() == [0, 0.5]


def test_what_is_raised() -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match=r"^too much$"):
            fresh.raising(100)
        with pytest.raises(RuntimeError, match=r"^$"):
            fresh.raising(3)


def test_lazy_arguments_give_lazy_arrays() -> None:
    a = fw.asarray(np.arange(600.0))
    found = fresh.copied_before(a)
    assert type(found) is type(a)
    assert np.asarray(found).tolist() == list(range(600))
    assert not np.asarray(a).any()
    assert fresh.own_argument(a, a)[0] is a


def test_products() -> None:
    @fw.kernel
    def product(a: Any, b: Any) -> Any:
        return np.dot(a, b)

    rng = np.random.default_rng(1)
    for x, y in (((7,), (7,)), ((3, 4), (4, 5)), ((3, 4), (4,)), ((4,), (4, 5))):
        a, b = rng.normal(size=x), rng.normal(size=y)
        found, wanted = product(a, b), np.dot(a, b)
        assert np.shape(found) == np.shape(wanted)
        np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-14)
        whole = [np.rint(9 * each).astype(np.int64) for each in (a, b)]
        np.testing.assert_array_equal(product(*whole), np.dot(*whole))
    with pytest.raises(fw.FusewrightError):
        product(np.zeros((3, 4)), np.zeros((5, 4)))
