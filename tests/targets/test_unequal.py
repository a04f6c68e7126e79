"""Loops that read the same data but are not equally long, in one flush: each ends where it ends,
and a reduction's order is that of its own loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import fusewright as fw
import fusewright.numpy as ours

Results = Callable[[Any, Any], tuple[Any, ...]]


def _inner_pads(np: Any, x: Any) -> tuple[Any, ...]:
    return np.pad(x, [(0, 0)] + [(1, 2)] * (x.ndim - 1)), x * 2, x + 1


def _pad_and_sum(np: Any, x: Any) -> tuple[Any, ...]:
    return np.pad(x, [(1, 2)] + [(0, 0)] * (x.ndim - 1)), x * 2, (x * 3).sum(0)


def _slices(np: Any, x: Any) -> tuple[Any, ...]:
    return x[1:] * 2, x + 1, x[:-2] - 3, (x[2:] + 1).sum(0)


def _slices_and_extremes(np: Any, x: Any) -> tuple[Any, ...]:
    return x[..., 1:] * 2, x + 1, (x * 2).sum(), x[3:].max()


def _scans(np: Any, x: Any) -> tuple[Any, ...]:
    return x[1:] * 2, (x * 2).cumsum(-1), x[1:].cumsum(0)


def _appended(np: Any, x: Any) -> tuple[Any, ...]:
    return np.concatenate([x, x[:3] * 2]), x + 1, x.max(-1), x[1:].max(-1)


def _differences(np: Any, x: Any) -> tuple[Any, ...]:
    down = np.diff(x, axis=0)
    return down, np.diff(x, axis=-1), x.sum(-1), x.mean(0), down.max(-1)


PROGRAMS = (
    _inner_pads, _pad_and_sum, _slices, _slices_and_extremes, _scans, _appended, _differences,
)  # fmt: skip
SHAPES = ((100, 37), (5, 7, 131), (20_000,), (70, 3), (12, 5, 6, 7))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("program", PROGRAMS)
def test_each_loop_ends_where_it_ends(program: Results, shape: tuple[int, ...]) -> None:
    data = numpy.random.default_rng(0).random(shape) * 10
    x = fw.asarray(data)
    want = program(numpy, data)
    fused = program(ours, x)
    fw.evaluate(*fused)
    with fw.options(fuse=False):
        apart = program(ours, x)
        fw.evaluate(*apart)
    for one, other, expected in zip(fused, apart, want, strict=True):
        numpy.testing.assert_array_equal(numpy.asarray(one), numpy.asarray(other))
        numpy.testing.assert_allclose(numpy.asarray(one), expected, rtol=1e-12)
