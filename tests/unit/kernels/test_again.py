"""Deferred calls like earlier ones: recorded and run from what those found out, with new values."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.kernels import deferred
from fusewright.runtime import background

FACTOR = 0.5


@fw.kernel
def running(a: Any, b: Any) -> None:
    for i in range(1, a.shape[0]):
        b[i] = b[i - 1] * FACTOR + a[i]


@fw.kernel
def shifted(a: Any, b: Any, by: float, first: int) -> None:
    for i in range(first, a.shape[0]):
        b[i] = b[i - 1] + a[i] * by


@fw.kernel
def total(a: Any, by: float) -> Any:
    s = 0.0
    for i in range(a.shape[0]):
        s = s * by + a[i]
    return s


def address(array: Any) -> int:
    return int(array._node.value[0].address)


def both(n: int = 6) -> tuple[Any, Any]:
    x = np.random.default_rng(n).random(n)
    return fw.asarray(x), x.copy()


def test_numbers_are_those_of_the_call() -> None:
    (a, x), (b, y) = both(), both(6)
    for by, first in ((0.25, 1), (3.0, 1), (0.5, 2), (-1.0, 1), (2.0, 3)):
        shifted(a, b, by, first)
        shifted.__wrapped__(x, y, by, first)
        assert b.tolist() == y.tolist()
    assert float(total(a, 0.5)) == total.__wrapped__(x, 0.5)
    assert float(total(a, 2.0)) == total.__wrapped__(x, 2.0)


def test_which_arrays_are_one_is_part_of_the_kind() -> None:
    (a, x), (b, y) = both(), both(6)
    for mine, theirs in (((a, b), (x, y)), ((b, b), (y, y)), ((a, a), (x, x)), ((a, b), (x, y))):
        for _ in range(2):
            running(*mine)
            running.__wrapped__(*theirs)
        assert (a.tolist(), b.tolist()) == (x.tolist(), y.tolist())


def test_a_captured_value_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    (a, x), (b, y) = both(), both(6)
    for factor in (0.5, 0.5, 4.0, 0.5):
        monkeypatch.setitem(running.__wrapped__.__globals__, "FACTOR", factor)
        running(a, b)
        running.__wrapped__(x, y)
        assert b.tolist() == y.tolist()


def test_what_a_loan_sees_is_complete() -> None:
    (a, x), (b, y) = both(), both(6)
    for _ in range(2):
        running(a, b)
        running.__wrapped__(x, y)
    seen = np.asarray(b)
    running(a, b)
    running.__wrapped__(x, y)
    assert seen.tolist() == y.tolist()


def test_in_place_where_nobody_else_looks() -> None:
    (a, _), (b, _) = both(), both(6)
    for _ in range(3):
        running(a, b)
        fw.evaluate(b)
    before = address(b)
    running(a, b)
    fw.evaluate(b)
    assert address(b) == before
    kept, content = b.copy(), b.tolist()
    running(b, b)
    fw.evaluate(b)
    assert kept.tolist() == content
    assert b.tolist() != content


def test_constants_of_one_shape_are_told_apart() -> None:
    a, x = both()
    for fill in (0.0, -0.0, 1.0, 0.0, -0.0):
        b, y = fnp.full(6, fill), np.full(6, fill)
        running(a, b)
        running.__wrapped__(x, y)
        assert np.asarray(b).tobytes() == y.tobytes()


def test_settings_have_doors_of_their_own() -> None:
    (a, x), (b, y) = both(300), both(300)
    for threads in (1, 2, 1, 2):
        with fw.options(threads=threads, background=False):
            for _ in range(2):
                running(a, b)
                running(b, a)
                fw.evaluate(a, b)
                running.__wrapped__(x, y)
                running.__wrapped__(y, x)
    assert (a.tolist(), b.tolist()) == (x.tolist(), y.tolist())


def test_shapes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deferred, "MOST_SHAPES", 8)
    rng = np.random.default_rng(3)
    mine, theirs = map(list, zip(*(both() for _ in range(4)), strict=True))
    for step in range(60):
        i, j = rng.integers(4, size=2)
        running(mine[i], mine[j])
        running.__wrapped__(theirs[i], theirs[j])
        if not step % 7:
            fw.evaluate(mine[i])
    for m, t in zip(mine, theirs, strict=True):
        assert m.tolist() == t.tolist()
    background.wait()  # what it is making must not be held while it makes it
    gc.collect()
    made = sum(type(each) is deferred.Shape for each in gc.get_objects())
    assert made <= 3 * 8


def test_an_error_leaves_what_was_there() -> None:
    a, x = both()
    with pytest.raises(fw.FusewrightError):
        running(a, "no array")
    running(a, a)
    running.__wrapped__(x, x)
    assert a.tolist() == x.tolist()
