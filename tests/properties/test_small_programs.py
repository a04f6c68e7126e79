"""Random programs of small reads and writes do what NumPy does, at once or recorded: whoever holds
an array, a view, a copy or a number of an earlier state keeps it.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.chance import examples

import fusewright as fw
import fusewright.numpy as fnp


class Program:
    """The same statements on our arrays and on NumPy's, chosen by one stream of random numbers."""

    def __init__(self, seed: int, shape: tuple[int, int], convert: Any) -> None:
        self.chance, self.convert = random.Random(seed), convert
        self.dot = np.dot if isinstance(convert(np.zeros(1)), np.ndarray) else fnp.dot
        rng = np.random.default_rng(seed)
        self.arrays = [
            convert(rng.integers(0, 9, shape).astype(t)) for t in ("f8", "f8", "i8", "f4")
        ]
        self.held: list[Any] = []

    def index(self) -> Any:
        pick = self.chance.randrange
        row = pick(3)
        return (
            (row, pick(4)),
            (slice(row, row + 4), pick(5)),
            (pick(-6, 6), slice(pick(3), pick(4, 8), pick(1, 3))),
            (slice(row, row + 3), slice(None, None, pick(1, 3))),
            (slice(None, None, -1), pick(7)),
            slice(pick(3), pick(3, 7)),
            (..., pick(7)),
        )[pick(7)]

    def picked(self) -> Any:
        """A subscript with arrays of integers."""
        pick, convert = self.chance.randrange, self.convert
        rows = convert(np.array([pick(-6, 6) for _ in range(pick(1, 5))]))
        return (
            rows,
            (rows, pick(7)),
            (slice(pick(3), 4), rows),
            (rows, rows),
            [pick(6), pick(6)],
            (pick(6), rows),
            (rows, slice(None, None, -2)),
        )[pick(7)]

    def value(self, array: Any, index: Any) -> Any:
        """Something that fits `array[index]`: of it, of a neighbour, or a number."""
        pick = self.chance.randrange
        other = self.arrays[pick(2)]
        own = array[index]
        return (
            lambda: float(pick(9)),
            lambda: own * 0.5,
            lambda: other[index] + 1.0,
            lambda: own + other[index] * other[0, 1],
            lambda: other[index].sum() - 2.0,
            lambda: (other[index] * own).sum(),
            lambda: other[2, 3],
            lambda: (other @ other.T)[0, 1],
            lambda: other[index],
            lambda: own[::-1] if own.ndim else own,
            lambda: other[pick(6), :6] @ other[:6, pick(7)],
            lambda: self.dot(other[pick(6), 6:0:-1], array[:6, pick(7)]),
            lambda: other[pick(6), pick(4) :].mean() * other[0].sum(),
            lambda: np.float64(0.5) * other[index],
        )[pick(14)]()

    def statement(self) -> None:
        pick = self.chance.randrange
        at = pick(len(self.arrays))
        array, index = self.arrays[at], self.index()
        kind = pick(12)
        if kind < 4:
            value = self.value(array, index)
            array[index] = value if at < 2 else pick(9)
        elif kind == 4 and at < 2:
            array[index] += self.value(array, index)
        elif kind == 5:
            self.held.append(array[index])  # a view, or a number of now
        elif kind == 6:
            self.held.append(array)
            self.arrays[at] = array.copy()
        elif kind == 7:
            self.held.append(array[index] * 2)  # of now, whenever it is computed
        elif kind == 9:
            self.held.append(array[self.picked()])
        elif kind == 10:
            array[self.picked()] = pick(9)
        elif kind == 11:
            index = self.picked()
            array[index] = array[index][..., ::-1] * 2
        elif len(self.held) > 4:
            self.held.pop(pick(len(self.held)))

    def state(self) -> list[Any]:
        return [np.array(value) for value in (*self.arrays, *self.held)]


@examples(60)
@given(seed=st.integers(0, 2**32), count=st.integers(1, 60))
@pytest.mark.parametrize("shape", [(6, 7), (201, 170)], ids=["small", "parts of large ones"])
@pytest.mark.parametrize("interpret", [True, False])
def test_random_small_programs(
    interpret: bool, shape: tuple[int, int], seed: int, count: int
) -> None:
    with fw.options(interpret=interpret), np.errstate(all="ignore"):
        ours = Program(seed, shape, lambda a: fw.asarray(a) + 0)
        plain = Program(seed, shape, lambda a: a + 0)
        for _ in range(count):
            ours.statement()
            plain.statement()
        for mine, theirs in zip(ours.state(), plain.state(), strict=True):
            assert mine.dtype == theirs.dtype
            assert mine.shape == theirs.shape
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)


READS = ("x.sum()", "x.mean()", "(x * 2).max()", "x[3:9] + 1", "x.T.sum(axis=0)")
VIEWS_OF_VIEWS = (
    "x[1:-1].reshape(-1)",
    "x[1:-1].ravel()[3:]",
    "x[1:].reshape(2, -1)[0]",
    "x[1:-1]",
)


@pytest.mark.parametrize("view", VIEWS_OF_VIEWS)
@pytest.mark.parametrize("read", READS)
def test_what_waits_reads_what_was_there(read: str, view: str) -> None:
    """A reshaped part is another leaf in the array's memory, which what waits reads, too."""
    for size in (4, 600):
        x = np.arange(2.0 * size).reshape(size, 2)
        want = np.array(eval(read, {"x": x}))
        names = {"x": fw.asarray(x)}
        waits = eval(read, names)
        exec(f"{view}[:2] = 77.0", names)
        exec(f"{view}[:2] = 77.0", {"x": x})
        np.testing.assert_array_equal(np.asarray(names["x"]), x)
        np.testing.assert_allclose(np.asarray(waits), want, rtol=1e-14)
