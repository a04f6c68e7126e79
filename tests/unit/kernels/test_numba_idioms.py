"""What functions written for Numba do often: parts of shapes, `np.linspace`, `np.linalg.norm`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import same_as_cpython
from tests.unit.kernels.data import Numbers

import fusewright as fw

numbers = Numbers(7)
reals = numbers.reals


@fw.kernel
def parts_of_shapes(image: Any, out: Any) -> Any:
    h, w = image.shape[:2]
    (last,) = image.shape[-1:]
    for y in range(h):
        for x in range(w):
            out[y, x] = image[y, x, last - 1] + len(image.shape[::2])


@fw.kernel
def spaced(start: Any, stop: Any, num: Any) -> Any:
    return np.linspace(start, stop, num)


@fw.kernel
def distance(a: Any, b: Any) -> Any:
    return np.linalg.norm(a - b)


@fw.kernel
def computed_end(a: Any, k: Any) -> Any:
    return len(a.shape[:k])


def test_a_part_of_a_shape() -> None:
    same_as_cpython(parts_of_shapes, reals(4, 5, 3), np.zeros((4, 5)))


@pytest.mark.parametrize("num", [0, 1, 2, 3, 50, 101])
@pytest.mark.parametrize("ends", [(0.0, 1.0), (-1.5, 0.3), (2, 7), (3.0, 3.0), (0.0, 5e-324)])
def test_linspace_has_the_bits_of_numpy(ends: tuple[float, float], num: int) -> None:
    found = spaced(*ends, num)
    np.testing.assert_array_equal(found, np.linspace(*ends, num), strict=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_norm(dtype: type) -> None:
    a, b = reals(40).astype(dtype), reals(40).astype(dtype) * dtype(2)
    found, wanted = distance(a, b), np.linalg.norm(a - b)
    assert type(found) is type(wanted)
    np.testing.assert_allclose(found, wanted, rtol=40 * np.finfo(dtype).eps)


def test_a_computed_end_is_refused() -> None:
    with pytest.raises(fw.FusewrightError, match="sliced with literals"):
        computed_end(reals(3), 1)
