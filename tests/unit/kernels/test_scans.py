"""Values handed on from iteration to iteration, in blocks on threads: what CPython gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import same_as_cpython, short_strips
from tests.unit.kernels import scan_kernels as scans
from tests.unit.kernels.data import Numbers
from tests.unit.kernels.test_fusion import fresh

import fusewright as fw
from fusewright.analysis.values import value
from fusewright.ir.expr import postorder
from fusewright.ir.loops.statements import Let

numbers = Numbers(7)
whole = numbers.whole

OVER_ONE = (
    scans.sums, scans.before, scans.from_the_end, scans.in_place, scans.extremes, scans.bits,
    scans.counted, scans.compacted, scans.compacted_after,
)  # fmt: skip
IN_ORDER = (
    scans.feeds_back, scans.reads_its_own_stores, scans.meets_other_iterations, scans.overwrites,
    scans.on_both_sides, scans.also_where_it_stands, scans.of_floats, scans.two_kinds,
)  # fmt: skip


def numbers(size: int, dtype: Any = np.int64) -> Any:
    return whole(size, low=0 if np.dtype(dtype).kind == "u" else -100, high=100, dtype=dtype)


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8", "int32", "uint64"])
@pytest.mark.parametrize("kernel", OVER_ONE, ids=lambda kernel: kernel.__name__)
def test_of_each_type(kernel: Any, dtype: str) -> None:
    if dtype == "uint64" and kernel is scans.before:
        pytest.skip("uint64 and a negative int make a float")
    for size in (77, 300):
        with short_strips():
            same_as_cpython(kernel, numbers(size, dtype), np.zeros(size, np.int64))


@pytest.mark.parametrize("size", [0, 1, 2, 3, 64, 65, 1000])
def test_of_each_length(size: int) -> None:
    with short_strips():
        for kernel in (scans.sums, scans.before, scans.compacted, scans.in_place):
            for a in (numbers(size), numbers(2 * size, "i2")[::-2]):
                # Of no iterations CPython gives an int, not NumPy's.
                same_as_cpython(kernel, a, np.zeros(size, np.int64), returns=size > 2)


def test_of_other_shapes() -> None:
    with short_strips():
        same_as_cpython(scans.rows, whole(90, 3), np.zeros(90, np.int64))
        many = [np.zeros(200, np.int64) for _ in range(2)]
        same_as_cpython(scans.split, numbers(200), *many)
        same_as_cpython(scans.fused_with_what_it_adds_up, numbers(200), *many)
        shared = numbers(200)
        for kernel in (scans.sums, scans.compacted, scans.split):
            views = (shared[:150], shared[50:200], shared[10:160])
            own, wanted = shared.copy(), shared.copy()
            count = 2 if kernel is scans.split else 1
            kernel(own[:150], own[50:200], *(own[10:160],) * (count - 1))
            kernel.__wrapped__(wanted[:150], wanted[50:200], *(wanted[10:160],) * (count - 1))
            assert np.array_equal(own, wanted)
            assert all(view.base is shared for view in views)


@pytest.mark.parametrize("kernel", IN_ORDER, ids=lambda kernel: kernel.__name__)
def test_what_stays_in_order(kernel: Any) -> None:
    with short_strips():
        same_as_cpython(kernel, numbers(150) % 90, np.zeros(150, np.int64))
    kernel = fresh(kernel)
    kernel(numbers(50) % 40, np.zeros(50, np.int64))
    assert not any(loop.scans for loop in kernel.explain().codes[0].loops)


@pytest.mark.parametrize("kernel", OVER_ONE, ids=lambda kernel: kernel.__name__)
def test_they_run_on_threads(kernel: Any) -> None:
    kernel = fresh(kernel)
    with fw.options(threads=2):
        kernel(numbers(50), np.zeros(50, np.int64))
    text = str(kernel.explain())
    assert "runs on threads" in text
    assert "in blocks, once it is known what `" in text
    with fw.options(threads=1):
        kernel(numbers(50), np.zeros(50, np.int64))
    assert len(kernel.explain().codes) == 2
    assert "runs in order" in str(kernel.explain())


def test_a_million() -> None:
    a = numbers(1 << 20)
    for kernel in (scans.sums, scans.compacted):
        b = np.zeros(a.size, np.int64)
        with fw.options(threads=2):
            found = kernel(a, b)
        wanted = np.cumsum(a) + 3 if kernel is scans.sums else 2 * a[2 * a > 4]
        assert np.array_equal(b[: wanted.size], wanted)
        assert found == (wanted[-1] if kernel is scans.sums else wanted.size)


@pytest.mark.parametrize(("size", "count"), [(0, 0), (100, 1), (1 << 14, 1), (1 << 22, 64)])
def test_few_iterations_are_one_block(size: int, count: int) -> None:
    kernel = fresh(scans.sums)
    with fw.options(threads=2):
        kernel(numbers(50), np.zeros(50, np.int64))
    ((found,),) = kernel.specialisations.values()
    (code,) = found.compiled.values()
    plan = code.plan.kernel
    lets = (s for s in plan.body if isinstance(s, Let))
    (length,) = (let for let in lets if plan.locals[let.local].name == "block")
    extents = {n: size for n in postorder([length.value]) if n.name == "param"}
    each = value(length.value, extents)
    assert each is not None
    assert -(-size // each) == count
