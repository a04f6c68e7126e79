"""Kernels of complex numbers against CPython, in every way kernels run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import remembered, same_as_cpython
from tests.unit.kernels import complex_kernels as kernels

import fusewright as fw
from fusewright.base.errors import FusewrightError


def points(*shape: int, dtype: Any = np.complex128, seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)


def reals(*shape: int) -> Any:
    return np.random.default_rng(7).standard_normal(shape)


N = 37
SINGLE = np.complex64
CASES = {
    "arithmetic": (kernels.arithmetic, points(N), points(N, seed=2), points(N, 8)),
    "arithmetic of complex64": (
        kernels.arithmetic, points(N, dtype=SINGLE), points(N, dtype=SINGLE, seed=2),
        points(N, 8, dtype=SINGLE),
    ),
    "mixed widths": (
        kernels.arithmetic, points(N, dtype=SINGLE), points(N, seed=2), points(N, 8),
    ),
    "strided": (
        kernels.arithmetic, points(3 * N)[::3], points(2 * N, seed=2)[::-2], points(8, N).T,
    ),
    "of real arrays": (kernels.arithmetic, reals(N), points(N), points(N, 8)),
    "python's numbers": (kernels.python_numbers, points(N), 1.5 - 0.5j, 2.5),
    "numpy's numbers": (kernels.python_numbers, points(N), np.complex128(1.5 - 0.5j), 2.5),
    "recurrence": (kernels.recurrence, points(N), 0.3 + 0.6j),
    "updates": (kernels.updates, points(N), points(N, seed=2), 0.25 - 2j),
    "swapped": (kernels.swapped, points(N)),
    "sums": (kernels.sums, points(N)),
    "sums of complex64": (kernels.sums, points(N, dtype=SINGLE)),
    "small arrays": (kernels.small_arrays, points(N), points(N)),
    "fourier": (kernels.fourier, points(12), points(12), points(12, seed=3)),
    "mandelbrot": (
        kernels.mandelbrot, points(6, 7), np.zeros((6, 7), np.int64),
    ),
    "chosen": (kernels.chosen, points(N), points(N, seed=2), reals(N)),
    "two loops": (kernels.two_loops, points(N), points(N), points(N)),
    "stencil": (kernels.stencil, points(N), points(N)),
    "filled": (kernels.filled, points(5, 6), 2 - 1j),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_same_as_cpython(case: str) -> None:
    same_as_cpython(*CASES[case])


def test_shared_memory() -> None:
    """Real and complex views of one array, shifted ones, and parts."""
    whole = points(41)
    same_as_cpython(kernels.two_loops, whole[:40], whole[1:], points(40))
    same_as_cpython(kernels.chosen, whole, points(41), whole.real)
    same_as_cpython(kernels.chosen, points(41), whole, whole.imag)


def test_divisors_of_all_kinds() -> None:
    values = [0.0, -0.0, 1.0, -2.5, 1e-300, 1e300, np.inf, np.nan]
    z = np.array([complex(x, y) for x in values for y in values])
    a, b = np.repeat(z, z.size), np.tile(z, z.size)
    found = np.zeros((a.size, 8), complex)
    wanted = found.copy()
    kernels.arithmetic(a, b, found)
    with np.errstate(all="ignore"):
        kernels.arithmetic.__wrapped__(a, b, wanted)
    same = (found.view(float) == wanted.view(float)) | (
        np.isnan(found.view(float)) & np.isnan(wanted.view(float))
    )
    assert same.all(), np.argwhere(~same)[:5]


def test_sizes_and_phases() -> None:
    z = points(N)
    found, wanted = np.zeros((N, 7)), np.zeros((N, 7))
    kernels.parts(z, found)
    kernels.parts.__wrapped__(z, wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-15)
    assert np.array_equal(found[:, [0, 2, 3, 4, 5]], wanted[:, [0, 2, 3, 4, 5]])


def test_exponential() -> None:
    z = points(N) * 5
    found, wanted = points(N), points(N)
    kernels.exponential(z, found)
    kernels.exponential.__wrapped__(z, wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)


@pytest.mark.parametrize("raised", [True, False])
def test_with_lazy_arrays(raised: bool) -> None:
    """Loops over complex arrays are array statements too, with the same bits."""
    a, b = points(N), points(N, seed=2)
    kernel, count = (kernels.stencil, 1) if raised else (kernels.fourier, 2)
    given = [fw.asarray(a), fw.asarray(b), fw.asarray(points(N, seed=4))][: count + 1]
    plain = [a.copy(), b.copy(), points(N, seed=4)][: count + 1]
    before = kernel.stats.raised
    for _ in range(3):
        kernel(*given)
        kernel.__wrapped__(*plain)
        given[0], given[1] = given[1], given[0]
        plain[0], plain[1] = plain[1], plain[0]
    assert (kernel.stats.raised > before) == raised
    for got, want in zip(given, plain, strict=True):
        assert np.asarray(got).tobytes() == want.tobytes()


def test_lazy_numbers_are_arguments() -> None:
    a, b = fw.asarray(points(N)), fw.asarray(points(N, seed=2))
    x, y = points(N), points(N, seed=2)
    for step in range(3):
        f, g = a[step] * 0.1, x[step] * 0.1
        kernels.updates(a, b, f)
        kernels.updates.__wrapped__(x, y, g)
        kernels.updates(a, b, 0.5j + step)
        kernels.updates.__wrapped__(x, y, 0.5j + step)
    assert np.asarray(b).tobytes() == y.tobytes() and np.asarray(a).tobytes() == x.tobytes()


def test_calls_with_other_numbers() -> None:
    """The number is an argument: neither translated nor remembered."""
    a = points(4)
    kernels.python_numbers(a, 1j, 1.0)
    assert remembered(kernels.python_numbers)  # the next call takes the short way
    for z in (1j, 2 - 1j, np.complex64(3), 0.5 + 0j):
        found = kernels.python_numbers(a, z, 1.0)
        assert found == kernels.python_numbers.__wrapped__(a.copy(), z, 1.0)


@fw.kernel
def ordered(a: Any) -> None:
    for i in range(a.shape[0]):
        if a[i] < a[0]:
            a[i] = 0


@fw.kernel
def into_real(a: Any, x: Any) -> None:
    for i in range(a.shape[0]):
        x[i] = a[i]


@fw.kernel
def floored(a: Any) -> None:
    for i in range(a.shape[0]):
        a[i] = a[i] // 2


@fw.kernel
def root(a: Any) -> None:
    for i in range(a.shape[0]):
        a[i] = a[i] ** 0.5


@fw.kernel
def as_float(a: Any, x: Any) -> None:
    for i in range(a.shape[0]):
        x[i] = float(a[i])


@fw.kernel
def array_product(a: Any) -> None:
    for i in range(a.shape[0]):
        a[i] = np.multiply(a[i], a[i])


@fw.kernel
def least(a: Any) -> None:
    for i in range(a.shape[0]):
        fw.atomic_min(a, 0, a[i])


@fw.kernel
def collected(a: Any, b: Any) -> None:
    for i in range(a.shape[0]):
        fw.atomic_add(b, i % 3, a[i])
        fw.atomic_sub(b, 2, a[i] * 1j)


def test_atomics() -> None:
    same_as_cpython(collected, points(N), points(3))


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (ordered, "less"), (least, "real numbers"), (into_real, "complex"),
        (floored, "floor_divide"), (root, "power"),
        (as_float, "complex"), (array_product, "np.multiply"),
    ],
)  # fmt: skip
def test_refused(kernel: Any, words: str) -> None:
    with pytest.raises(FusewrightError, match=words) as caught:
        kernel(*([points(3)] if kernel not in (into_real, as_float) else [points(3), reals(3)]))
    assert "test_complex.py" in str(caught.value)
