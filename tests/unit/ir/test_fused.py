"""`fma` of arrays has the bits of the C library's, for every kind of operand."""

from __future__ import annotations

import ctypes
from ctypes.util import find_library
from typing import Any

import numpy as np
import pytest

from fusewright.ir.fused import fma

N = 3000
SPECIAL = [
    0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324, -5e-324, 2.0**-1022, 2.0**-540, 2.0**540,
    1.7976931348623157e308,
]  # fmt: skip


def operands(kind: str, rng: np.random.Generator) -> Any:
    if kind == "normal":
        return rng.standard_normal(N)
    if kind == "bits":
        return rng.integers(0, 2**64, N, dtype=np.uint64).view(np.float64)
    if kind == "wide":
        return np.ldexp(rng.standard_normal(N), rng.integers(-60, 60, N))
    if kind == "ties":
        return np.ldexp(1 + rng.integers(0, 4, N) * 2.0**-52, rng.integers(-3, 3, N))
    return rng.choice(SPECIAL, N)


def libm(kind: Any, a: Any, b: Any, c: Any) -> Any:
    function = getattr(ctypes.CDLL(find_library("m")), "fma" if kind is np.float64 else "fmaf")
    c_type = ctypes.c_double if kind is np.float64 else ctypes.c_float
    function.restype, function.argtypes = c_type, [c_type] * 3
    return np.array([function(*row) for row in zip(a, b, c, strict=True)], kind)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize(
    "kinds",
    ["normal normal normal", "bits bits bits", "wide wide wide", "ties ties ties",
     "normal ties wide", "special special special", "special normal bits", "bits normal special",
     "normal bits cancel", "ties ties cancel"],
)  # fmt: skip
def test_the_c_librarys_bits(kinds: str, kind: Any) -> None:
    rng = np.random.default_rng(7)
    names = kinds.split()
    a, b = (operands(name, rng) for name in names[:2])
    with np.errstate(all="ignore"):
        c = -(a * b) if names[2] == "cancel" else operands(names[2], rng)
        a, b, c = (each.astype(kind) for each in (a, b, c))
    got, expected = fma(a, b, c), libm(kind, a, b, c)
    assert got.dtype == kind
    whole = np.uint64 if kind is np.float64 else np.uint32
    same = (got.view(whole) == expected.view(whole)) | (np.isnan(got) & np.isnan(expected))
    bad = np.flatnonzero(~same)
    assert not bad.size, [(a[i], b[i], c[i], got[i], expected[i]) for i in bad[:3]]


def test_operands_broadcast_and_nothing_warns() -> None:
    np.testing.assert_array_equal(fma(np.arange(3.0), 2.0, np.ones((2, 1))), [[1.0, 3.0, 5.0]] * 2)
    assert fma(1e308, 10.0, -np.inf) == -np.inf
    assert fma(0.1, 10.0, -1.0).shape == () and fma(0.1, 10.0, -1.0) == 2.0**-54
