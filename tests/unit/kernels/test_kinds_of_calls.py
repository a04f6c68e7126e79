"""Calls with numbers of NumPy's, tuples, objects, by name: known again like any other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernel_runs import assert_same

import fusewright as fw
from fusewright.kernels.run import quickly


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
    assert quickly(scaled, (a, b, number, 3))[0], "it is known again"


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
    assert quickly(both, (((a, b), 1), 2))[0]
    both(((a, b[::-1]), 7), 1.0)
    assert b.tolist() == [11, 10, 9, 8, 7]


def test_objects() -> None:
    one, other = Model(8), Model(8)
    for _ in range(3):
        one.step(8, True)
        Model.step.__wrapped__(other, 8, True)
    assert_same(one.a, other.a, "an object")
    assert quickly(Model.step, (one, 8, True))[0]
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
