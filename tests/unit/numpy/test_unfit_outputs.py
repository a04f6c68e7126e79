"""What `out=` may be: each function takes and refuses what NumPy's takes and refuses."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp

CALLS: dict[str, Callable[..., Any]] = {
    "dot": lambda np, a, b, out: np.dot(a, b, out=out),
    "method dot": lambda np, a, b, out: a.dot(b, out=out),
    "matmul": lambda np, a, b, out: np.matmul(a, b, out=out),
    "vector einsum": lambda np, a, b, out: np.einsum("i,i->", a.flat[:9], b.flat[:9], out=out),
    "product einsum": lambda np, a, b, out: np.einsum("i,i->i", a.flat[:9], b.flat[:9], out=out),
    "sum einsum": lambda np, a, b, out: np.einsum("i->", a.ravel(), out=out),
    "matrix einsum": lambda np, a, b, out: np.einsum("ij,jk->ik", a, b, out=out),
    "outer": lambda np, a, b, out: np.outer(a.ravel()[:3], b.ravel()[:3], out=out),
    "take": lambda np, a, b, out: np.take(a, [0, 1], out=out),
    "compress": lambda np, a, b, out: np.compress([True, False], a, axis=0, out=out),
    "stack": lambda np, a, b, out: np.stack([a, b], out=out),
    "concatenate": lambda np, a, b, out: np.concatenate([a, b], out=out),
    "clip": lambda np, a, b, out: np.clip(a, 0, 1, out=out),
    "round": lambda np, a, b, out: np.round(a, out=out),
    "sum": lambda np, a, b, out: np.sum(a, axis=0, out=out),
    "mean": lambda np, a, b, out: np.mean(a, axis=0, out=out),
    "std": lambda np, a, b, out: np.std(a, axis=0, out=out),
    "median": lambda np, a, b, out: np.median(a, axis=0, out=out),
    "argmax": lambda np, a, b, out: np.argmax(a, axis=0, out=out),
    "any": lambda np, a, b, out: np.any(a, axis=0, out=out),
    "trace": lambda np, a, b, out: np.trace(a, out=out),
    "add": lambda np, a, b, out: np.add(a, b, out=out),
    "less": lambda np, a, b, out: np.less(a, b, out=out),
}


def outcome(call: Callable[..., Any], module: Any, *arrays: Any) -> Any:
    """The class of the error, or what the result is."""
    try:
        result = np.asarray(call(module, *arrays))
    except Exception as error:  # noqa: BLE001
        return next(kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
    return result


def is_alike(got: Any, want: Any) -> bool:
    if isinstance(got, type) or isinstance(want, type):
        return got is want
    return (got.dtype, got.shape) == (want.dtype, want.shape) and np.allclose(got, want)


def numbered(shape: tuple[int, ...], dtype: str) -> Any:
    return (np.arange(np.prod(shape, dtype=int)) % 7).reshape(shape).astype(dtype)


@pytest.mark.parametrize("name", CALLS)
def test_outputs_are_numpys(name: str) -> None:
    for shape, first, second in (((600,), "f8", "f8"), ((3, 3), "f4", "i8")):
        places = {shape, (), (1,), (2, *shape), (2,), (9,)}
        for place, dtype in itertools.product(sorted(places), ("f8", "f4", "c16")):
            given = (numbered(shape, first), numbered(shape, second), numbered(place, dtype))
            want = outcome(CALLS[name], np, *(array.copy() for array in given))
            got = outcome(CALLS[name], fnp, *(fw.asarray(array.copy()) for array in given))
            assert is_alike(got, want), (shape, first, second, place, dtype)
