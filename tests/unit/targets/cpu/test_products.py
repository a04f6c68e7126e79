"""Products of matrices: the interpreter's bits from any layout, instructions and threads."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fusewright as fw
from fusewright.base.errors import DTypeError, ReadOnlyError, ShapeError
from fusewright.codegen.products.module import product_module
from fusewright.codegen.products.registers import tile_for
from fusewright.ir.dtypes import FLOAT32, FLOAT64, DType
from fusewright.ir.fused import Array
from fusewright.ir.products import depth as roundings
from fusewright.machine import record
from fusewright.targets.cpu import compiler
from fusewright.targets.cpu.features import UnsupportedCPU, select
from fusewright.targets.cpu.products import kernel_for, product
from fusewright.targets.reference import products as meaning

DTYPES = [np.float32, np.float64]
SIZES = [0, 1, 2, 3, 5, 7, 11, 12, 13, 16, 17, 31, 32, 33, 48, 61, 64, 97, 128, 131, 211, 300]
DEPTHS = [0, 1, 2, 3, 4, 7, 15, 16, 17, 31, 64, 101, 300, 511, 512, 513, 1030]
WORK = 400_000
"""Multiplications that the interpreter does in about a tenth of a second."""


def _instructions() -> list[str]:
    found = []
    for name in ("avx2", "avx512"):
        try:
            select(name)
        except UnsupportedCPU:
            continue
        found.append(name)
    return found


FEATURES = _instructions()


@contextmanager
def small_machine() -> Iterator[None]:
    """Small caches and free forks: many blocks and strips, on threads, of small matrices."""
    machine = record.current()._replace(second=1 << 14, third=1 << 16, fork=0.0)
    with record.using(machine):
        yield


def assert_same(found: Array, wanted: Array) -> None:
    """Bit for bit; of a NaN neither the sign nor the payload is specified."""
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    nan = np.isnan(wanted)
    assert np.array_equal(np.isnan(found), nan)
    unsigned = f"u{wanted.itemsize}"
    bits = [np.where(nan, 0, each).astype(wanted.dtype).view(unsigned) for each in (found, wanted)]
    assert np.array_equal(*bits)


def everywhere(a: Array, b: Array, wanted: Array, make_out: Callable[[], Array | None]) -> None:
    """The same with all instructions, on one thread and on two."""
    for features in FEATURES:
        for threads in (1, 2):
            with fw.options(features=features, threads=threads):
                out = make_out()
                found = product(a, b, out)
                assert out is None or found is out
                assert_same(found, wanted)


def spaced(shape: tuple[int, ...], dtype: Any) -> Array:
    """Every second row and third column of a larger array."""
    whole = np.full((2 * shape[0] + 1, 3 * shape[1] + 2), np.nan, dtype)
    return whole[1 : 2 * shape[0] + 1 : 2, 2::3]


def unaligned(shape: tuple[int, ...], dtype: Any) -> Array:
    """An odd number of bytes behind an element's place."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    return np.zeros(size + 1, np.uint8)[1:].view(dtype).reshape(shape)


LAYOUTS: dict[str, Callable[[tuple[int, ...], Any], Array]] = {
    "rows": lambda shape, dtype: np.zeros(shape, dtype),
    "columns": lambda shape, dtype: np.zeros(shape[::-1], dtype).T,
    "wide rows": lambda shape, dtype: np.full((shape[0], shape[1] + 5), np.nan, dtype)[:, 2:-3],
    "spaced": spaced,
    "backwards": lambda shape, dtype: np.zeros(shape, dtype)[::-1, ::-1],
    "rows backwards": lambda shape, dtype: np.zeros(shape, dtype)[::-1],
    "columns backwards": lambda shape, dtype: np.zeros(shape[::-1], dtype).T[:, ::-1],
    "unaligned": unaligned,
}


def laid(layout: str, values: Array) -> Array:
    """The values in a layout; `one row` and `one column` repeat theirs without memory."""
    if layout == "one row":
        return np.broadcast_to(values[:1], values.shape)
    if layout == "one column":
        return np.broadcast_to(values[:, :1], values.shape)
    made = LAYOUTS[layout](values.shape, values.dtype)
    made[...] = values
    return made


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any, rare: bool) -> Array:
    """Of many sizes; if `rare`, with some NaN, infinities, negative zeros and denormals."""
    info = np.finfo(dtype)
    made = rng.standard_normal(shape) * 2.0 ** rng.integers(-9, 9, shape)
    found = made.astype(dtype)
    if rare:
        strange = [np.nan, np.inf, -np.inf, -0.0, info.smallest_subnormal, info.tiny, info.max]
        where = rng.random(shape) < 0.02
        found[where] = rng.choice(np.array(strange, dtype), int(where.sum()))
    return found


@settings(max_examples=60, deadline=None)
@given(
    dtype=st.sampled_from(DTYPES),
    extents=st.tuples(*(st.sampled_from(s) for s in (SIZES, DEPTHS, SIZES))).filter(
        lambda mkn: math.prod(mkn) <= WORK
    ),
    layouts=st.tuples(*(st.sampled_from([*LAYOUTS, "one row", "one column"]) for _ in range(2))),
    result=st.sampled_from(["fresh", *LAYOUTS]),
    rare=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
@example(np.float32, (61, 513, 33), ("rows", "rows"), "fresh", True, 0)
@example(np.float64, (61, 513, 33), ("columns", "columns"), "columns", True, 0)
@example(np.float64, (1, 1030, 300), ("spaced", "columns"), "spaced", False, 0)
@example(np.float32, (300, 16, 1), ("backwards", "one row"), "rows", False, 0)
def test_bits_are_the_interpreters(
    dtype: Any,
    extents: tuple[int, int, int],
    layouts: tuple[str, str],
    result: str,
    rare: bool,
    seed: int,
) -> None:
    m, k, n = extents
    rng = np.random.default_rng(seed)
    a = laid(layouts[0], numbers(rng, (m, k), dtype, rare))
    b = laid(layouts[1], numbers(rng, (k, n), dtype, rare))
    wanted = meaning.product(a, b)

    def out() -> Array | None:
        return None if result == "fresh" else laid(result, np.full((m, n), np.nan, dtype))

    with small_machine():
        everywhere(a, b, wanted, out)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_caches_of_this_machine(dtype: Any) -> None:
    """Blocks as they are chosen here give the bits of other blocks."""
    rng = np.random.default_rng(1)
    a, b = numbers(rng, (700, 1100), dtype, False), numbers(rng, (1100, 900), dtype, False)
    with small_machine():
        wanted = product(a, b)
    everywhere(a, b, wanted, lambda: None)
    everywhere(a, laid("columns", b), wanted, lambda: np.empty((700, 900), dtype, "F"))


@settings(max_examples=30, deadline=None)
@given(
    dtype=st.sampled_from(DTYPES),
    batches=st.sampled_from([((3,), (3,)), ((2, 1), (3,)), ((), (4,)), ((5,), ()), ((0,), (1,))]),
    extents=st.tuples(*(st.sampled_from([0, 1, 3, 4, 8, 13, 33]) for _ in range(3))),
    seed=st.integers(0, 2**32 - 1),
)
def test_batches(
    dtype: Any, batches: tuple[Any, Any], extents: tuple[int, int, int], seed: int
) -> None:
    m, k, n = extents
    rng = np.random.default_rng(seed)
    a = numbers(rng, (*batches[0], m, k), dtype, True)
    b = numbers(rng, (*batches[1], n, k), dtype, True).swapaxes(-1, -2)
    wanted = meaning.product(a, b)
    with small_machine():
        everywhere(a, b, wanted, lambda: None)
        everywhere(a, b, wanted, lambda: np.full_like(wanted, np.nan))


@settings(max_examples=30, deadline=None)
@given(
    dtype=st.sampled_from(DTYPES),
    items=st.sampled_from([15, 16, 31, 32, 33, 65]),
    extents=st.tuples(*(st.integers(1, 16) for _ in range(3))),
    layouts=st.tuples(*(st.sampled_from(["nn", "turned", "last", "one", "steps"]) for _ in "ab")),
    result=st.sampled_from(["fresh", "spaced", "turned"]),
    seed=st.integers(0, 2**32 - 1),
)
@example(np.float32, 65, (4, 4, 4), ("nn", "nn"), "fresh", 0)
@example(np.float64, 33, (3, 5, 7), ("turned", "last"), "spaced", 0)
def test_stacks_of_small_products(
    dtype: Any,
    items: int,
    extents: tuple[int, int, int],
    layouts: tuple[str, str],
    result: str,
    seed: int,
) -> None:
    """One product in each lane, whatever the layouts."""
    m, k, n = extents
    rng = np.random.default_rng(seed)
    a, b = (
        stacked(layout, numbers(rng, (items, *shape), dtype, True))
        for layout, shape in zip(layouts, ((m, k), (k, n)), strict=True)
    )

    def out() -> Array | None:
        if result == "fresh":
            return None
        if result == "spaced":
            return np.full((items, 2, m, n), np.nan, dtype)[:, 1]
        return np.full((items, n, m), np.nan, dtype).swapaxes(1, 2)

    with small_machine():
        everywhere(a, b, meaning.product(a, b), out)


def stacked(layout: str, values: Array) -> Array:
    """A stack with transposed matrices, with the stack as the last dim in memory, of one matrix
    that is repeated, or of every second matrix, backwards.
    """
    if layout == "turned":
        return np.ascontiguousarray(values.swapaxes(1, 2)).swapaxes(1, 2)
    if layout == "last":
        return np.moveaxis(np.ascontiguousarray(np.moveaxis(values, 0, -1)), -1, 0)
    if layout == "one":
        return np.broadcast_to(values[:1], values.shape)
    return np.repeat(values, 2, axis=0)[::-2] if layout == "steps" else values


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_result_over_its_operands(dtype: Any) -> None:
    rng = np.random.default_rng(2)
    a, b = numbers(rng, (40, 40), dtype, False), numbers(rng, (40, 40), dtype, False)
    wanted = meaning.product(a, b)
    for place in (0, 1):
        operands = [a.copy(), b.copy()]
        assert_same(product(*operands, operands[place]), wanted)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("depth", [1, 300, 2100])
@pytest.mark.parametrize("cancels", [False, True])
def test_errors_are_within_the_bound(dtype: Any, depth: int, cancels: bool) -> None:
    """Against sums without any rounding, of products without any."""
    rng = np.random.default_rng(depth)
    a, b = (numbers(rng, shape, dtype, False) for shape in ((3, depth), (depth, 4)))
    if cancels:
        half = depth // 2
        a[:, half : 2 * half] = -a[:, :half]
        b[half : 2 * half] = b[:half] * (1 + np.finfo(dtype).eps)
    found, unit = product(a, b), np.finfo(dtype).eps / 2
    count = roundings(depth)
    for i in range(3):
        for j in range(4):
            exact = _exact_sum(a[i], b[:, j])
            total = _exact_sum(np.abs(a[i]), np.abs(b[:, j]))
            bound = count * unit / (1 - count * unit) * float(total)
            assert abs(float(exact - _exact_sum(found[i, j : j + 1], np.ones(1)))) <= bound


def _exact_sum(a: Array, b: Array) -> Any:
    return sum(Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a, b, strict=True))


def test_one_code_for_all_extents_and_layouts() -> None:
    known = kernel_for(FLOAT32)
    for shape in ((1, 1), (100, 3), (3, 100)):
        matrix = np.ones(shape, np.float32)
        product(matrix, matrix.T)
        assert kernel_for(FLOAT32) is known


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT64])
def test_tiles_stay_in_registers(features: str, dtype: DType) -> None:
    """No accumulator of any tile is ever on the stack."""
    chosen = select(features)
    text = product_module(dtype, tile_for(dtype, chosen.vector_bytes))
    listing = compiler.assembly(text, chosen, 2, scalars=True)
    bodies = re.findall(r"^\.Ltile_\d+_\d+:\n(.*?)^\.Lfunc_end", listing, re.S | re.M)
    assert len(bodies) >= 8
    for body in bodies:
        assert "vfmadd" in body
        assert not re.search(r"vmov[au]p[sd]\s+%[yz]mm\d+, \S*\(%r[sb]p\)", body)


A = np.ones((3, 4), np.float32)


@pytest.mark.parametrize(
    ("operands", "out", "error", "message"),
    [
        ((A, A), None, ShapeError, r"\(3, 4\) and \(3, 4\)"),
        ((A, A[0]), None, ShapeError, r"\(4,\)"),
        ((np.ones((2, 3, 4)), np.ones((3, 4, 2))), None, ShapeError, "do not fit together"),
        ((A, A.T.astype(np.float64)), None, DTypeError, "float32 and float64"),
        ((A.astype(int), A.T.astype(int)), None, DTypeError, "int64"),
        ((A.astype(">f4"), A.T.astype(">f4")), None, DTypeError, ">f4"),
        ((A, A.T), np.ones((3, 4), np.float32), ShapeError, r"\(3, 4\)"),
        ((A, A.T), np.ones((3, 3)), DTypeError, "float64"),
        ((A, A.T), np.broadcast_to(A[:1, :1], (3, 3)), ReadOnlyError, "cannot be written"),
    ],
)
def test_refused(operands: Any, out: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        product(*operands, out)
