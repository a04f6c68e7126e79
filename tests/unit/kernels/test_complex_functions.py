"""Functions, powers and printing of complex numbers: powers and text are CPython's and NumPy's to
the last bit, functions are within 2 ulp in each part, with their branch cuts and special values.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mp
from tests.kernel_runs import same_as_cpython
from tests.unit.kernels import complex_functions as kernels
from tests.unit.ulps import SWEEP, error

import fusewright as fw
from fusewright.base.errors import KernelError

Array = Any
EDGES = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e200, -1e-320]
SPECIAL = np.array([complex(x, y) for x in EDGES for y in EDGES])
COMPLEX = [np.complex128, np.complex64]


def narrowed(z: Array, dtype: Any) -> Array:
    with np.errstate(all="ignore"):
        return z.astype(dtype)


def points(dtype: Any, seed: int = 0) -> Array:
    """Of all sizes, on the circle around 0 and close to it, tiny and huge."""
    rng, count = np.random.default_rng(seed), 300 * SWEEP
    reach = 300 if dtype is np.complex128 else 36
    sizes = 10.0 ** rng.uniform(-reach, reach, (2, count))
    turn = np.exp(1j * rng.uniform(-np.pi, np.pi, count))
    near = 1 + rng.standard_normal(count) * 10.0 ** rng.uniform(-16, -1, count)
    plain = rng.standard_normal((2, count))
    info = np.finfo(dtype)
    plain = plain[0] + 1j * plain[1]
    edges = [plain * float(info.smallest_subnormal) * 2**20, plain * (float(info.max) / 8)]
    wide = plain.real * sizes[0] + 1j * plain.imag * sizes[1]
    found = narrowed(np.concatenate([wide, plain, turn, turn * near, *edges]), dtype)
    return found[np.isfinite(found) & (found.real != 0) & (found.imag != 0)]


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize(
    ("kernel", "exact"), [(kernels.roots, mp.sqrt), (kernels.logarithms, mp.log)]
)
def test_bounds(kernel: Any, exact: Callable[[Any], Any], dtype: Any) -> None:
    z = points(dtype)
    found = np.zeros_like(z)
    kernel(z, found)
    info = np.finfo(dtype)
    with mp.workprec(300):
        for given, got in zip(z, found, strict=True):
            wanted = exact(mpmath.mpc(float(given.real), float(given.imag)))
            for part in ("real", "imag"):
                off = error(float(getattr(got, part)), getattr(wanted, part), info)
                assert off <= 2, (given, got, part, off)


def agrees(got: Any, wanted: Any) -> bool:
    """The same but for rounding: zeros and infinities with their signs, NaN for NaN."""
    if math.isnan(wanted):
        return math.isnan(got)
    close = got == wanted or abs(got - wanted) <= 1e-6 * abs(wanted)
    return bool(close and np.signbit(got) == np.signbit(wanted))


def both_agree(got: complex, wanted: complex) -> bool:
    return agrees(got.real, wanted.real) and agrees(got.imag, wanted.imag)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_special_values(dtype: Any) -> None:
    """Also on both sides of the branch cuts: -2.5 with either zero."""
    z = narrowed(SPECIAL, dtype)
    found, sizes = np.zeros((z.size, 5), z.dtype), np.zeros((z.size, 4), z.real.dtype)
    kernels.functions(z, found, sizes)
    with np.errstate(all="ignore"):
        for given, row, reals in zip(z, found, sizes, strict=True):
            python = complex(given)
            assert both_agree(row[0], cmath.sqrt(python)), (given, row[0])
            if python:  # CPython raises for the logarithm of 0
                assert both_agree(row[1], cmath.log(python)), (given, row[1])
                assert both_agree(row[4], narrowed(np.array(cmath.log(python, 2.5)), dtype)), given
            assert both_agree(row[2], np.sqrt(given)), (given, row[2])
            assert both_agree(row[3], np.log(given)), (given, row[3])
            wanted = (np.abs(given), np.angle(given), np.angle(given), np.abs(given))
            assert all(map(agrees, reals, wanted)), (given, reals)


def test_turned() -> None:
    parts = np.array([*EDGES, 0.75, 3.0, -40.0])
    r, turn = np.repeat(parts, parts.size), np.tile(parts, parts.size)
    found = np.zeros(r.size, complex)
    kernels.turned(r, turn, found)
    seen = 0
    for size, angle, got in zip(r.tolist(), turn.tolist(), found, strict=True):
        try:
            wanted = cmath.rect(size, angle)
        except ValueError:  # an infinite angle
            continue
        seen += 1
        assert both_agree(got, wanted), (size, angle, got, wanted)
    assert seen > 120


def test_whole_arrays_are_the_same() -> None:
    """In vectors, on threads, fused or not; and close to NumPy's."""
    z = points(np.complex128)[:200]
    found, x = np.zeros_like(z), np.zeros(z.size)
    kernels.whole_arrays(z, found, x)
    wanted, y = np.zeros_like(z), np.zeros(z.size)
    kernels.whole_arrays.__wrapped__(z, wanted, y)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)
    np.testing.assert_allclose(x, y, rtol=1e-14)
    arrays = np.asarray(np.sqrt(fw.asarray(z)) + np.log(fw.asarray(z)) * 0.5j)
    assert arrays.tobytes() == found.tobytes()


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_angles_of_real_numbers(dtype: Any) -> None:
    values = np.array([1, 0, -3, 7], dtype)
    found, wanted = np.zeros(4), np.zeros(4)
    kernels.angles_of_reals(values, found)
    kernels.angles_of_reals.__wrapped__(values, wanted)
    assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("kernel", [kernels.numpy_powers, kernels.python_powers])
def test_powers(kernel: Any, dtype: Any) -> None:
    z = narrowed(points(np.complex128)[300:340], dtype)
    same_as_cpython(kernel, z[abs(abs(z) - 1) < 0.9], np.zeros((z.size, 14), dtype))


@pytest.mark.parametrize("kernel", [kernels.numpy_powers, kernels.python_powers])
def test_powers_of_special_values(kernel: Any) -> None:
    found, wanted = np.zeros((SPECIAL.size, 14), complex), np.zeros((SPECIAL.size, 14), complex)
    kernel(SPECIAL, found)
    seen = 0
    for place in range(SPECIAL.size):
        row = slice(place, place + 1)
        with np.errstate(all="ignore"):
            try:
                kernel.__wrapped__(SPECIAL[row], wanted[row])
            except (OverflowError, ZeroDivisionError):  # Python's numbers raise
                continue
        seen += 1
        a, b = found[place].view(float), wanted[place].view(float)
        same = (a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b)
        assert same.all(), (SPECIAL[place], found[place], wanted[place])
    assert seen > 30


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("z", [1 + 2j, complex(-0.0, 0.0), np.complex64(0.1 + 3j)])
def test_printed(z: Any, dtype: Any, capsys: Any) -> None:
    a = narrowed(SPECIAL, dtype)
    x = np.arange(a.size) / 7
    kernels.shown(a, x, z)
    found = capsys.readouterr().out
    kernels.shown.__wrapped__(a, x, z)
    assert found == capsys.readouterr().out


def test_printed_without_complex_arrays(capsys: Any) -> None:
    kernels.shown_without_arrays(np.arange(2.0))
    assert capsys.readouterr().out == "1j 2j 2j\n(1+1j) 2j 2j\n"


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (kernels.far_power, "a whole literal up to 99"),
        (kernels.root_as_power, "cmath.sqrt"),
    ],
)
def test_other_powers_are_refused(kernel: Any, words: str) -> None:
    with pytest.raises(KernelError, match=words) as caught:
        kernel(SPECIAL.copy())
    assert "complex_functions.py" in str(caught.value)


def test_a_power_that_is_no_literal() -> None:
    with pytest.raises(KernelError, match=r"cmath\.exp\(w \* cmath\.log\(z\)\)"):
        kernels.power_of_a_variable(SPECIAL.copy(), 3)


@pytest.mark.parametrize("dtype", ["c16", "c8", "f8", "i4"])
def test_which_are_complex(dtype: str) -> None:
    a = np.array([1, 2 + 1j, -0j, complex(1, np.nan), complex(np.inf, -0.0)])
    values = a.astype(dtype) if dtype[0] == "c" else np.arange(5).astype(dtype)
    found, wanted = np.zeros((2, 5), bool), np.zeros((2, 5), bool)
    count = kernels.which_are_complex(values, found)
    assert count == kernels.which_are_complex.__wrapped__(values, wanted)
    np.testing.assert_array_equal(found, wanted)
