"""Loops of different bounds as one loop, with parts before and after it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import same_as_cpython
from tests.unit.kernels import split_kernels

import fusewright as fw

R = np.random.default_rng(8)
VECTORS = ("three", "by_parameters", "in_time")
MATRICES = ("rows_and_columns", "triangles")


def arrays(*shape: int) -> list[Any]:
    return [R.normal(size=shape) for _ in range(4)]


def fresh(name: str) -> Any:
    """The kernel as if it had never been called."""
    return fw.kernel(getattr(split_kernels, name).__wrapped__)


@pytest.mark.parametrize(("n", "m"), [(50, 50), (50, 45), (45, 50), (3, 41), (40, 0), (1, 1)])
@pytest.mark.parametrize("name", VECTORS)
def test_vectors(name: str, n: int, m: int) -> None:
    kernel = fresh(name)
    if name != "by_parameters" or n + m >= 43:
        same_as_cpython(kernel, *arrays(60), n, m)


@pytest.mark.parametrize(("n", "m"), [(9, 20), (2, 3), (1, 1), (0, 5), (20, 9)])
@pytest.mark.parametrize("name", MATRICES)
def test_matrices(name: str, n: int, m: int) -> None:
    same_as_cpython(fresh(name), *arrays(20, 20), n, m)


@pytest.mark.parametrize(("name", "pairs"), [("three", 2), ("by_parameters", 3), ("in_time", 2)])
def test_the_core_has_all_loops(name: str, pairs: int) -> None:
    """One loop computes what all have in common: none is fused with a few left-over iterations."""
    kernel = fresh(name)
    kernel(*arrays(60), 50, 49)
    (code,) = kernel.explain().codes
    assert [pair.form for pair in code.pairs] == ["one loop"] * pairs
    bodies = [block.count("] = ") for block in code.planned.split("for i")]
    assert max(bodies) == pairs + 1, code.planned


def test_parts_that_cannot_be_are_not_written() -> None:
    kernel = fresh("three")
    kernel(*arrays(60), 50, 50)
    (code,) = kernel.explain().codes
    # before: the first two; after: the first
    assert code.planned.count("for i") == 4, code.planned


@pytest.mark.parametrize("size", [1000, 1 << 18])
def test_lazy_arrays(size: int) -> None:
    """Small ones are array statements; large ones share their iterations, as loops."""
    kernel = fresh("three")
    own = arrays(size)
    lazy = [fw.asarray(a) for a in own]
    for _ in range(3):
        kernel(*lazy, size, 0)
    found = [np.asarray(a) for a in lazy]
    for _ in range(3):
        kernel.__wrapped__(*own, size, 0)
    assert all(x.tobytes() == y.tobytes() for x, y in zip(found, own, strict=True))
    assert (kernel.stats.raised, kernel.stats.deferred) == ((3, 0) if size == 1000 else (0, 3))
    if size > 1000:
        assert "its loops have different bounds" in str(kernel.explain())
