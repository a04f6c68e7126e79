"""Slices of arrays and objects made inside kernels: what CPython does with them."""

import numpy as np
import pytest
from tests.kernel_runs import same_as_cpython

import fusewright as fw


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def total(self):
        return self.x + self.y


class Segment:
    def __init__(self, start, end):
        self.start = start
        self.end = end
        self.count = 0

    def length(self):
        self.count += 1
        return self.end.total() - self.start.total()


@fw.kernel
def rows_and_columns(a, out):
    for i in range(a.shape[0]):
        row = a[i, 1:-1]
        for j in range(len(row)):
            out[i] += row[j] * (j + 1)
    column = a[:, 2]
    for i in range(len(column)):
        out[i] += 100 * column[i]


@fw.kernel
def cut(a, low, high, out):
    part = a[low:high]
    out[0] = len(part)
    if len(part) > 0:
        out[1] = part[0]
        out[2] = part[-1]


@fw.kernel
def strided(a, out):
    part = a[1:7:2, ::3][:, 1:]
    for i in range(part.shape[0]):
        for j in range(part.shape[1]):
            out[i, j] = part[i, j]
            part[i, j] = -1.0


@fw.kernel
def objects(a, out):
    for i in range(a.shape[0]):
        p = Point(a[i], 1.0)
        q = p
        q.y += 2.0
        s = Segment(Point(0.0, 0.5), p)
        first = s.length()
        p.x = 10.0
        out[i] = first + s.length() * 100 + s.count * 10000 + p.y


@fw.kernel
def in_a_branch(n, out):
    p = Point(0.0, 0)
    for i in range(n):
        if i % 2 == 0:
            p.x += i
        else:
            p.y -= 1
    out[0] = p.total()


def same(kernel, *arguments):
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    kernel(*arguments)
    kernel.__wrapped__(*copies)
    for ours, theirs in zip(arguments, copies, strict=True):
        if isinstance(ours, np.ndarray):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("target", ["cpu", "reference"])
def test_same_as_python(target):
    rng = np.random.default_rng(7)
    with fw.options(target=target):
        same(rows_and_columns, rng.random((5, 6)), np.zeros(5))
        same(rows_and_columns, np.asfortranarray(rng.random((5, 6))), np.zeros(5))
        same(strided, rng.random((8, 9)), np.zeros((3, 2)))
        same(objects, rng.random(6), np.zeros(6))
        same(in_a_branch, 9, np.zeros(1))


@pytest.mark.parametrize("low", [-9, -3, 0, 2, 5, 8])
@pytest.mark.parametrize("high", [-9, -2, 0, 3, 5, 8])
def test_bounds_as_in_python(low, high):
    same(cut, np.arange(5.0), low, high, np.zeros(3))


@fw.kernel
def grown(a):
    p = Point(1.0, 2.0)
    p.z = 3.0
    a[0] = p.z


@fw.kernel
def without(a):
    p = Point(1.0, 2.0)
    a[0] = p.w


@fw.kernel
def step_of_a_number(a, n):
    part = a[:: n[0]]
    a[0] = part[0]


@fw.kernel
def backwards(a, low, high, out):
    part = a[low:high:-2]
    out[0] = len(part)
    for i, x in enumerate(part):
        out[1] += x * (i + 1)
    if len(part) > 1:
        out[2] = part[-1] + part[1:][0] + a[::-1][1:][::-1][0]


@fw.kernel
def outside_the_part(a):
    part = a[2:4]
    for i in range(3):
        part[i] = 1.0


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (grown, "a new attribute"),
        (without, "no attribute `w`"),
        (step_of_a_number, "a slice with this step"),
    ],
)
def test_refused(kernel, words):
    with pytest.raises(fw.FusewrightError, match=words):
        kernel(*[np.zeros(5)] * kernel.__wrapped__.__code__.co_argcount)


@pytest.mark.parametrize("low", [0, 3, -1, -9, 20])
@pytest.mark.parametrize("high", [0, 3, -1, -9, 20])
def test_slices_backwards(low, high):
    same_as_cpython(backwards, np.arange(8.0), low, high, np.zeros(3))


def test_positions_in_parts_are_checked():
    with pytest.raises(fw.FusewrightError, match="out of bounds"), fw.options(check=True):
        outside_the_part(np.zeros(5))
