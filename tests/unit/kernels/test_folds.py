"""Integers collected over loops, in vectors and on threads: what CPython gives, to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import same_as_cpython, short_strips
from tests.unit.kernels import fold_kernels as folds
from tests.unit.kernels.data import Numbers

import fusewright as fw

numbers = Numbers(7)
reals, whole = numbers.reals, numbers.whole

TYPES = (np.int64, np.int8, np.uint8, np.uint16, np.int32, np.uint64)
OVER_ONE = (
    folds.total, folds.backwards, folds.taken_away, folds.product, folds.bits, folds.extremes,
    folds.extremes_by_comparison, folds.flags, folds.to_the_last, folds.where_first,
    folds.by_a_function,
)  # fmt: skip
FOLDED = (
    *OVER_ONE[:8], folds.counted, folds.plane, folds.triangle, folds.rows, folds.beside_stores,
    folds.by_a_function,
)  # fmt: skip


def numbers(dtype: Any, size: int) -> Any:
    return whole(size, low=0 if np.dtype(dtype).kind == "u" else -100, high=100, dtype=dtype)


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("kernel", OVER_ONE, ids=lambda kernel: kernel.__name__)
def test_of_each_type(kernel: Any, dtype: Any) -> None:
    same_as_cpython(kernel, numbers(dtype, 77))


@pytest.mark.parametrize("size", [1, 7, 8, 64, 65, 1000])
def test_of_each_length(size: int) -> None:
    for kernel in (folds.total, folds.extremes, folds.bits):
        same_as_cpython(kernel, numbers(np.int64, size))
        same_as_cpython(kernel, numbers(np.int16, 2 * size)[::-2])
    same_as_cpython(folds.counted, numbers(np.int64, size), 20)


def test_of_nothing() -> None:
    for kernel in (folds.total, folds.taken_away, folds.flags, folds.to_the_last):
        assert kernel(whole(0)) == kernel.__wrapped__(whole(0))
    assert folds.plane(whole(0, 3)) == folds.plane(whole(3, 0)) == 0


@pytest.mark.parametrize("shape", [(2, 1), (5, 3), (3, 70), (70, 3), (17, 33)])
def test_over_two_loops(shape: tuple[int, int]) -> None:
    odd = whole(*shape)
    odd[0, 0] |= 1
    for kernel in (folds.plane, folds.of_columns):
        same_as_cpython(kernel, odd)
    same_as_cpython(folds.rows, whole(*shape), whole(shape[0]))
    same_as_cpython(folds.plane, whole(*shape[::-1]).T)
    same_as_cpython(folds.triangle, whole(shape[0], shape[0]))


def test_beside_other_statements() -> None:
    same_as_cpython(folds.beside_stores, whole(90), whole(90))
    same_as_cpython(folds.in_rounds, whole(90), 4)
    same_as_cpython(folds.used_inside, whole(90), whole(90))
    same_as_cpython(folds.left_early, whole(90, low=0, high=30), 7)
    same_as_cpython(folds.two_operations, whole(90))
    with short_strips():
        same_as_cpython(
            fw.kernel(folds.stencil_and_sum.__wrapped__), whole(90), whole(90), whole(90)
        )


def test_sums_wrap_around() -> None:
    large = np.full(40, 2**62, np.int64)
    assert folds.total(large) == 0
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert folds.total.__wrapped__(large) == 0


def test_minima_of_floats_keep_their_order() -> None:
    """The first of equal ones stays: the sign of a zero is that of the first."""
    for values in ([-1.0, 0.0, -0.0], [-1.0, -0.0, 0.0], [np.nan, 1.0], [1.0, np.nan, 2.0]):
        same_as_cpython(folds.highest, np.array(values * 20))
    same_as_cpython(folds.highest, reals(90))


@pytest.mark.parametrize("kernel", FOLDED, ids=lambda kernel: kernel.__name__)
def test_they_do_not_run_in_order(kernel: Any) -> None:
    fresh = fw.kernel(kernel.__wrapped__)
    plane = kernel in (folds.plane, folds.triangle, folds.rows)
    values = (whole(9, 9),) if plane else (whole(9),)
    more = {folds.counted: (3,), folds.rows: (whole(9),), folds.beside_stores: (whole(9),)}
    fresh(*values, *more.get(kernel, ()))
    (code,) = fresh.explain().codes
    assert all(loop.parallel for loop in code.loops)
    assert any(loop.vectors and loop.folds for loop in code.loops)
    assert code.loops[0].threads or kernel is folds.product  # threads cannot join products


def unsigned(size: int) -> Any:
    return whole(size, low=0, high=99)


@pytest.mark.parametrize("bins", [1, 5, 64])
@pytest.mark.parametrize("dtype", [*TYPES, np.bool_], ids=lambda dtype: dtype.__name__)
def test_arrays(dtype: Any, bins: int) -> None:
    if dtype is np.bool_:
        same_as_cpython(folds.marked, unsigned(90), np.zeros(bins, bool))
        return
    given = [numbers(dtype, bins) for _ in range(4)]
    a = unsigned(90).astype(dtype)
    same_as_cpython(folds.histogram, a, given[0])
    same_as_cpython(folds.atomically, a, *given)


def test_arrays_of_more_dims() -> None:
    same_as_cpython(folds.two_dims, whole(20, 30, low=-9, high=9), whole(3, 4))
    same_as_cpython(folds.by_column, whole(20, 30), whole(30))


def test_arrays_and_variables() -> None:
    same_as_cpython(folds.with_a_count, unsigned(90), whole(7))


def test_arrays_whose_order_shows() -> None:
    same_as_cpython(folds.looked_at, unsigned(90), whole(7), whole(90))
    same_as_cpython(folds.old_values, unsigned(90), whole(7), whole(90))
    same_as_cpython(folds.floats, reals(90), reals(7))
    h = unsigned(40)
    same_as_cpython(folds.histogram, h, whole(14)[::2])


def test_an_array_that_is_its_own_index() -> None:
    """What is counted and what counts share memory: in order."""
    for kernel in (folds.histogram, folds.histogram.__wrapped__):
        base = np.arange(40) % 7
        kernel(base, base[3:9])
        if kernel is folds.histogram:
            found = base
    assert found.tobytes() == base.tobytes()


@pytest.mark.parametrize("name", ["histogram", "atomically", "two_dims", "marked"])
def test_arrays_on_threads(name: str) -> None:
    fresh = fw.kernel(getattr(folds, name).__wrapped__)
    arguments = {
        "histogram": (unsigned(9), whole(3)),
        "atomically": (unsigned(9), *(whole(3) for _ in range(4))),
        "two_dims": (whole(9, 9), whole(3, 4)),
        "marked": (unsigned(9), np.zeros(3, bool)),
    }
    fresh(*arguments[name])
    (code,) = fresh.explain().codes
    assert code.loops[0].threads
    assert code.loops[0].folds


def test_much_work_on_threads() -> None:
    """Beside which copies of a few counts cost nothing: taken without being asked to."""
    a = np.random.default_rng(5).integers(0, 1000, 1 << 18)
    wanted = np.bincount(a % 64, minlength=64)
    for threads in (1, 2, 5):
        found = np.zeros(64, np.int64)
        with fw.options(threads=threads):
            folds.histogram(a, found)
        assert (found == wanted).all()


def test_explained() -> None:
    fresh = fw.kernel(folds.counted.__wrapped__)
    fresh(whole(9), 2)
    text = str(fresh.explain())
    assert "in vectors: any order of updating `inside`, `above` is the same" in text


@pytest.mark.parametrize("size", [1, 2, 3, 40, 77])
def test_copies_of_variables(size: int) -> None:
    kernels = (folds.by_names, folds.exchanged, folds.left_with_copies, folds.by_a_function)
    for kernel in (*kernels, folds.greatest_by_a_function):
        for seed in range(4):
            same_as_cpython(kernel, np.random.default_rng(seed).integers(-99, 99, size))
