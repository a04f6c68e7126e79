"""The `Debug` space runs the work unit itself; compiled code gives the same."""

import numpy as np
import pytest

import fusewright.bridges.pykokkos as pk


@pk.workunit
def smooth(i, b, a, n, weight):
    left: float = 0
    if i > 0:
        left = a[i - 1]
    right: float = 0
    if i < n - 1:
        right = a[i + 1]
    b[i] = (left + right) * weight + a[i]


@pk.workunit
def counted(i, acc: pk.Acc[pk.int64], a):
    if a[i] > 0.5:
        acc = acc + 1
        return
    acc += 100


@pk.workunit
def summed(i, acc, last_pass, a, out):
    acc += a[i]
    if last_pass:
        out[i] = acc


@pytest.mark.parametrize("n", [1, 2, 50])
def test_same_as_compiled(n):
    a = np.random.default_rng(n).random(n)
    found = []
    for space in (pk.OpenMP, pk.Debug):
        b, out = np.zeros(n), np.zeros(n)
        policy = pk.RangePolicy(space, 0, n)
        pk.parallel_for(policy, smooth, b=b, a=a, n=n, weight=0.25)
        count = pk.parallel_reduce(policy, counted, a=a)
        total = pk.parallel_scan(policy, summed, a=a, out=out)
        found.append((b.tobytes(), count, total, out.tobytes()))
    assert found[0] == found[1]


def test_default_space():
    before = pk.get_default_space()
    pk.set_default_space(pk.Debug)
    try:
        seen = []

        @pk.workunit
        def note(i, marks):
            marks.append(i)

        pk.parallel_for(3, note, marks=seen)
        assert seen == [0, 1, 2]
    finally:
        pk.set_default_space(before)
