"""Reductions and scans: NumPy's values, dtypes and arguments for every dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fusewright.frontends.arrays as fa
from fusewright.frontends.arrays import reductions, scans
from fusewright.ir import dtypes

DTYPES = [dtype.name for dtype in dtypes.ALL]
REDUCED = ["sum", "prod", "min", "max", "any", "all", "mean", "var", "std", "argmin", "argmax"]
AXES: list[Any] = [None, 0, -1, (0, 2)]


def data(dtype: str) -> Any:
    values = np.arange(24).reshape(2, 3, 4) % 5
    array = (values - 2 if np.dtype(dtype).kind not in "bu" else values).astype(dtype)
    return array * (1 + 0.5j) if np.dtype(dtype).kind == "c" else array


def same(ours: Any, theirs: Any, exact: bool) -> None:
    assert ours.dtype == theirs.dtype
    assert ours.shape == np.shape(theirs)
    if exact:
        np.testing.assert_array_equal(np.asarray(ours), theirs)
    else:
        tolerance = 2e-3 if theirs.dtype == np.float16 else 1e-6
        np.testing.assert_allclose(np.asarray(ours), theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", REDUCED)
def test_every_dtype_axis_and_keepdims(name: str, dtype: str) -> None:
    theirs = data(dtype).astype(dtype)
    ours = fa.asarray(theirs)
    for axis in AXES:
        if isinstance(axis, tuple) and name.startswith("arg"):
            continue
        for keepdims in (False, True):
            want = getattr(theirs, name)(axis=axis, keepdims=keepdims)
            got = getattr(ours, name)(axis=axis, keepdims=keepdims)
            same(got, want, exact=theirs.dtype.kind in "biu" and name not in ("mean", "var", "std"))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_scans(name: str, dtype: str) -> None:
    theirs = data(dtype).astype(dtype)
    for axis in (None, 0, -1):
        want = getattr(theirs, name)(axis=axis)
        same(getattr(fa.asarray(theirs), name)(axis=axis), want, exact=False)


def test_arguments() -> None:
    theirs = data("float64")
    ours = fa.asarray(theirs)
    mask = theirs != 1
    same(ours.sum(1, where=mask), theirs.sum(1, where=mask), exact=False)
    same(ours.mean(1, where=mask), theirs.mean(1, where=mask), exact=False)
    same(ours.max(0, initial=1.5), theirs.max(0, initial=1.5), exact=True)
    same(ours.max(0, initial=-9.0, where=mask), theirs.max(0, initial=-9.0, where=mask), exact=True)
    same(ours.sum(initial=10), theirs.sum(initial=10), exact=False)
    same(ours.sum(dtype="float32"), theirs.sum(dtype="float32"), exact=False)
    same(ours.var(2, ddof=1), theirs.var(2, ddof=1), exact=False)
    same(ours.var(2, correction=1), theirs.var(2, ddof=1), exact=False)
    same(ours.std(ddof=1, where=mask), theirs.std(ddof=1, where=mask), exact=False)
    same(fa.asarray(data("int8")).mean(dtype="float32"), data("int8").mean(dtype="float32"), False)


def test_out_is_written_and_returned() -> None:
    theirs = data("float64")
    ours, out = fa.asarray(theirs), fa.zeros((3, 4))
    assert ours.sum(0, out=out) is out
    same(out, theirs.sum(0), exact=False)
    raw = np.zeros((3, 4))
    assert ours.max(0, out=raw) is raw
    np.testing.assert_array_equal(raw, theirs.max(0))


def test_first_nan_wins() -> None:
    theirs = np.array([[1.0, np.nan, np.nan], [3.0, -1.0, np.inf]])
    ours = fa.asarray(theirs)
    for name in ("argmin", "argmax"):
        same(getattr(ours, name)(1), getattr(theirs, name)(1), exact=True)
    same(ours.min(1), theirs.min(1), exact=True)


def test_empty_extents() -> None:
    theirs = np.zeros((0, 3))
    ours = fa.asarray(theirs)
    same(ours.sum(0), theirs.sum(0), exact=True)
    same(ours.prod(), theirs.prod(), exact=True)
    same(ours.min(1), theirs.min(1), exact=True)
    same(ours.max(0, initial=2.0), theirs.max(0, initial=2.0), exact=True)
    same(ours.all(0), theirs.all(0), exact=True)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "float32", "complex64"])
def test_diff_and_count_nonzero(dtype: str) -> None:
    theirs = data(dtype).astype(dtype)
    for n in (0, 1, 2, 5):
        same(scans.diff(theirs, n, axis=1), np.diff(theirs, n, axis=1), exact=True)
    want = np.diff(theirs, prepend=theirs[..., :1], append=1)
    same(scans.diff(theirs, prepend=theirs[..., :1], append=1), want, exact=True)
    for axis in (None, 0, (0, 1)):
        want = np.asarray(np.count_nonzero(theirs, axis))
        same(reductions.count_nonzero(theirs, axis), want, exact=True)


def test_ufunc_methods() -> None:
    theirs = data("int32")
    ours = fa.asarray(theirs)
    same(np.add.reduce(ours), np.add.reduce(theirs), exact=True)
    same(np.maximum.accumulate(ours, 2), np.maximum.accumulate(theirs, 2), exact=True)
    same(np.bitwise_or.reduce(ours, 1), np.bitwise_or.reduce(theirs, 1), exact=True)
    flat, want = fa.asarray(np.arange(4)), np.arange(4)
    same(np.subtract.outer(flat, flat[:2]), np.subtract.outer(want, want[:2]), exact=True)
    np.add.at(flat, [0, 0, -1], 5)
    np.add.at(want, [0, 0, -1], 5)
    same(flat, want, exact=True)
