"""Reductions and scans: NumPy's values on every target, and on the CPU bits that do not depend on
the layout.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.targets.compared import assert_close

import fusewright as fw
import fusewright.numpy as fnp

DTYPES = ["bool", "int8", "int32", "int64", "uint16", "float32", "float64", "complex128"]
REDUCTIONS = ["sum", "prod", "min", "max", "any", "all", "argmin", "argmax"]
SHAPES: list[tuple[int, ...]] = [(1,), (17,), (8193,), (5, 9), (130, 70), (3, 8200), (4, 3, 5, 7)]


def whole_numbers(dtype: str, shape: tuple[int, ...]) -> Any:
    """Small integers: every order of summation gives the same float, and argmin meets ties."""
    drawn = np.random.default_rng(len(shape)).integers(0, 4, shape)
    return np.where(drawn == 3, 1, drawn).astype(dtype)


def axes_of(shape: tuple[int, ...]) -> list[Any]:
    rank = len(shape)
    return [None, *range(rank), -1, *([(0, rank - 1), tuple(range(rank))] if rank > 1 else [])]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reduction(target: str, name: str, dtype: str) -> None:
    for shape in SHAPES:
        x = whole_numbers(dtype, shape)
        if name == "prod":
            x = np.where(x == 0, 1, x) if math.prod(shape) < 60 else np.minimum(x, 1)
        for axis in axes_of(shape):
            if name.startswith("arg") and isinstance(axis, tuple):
                continue
            for keepdims in (False, True):
                want = getattr(np, name)(x, axis=axis, keepdims=keepdims)
                got = getattr(fnp, name)(fw.asarray(x), axis=axis, keepdims=keepdims)
                assert_close(got, want, 0, f"{name} {dtype} {shape} {axis}")


@pytest.mark.parametrize("name", ["mean", "var", "std"])
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_moments(target: str, name: str, dtype: str) -> None:
    for shape in SHAPES:
        x = (np.random.default_rng(1).standard_normal(shape) * 5).astype(dtype)
        for axis in axes_of(shape):
            want = np.asarray(getattr(np, name)(x, axis=axis))
            got = np.asarray(getattr(fnp, name)(fw.asarray(x), axis=axis))
            assert got.dtype == want.dtype
            close = 1e-4 if dtype == "float32" else 1e-11
            np.testing.assert_allclose(got, want, rtol=close, atol=close)


@pytest.mark.parametrize("name", REDUCTIONS)
def test_special_values(target: str, name: str) -> None:
    for chosen in ([1, np.nan, 2], [np.inf, -np.inf, 0], [0.0, -0.0], [-0.0, 0.0], [np.nan] * 9):
        x = np.array(chosen * 5)
        with np.errstate(all="ignore"):
            want = getattr(np, name)(x)
        got = np.asarray(getattr(fnp, name)(fw.asarray(x)))
        np.testing.assert_array_equal(got, want, f"{name} {chosen}")


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)])
def test_nothing_to_reduce(target: str, shape: tuple[int, ...]) -> None:
    x = np.zeros(shape)
    for axis in [None, *range(len(shape))]:
        for name in ("sum", "prod", "any", "all"):
            want = getattr(np, name)(x, axis=axis)
            assert_close(getattr(fnp, name)(fw.asarray(x), axis=axis), want, 0, f"{name} {axis}")
        empty = axis is None or shape[axis] == 0
        if empty:
            with pytest.raises(ValueError, match=r".+"):
                fnp.max(fw.asarray(x), axis=axis)
        else:
            assert_close(fnp.max(fw.asarray(x), axis=axis), np.max(x, axis=axis))


def layouts(x: Any) -> dict[str, Any]:
    """The same values laid out in many ways."""
    wide = np.zeros(tuple(2 * n for n in x.shape), x.dtype)
    strided = wide[tuple(slice(None, None, 2) for _ in x.shape)]
    strided[...] = x
    shifted = np.zeros(x.size + 3, x.dtype)[3:].reshape(x.shape)
    shifted[...] = x
    return {
        "C": x,
        "Fortran": np.asfortranarray(x),
        "transposed": np.ascontiguousarray(x.T).T,
        "reversed": np.ascontiguousarray(x[::-1])[::-1],
        "strided": strided,
        "shifted": shifted,
    }


ROUNDING: dict[str, Callable[[Any], Any]] = {
    "sum": lambda x: x.sum(),
    "sum of rows": lambda x: x.sum(axis=-1),
    "sum of columns": lambda x: x.sum(axis=0),
    "prod": lambda x: (1 + x * 1e-3).prod(axis=0),
    "mean": lambda x: x.mean(axis=-1),
    "var": lambda x: x.var(),
    "cumsum": lambda x: fnp.cumsum(x, axis=-1),
    "cumsum down": lambda x: fnp.cumsum(x, axis=0),
    "sum of squares": lambda x: (x * x).sum(axis=0),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("name", sorted(ROUNDING))
def test_layout_changes_no_bit(name: str, dtype: str) -> None:
    for shape in ((20_011,), (67, 301), (1025, 9), (7, 11, 129)):
        x = np.random.default_rng(3).standard_normal(shape).astype(dtype)
        with fw.options(target="cpu"):
            results = {
                layout: np.asarray(ROUNDING[name](fw.asarray(values, copy=False)))
                for layout, values in layouts(x).items()
            }
        for layout, result in results.items():
            assert_close(result, results["C"], 0, f"{name} {layout} {shape}")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_scan(target: str, name: str, dtype: str) -> None:
    for shape in [*SHAPES, (0,), (3, 0)]:
        x = whole_numbers(dtype, shape)
        if name == "cumprod":
            x = np.minimum(x.real, 1).astype(dtype) if dtype != "bool" else x
        for axis in [None, *range(len(shape))]:
            want = getattr(np, name)(x, axis=axis)
            got = getattr(fnp, name)(fw.asarray(x), axis=axis)
            assert_close(got, want, 0, f"{name} {dtype} {shape} {axis}")


def test_diff(target: str) -> None:
    x = whole_numbers("float64", (6, 40))
    for n in (1, 2):
        for axis in (0, 1):
            assert_close(fnp.diff(fw.asarray(x), n=n, axis=axis), np.diff(x, n=n, axis=axis))


@pytest.mark.parametrize("width", [5, 20, 41, 60])
def test_many_windows_of_one_array(target: str, width: int) -> None:
    x = np.random.default_rng(width).integers(0, 9, 200).astype(float)
    for ours, plain in ((fnp, fw.asarray(x)), (np, x)):
        windows = ours.lib.stride_tricks.sliding_window_view(plain, width)
        joined = ours.concatenate([plain[i : i + 3] for i in range(width)])
        spread = ours.zeros(6 * width)
        spread[::2] = joined
        found = [
            windows.sum(-1), windows.max(0), ours.cumsum(windows, 0), (windows * 2).sum(),
            joined.sum(), ours.cumsum(joined), spread,
        ]  # fmt: skip
        if ours is fnp:
            kept = [np.asarray(each) for each in found]
    for got, want in zip(kept, found, strict=True):
        np.testing.assert_array_equal(got, want)
