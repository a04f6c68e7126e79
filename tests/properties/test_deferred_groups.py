"""Any sequence of calls that are no array statements gives CPython's bits, whatever becomes of the
arrays between them: made anew, held and overwritten, held and read later, dropped.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.properties.chance import EXAMPLES

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.kernels import statements
from fusewright.targets.cpu import background

N = 13


@fw.kernel
def halved(a: Any, b: Any) -> None:
    for i in range(a.shape[0]):
        v, k = a[i], 0
        while v > 1.0:
            v, k = v * 0.5, k + 1
        b[i] = v + k


@fw.kernel
def smoothed(a: Any, b: Any, c: Any, by: float) -> None:
    for i in range(c.shape[0]):
        s = 0.0
        for j in range(3):
            s += a[i] * by + b[i] * j
        c[i] = s
        c[i] = c[i] * 0.5


@fw.kernel
def running(a: Any, b: Any) -> None:
    for i in range(1, a.shape[0]):
        b[i] = b[i - 1] * 0.5 + a[i]


@fw.kernel
def picked(a: Any, t: Any, b: Any) -> None:
    for i in range(a.shape[0]):
        b[i] = a[t[i]] * 0.25 + 1.0


@fw.kernel
def some(a: Any, b: Any) -> None:
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(2):
            s += a[i] * j
        if s > 1.0:
            b[i] = s


@fw.kernel
def total(a: Any, by: float) -> Any:
    s = 0.0
    for i in range(a.shape[0]):
        s = s * by + a[i]
    return s


class Machine:
    """Arrays by name, of one sort."""

    def __init__(self, lazy: bool) -> None:
        self.lazy = lazy
        rng = np.random.default_rng(1)
        self.arrays = [self.made(rng.random(N) * 4) for _ in range(5)]
        self.table = self.made(rng.integers(N, size=N))
        self.number: Any = 0.5
        self.seen: list[bytes] = []

    def made(self, values: Any) -> Any:
        return fw.asarray(values) if self.lazy else values.copy()

    def call(self, kernel: Any, *args: Any) -> Any:
        return kernel(*args) if self.lazy else kernel.__wrapped__(*args)

    def look(self, value: Any) -> None:
        self.seen.append(np.asarray(value).tobytes())


def step(m: Machine, chance: random.Random) -> None:
    """One statement of a random program."""
    i, j, k = (chance.randrange(len(m.arrays)) for _ in range(3))
    a, b, c = m.arrays[i], m.arrays[j], m.arrays[k]
    what, number = chance.randrange(19), chance.random()
    if what < 2:
        m.call(halved, a, b)
    elif what < 4:
        m.call(smoothed, a, b, c, number)
    elif what == 4:
        m.call(smoothed, a, b, c, m.number)
    elif what == 5:
        m.call(running, a, b)
    elif what == 6:
        m.call(picked, a, m.table, b)
    elif what == 7:
        m.call(some, a, b)
    elif what == 8:
        m.number = m.call(total, a, number) * 0.01
    elif what < 11:  # a temporary of this step
        t = (fnp if m.lazy else np).full(N, 0.25) if chance.random() < 0.3 else None
        t = t if t is not None else (fnp.empty(N) if m.lazy else np.zeros(N))
        m.call(halved, a, t)
        m.call(smoothed, t, b, c, number)
        if chance.random() < 0.3:
            m.arrays[i] = t
    elif what == 11:
        m.arrays[k] = a * 0.5 + b
    elif what == 12:
        m.arrays[k] = a.copy()
    elif what < 18:
        statement(m, chance, i, j, k)
    else:
        m.look(a)


def statement(m: Machine, chance: random.Random, i: int, j: int, k: int) -> None:
    """A statement on arrays."""
    a, b, what = m.arrays[i], m.arrays[j], chance.randrange(9)
    low, count = chance.randrange(5), 1 + chance.randrange(N - 4)
    if what == 0:
        a += b * 0.25
    elif what == 1:
        a[1:-1] = 0.5 * (b[2:] + b[:-2])
    elif what == 2:
        a[low : low + count] *= 0.5
    elif what == 3:
        a[low] = 1.5
    elif what == 4:
        a.fill(2.5)
    elif what == 5:
        m.arrays[k] = a[::-1] - b
    elif what == 6:
        a[low::2] = b[low::2] + 1.0
    elif what == 7:
        m.arrays[k] = (fnp if m.lazy else np).where(a > b, a, b * m.number)
    else:
        t = a * 0.5 + low  # of this step
        m.call(smoothed, t, b, m.arrays[k], 0.5)
        if chance.random() < 0.3:
            m.arrays[i] = t - 1.0


def run(lazy: bool, seed: int, length: int) -> list[bytes]:
    """What a program shows."""
    m, chance = Machine(lazy), random.Random(seed)
    steps = [chance.randrange(1 << 30) for _ in range(chance.randrange(1, 6))]
    with np.errstate(all="ignore"):
        for turn in range(length):  # a loop's body, with a stray statement now and then
            for each in steps:
                step(m, random.Random(each))
            if turn % 3 == 2:
                step(m, random.Random(chance.randrange(1 << 30)))
            if turn % 4 == 3:
                m.look(m.arrays[seed % 5])
    for each in m.arrays:
        m.look(each)
    m.look(m.number)
    return m.seen


@pytest.fixture
def joining() -> Iterator[None]:
    """Statements on small arrays join too."""
    least = statements.LEAST
    statements.set_least(1)
    yield
    statements.set_least(least)


@pytest.mark.parametrize("waits", [False, True])
def test_programs_with_statements(waits: bool, joining: None) -> None:
    test_programs(waits)


@pytest.mark.parametrize("waits", [False, True])
def test_programs(waits: bool) -> None:
    first = random.SystemRandom().randrange(1 << 30) if EXAMPLES else 7
    for seed in range(first, first + (EXAMPLES or 40)):
        wanted = run(False, seed, 8)
        with fw.options(background=not waits):
            assert run(True, seed, 8) == wanted, seed
            background.wait()
            assert run(True, seed, 8) == wanted, seed
