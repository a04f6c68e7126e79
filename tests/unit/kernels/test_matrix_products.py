"""Products of matrices in kernels: the bits that products of arrays have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import assert_same, settings, short_strips
from tests.unit.kernels.data import Numbers

import fusewright as fw
from fusewright.targets.reference.products import product

reals = Numbers(23).reals


@fw.kernel
def multiplied(a, b):
    return a @ b


@fw.kernel
def into(a, b, out):
    out[1:] = 2 * np.matmul(a, b.T) + out[1:]


@fw.kernel
def layers(x, w, v):
    return np.maximum(x @ w, 0) @ v


@fw.kernel
def repeated(r, b, count):
    r = r.copy()
    for _ in range(count):
        r = r @ b
    return r


SIZES = [(3, 4, 5), (0, 3, 2), (3, 0, 2), (17, 512, 19), (9, 513, 33), (5, 1100, 8)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_of_two_matrices(size: tuple[int, int, int], dtype: Any) -> None:
    rows, depth, columns = size
    a, b = reals(rows, depth, dtype=dtype), reals(depth, columns, dtype=dtype)
    for chosen in settings():
        if chosen.get("target") == "reference" and depth > 100:
            continue
        with fw.options(**chosen):
            assert_same(multiplied(a, b), product(a, b), f"under {chosen}")


def test_as_arrays_are_multiplied() -> None:
    a, b = reals(200, 160, dtype=np.float32), reals(160, 200, dtype=np.float32)
    lazy = np.asarray(fw.asarray(a) @ fw.asarray(b))
    assert multiplied(a, b).tobytes() == lazy.tobytes()


def test_stacks_transposes_and_parts() -> None:
    a, b = reals(3, 7, 5), reals(3, 5, 9)
    assert multiplied(a, b).tobytes() == product(a, b).tobytes()
    assert multiplied(a, b[0]).tobytes() == product(a, b[0]).tobytes()
    out = reals(8, 9)
    wanted = out.copy()
    wanted[1:] += 2 * product(a[0], b[0])
    with short_strips():
        into(a[0], b[0].T.copy(), out)
    np.testing.assert_array_equal(out, wanted)


def test_one_after_another() -> None:
    x, w, v = reals(33, 12), reals(12, 40), reals(40, 3)
    wanted = product(np.maximum(product(x, w), 0), v)
    assert layers(x, w, v).tobytes() == wanted.tobytes()
    r, b = reals(6, 6), reals(6, 6)
    assert repeated(r, b, 3).tobytes() == product(product(product(r, b), b), b).tobytes()


def test_integers_and_vectors_from_left_to_right() -> None:
    a, b = np.arange(12).reshape(3, 4), np.arange(8).reshape(4, 2)
    np.testing.assert_array_equal(multiplied(a, b), a @ b)
    x, y = reals(3, 40), reals(40)
    wanted = np.zeros(3)
    for k in range(40):
        wanted += x[:, k] * y[k]
    assert multiplied(x, y).tobytes() == wanted.tobytes()


def test_it_runs_in_tiles() -> None:
    fresh = fw.kernel(multiplied.__wrapped__)
    fresh(reals(4, 4), reals(4, 4))
    assert any(loop.tile for loop in fresh.explain().codes[0].loops)
