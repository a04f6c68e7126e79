"""Calls with numbers of NumPy's, tuples, objects, by name: known again like any other."""

from __future__ import annotations

import sys
from enum import IntEnum
from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import assert_same, is_known

import fusewright as fw
from fusewright._core import native


@fw.kernel
def scaled(a, b, factor=2.0, more=3):
    for i in range(a.shape[0]):
        b[i] = a[i] * factor + more
    return factor


@fw.kernel
def both(pair, x):
    a, b = pair[0]
    for i in range(a.shape[0]):
        b[i] = a[i] * x + pair[1]


class Part:
    gain = np.float32(2)


class Model:
    """Attributes of attributes are arguments, too."""

    def __init__(self, size: int) -> None:
        self.a, self.b, self.dt, self.part = np.zeros(size), np.ones(size), 0.25, Part()

    @fw.kernel
    def step(self, count, flag):
        for i in range(count):
            if flag:
                self.a[i] += self.b[i] * self.dt * self.part.gain


NUMBERS = [
    1.5, 7, True, 1 + 2j, np.float64(1.5), np.int64(-4), np.int8(3), np.uint64(2**63 + 5),
    np.float32(0.1), np.float16(0.1), np.bool_(True), np.complex64(1j), 2**40,
]  # fmt: skip


@pytest.mark.parametrize("number", NUMBERS, ids=lambda x: f"{type(x).__name__} {x}")
def test_numbers(number: Any) -> None:
    a, b, c = np.arange(5) + 0.5j, np.zeros(5, complex), np.zeros(5, complex)
    for value in (number, number, type(number)(1)):
        found = scaled(a, b, value)
        assert_same((found, b), (scaled.__wrapped__(a, c, value), c), "a number")
    assert is_known(scaled, a, b, number, 3), "it is known again"


def test_names_and_defaults() -> None:
    a, b = np.arange(5.0), np.zeros(5)
    for _ in range(3):
        scaled(a, b, more=1, factor=0.5)
        assert b.tolist() == [1, 1.5, 2, 2.5, 3]
        scaled(a, b=b)
        assert b.tolist() == [3, 5, 7, 9, 11]
        for wrong in ({"e": 3}, {"a": 3}, {}):
            with pytest.raises(fw.FusewrightError):
                scaled(*([a] if not wrong else [a, b]), **wrong)


def test_tuples() -> None:
    a, b, c = np.arange(5.0), np.zeros(5), np.zeros(5)
    for number in (np.float32(0.1), 2.0, 3, 3):
        both(((a, b), 7), number)
        both.__wrapped__(((a, c), 7), number)
        assert_same(b, c, "a tuple")
    assert is_known(both, ((a, b), 1), 2)
    both(((a, b[::-1]), 7), 1.0)
    assert b.tolist() == [11, 10, 9, 8, 7]


def test_objects() -> None:
    one, other = Model(8), Model(8)
    for _ in range(3):
        one.step(8, True)
        Model.step.__wrapped__(other, 8, True)
    assert_same(one.a, other.a, "an object")
    assert is_known(Model.step, one, 8, True)
    Model.step.__wrapped__(other, 8, True)
    for name, value in (
        ("dt", 5.0), ("a", np.zeros(4)), ("b", np.arange(8, dtype=np.float32)), ("dt", 2),
        ("part", type("Other", (), {"gain": 3})()),
    ):  # fmt: skip
        for model in (one, other):
            setattr(model, name, np.copy(value) if name == "a" else value)
        one.step(4, np.bool_(True))
        Model.step.__wrapped__(other, 4, np.bool_(True))
        assert_same(one.a, other.a, f"after {name}")
    del one.dt
    with pytest.raises(fw.FusewrightError):
        one.step(4, True)


class Mode(IntEnum):
    """A number with a name."""

    TWICE = 2


@fw.kernel
def keywords_only(a, b, *, factor=2.0):
    for i in range(a.shape[0]):
        b[i] = a[i] * factor


@fw.kernel
def of_a_mode(a, b, mode, other=None):
    for i in range(a.shape[0]):
        if mode == "twice" and other is None:
            b[i] = a[i] * 2
        else:
            b[i] = a[i]


@fw.kernel
def written_out(a, b, k):
    for i in range(a.shape[0]):
        for j in fw.static(range(k)):
            b[i] = a[i] * j


TABLE = np.arange(5.0)


@fw.kernel
def of_a_table(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i] * TABLE[i]


CALLS: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (scaled, (), {"more": 1, "factor": 0.5}),
    (scaled, (Mode.TWICE,), {}),
    (keywords_only, (), {"factor": np.float32(3)}),
    (keywords_only, (), {}),
    (of_a_mode, ("twice",), {}),
    (of_a_mode, ("once", None), {}),
    (written_out, (3,), {}),
    (of_a_table, (), {}),
]


@pytest.mark.skipif(native is None, reason="the core remembers calls")
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_every_form_of_call_is_remembered(number: int) -> None:
    kernel, rest, named = CALLS[number]
    for size in (5, 5, 4, 3):  # sizes are no part of what is remembered
        a, b, c = np.arange(float(size)), np.zeros(size), np.zeros(size)
        kernel(a, b, *rest, **named)
        kernel.__wrapped__(a, c, *rest, **named)
        assert_same(b, c, "a form of call")
    assert kernel.cache.run((a, b, *rest), named) is not NotImplemented


@pytest.mark.skipif(native is None, reason="the core remembers calls")
def test_what_is_remembered_is_looked_at_again() -> None:
    """Captured arrays and numbers, static values, keywords that nobody takes."""
    global TABLE
    a, b, usual = np.arange(5.0), np.zeros(5), TABLE
    for _ in range(2):
        of_a_table(a, b)
    try:
        TABLE = np.ones(5, np.float32)
        of_a_table(a, b)
        assert b.tolist() == a.tolist()
    finally:
        TABLE = usual
    for k in (2, 3, 2, 4):
        written_out(a, b, k)
        assert b.tolist() == (a * (k - 1)).tolist()
    for wrong in ({"nobody": 1}, {"a": a}):
        with pytest.raises(fw.FusewrightError):
            keywords_only(a, b, **wrong)
    with pytest.raises(fw.FusewrightError):
        keywords_only(a, b, 2.0)


@fw.kernel
def refusing(a, limit):
    total = 0.0
    for i in range(a.shape[0]):
        if a[i] > limit:
            raise ValueError("too large")
        total += a[i]
    return total


def test_a_remembered_call_raises() -> None:
    a = np.arange(5.0)
    for _ in range(3):
        assert refusing(a, 10.0) == 10.0
        with pytest.raises(ValueError, match="too large"):
            refusing(a, 2.0)


def test_a_remembered_call_sees_shared_memory() -> None:
    a, wanted = np.arange(20.0), np.arange(20.0)
    for low in (10, 10, 1, 0, 10):
        keywords_only(a[:10], a[low : low + 10], factor=0.5)
        keywords_only.__wrapped__(wanted[:10], wanted[low : low + 10], factor=0.5)
        assert_same(a, wanted, "memory that is shared")


@pytest.mark.skipif(native is None, reason="the core remembers calls")
def test_a_remembered_call_leaves_no_references() -> None:
    a, b, key = np.arange(5.0), np.zeros(5), 123456.5
    model = Model(8)
    for _ in range(3):
        scaled(a, b, key, more=2)
        model.step(8, True)
    objects = (a, b, key, model, model.a, model.part)
    before = [sys.getrefcount(x) for x in objects]
    for _ in range(1000):
        scaled(a, b, key, more=2)
        model.step(8, True)
        with pytest.raises(ValueError, match="too large"):
            refusing(a, 2.0)
    assert [sys.getrefcount(x) for x in objects] == before
