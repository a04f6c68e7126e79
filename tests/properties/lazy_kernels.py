"""Kernels that random programs call, and the programs: sequences of calls, statements on arrays,
writes, fills and reads over a few arrays and views of them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from itertools import groupby
from typing import Any, ClassVar

import numpy as np

import fusewright as fw

LENGTH, ROWS, COLUMNS = 12, 4, 6


@fw.kernel
def scale(x, y, c):
    for i in range(x.shape[0]):
        y[i] = c * x[i] + 1


@fw.kernel
def stencil(x, y):
    for i in range(1, x.shape[0] - 1):
        y[i] = 0.25 * x[i - 1] + 0.5 * x[i] + 0.25 * x[i + 1]


@fw.kernel
def choose(x, y):
    for i in range(x.shape[0]):
        t = x[i] - y[i]
        if t > 0:
            y[i] = t
        elif t < -2:
            y[i] -= 1


@fw.kernel
def halves(x, y):
    for i in range(x.shape[0] // 2):
        y[2 * i] = x[i]
        y[2 * i + 1] = x[i] - i


@fw.kernel
def reverse(x, y):
    for i in range(x.shape[0]):
        y[x.shape[0] - 1 - i] = x[i] + 1


@fw.kernel
def running(x, y):
    for i in range(1, x.shape[0]):
        y[i] = y[i - 1] * 0.5 + x[i]


@fw.kernel
def gather(x, y, t):
    for i in range(x.shape[0]):
        y[i] = x[t[i]] * 2


@fw.kernel
def scatter(x, y, t):
    for i in range(x.shape[0]):
        y[t[i]] += x[i]


@fw.kernel
def total(x, y):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * y[i]
    return s


@fw.kernel
def count(x, y):
    n = 0
    for i in range(x.shape[0]):
        if x[i] > y[i]:
            n += 1
    return n


@fw.kernel
def outer(x, y, m, c):
    for i, j in fw.ndrange(m.shape[0], m.shape[1]):
        m[i, j] = m[i, j] * c + x[i] - y[j]


@fw.kernel
def rows(m, x):
    for i in range(m.shape[0]):
        x[i] = m[i, 0]
        for j in range(1, m.shape[1]):
            x[i] += m[i, j]


@fw.kernel
def transpose(m, w):
    for i, j in fw.ndrange(m.shape[0], m.shape[1]):
        w[j, i] = m[i, j]


@fw.kernel
def indices(x, k):
    for i in range(k, x.shape[0]):
        x[i] += i * 2 - k


@fw.kernel
def integers(t, x, c):
    for i in range(t.shape[0]):
        x[i] = t[i] // 3 + (t[i] % 5) * c


@fw.kernel
def two(x, y, c):
    for i in range(x.shape[0]):
        x[i] = y[i] + c
    for i in range(1, x.shape[0]):
        y[i] = x[i - 1] if x[i] > 0 else -x[i]


VECTORS: tuple[Any, ...] = (scale, stencil, choose, halves, reverse, running, two)
REDUCING: tuple[Any, ...] = (total, count)
Draw = Callable[[int, int], int]


class Machine:
    """One program, run on arrays of one kind: NumPy's with the undecorated functions ("plain"),
    ours ("lazy"), or NumPy's with kernels, calls in a row being a `lazy()` block ("blocks").
    """

    def __init__(self, mode: str) -> None:
        self.mode = mode
        start = np.arange(LENGTH) * 0.75 - 3
        self.vectors = [self.array(start * (k + 1) % 7 - 2) for k in range(4)]
        self.matrices = [
            self.array((np.arange(ROWS * COLUMNS) % 11 - 4.5 * k).reshape(ROWS, COLUMNS))
            for k in range(2)
        ]
        self.table = self.array(np.arange(LENGTH) * 5 % LENGTH)
        self.numbers: list[Any] = [1.5, 2, np.float64(0.25)]
        self.read: list[Any] = []
        self.held: list[Any] = []

    def array(self, value: Any) -> Any:
        return fw.asarray(value) if self.mode == "lazy" else value.copy()

    def function(self, kernel: Any) -> Any:
        return kernel.__wrapped__ if self.mode == "plain" else kernel

    def look(self, value: Any) -> None:
        found = np.array(value)
        if found.dtype.kind == "f":
            found[np.isnan(found)] = np.nan  # one of them: NaNs have many bits
        self.read.append(found.tobytes())


def program(draw: Draw, length: int) -> list[Callable[[Machine], None]]:
    """A list of statements."""
    return [_STATEMENTS[draw(0, len(_STATEMENTS) - 1)](draw) for _ in range(length)]


Statement = Callable[[Machine], None]
VIEWS: tuple[Callable[[Any], Any], ...] = (
    lambda x: x,
    lambda x: x,
    lambda x: x[:6],
    lambda x: x[6:],
    lambda x: x[3:9],
    lambda x: x[::2],
    lambda x: x[1::2],
    lambda x: x[5::-1],
    lambda x: x.reshape(2, 6)[1],
)


def _view(draw: Draw) -> Callable[[Machine, int], Any]:
    """A vector or a part of one, of a length that is asked for."""
    which, part = draw(0, 3), draw(2, len(VIEWS) - 1)

    def pick(machine: Machine, length: int) -> Any:
        vector = machine.vectors[which]
        return vector if length == LENGTH else VIEWS[part](vector)

    return pick


def _call(draw: Draw) -> Statement:
    kernel = VECTORS[draw(0, len(VECTORS) - 1)]
    first, second, number = _view(draw), _view(draw), draw(0, 50)
    length = (LENGTH, LENGTH // 2)[draw(0, 1)]

    def call(machine: Machine) -> None:
        arguments = [first(machine, length), second(machine, length)]
        if kernel in (scale, two):
            arguments.append(machine.numbers[number % len(machine.numbers)])
        machine.function(kernel)(*arguments)

    return call


def _indexed(draw: Draw) -> Statement:
    kernel, x, y = (gather, scatter)[draw(0, 1)], draw(0, 3), draw(0, 3)

    def call(machine: Machine) -> None:
        machine.function(kernel)(machine.vectors[x], machine.vectors[y], machine.table)

    return call


def _reduction(draw: Draw) -> Statement:
    kernel, x, y = REDUCING[draw(0, 1)], draw(0, 3), draw(0, 3)

    def call(machine: Machine) -> None:
        found = machine.function(kernel)(machine.vectors[x], machine.vectors[y])
        machine.numbers.append(found)

    return call


def _matrix(draw: Draw) -> Statement:
    kind, m, x, y, number = draw(0, 4), draw(0, 1), draw(0, 3), draw(0, 3), draw(0, 50)

    def call(machine: Machine) -> None:
        matrix, a, b = machine.matrices[m], machine.vectors[x], machine.vectors[y]
        c = machine.numbers[number % len(machine.numbers)]
        if kind == 0:
            machine.function(outer)(a[:ROWS], b[:COLUMNS], matrix, c)
        elif kind == 1:
            machine.function(rows)(matrix, a)
        elif kind == 2:
            machine.function(transpose)(matrix, machine.matrices[1 - m].T)
        elif kind == 3:
            machine.function(scale)(matrix[1, :ROWS], matrix[:, 2], 3)
        else:
            machine.function(outer)(matrix[:, 1], b[:COLUMNS], matrix, 1)

    return call


def _counted(draw: Draw) -> Statement:
    x, k, number = draw(0, 3), draw(0, 3), draw(0, 2)

    def call(machine: Machine) -> None:
        machine.function(indices)(machine.vectors[x], k)
        machine.function(integers)(machine.table, machine.vectors[x], machine.numbers[number])

    return call


def _statement(draw: Draw) -> Statement:
    kind, x, y, number = draw(0, 7), draw(0, 3), draw(0, 3), draw(0, 50)

    def run(machine: Machine) -> None:
        a, b = machine.vectors[x], machine.vectors[y]
        c = machine.numbers[number % len(machine.numbers)]
        if kind == 0:
            machine.vectors[x] = a * 0.5 + b
        elif kind == 1:
            a[1:-1] = 0.5 * (b[2:] + b[:-2])
        elif kind == 2:
            a[3] = 7.5
        elif kind == 3:
            a.fill(2.5)
        elif kind == 4:
            a += b
        elif kind == 5:
            machine.held.append(a + c)
        elif kind == 6:
            machine.vectors[x] = b.copy()
        else:
            a[2:8] *= 0.5

    return run


def _look(draw: Draw) -> Statement:
    kind, x = draw(0, 4), draw(0, 3)

    def run(machine: Machine) -> None:
        if kind == 0:
            machine.look(machine.vectors[x])
        elif kind == 1:
            machine.look(machine.matrices[x % 2])
        elif kind == 2:
            machine.look(float(machine.vectors[x][4]))
        elif kind == 3:
            machine.look(float(machine.numbers[-1]))
        elif machine.held:
            machine.look(machine.held[-1])

    return run


_STATEMENTS: tuple[Callable[[Draw], Statement], ...] = (
    _call, _call, _call, _indexed, _reduction, _matrix, _matrix, _counted, _statement,
    _statement, _look,
)  # fmt: skip


class Sharing(Machine):
    """As `Machine`, but what the arrays hold at first is shared by all programs, of all threads."""

    known: ClassVar[dict[tuple[bytes, tuple[int, ...]], Any]] = {}

    def array(self, value: Any) -> Any:
        if self.mode != "lazy":
            return super().array(value)
        key = value.tobytes(), value.shape
        return self.known.setdefault(key, fw.asarray(value)).copy()


def run(
    statements: list[Statement],
    mode: str,
    options: dict[str, Any],
    make: Callable[[str], Machine] = Machine,
) -> list[bytes]:
    """All that a program reads, and all that is there in the end."""
    with fw.options(**options), np.errstate(all="ignore"):
        machine = make(mode)
        for calls, group in groupby(statements, lambda statement: statement.__name__ == "call"):
            with fw.lazy() if calls and mode == "blocks" else nullcontext():
                for statement in group:
                    statement(machine)
        for value in (*machine.held, *machine.numbers, *machine.matrices, *machine.vectors):
            machine.look(value)
    return machine.read
