"""Products, gathers, scatters and sums of small values in memory: at once or recorded, the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.evaluators import begin, installed

import fusewright as fw
import fusewright.numpy as fnp
from fusewright._core import native
from fusewright.ir.graph import LEAF

TYPES = ("float64", "float32", "int64", "complex128", "int32")
Case = Callable[[Any, Any, Any], Any]


@pytest.fixture(autouse=True)
def evaluator() -> Iterator[None]:
    """Past the steps of a program that are recorded whatever they are."""
    with installed("interpreted"), fw.options(interpret=True):
        begin()
        yield


def data(dtype: str, shape: tuple[int, ...], seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)
    return (values * (1 + 2j) if dtype == "complex128" else values).astype(dtype)


PRODUCTS: dict[str, Case] = {
    "vectors": lambda np, a, b: a[3, :9] @ b[:9, 2],
    "turned": lambda np, a, b: a[3, 9:0:-1] @ b[:9, 2],
    "strided": lambda np, a, b: a[3, ::3].dot(b[:5:, 0][:5]),
    "empty": lambda np, a, b: a[3, :0] @ b[:0, 2],
    "matrix, vector": lambda np, a, b: a[:, :9] @ b[:9, 2],
    "part, vector": lambda np, a, b: a[2:7, 1:8] @ b[3, :7],
    "vector, matrix": lambda np, a, b: a[:, 4] @ b,
    "matrices": lambda np, a, b: a @ b.T,
    "np.matmul": lambda np, a, b: np.matmul(a.T, b),
    "np.dot": lambda np, a, b: np.dot(a[::2], b.T),
}


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_numpys(name: str, dtype: str) -> None:
    a, b = data(dtype, (13, 13)), data(dtype, (13, 13), 2)
    x, y = fw.asarray(a), fw.asarray(b)
    want = PRODUCTS[name](np, a, b)
    now = PRODUCTS[name](fnp, x, y)
    with fw.options(interpret=False):
        recorded = np.asarray(PRODUCTS[name](fnp, x, y))
    assert isinstance(now, np.generic) or native is None or now._node.kind == LEAF
    for got in (np.asarray(now), recorded):
        assert got.dtype == want.dtype
        assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("dtype", TYPES[:2])
@pytest.mark.parametrize("step", [1, 3, -1])
@pytest.mark.parametrize("count", [0, 1, 2, 15, 16, 17, 33, 100, 1000, 4096])
def test_sums_are_those_of_compiled_code(count: int, step: int, dtype: str) -> None:
    a, b = data(dtype, (abs(step) * count,)), data(dtype, (abs(step) * count, 2), 3)
    x, y = fw.asarray(a)[::step][:count], fw.asarray(b)[::step, 1][:count]
    now = [x.sum(), fnp.sum(y), fnp.dot(x, y)] + ([x.mean()] if count else [])
    with fw.options(interpret=False):
        later = [x.sum(), fnp.sum(y), fnp.dot(x, y)] + ([x.mean()] if count else [])
        assert all(type(value).__name__ == "Scalar" for value in later)
        values = [np.asarray(value) for value in later]
    for one, other in zip(now, values, strict=True):
        assert isinstance(one, np.generic)
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()


def test_a_sum_of_negative_zeros() -> None:
    """A sum begins with 0.0, as NumPy's."""
    zeros = np.full((40, 3), -0.0)
    for axis in (None, 0, 1, ()):
        for interpret in (True, False):
            with fw.options(interpret=interpret):
                assert not np.signbit(np.asarray(fw.asarray(zeros).sum(axis=axis))).any()
    assert not np.signbit(fw.asarray(zeros)[:, 0].sum())
    assert not np.signbit(fw.asarray(np.zeros(0)).sum())


SUBSCRIPTS: dict[str, Any] = {
    "rows": np.array([3, -1, 0, 3]),
    "narrow": np.array([2, 1], np.int8),
    "unsigned": np.array([2, 1], np.uint64),
    "table": np.array([[1, 2], [0, -2]]),
    "pairs": (np.array([1, 2]), np.array([0, 5])),
    "row, columns": (2, np.array([5, 0])),
    "rows, slice": (np.array([1, 4]), slice(None, None, -2)),
    "slice, columns": (slice(1, 4), np.array([0, 0, 6])),
    "apart": (np.array([1, 2]), None, np.array([0, 5])),
    "list": [4, 4, 1],
    "none": np.zeros(0, int),
}


def ours(key: Any, convert: Any) -> Any:
    """The same subscript, its arrays converted."""
    if isinstance(key, tuple):
        return tuple(ours(entry, convert) for entry in key)
    return convert(key) if isinstance(key, np.ndarray) else key


@pytest.mark.parametrize("convert", [fw.asarray, lambda k: fw.asarray(k) + 0, lambda k: k])
@pytest.mark.parametrize("name", SUBSCRIPTS)
def test_gathers_and_scatters(name: str, convert: Any) -> None:
    a = data("float64", (6, 7))
    key = SUBSCRIPTS[name]
    x = fw.asarray(a)
    before = x.copy()
    part = x[ours(key, convert)]
    assert np.asarray(part).tobytes() == a[key].tobytes()
    assert part.shape == a[key].shape
    a = a.copy()
    for value in (2.5, a[key] * 3, 7):
        a[key] = value
        x[ours(key, convert)] = fw.asarray(value) if isinstance(value, np.ndarray) else value
        assert np.asarray(x + 0).tobytes() == a.tobytes()
    assert np.asarray(before).tobytes() == data("float64", (6, 7)).tobytes()
    part[...] = 0.0  # memory of its own
    assert np.asarray(x + 0).tobytes() == a.tobytes()


def test_a_view_is_written_through() -> None:
    x = fw.asarray(np.zeros((4, 5)))
    row, index = x[1], fw.asarray(np.array([0, 3]))
    row[index] = 2.0
    row[index] += 1.0
    assert x.tolist()[1] == [3.0, 0.0, 0.0, 3.0, 0.0]


def test_what_is_wrong_is_said() -> None:
    x, index = fw.asarray(np.zeros(4)), fw.asarray(np.array([1, 4]))
    with pytest.raises(IndexError, match="out of bounds"):
        x[index]
    with pytest.raises(IndexError, match="out of bounds"):
        x[index] = 1.0
    with pytest.raises(ValueError, match=r"not aligned|do not fit"):
        fnp.dot(x.reshape(2, 2), fw.asarray(np.zeros(3)))
    with pytest.raises(fw.FusewrightError):
        x @ fw.asarray(np.zeros(3))
    assert x.tolist() == [0.0] * 4


def test_strict_refuses_a_scatter() -> None:
    x, index = fw.asarray(np.zeros(4)), fw.asarray(np.array([1, 2]))
    with fw.options(strict=True), pytest.raises(fw.FusewrightError, match="uncompiled"):
        x[index] = 1.0


def test_numbers_to_the_left_of_arrays() -> None:
    x = fw.asarray(np.arange(5.0))
    two = np.float64(2.0)
    for got, want in (
        (two * x, 2.0 * np.arange(5.0)), (two - x, 2.0 - np.arange(5.0)),
        (two / (x + 1), 2.0 / np.arange(1.0, 6.0)), (two < x, np.arange(5.0) > 2.0),
        (np.float32(2) + x, np.float32(2) + np.arange(5.0)),
    ):  # fmt: skip
        assert isinstance(got, fw.Array)
        assert np.array_equal(np.asarray(got), want)
        assert got.dtype == want.dtype


@pytest.mark.parametrize("dtype", TYPES[:2])
def test_spreads_and_norms_are_those_of_compiled_code(dtype: str) -> None:
    for count in range(2, 40):
        x = fw.asarray(data(dtype, (count,), count))
        now = [x.var(), x.std(ddof=1), fnp.var(x), fnp.linalg.norm(x)]
        with fw.options(interpret=False):
            later = [x.var(), x.std(ddof=1), fnp.var(x), fnp.linalg.norm(x)]
            values = [np.asarray(value) for value in later]
        for one, other in zip(now, values, strict=True):
            assert one.dtype == other.dtype and one.tobytes() == other.tobytes()
