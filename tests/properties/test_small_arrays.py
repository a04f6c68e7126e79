"""Small arrays are NumPy's own (decision 0016): which kind a value is follows from operands' kinds
and sizes, and the values are NumPy's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import fusewright as fw
import fusewright.numpy as np
from fusewright._core import native
from fusewright.base.options import defaults, set_defaults
from fusewright.frontends.arrays import Array, Scalar

pytestmark = pytest.mark.skipif(native is None, reason="without the core everything is recorded")
SMALL = 512


@pytest.fixture(autouse=True)
def _as_users_have_it(_compiling: None) -> Iterator[None]:
    before = defaults()
    set_defaults(small=SMALL, interpret=True)
    yield
    set_defaults(small=before.small, interpret=before.interpret)


def is_plain(value: Any) -> bool:
    return isinstance(value, numpy.ndarray | numpy.generic)


def is_ours(value: Any) -> bool:
    return isinstance(value, Array) and not isinstance(value, Scalar)


MAKERS = {
    "zeros": lambda n: np.zeros(n),
    "zeros by name": lambda n: np.zeros(shape=(n, 1)),
    "ones": lambda n: np.ones((n,), dtype=numpy.float32),
    "empty": lambda n: np.empty((1, n)),
    "full": lambda n: np.full(n, 2.5),
    "arange": lambda n: np.arange(n),
    "arange of floats": lambda n: np.arange(0.0, n, 1.0),
    "linspace": lambda n: np.linspace(0.0, 1.0, n),
    "linspace by name": lambda n: np.linspace(0.0, 1.0, num=n),
    "array": lambda n: np.array([1.0] * n),
    "asarray": lambda n: np.asarray([1] * n),
    "rand": lambda n: np.random.rand(n),
    "normal": lambda n: np.random.default_rng(3).normal(size=n),
    "ndarray": lambda n: np.ndarray(n),
    "tile": lambda n: np.tile(np.array([1.0]), n),
    "repeat": lambda n: np.repeat(np.array([1.0]), n),
    "fromiter": lambda n: np.fromiter(range(n), float),
    "mgrid": lambda n: np.mgrid[0:n, 0:1][0].copy(),
    "meshgrid": lambda n: np.meshgrid(np.ones(1), np.zeros(n))[0],
    "logspace": lambda n: np.logspace(0, 1, n),
    "r_": lambda n: np.r_[0.0 : 1.0 : complex(0, n)],
    "full_like": lambda n: np.full_like(np.zeros(n), 7),
}


@pytest.mark.parametrize("name", MAKERS)
def test_new_arrays_are_numpys_up_to_the_limit(name: str) -> None:
    make = MAKERS[name]
    assert is_plain(make(3)) and type(make(3)) is numpy.ndarray
    assert type(make(SMALL)) is numpy.ndarray
    assert is_ours(make(SMALL + 1)), type(make(SMALL + 1))
    assert make(SMALL + 1).size == SMALL + 1


def operands() -> dict[str, Any]:
    big = np.arange(3000.0).reshape(1000, 3)
    return {
        "row": big[5],
        "plain": numpy.array([2.0, 3.0, 5.0]),
        "big": big,
        "number": big.sum(),
        "large": numpy.arange(3000.0).reshape(1000, 3),
        "scalar": 2.0,
        "numpy number": numpy.float64(3.0),
    }


KINDS = [
    ("row", "plain", "plain"), ("plain", "row", "plain"), ("row", "scalar", "ours"),
    ("row", "row", "ours"), ("big", "plain", "ours"), ("plain", "big", "ours"),
    ("number", "plain", "plain"), ("plain", "number", "plain"), ("number", "large", "plain"),
    ("large", "number", "plain"), ("row", "large", "ours"), ("large", "row", "ours"),
    ("plain", "plain", "plain"), ("plain", "scalar", "plain"), ("row", "numpy number", "ours"),
    ("numpy number", "row", "ours"), ("big", "large", "ours"), ("large", "big", "ours"),
]  # fmt: skip
OPERATIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
    "%": lambda a, b: a % b,
    "<": lambda a, b: a < b,
    "==": lambda a, b: a == b,
    "add": lambda a, b: np.add(a, b),
    "maximum": lambda a, b: np.maximum(a, b),
    "arctan2": lambda a, b: np.arctan2(a, b),
    "numpy.multiply": lambda a, b: numpy.multiply(a, b),
}

FUNCTIONS = ("add", "maximum", "arctan2")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("kinds", KINDS, ids=" ".join)
def test_kinds_of_two(kinds: tuple[str, str, str], operation: str) -> None:
    function = OPERATIONS[operation]
    left, right, want = kinds
    if "large" in kinds and operation in FUNCTIONS:
        want = "ours"  # a function takes over what NumPy has made for it
    for computed in (False, True):
        each = operands()
        if computed:  # when something is computed decides nothing
            fw.evaluate(each["big"], each["number"])
        result = function(each[left], each[right])
        assert is_plain(result) if want == "plain" else is_ours(result), type(result)
        plain = {name: numpy.asarray(value)[()] for name, value in operands().items()}
        expected = function(plain[left], plain[right])
        numpy.testing.assert_allclose(numpy.asarray(result), expected, rtol=1e-14)
        assert result.dtype == expected.dtype and result.shape == expected.shape


def test_writes_across_the_border() -> None:
    big, plain = np.zeros((400, 3)), numpy.array([1.0, 2.0, 3.0])
    want = numpy.zeros((400, 3))
    kept = big.copy()
    for target in (big, want):
        target[3, :] = plain
        target[4] = plain[::-1]
        target[5:7] = plain
        target[[8, 9]] = plain
        target[:, 0][10:20] = numpy.arange(10.0)
        row = target[11]
        row += plain
        row[1:] *= plain[:2]
        target[12] = numpy.array([1, 2, 3])  # another type
        target[13, ::2] = plain[:2].astype(numpy.float32)
        np.add(target[14], plain, out=target[14])
    numpy.testing.assert_array_equal(numpy.asarray(big), want)
    numpy.testing.assert_array_equal(numpy.asarray(kept), 0.0)
    small = numpy.zeros(3)
    small += big[3]
    small[:] = small + big[3]
    small[0] = big.sum() * 0.0
    numpy.testing.assert_array_equal(small, [0.0, 4.0, 6.0])


def test_refused_writes_change_nothing() -> None:
    big = np.zeros((400, 3))
    counts = np.zeros(600, dtype=int)
    with pytest.raises(ValueError, match="broadcast"):
        big[3] = numpy.ones(2)
    with pytest.raises(IndexError):
        big[400] = numpy.ones(3)
    row = counts[:3]
    with pytest.raises(TypeError):
        row += numpy.array([0.5, 0.5, 0.5])
    assert not big.any() and not counts.any()


def test_a_copy_of_the_operand_is_recorded() -> None:
    """A later write into NumPy's array does not reach what is pending."""
    big, plain, large = np.ones((400, 3)), numpy.ones(3), numpy.ones((400, 3))
    pending, other = big + plain, big * large
    plain[:] = 7.0
    large[:] = 7.0
    assert float(pending.sum()) == 2400.0 and float(other.sum()) == 1200.0


def test_what_numpy_made_is_not_taken_over_where_somebody_holds_it() -> None:
    large = numpy.zeros((40, 40))
    view = np.reshape(large, (1600,))
    assert type(view) is numpy.ndarray and view.base is large
    assert np.asarray(large) is large
    kept: list[Any] = []

    def keeps(x: Any) -> Any:
        kept.append(numpy.zeros(1600))
        return kept[0]

    made = np.apply_along_axis(keeps, 0, numpy.zeros((2, 1)))
    made[...] = 1.0
    assert not kept[0].any()


def test_lists_of_what_is_ours() -> None:
    big = np.arange(3000.0).reshape(1000, 3)
    total, row = big.sum(), big[1]
    assert is_plain(np.array([total, 1.0]))
    assert is_ours(np.array([row, row]))
    assert is_plain(np.concatenate([row, numpy.ones(2)]))
    assert is_plain(np.dot(row, numpy.ones(3))) and is_plain(row @ numpy.ones(3))
    assert is_plain(numpy.ones(3) @ row)
    assert is_ours(big @ numpy.ones(3)) and is_ours(numpy.ones(1000) @ big)
    assert is_ours(np.concatenate([big, numpy.ones((1, 3))]))


def test_everything_is_ours_where_that_is_asked_for() -> None:
    with fw.options(small=0):
        assert is_ours(np.zeros(3)) and is_ours(np.array([1.0, 2.0]))
    with fw.lazy():
        assert is_ours(np.zeros(3))
    assert is_ours(fw.asarray(numpy.zeros(3)))
    seen: list[bool] = []

    @fw.jit
    def function(x: Any) -> Any:
        seen.append(is_ours(x) and is_ours(np.zeros(3)))
        return x + 1.0

    function(fw.asarray(numpy.zeros(3)))
    assert seen and all(seen)


def test_callbacks_are_the_programs_own_code() -> None:
    kinds: list[type] = []

    def callback(row: Any) -> Any:
        kinds.append(type(np.zeros(2)))
        return row.sum()

    np.apply_along_axis(callback, 1, np.ones((300, 3)))
    assert set(kinds) == {numpy.ndarray}


def test_warnings_and_errors_are_numpys() -> None:
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        np.array([1.0]) / np.array([0.0])
    with pytest.raises(ValueError, match="negative dimensions"):
        np.zeros(-1)
    with pytest.raises(TypeError):
        np.sin(np.array(["text"]))
    assert isinstance(np.zeros(3), np.ndarray) and isinstance(np.zeros(600), np.ndarray)
