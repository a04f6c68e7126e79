"""Ranges that begin at 0 or above: no index counts from the end, so iterations are independent and
run in vectors.  Other ranges keep Python's meaning, whatever was launched before.
"""

from __future__ import annotations

import numpy as np
import pytest

import fusewright.bridges.pykokkos as pk
from fusewright.runtime.profile import listen


@pk.workunit
def negated(i, x):
    x[i] = 1.0 - x[i]


@pk.workunit
def scaled(i, j, x):
    x[i][j] = 2.0 * x[i][j] + i


@pk.workunit
def added(i, acc, x):
    acc += x[i]


def view(*shape: int) -> pk.View:
    made = pk.View(list(shape), pk.double)
    made.fill(0.25)
    return made


@pytest.mark.parametrize("begin", [0, 1, 7])
def test_updates_run_in_vectors(begin: int) -> None:
    x = view(5000)
    with listen() as profile:
        pk.parallel_for(pk.RangePolicy(begin, 5000), negated, x=x)
        found = np.array(x)
    loops = [loop.place for kernel in profile.kernels for loop in kernel.operations]
    if any(kernel.kind == "loops" for kernel in profile.kernels):
        assert loops == ["on threads and in vectors"]
    assert (found[begin:] == 0.75).all() and (found[:begin] == 0.25).all()


def test_two_dims() -> None:
    x = view(40, 30)
    pk.parallel_for(pk.MDRangePolicy([0, 1], [40, 29]), scaled, x=x)
    wanted = np.full((40, 30), 0.25)
    wanted[:, 1:29] = 0.5 + np.arange(40.0)[:, None]
    np.testing.assert_array_equal(np.array(x), wanted)


def test_negative_indices_count_from_the_end() -> None:
    """Also where the kernel of ranges from 0 on is known already, and after it."""
    x, wanted = view(9), np.full(9, 0.25)
    for begin, end in ((0, 9), (-2, 3), (-3, 0), (0, 9), (2, 4), (-1, 1)):
        for _ in range(3):
            pk.parallel_for(pk.RangePolicy(begin, end), negated, x=x)
            for i in range(begin, end):
                wanted[i] = 1.0 - wanted[i]
            total = pk.parallel_reduce(pk.RangePolicy(begin, end), added, x=x)
            assert total == sum(wanted[i] for i in range(begin, end))
    np.testing.assert_array_equal(np.array(x), wanted)
