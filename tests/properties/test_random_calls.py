"""Random calls mean what they mean in NumPy, wrong ones end with the error a program would catch,
and random programs of statements end with the same values.

These are short forms of `python -m tests.properties.random_calls` and
`python -m tests.properties.array_programs`; `FUSEWRIGHT_TEST_EXAMPLES` draws as many new ones.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.evaluators import installed
from tests.properties import array_programs, random_calls
from tests.properties.chance import EXAMPLES

import fusewright as fw
import fusewright.numpy as fnp

CALLS, WRONG_CALLS, PROGRAMS = 3000, 2000, 300
"""Drawn at each run of the suite."""
ALLOWED = 0.008
"""The part of wrong calls that may still end otherwise; all others must be NumPy's."""


@pytest.fixture(autouse=True, scope="module")
def evaluator() -> Iterator[None]:
    """What users have."""
    with installed("interpreted"):
        yield


def differing(wrong: float, count: int) -> list[str]:
    """Calls that end otherwise than NumPy's."""
    seed = int.from_bytes(os.urandom(4), "little") if EXAMPLES else 20
    stream = random_calls.calls(random.Random(seed), wrong)
    found = []
    for call in itertools.islice(stream, EXAMPLES or count):
        how = random_calls.compare(call)
        if how:
            found.append(f"{call}: {how}")
    return found


def test_right_calls_are_numpys() -> None:
    found = differing(0.0, CALLS)
    assert len(found) <= ALLOWED * (EXAMPLES or CALLS), "\n".join(found)


def test_wrong_calls_end_with_numpys_errors() -> None:
    found = differing(0.5, WRONG_CALLS)
    assert len(found) <= ALLOWED * (EXAMPLES or WRONG_CALLS), "\n".join(found)


def test_programs_are_numpys() -> None:
    first = int.from_bytes(os.urandom(4), "little") if EXAMPLES else 0
    for seed in range(first, first + (EXAMPLES or PROGRAMS)):
        found, lines = array_programs.run(seed)
        assert not found, "\n    ".join([f"program {seed}: {found}", *lines])


SIZES = (3, 600)
EXPONENTS = (-1, np.int64(-2), np.array([-1]), [-1], np.int8(-3))


@pytest.mark.parametrize("size", SIZES)
def test_integers_to_negative_powers(size: int) -> None:
    """The check stands in the operation's row, behind every entrance."""
    x, down = fw.asarray(np.arange(1, size + 1)), fw.asarray(np.full(size, -1))
    entrances: list[Any] = [
        *(lambda e=e: x**e for e in EXPONENTS), *(lambda e=e: fnp.power(x, e) for e in EXPONENTS),
        *(lambda e=e: x.copy().__ipow__(e) for e in EXPONENTS), lambda: x**down, lambda: 2**down,
        lambda: np.int64(2) ** down, lambda: np.power(x, down), lambda: x ** down.min(),
        lambda: fnp.power.outer(x[:3], down[:3]), lambda: fnp.power.at(x.copy(), [0], -1),
        lambda: fnp.power(x, down, out=x.copy()), lambda: x[x > 1] ** down[x > 1],
        lambda: np.arange(1, size + 1) ** down, lambda: fnp.power.reduce(down),
    ]  # fmt: skip
    for number, entrance in enumerate(entrances):
        with pytest.raises(ValueError, match="negative integer powers"):
            entrance()
            pytest.fail(f"entrance {number} let it pass")
    assert (x**2).sum() == (np.arange(1, size + 1) ** 2).sum()


@pytest.mark.parametrize("size", SIZES)
def test_delegated_ufuncs_leave_what_is_not_selected(size: int) -> None:
    """`out=` and `where=` mean something only together."""
    values, mask = np.linspace(0, 9, size), np.arange(size) % 2 == 0
    for name in random_calls.UFUNCS:
        ufunc, ours = getattr(np, name), getattr(fnp, name)
        if ufunc.signature or ufunc.nout > 1:
            continue
        for dtype in ("f8", "i4", "?"):
            operands = [values.astype(dtype)] * ufunc.nin
            for target in ("f8", "c16", "f4", "?"):
                out, mine = np.full(size, 7, target), fw.asarray(np.full(size, 7, target))
                want, refused = random_calls.attempt(
                    lambda u=ufunc, v=operands, o=out: u(*v, out=o, where=mask)
                )
                got, error = random_calls.attempt(
                    lambda u=ours, v=operands, o=mine: u(*map(fw.asarray, v), out=o, where=mask)
                )
                assert random_calls.classes(refused) == random_calls.classes(error), (name, dtype)
                assert (want is out) == (got is mine)
                np.testing.assert_allclose(np.asarray(mine), out, rtol=1e-6, err_msg=name)
                np.testing.assert_array_equal(np.asarray(mine)[~mask], out[~mask])


@pytest.mark.parametrize("kind", ["raise", "call"])
def test_floating_point_errors_happen_in_the_statement(kind: str) -> None:
    seen: list[str] = []
    before = fnp.seterrcall(lambda error, _flag: seen.append(error))
    x = fw.asarray(np.zeros(600))
    try:
        with fnp.errstate(divide=kind):
            try:
                1 / x
            except FloatingPointError as error:
                seen.append(str(error))
            assert len(seen) == 1 and "divide by zero" in seen[0]
            assert (x + 1).sum() == 600
        assert np.isinf(np.asarray(1 / x)).all()
        assert len(seen) == 1
    finally:
        fnp.seterrcall(before)


def test_byte_orders_are_numpys() -> None:
    """Arrays of another byte order than the machine's stay NumPy's, or are copied."""
    for size in SIZES:
        plain = np.arange(size).astype(">i4")
        ours = fw.asarray(np.arange(size, dtype="i4"))
        assert fnp.ones(size, ">i4").tobytes() == np.ones(size, ">i4").tobytes()
        assert fnp.asarray(plain).dtype == plain.dtype
        assert ours.astype(">u2").dtype == np.dtype(">u2")
        assert ours.view(">u4").tolist() == np.arange(size, dtype="i4").view(">u4").tolist()
        assert (ours + plain).tolist() == (2 * np.arange(size)).tolist()
        assert fw.asarray(plain).tolist() == plain.tolist()


class Prior:
    """A class of a higher priority than NumPy's arrays."""

    __array_priority__ = 20.0

    def __radd__(self, other: Any) -> str:
        assert type(other) is np.ndarray
        return "prior"


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_operators_of_other_classes() -> None:
    x, plain = fw.asarray(np.arange(3.0)), np.arange(3.0)
    masked, matrix = np.ma.masked_array([1.0, 2, 3], [0, 1, 0]), np.matrix([[1.0], [2], [3]])
    assert x + Prior() == "prior"
    for mine, want in (
        (x + masked, plain + masked), (masked * x, masked * plain), (x * matrix, plain * matrix),
        (np.add(x, masked), np.add(plain, masked)), (x < masked, plain < masked),
    ):  # fmt: skip
        assert type(mine) is type(want)
        assert repr(mine) == repr(want)
