"""Array statements in kernels: NumPy's bits, also where what is read and written overlap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import assert_same, outcome, same_as_cpython
from tests.unit.kernels import part_kernels as parts
from tests.unit.kernels import stranger_kernels, stranger_rows, stranger_solvers
from tests.unit.kernels.data import Numbers

import fusewright as fw

numbers = Numbers(7)
reals, whole = numbers.reals, numbers.whole

STRANGERS = {**stranger_kernels.CASES, **stranger_rows.CASES, **stranger_solvers.CASES}


@pytest.mark.parametrize("kernel", STRANGERS, ids=lambda k: k.__name__)
def test_stranger(kernel: Any) -> None:
    same_as_cpython(kernel, *STRANGERS[kernel])


def is_plain(kernel: Any) -> bool:
    """Whether its arrays are arguments themselves."""
    return all(isinstance(a, np.ndarray | int | float) for a in STRANGERS[kernel])


@pytest.mark.parametrize("kernel", [*filter(is_plain, STRANGERS)], ids=lambda k: k.__name__)
def test_stranger_with_lazy_arrays(kernel: Any) -> None:
    arguments = STRANGERS[kernel]
    wanted = outcome(kernel.__wrapped__, arguments)[1]
    for chosen in ({}, {"fuse": False}, {"background": False}):
        with fw.options(**chosen):
            own = [fw.asarray(a.copy()) if isinstance(a, np.ndarray) else a for a in arguments]
            kernel(*own)
            found = [np.asarray(a) if isinstance(a, fw.Array) else a for a in own]
        assert_same(found, list(wanted), f"under {chosen}")


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 9, 40])
def test_every_length(n: int) -> None:
    """Empty arrays, and slices that are."""
    same_as_cpython(parts.copied, reals(n), reals(n))
    same_as_cpython(parts.ahead, reals(n))
    same_as_cpython(parts.behind, reals(n))
    same_as_cpython(parts.diagonal, reals(n, n))
    same_as_cpython(parts.chosen, reals(n), reals(n))
    same_as_cpython(parts.ints, whole(n), whole(n).astype(np.int32))
    if n:
        same_as_cpython(parts.scalars_first, reals(n), reals(n))
        same_as_cpython(parts.helpers, reals(n), reals(n))
        same_as_cpython(parts.under_names, reals(n), reals(n))
        same_as_cpython(parts.locals_and_rows, reals(n, 3), reals(n, 3))
    if n % 2 == 0:
        same_as_cpython(parts.interleaved, reals(n))
    if n > 3:
        same_as_cpython(parts.stretched, reals(n, 5), reals(n), reals(5))
        same_as_cpython(parts.walked, reals(n, 7), reals(n, 7), np.zeros(n))
        same_as_cpython(parts.complex_parts, reals(n) + 1j * reals(n), reals(n) + 0j)


@pytest.mark.parametrize("high", [3, -2, 9, 100, -50])
@pytest.mark.parametrize("low", [0, 2, 7, -3, 50])
def test_bounds(low: int, high: int) -> None:
    same_as_cpython(parts.bounds, reals(9), low, high, reals(9))


@pytest.mark.parametrize(("i", "j"), [(0, 0), (0, 2), (3, 1), (-1, 3)])
def test_rows_of_one_array(i: int, j: int) -> None:
    """Two rows are one, or have nothing in common."""
    same_as_cpython(parts.rows_of_one, reals(4, 4), i, j)


def test_parts_of_what_is_computed() -> None:
    k = np.array([0, -1, 2, 2])
    same_as_cpython(parts.gathered, reals(4, 5), k, reals(4, 5))
    same_as_cpython(parts.mirrored, reals(6, 6))
    same_as_cpython(parts.shares, reals(3, 40), np.zeros((3, 40)))
    for a in (reals(9), np.array([1.0, 3, 3, np.nan, 5, np.nan, -1, 0, 2])):
        same_as_cpython(parts.places_and_copies, a, whole(9), np.zeros(9))


LENGTHS = (*range(20), 127, 128, 129, 136, 255, 257, 264, 1000, 5000, 20001)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_sums_in_numpys_order(dtype: Any) -> None:
    """Eight sums, halves of halves: the bits say so."""
    for n in LENGTHS:
        for step in (1, -1, 3):
            a, out = reals(n * 3, dtype=dtype)[: n * 3 : step], np.zeros(1)
            parts.half_total(a, out)
            assert out[0] == np.sum(a), (n, step)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [3, 9, 200])
def test_totals(dtype: Any, n: int) -> None:
    same_as_cpython(parts.totals, reals(n, dtype=dtype), reals(n, dtype=dtype), np.zeros(8))


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.int16, np.uint64])
def test_integer_totals(dtype: Any) -> None:
    a, b = (whole(4, 30).astype(dtype) for _ in range(2))
    same_as_cpython(parts.integer_totals, a, b, np.zeros(6))


def test_not_a_number_wins() -> None:
    same_as_cpython(parts.totals, np.array([1, np.nan, 2.0]), np.ones(3), np.zeros(8))


# -- arguments that share memory ------------------------------------------------------------------


def test_one_array_twice() -> None:
    """Element by element it makes no difference."""
    a = reals(9)
    wanted = a * 2
    parts.doubled(a, a)
    np.testing.assert_array_equal(a, wanted)


@pytest.mark.parametrize("lazy", [False, True])
def test_shared_memory_is_refused(lazy: bool) -> None:
    """Each call is looked at, after others that ran quickly too."""
    make = fw.asarray if lazy else np.array
    a, b = make(np.arange(9.0)), make(np.arange(9.0) * 3)
    for _ in range(4):
        parts.shifted(a, b)
    before = np.array(a)
    for kernel, x, y in [
        (parts.shifted, a, a), (parts.doubled, a[1:], a[:-1]), (parts.shifted, a, a[::-1]),
    ]:  # fmt: skip
        with pytest.raises(fw.FusewrightError, match="they share memory"):
            kernel(x, y)
    parts.shifted(a, b)
    parts.doubled(a[:4], a[4:8])
    before[1:] = np.array(b)[:-1]
    before[:4] = before[4:8] * 2
    np.testing.assert_array_equal(np.array(a), before)


def test_interleaved_arguments_share_nothing() -> None:
    a = np.arange(10.0)
    parts.copied(a[::2], a[1::2])
    assert a.tolist() == [1, 1, 3, 3, 5, 5, 7, 7, 9, 9]


def test_a_name_is_looked_at_where_it_is_used() -> None:
    a = reals(9)
    with pytest.raises(fw.FusewrightError, match="`b` is written where `a` is read"):
        parts.under_names(a, a)


# -- sizes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("lazy", [False, True])
def test_sizes_are_compared_in_each_call(lazy: bool) -> None:
    make = fw.asarray if lazy else np.array
    a, b, short = (make(np.arange(n * 1.0)) for n in (9, 9, 4))
    for _ in range(4):
        parts.copied(a, b)
    for other in (short, short[:1]):
        with pytest.raises(ValueError, match=r"arrays of 9 and \d elements do not fit"):
            parts.copied(a, other)
    assert np.array(a).tolist() == list(range(9))


@pytest.mark.parametrize("lazy", [False, True])
def test_sizes_by_numbers(lazy: bool) -> None:
    """A number decides whether they fit: no call is taken for an earlier one."""
    make = fw.asarray if lazy else np.array
    a, b = make(np.zeros(9)), make(np.ones(4))
    for n in (2, 3, 4, 0):
        parts.first_elements(a, b, n)
    with pytest.raises(ValueError, match="arrays of 6 and 4 elements"):
        parts.first_elements(a, b, 6)
    assert np.array(a).tolist() == [1, 1, 1, 1, 0, 0, 0, 0, 0]


def test_branches_count() -> None:
    """Sizes must fit where the statement is reached."""
    a = np.zeros(3)
    parts.by_shape(a, np.ones(1))
    assert a.tolist() == [1, 1, 1]
    parts.by_shape(a, np.arange(3.0))
    with pytest.raises(ValueError, match="do not fit"):
        parts.by_shape(a, np.ones(2))


def test_sizes_inside_loops_are_compared_there() -> None:
    """Loop variables decide: the statements before it have run."""
    same_as_cpython(parts.prefixes, reals(5, 5), reals(5, 5))
    same_as_cpython(parts.prefixes, reals(5, 5), reals(5, 9))
    a = np.zeros((5, 5))
    with pytest.raises(ValueError, match="arrays of 3 and 2 elements do not fit"):
        parts.prefixes(a, np.ones((5, 2)))
    assert a.sum(axis=1).tolist() == [0, 1, 2, 0, 0]


def test_statements_fuse() -> None:
    """Extents that must be alike are one: no iterations are split off."""
    a, b, c = (reals(64) for _ in range(3))
    parts.two_passes(a, b, c)
    assert parts.two_passes.stats.fused == 1
    assert parts.two_passes.stats.parallel_loops == 1
