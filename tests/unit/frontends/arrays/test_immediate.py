"""Single numbers and small writes are done at once, with the bits and the aliasing of the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fusewright.frontends.arrays as fa
from fusewright.base import errors, hooks
from fusewright.frontends.arrays import immediate, trace
from fusewright.ir.graph import LEAF


@pytest.fixture
def nothing_evaluates(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(nodes: Any) -> None:
        raise AssertionError(f"evaluated {nodes}")

    monkeypatch.setattr(hooks, "evaluate", refuse)


def fills(a: Any) -> None:
    for i in range(300):
        a[i] = i * 0.5


def recurs(a: Any) -> None:
    for i in range(1, 300):
        a[i] = a[i - 1] * 0.5 + 1 / a[i]


def swaps(a: Any) -> None:
    for i in range(299):
        if a[i] > a[i + 1]:
            a[i], a[i + 1] = a[i + 1], a[i]


def grows(a: Any) -> None:
    rows = a.reshape(20, 15)
    for i in range(20):
        rows[i, 3] += rows[i, 2] - 1
        rows[i, 4:6] = 0.25
        rows[i][-1] *= -rows[i][0]


@pytest.mark.usefixtures("nothing_evaluates")
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
@pytest.mark.parametrize("loop", [fills, recurs, swaps])
def test_loops_over_elements_run_at_once(loop: Callable[[Any], None], dtype: str) -> None:
    want = (np.random.default_rng(1).uniform(1, 99, 300)).astype(dtype)
    got = fa.asarray(want)
    if dtype == "i8" and loop is recurs:
        pytest.skip("a float assigned to an integer is converted by a kernel")
    loop(want)
    loop(got)
    assert got._node.kind == LEAF
    np.testing.assert_array_equal(immediate.sharing.window(got._node), want)


def test_writes_through_views_land_in_their_base() -> None:
    want = np.random.default_rng(1).uniform(1, 99, 300)
    got = fa.asarray(want)
    grows(want)
    grows(got)
    np.testing.assert_array_equal(np.asarray(got), want)


def test_what_somebody_holds_keeps_its_value() -> None:
    a = fa.asarray(np.arange(4.0))
    copy, view, later, element = a.copy(), a[1:], a * 2, a[0]
    a[0], a[3] = 9, 7
    assert copy.tolist() == [0, 1, 2, 3]
    assert later.tolist() == [0, 2, 4, 6]
    assert float(element) == 0
    assert view.tolist() == [1, 2, 7]
    assert a.tolist() == [9, 1, 2, 7]


def test_a_lent_array_sees_the_write() -> None:
    a = fa.asarray(np.zeros(3))
    lent = a.view(np.ndarray)
    a[1] = 5
    assert lent.tolist() == [0, 5, 0]
    lent[2] = 4
    assert float(a[2]) == 4


def test_constants_get_memory_only_when_written() -> None:
    zeros = fa.zeros(10)
    same = zeros.copy()
    assert zeros._node.kind != LEAF
    zeros[2] = 1.5
    assert zeros._node.kind == LEAF and zeros.tolist()[2] == 1.5
    assert same.tolist() == [0.0] * 10


def test_filling_a_pending_array_computes_it_once() -> None:
    a = fa.asarray(np.ones(50)) * 2
    for i in range(50):
        a[i] = a[i] + i
    assert len(trace.pending) < 10
    assert a.tolist() == [2.0 + i for i in range(50)]


@pytest.mark.parametrize(
    "compute",
    [
        lambda x, y: x / (y - y),
        lambda x, y: (x * y - x) / y + 0.1,
        lambda x, y: (x < y) & (x != y),
        lambda x, y: -(abs(x) ** 2),
        lambda x, y: np.sqrt(x) - np.sqrt(-y),
        lambda x, y: x // y + x % y,
    ],
)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1", "f2"])
def test_numbers_have_numpys_bits(compute: Any, dtype: str) -> None:
    values = np.array([250, 3]).astype(dtype)
    ours = fa.asarray(values)
    with np.errstate(all="ignore"):
        want = compute(*values)
        got = compute(ours[0], ours[1])
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got.item(), want.item())


def test_what_cannot_be_written_is_refused_as_ever() -> None:
    a = fa.asarray(np.zeros(3, "i4"))
    with pytest.raises(errors.BoundsError, match="out of bounds"):
        a[3] = 1
    with pytest.raises(OverflowError):
        a[0] = 2**40
    a.flags.writeable = False
    with pytest.raises(errors.ReadOnlyError):
        a[0] = 1
    assert a.tolist() == [0, 0, 0]
