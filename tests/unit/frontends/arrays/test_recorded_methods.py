"""Methods and reductions that NumPy once ran, or Python recorded, are recorded by the core."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.ir.graph import MAP, OPAQUE, REDUCE, Node

TYPES = ("?", "i1", "u2", "i4", "u4", "i8", "u8", "f4", "f8")


def pending(array: Any) -> Any:
    """An array of ours whose value is not known yet."""
    return fw.asarray(array.copy())[::-1][::-1] * np.ones((), array.dtype)


def kinds(node: Node) -> set[int]:
    """The kinds of values that one is computed from."""
    return {node.kind}.union(*map(kinds, node.args))


@pytest.mark.parametrize("bounds", [(0,), (0.25,), (None, 0.5), (0.25, 0.5), (None, None), ()])
def test_a_method_needs_but_one_bound(bounds: Any) -> None:
    """`x.clip(0)` is no call of `np.clip`, which wants both: NumPy was asked each time."""
    a = np.linspace(-1, 1, 700)
    found = pending(a).clip(*bounds)
    assert OPAQUE not in kinds(found._node)
    np.testing.assert_array_equal(np.asarray(found), a.clip(*bounds))
    out = pending(a)
    assert pending(a).clip(0, out=out) is out
    np.testing.assert_array_equal(np.asarray(out), a.clip(0))


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "min", "max", "any", "all"])
def test_elements_are_combined_in_numpys_type(name: str) -> None:
    for dtype, axis, keepdims in itertools.product(TYPES, (None, 0, -1), (False, True)):
        a = (np.arange(600) % 3).reshape(20, 30).astype(dtype)
        want = getattr(a, name)(axis=axis, keepdims=keepdims)
        got = getattr(pending(a), name)(axis=axis, keepdims=keepdims)
        assert (got.dtype, got.shape) == (want.dtype, want.shape), (dtype, axis)
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6)


def test_a_count_is_recorded_as_a_sum_of_integers() -> None:
    x = pending(np.arange(700.0))
    count = (x > 5).sum()
    assert count._node.kind == REDUCE and count._node.args[0].op == "cast"
    assert count._node.args[0].kind == MAP and count == 694


def test_a_vector_times_a_number_is_a_product() -> None:
    rows = fw.asarray(np.arange(3000.0).reshape(1000, 3))
    for number in (0.5, np.float64(0.5), 2, np.float32(2), np.int64(3), True):
        for call in (np.dot, lambda a, b: np.dot(b, a), np.inner):
            mine = fnp.dot if call is np.dot else fnp.inner if call is np.inner else None
            want = call(np.arange(9.0, 12.0), number)
            got = mine(rows[3], number) if mine else fnp.dot(number, rows[3])
            assert got.dtype == want.dtype and got.tolist() == want.tolist()


def test_a_new_array_of_a_line_is_its_own() -> None:
    rows = fw.asarray(np.arange(3000.0).reshape(1000, 3))
    line = rows[3]
    copy = fnp.array(line)
    line[0] = -1.0
    assert copy.tolist() == [9.0, 10.0, 11.0] and rows[3, 0] == -1.0
    copy[1] = 5.0
    assert line.tolist() == [-1.0, 10.0, 11.0] and copy.base is None
    assert fnp.array(line, dtype="f4").dtype == np.float32
    assert fnp.array(line, ndmin=2).shape == (1, 3)


@pytest.mark.parametrize("second", [*TYPES, 2, 2.5, True])
def test_choices_have_their_common_type(second: Any) -> None:
    """Truth chosen among truth was a number."""
    index = np.arange(600) % 3 % 2
    for first in TYPES:
        choices = [np.arange(600).astype(first)]
        choices += [np.ones(600, second) if isinstance(second, str) else second]
        want = np.choose(index, choices)
        got = fnp.choose(fw.asarray(index), [fw.asarray(choices[0]), choices[1]])
        assert got.dtype == want.dtype and got.tolist() == want.tolist()
