"""A reduction behind a stencil: its blocks are never divided between threads."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import fusewright as fw
import fusewright.numpy as np


def smoothed(u: Any) -> Any:
    new = u.copy()
    new[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
    return new


@pytest.mark.parametrize("rows", [130, 200, 333])
@pytest.mark.parametrize("columns", [100, 300, 2000])
def test_the_sum_does_not_depend_on_threads(rows: int, columns: int) -> None:
    source = numpy.random.default_rng(0).random((rows, columns))
    sums = []
    for threads in (1, 2, 2, 2):
        with fw.options(threads=threads):
            u = fw.evaluate(np.asarray(source) + 0)
            for _ in range(4):
                u = smoothed(u)
            sums.append(float(u.sum()))
    assert len(set(sums)) == 1
    for _ in range(4):
        source = smoothed(source)
    assert sums[0] == pytest.approx(source.sum(), rel=1e-12)
