"""Loops that fuse for some parameters only: one kernel, two forms, a test in front."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import same_as_cpython
from tests.unit.kernels import guarded_kernels

import fusewright as fw

R = np.random.default_rng(5)
N = 80


def numbers(*shape: int) -> Any:
    return R.normal(size=shape)


def fresh(name: str) -> Any:
    """The kernel as if it had never been called."""
    return fw.kernel(getattr(guarded_kernels, name).__wrapped__)


CASES: dict[str, tuple[str, list[tuple[Any, ...]], tuple[int, int]]] = {
    "offset": (
        "k >= b.shape[0] or k = 0",
        [(numbers(4 * N), numbers(N), k) for k in (0, N, 2 * N, 1, N - 1, -1, -4 * N)], (3, 4),
    ),
    "mirrored": (
        "m >= -1 + 2*b.shape[0]",
        [(numbers(4 * N), numbers(N), m) for m in (N, 2 * N, 2 * N - 1, 2 * N - 2)], (2, 2),
    ),
    "in_time": (
        "k >= b.shape[0] or k = 0",
        [(numbers(4 * N), numbers(N), k) for k in (0, N, 3, 4)], (2, 2),
    ),
    "two_offsets": (
        "k >= n or k = 0",
        [(numbers(6 * N), numbers(N), k, N) for k in (0, 1, N - 1, N, 2 * N)], (3, 2),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_form_is_chosen_at_each_call(name: str) -> None:
    text, calls, taken = CASES[name]
    kernel = fresh(name)
    for arguments in calls:
        kernel(*[a.copy() if isinstance(a, np.ndarray) else a for a in arguments])
    (code,) = kernel.explain().codes
    assert code.guard == text
    assert code.taken == taken
    assert kernel.stats.fused == sum(bool(pair.when) for pair in code.pairs) > 0
    said = str(kernel.explain())
    assert f": on (i), one loop, when {text}" in said
    assert f"when {text}: {taken[0]} calls" in said
    assert f"otherwise: {taken[1]} calls" in said
    for arguments in calls:
        same_as_cpython(kernel, *arguments)


def test_no_test_where_values_decide() -> None:
    kernel = fresh("by_table")
    kernel(numbers(N), numbers(N), np.arange(N))
    (code,) = kernel.explain().codes
    assert not code.guard
    assert "not fused" in str(kernel.explain())


def test_no_test_that_needs_divisions() -> None:
    kernel = fresh("every_fourth")
    for k in (0, 1, 4, 7):
        same_as_cpython(kernel, numbers(8 * N), numbers(N), k)
    kernel = fresh("every_fourth")
    with fw.options(threads=2):
        kernel(numbers(8 * N), numbers(N), 1)
    text = str(kernel.explain())
    assert "no test at run time: the condition is too complex" in text, text


def test_lazy_calls_choose_too() -> None:
    """A kernel that is no array statement, as a pending value and joined with another one."""
    kernel = fresh("in_time")
    for k in (0, N, 2):
        a, b = fw.asarray(numbers(4 * N)), fw.asarray(numbers(N))
        own = [np.array(a), np.array(b)]
        with fw.options(background=False):
            kernel(a, b, k)
            kernel(a, b, k)
            found = [np.asarray(a), np.asarray(b)]
        for _ in range(2):
            kernel.__wrapped__(*own, k)
        assert all(x.tobytes() == y.tobytes() for x, y in zip(found, own, strict=True))
    assert kernel.stats.deferred == 6


def test_verify_runs_the_chosen_form() -> None:
    kernel = fresh("offset")
    with fw.options(verify=True):
        for k in (0, N, 3):
            kernel(numbers(4 * N), numbers(N), k)
    assert kernel.explain().codes[0].taken == (2, 1)


def test_arrays_that_share_memory_have_code_of_their_own() -> None:
    kernel, base = fresh("neighbours"), numbers(2 * N)
    kernel(base[:N], base[N:])
    assert kernel.stats.fused == 1
    kernel(base[:N], base[1 : N + 1])
    apart, shared = kernel.explain().codes
    assert apart.pairs[0].fused
    assert not shared.pairs[0].fused
    assert shared.sharing == (("a", "b"),)
    assert "where `a` and `b` share memory" in str(kernel.explain())


def _two(a, b, k):
    for i in range(8, len(a) - 8):
        a[i] = 2.0 * b[i]
    for i in range(8, len(a) - 8):
        b[i] = a[i + k] + 1.0


@fw.kernel
def _twice(a, b, c, d, k, m):
    _two(a, b, k)
    _two(c, d, m)


def test_loops_of_one_line_are_told_apart() -> None:
    """A function is called twice: both of its pairs of loops have a condition, as in what runs."""
    arrays = [np.ones(100) for _ in range(4)]
    _twice(*arrays, -1, -1)
    text = str(_twice.explain())
    assert "(k >= -16 + a.shape[0] or k = 0) and (m >= -16 + c.shape[0] or m = 0)" in text, text
    _twice(*arrays, 0, -1)
    assert "or m = 0): 0 calls" in str(_twice.explain())
    _twice(*arrays, 0, 0)
    assert "or m = 0): 1 call\n" in str(_twice.explain())
