"""Nests that add up, in register tiles: what CPython gives, to the bit, in any order of loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import same_as_cpython, short_strips
from tests.unit.kernels import tile_kernels as tiles
from tests.unit.kernels.data import Numbers

import fusewright as fw

numbers = Numbers(19)
reals = numbers.reals
SIZES = [(2, 3, 0), (0, 3, 4), (7, 33, 5), (26, 19, 7)]


def operands(rows: int, columns: int, depth: int, dtype: Any = np.float32) -> list[Any]:
    return [reals(*s, dtype=dtype) for s in ((rows, depth), (depth, columns), (rows, columns))]


@pytest.mark.parametrize("kernel", tiles.ORDERS, ids=lambda kernel: kernel.__name__)
def test_in_all_orders(kernel: Any) -> None:
    with short_strips():
        for size in SIZES:
            same_as_cpython(kernel, *operands(*size))


@pytest.mark.parametrize("kernel", tiles.ORDERS, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_at_the_ends_of_blocks(kernel: Any, dtype: Any) -> None:
    """CPython would take minutes: all columns at once have the same bits."""
    for rows, columns, depth in ((130, 33, 257), (128, 64, 256), (63, 70, 513)):
        a, b, c = operands(rows, columns, depth, dtype)
        wanted = c.copy()
        for k in range(depth):
            wanted += a[:, k, None] * b[k]
        for threads in (1, 2):
            found = c.copy()
            with fw.options(threads=threads):
                kernel(a, b, found)
            assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("kernel", tiles.ORDERS, ids=lambda kernel: kernel.__name__)
def test_they_run_in_tiles(kernel: Any) -> None:
    fresh = fw.kernel(kernel.__wrapped__)
    with fw.options(features="avx2"):
        fresh(*operands(4, 4, 4))
    (code,) = fresh.explain().codes
    (loop,) = code.loops
    assert (loop.tile, loop.vectors, sorted(loop.names)) == (4, True, ["i", "j", "k"])
    assert "tiles of 4 rows" in str(fresh.explain())


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("kernel", tiles.LIKE_THEM, ids=lambda kernel: kernel.__name__)
def test_what_is_like_them(kernel: Any, dtype: Any) -> None:
    if dtype is np.int32 and kernel is not tiles.cleared:
        pytest.skip("their variables are floats")
    for size in SIZES[2:]:
        given = operands(*size, np.float64)
        with short_strips():
            same_as_cpython(kernel, *((8 * x).astype(dtype) for x in given))


def test_of_several_forms() -> None:
    a, b, c = operands(13, 21, 9, np.float64)
    with short_strips():
        same_as_cpython(tiles.scaled, a, b, c, 1.5, 0.25)
        same_as_cpython(tiles.of_a_transposed, a, b.T.copy(), c)
        same_as_cpython(tiles.distances, a, b.T.copy(), c)
        same_as_cpython(tiles.windows, reals(17, 26), reals(3, 4), reals(15, 23))
        same_as_cpython(tiles.windows, reals(17, 26), reals(0, 4), reals(15, 23))
        same_as_cpython(tiles.stack, reals(3, 9, 5), reals(3, 5, 18), reals(3, 9, 18))
        same_as_cpython(tiles.beside_another, a, b, c, c.copy())
        same_as_cpython(tiles.steps, a, b, c, 3)
        for low, high in ((2, 11), (3, 3), (9, 2)):
            same_as_cpython(tiles.middle, a, b, c, low, high)


def test_of_strided_arrays_and_of_one_array_twice() -> None:
    a, b, c = operands(16, 16, 16, np.float64)
    with short_strips():
        for kernel in (tiles.ikj, tiles.kji):
            same_as_cpython(kernel, a[::-1, ::2].copy()[:, ::-1], b[::2], c.T)
            same_as_cpython(kernel, a, a, c)
        same_as_cpython(tiles.into_itself, a, c)


def test_where_it_writes_what_it_reads() -> None:
    a, _, c = operands(16, 16, 16, np.float64)
    for kernel in tiles.ORDERS:
        wanted, found = c.copy(), c.copy()
        kernel.__wrapped__(a, wanted, wanted)
        kernel(a, found, found)
        np.testing.assert_array_equal(found, wanted)


def test_nests_of_a_loop_are_told_apart() -> None:
    kernel = fw.kernel(tiles.scaled.__wrapped__)
    kernel(*operands(4, 4, 4), 1.0, 1.0)
    (code,) = kernel.explain().codes
    assert [loop.tile > 0 for loop in code.loops] == [False, True]


def test_an_empty_sum_touches_nothing() -> None:
    """What is added to may then not even be there."""
    a, b = np.zeros((40, 0)), np.zeros((0, 40))
    small = np.zeros((1, 1))

    @fw.kernel
    def added(a, b, c, n):
        for i in range(n):
            for j in range(n):
                for k in range(a.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]

    added(a, b, small, 4000)
    assert not small.any()
