"""Any sequence of calls that are no array statements gives CPython's bits, whatever becomes of the
arrays between them: made anew, held and overwritten, held and read later, dropped.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from tests.properties.chance import EXAMPLES

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.kernels import statements
from fusewright.runtime import background

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
    """Arrays by name, of one sort: NumPy's with the undecorated functions ("plain"), ours ("lazy"),
    or NumPy's with kernels, calls in a row being a `lazy()` block ("lent").
    """

    def __init__(self, mode: str) -> None:
        self.mode, self.lazy = mode, mode == "lazy"
        self.block: Any = None
        rng = np.random.default_rng(1)
        self.arrays = [self.made(rng.random(N) * 4) for _ in range(5)]
        self.table = self.made(rng.integers(N, size=N))
        self.number: Any = 0.5
        self.seen: list[bytes] = []

    def made(self, values: Any) -> Any:
        return fw.asarray(values) if self.lazy else values.copy()

    def call(self, kernel: Any, *args: Any) -> Any:
        if self.mode == "plain":
            return kernel.__wrapped__(*args)
        if self.mode == "lent" and self.block is None:
            self.block = fw.lazy()
            self.block.__enter__()
        return kernel(*args)

    def close(self) -> None:
        """End the block: NumPy's arrays are complete."""
        if self.block is not None:
            self.block.__exit__(None, None, None)
            self.block = None

    def look(self, value: Any) -> None:
        self.close()
        self.seen.append(np.asarray(value).tobytes())


def step(m: Machine, chance: random.Random) -> None:
    """One statement of a random program."""
    i, j, k = (chance.randrange(len(m.arrays)) for _ in range(3))
    a, b, c = m.arrays[i], m.arrays[j], m.arrays[k]
    what, number = chance.randrange(23), chance.random()
    if what > 8:
        m.close()
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
    elif what == 18:
        m.look(a)
    else:
        rest(m, chance, i, j, k)


def rest(m: Machine, chance: random.Random, i: int, j: int, k: int) -> None:
    """What is neither a call nor a statement that joins."""
    a, b, what = m.arrays[i], m.arrays[j], chance.randrange(8)
    xp = fnp if m.lazy else np
    low, high = chance.randrange(4), 8 + chance.randrange(5)
    if what == 0:
        m.number = (a * 0.5 + b).max() * 0.1
    elif what == 1:
        m.number = (a > b).sum() * 0.125
    elif what == 2:
        m.arrays[k] = xp.cumsum(a - b) * 0.25
    elif what == 3:
        m.arrays[k] = xp.where((a > 1.0).any(), a, b * m.number)
    elif what == 4:  # parts, of one array too
        m.call(smoothed, a[low:high], b[: high - low], m.arrays[k][-(high - low) :], 0.5)
    elif what == 5:  # somebody outside writes
        memory = a.view(np.ndarray)
        memory[low] = 1.25
    elif what == 6:  # a call that fails leaves everything as it was
        if m.mode != "plain":
            with pytest.raises(fw.FusewrightError):
                m.call(smoothed, a, b, None, 0.5)
    else:
        m.call(halved, a.reshape(1, N)[0], b)


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


def run(mode: str, seed: int, length: int) -> list[bytes]:
    """What a program shows."""
    m, chance = Machine(mode), random.Random(seed)
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


@pytest.fixture(params=[1, 1 << 60], ids=["at once", "often"])
def joining(request: pytest.FixtureRequest) -> Iterator[None]:
    """Statements on small arrays join too, as they come or when they come often."""
    statements.set_least(1, request.param)
    yield
    statements.set_least()


@pytest.mark.parametrize("waits", [False, True])
def test_programs_with_statements(waits: bool, joining: None) -> None:
    test_programs(waits)


@pytest.mark.parametrize("waits", [False, True])
def test_programs(waits: bool) -> None:
    for seed in seeds():
        wanted = run("plain", seed, 8)
        with fw.options(background=not waits):
            assert run("lazy", seed, 8) == wanted, seed
            background.wait()
            assert run("lazy", seed, 8) == wanted, seed


def seeds() -> range:
    """Programs to run: the same ones each time, or as many as the user asks for."""
    first = random.SystemRandom().randrange(1 << 30) if EXAMPLES else 7
    return range(first, first + (EXAMPLES or 40))


def test_programs_in_blocks() -> None:
    for seed in seeds():
        assert run("lent", seed, 8) == run("plain", seed, 8), seed


def test_programs_in_threads(joining: None) -> None:
    """What other threads record and compute meanwhile changes nothing."""
    every = list(seeds())
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda seed: run("lazy", seed, 8), every))
    for seed, seen in zip(every, found, strict=True):
        assert seen == run("plain", seed, 8), seed
