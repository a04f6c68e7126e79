"""Results written past the caches: rows of any width, several results, borders, complex parts."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import fusewright as fw
import fusewright.numpy as ours
from fusewright.machine import record as machine

ALL_LARGE = machine.DEFAULT._replace(past=1)


def _program(np: Any, x: Any) -> tuple[Any, ...]:
    first = x[:1]
    pads = [(1, 2)] * x.ndim
    column = x[..., :1] * 2
    exact = np.where(x == first, first, x), np.pad(x, pads), x * x, x[:, 1:] + first[:, 1:]
    return *exact, x + column, x.conj() - first, np.real(x) * 3, (x + first).sum(0)


@pytest.mark.parametrize("features", ["avx2", "avx512"])
@pytest.mark.parametrize("kind", ["f4", "f8", "c8", "c16", "i2"])
@pytest.mark.parametrize("shape", [(100, 37), (64, 64), (33, 1001), (5, 7, 131), (200, 3)])
def test_rows_of_any_width(shape: tuple[int, ...], kind: str, features: str) -> None:
    data = (numpy.random.default_rng(0).random(shape) * 10).astype(kind)
    x = fw.asarray(data)
    plain = _program(ours, x)
    fw.evaluate(*plain)
    with machine.using(ALL_LARGE), fw.options(features=features):
        past = _program(ours, x)
        fw.evaluate(*past)
    for one, other, want in zip(past, plain, _program(numpy, data), strict=True):
        numpy.testing.assert_array_equal(numpy.asarray(one), numpy.asarray(other))
        numpy.testing.assert_allclose(numpy.asarray(one), want, rtol=1e-5)


def test_only_large_results_are() -> None:
    x = fw.asarray(numpy.ones((64, 64)))
    assert "!nontemporal" not in str(fw.show(x + x[:1], "llvm"))
    with machine.using(ALL_LARGE):
        assert "!nontemporal" in str(fw.show(x + x[:1], "llvm"))
