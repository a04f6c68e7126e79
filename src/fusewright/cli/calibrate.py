"""`fusewright bench --calibrate`: measures what the machine's record says, and keeps it.

Each figure is the best of several runs, so that other programs do not count; one that is far from
every machine's (`machine.stored.believed`) is left out.  Rates are those of one thread.
"""

from __future__ import annotations

import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import fusewright as fw
from fusewright import driver
from fusewright.base.options import current
from fusewright.cli.console import progress
from fusewright.ir import bfloat16
from fusewright.ir.dtypes import BFLOAT16
from fusewright.ir.graph import Node, leaf, memory_of
from fusewright.ir.products import multiplied
from fusewright.machine import detect, record, stored
from fusewright.machine.record import DEFAULT, Machine, with_caches
from fusewright.runtime import profile
from fusewright.runtime.limits import cpu_count
from fusewright.targets.executable import Written
from fusewright.targets.target import target

ROUNDS = 7
SHORT = 4e-3
"""Seconds that a run lasts about: long against the clock, short against a turn of the scheduler."""
SIDE = 384
"""Rows of the matrices whose product is timed."""
FORKS = 200
ASLEEP = 1e-3
"""Seconds after which threads have fallen asleep (`targets.cpu.threads`: they spin 50 us)."""
OPERATORS = (4, 64)
"""In two expressions whose compilation is timed: what the second takes longer is that of nodes."""
PAGE = 4096
TOUCHED = 32 << 20
FROM_MEMORY = 4
"""How many times the last cache an array has that is read from memory."""
Figures = Iterator[tuple[str, float]]


@fw.kernel
def stream(a, b, times):  # type: ignore[no-untyped-def]
    """Two reads and a write of each element."""
    for _ in range(times):
        for i in range(a.shape[0]):
            b[i] = b[i] + a[i]


@fw.kernel
def polynomial(a, b, x, times):  # type: ignore[no-untyped-def]
    """Eight multiplications and additions of each element."""
    for _ in range(times):
        for i in range(a.shape[0]):
            s = a[i]
            b[i] = (((((((s * x + s) * x + s) * x + s) * x + s) * x + s) * x + s) * x + s) * x + b[
                i
            ]


@fw.kernel
def quotient(a, b, x, times):  # type: ignore[no-untyped-def]
    """A quotient of each element."""
    for _ in range(times):
        for i in range(a.shape[0]):
            b[i] = x / (a[i] + b[i])


@fw.kernel
def exponential(a, b, x, times):  # type: ignore[no-untyped-def]
    """An exponential of each element."""
    for _ in range(times):
        for i in range(a.shape[0]):
            b[i] = np.exp(a[i] - x * b[i])


@fw.kernel
def nothing(a):  # type: ignore[no-untyped-def]
    """As little as a kernel can do."""
    a[0] = 0.0


@fw.kernel
def shared(a):  # type: ignore[no-untyped-def]
    """A loop that threads share."""
    for i in range(a.shape[0]):
        a[i] = a[i] * 0.5


def command() -> int:
    """Measure, keep and print; exit code 1 where the figures cannot be kept."""
    began = time.perf_counter()
    figures: dict[str, float] = {}
    machine = with_caches(detect.caches())
    steps = (_compiling, _bandwidths, _rates, _costs)
    with tempfile.TemporaryDirectory() as folder, progress("measuring", len(steps)) as done:
        for step in steps:
            with fw.options(cache_dir=folder, interpret=False, background=False):
                figures |= dict(step(machine))
            done()
    figures = stored.believed(figures)
    for name, value in figures.items():
        print(f"{name.replace('_', ' '):<18} {value:.4g} {stored.UNITS[name]}")
    try:
        name = stored.keep(figures)
    except OSError as error:
        print(f"the figures cannot be kept: {error}", file=sys.stderr)
        return 1
    print(f"kept in {name} ({time.perf_counter() - began:.1f} s)")
    return 0


def _best(run: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """Seconds of the quickest run; the first, which compiles, does not count."""
    run()
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return min(times)


def _pace(run: Callable[[int], Any], once: float) -> float:
    """Seconds of one of many passes; `once` is about what one takes."""
    times = max(1, int(SHORT / once))
    return _best(lambda: run(times)) / times


def _bandwidths(machine: Machine) -> Figures:
    """Two arrays that fill half of a cache, or are four times as large as the last one."""
    sizes = {name: getattr(machine, name) // 2 for name in detect.LEVELS}
    sizes["memory"] = FROM_MEMORY * min(machine.third, 64 << 20)
    with fw.options(threads=1):
        for name, nbytes in sizes.items():
            a, b = np.ones(nbytes // 16), np.ones(nbytes // 16)
            moved = 3 * a.nbytes
            guess = moved / (1e9 * getattr(DEFAULT, f"{name}_bandwidth"))
            seconds = _pace(lambda times, a=a, b=b: stream(a, b, times), guess)  # type: ignore[misc]
            yield f"{name}_bandwidth", 1e-9 * moved / seconds


def _rates(machine: Machine) -> Figures:
    """Arrays that fill half of the first cache: multiplications and additions in pairs, quotients,
    exponentials.
    """
    count = machine.first // 32
    a = np.linspace(0.1, 0.9, count)
    with fw.options(threads=1):
        for name, kernel, each in (
            ("multiply_add", polynomial, 8), ("divide", quotient, 1), ("exp", exponential, 1),
        ):  # fmt: skip
            b = np.ones(count)
            guess = 1e-9 * each * count / getattr(DEFAULT, name)
            run = lambda times, kernel=kernel, b=b: kernel(a, b, 0.5, times)  # noqa: E731
            yield name, 1e-9 * each * count / _pace(run, guess)
        matrix = fw.asarray(np.linspace(0.1, 0.9, SIDE * SIDE).reshape(SIDE, SIDE))
        yield "product", 1e-9 * SIDE**3 / _best(lambda: fw.evaluate(matrix @ matrix))
    is_wide = target("cpu").features("auto").vector_bytes == 64
    with fw.options(threads=1, features="avx512" if is_wide else "avx2", interpret=False):
        operand = _halves()
        product = lambda: driver.compute((multiplied("matmul", operand, operand, ()),))  # noqa: E731
        yield "half", 1e-9 * SIDE**3 / _best(product)


def _halves() -> Node:
    """A matrix of bfloat16, which no array of ours has."""
    made = bfloat16.narrowed(np.linspace(0.1, 0.9, SIDE * SIDE).reshape(SIDE, SIDE))
    return leaf(memory_of(made), BFLOAT16, made.shape, 0, made.strides)


def _costs(machine: Machine) -> Figures:
    """A call of a kernel that does nothing; sharing work among threads; touching fresh memory."""
    one = np.ones(1)
    yield "launch", 1e9 * _best(lambda: [nothing(one) for _ in range(FORKS)]) / FORKS
    if cpu_count() > 1:
        yield "fork", _fork(machine)
    yield "page", _page()


def _fork(machine: Machine) -> float:
    """Nanoseconds that a loop takes longer for being shared by two threads than half of it does:
    the geometric mean of threads that are awake and of threads that have fallen asleep, which
    takes ten times as long or more.
    """
    a = np.ones(machine.first // 16)
    half = a[: a.size // 2].copy()
    found = []
    for pause in (0.0, ASLEEP):
        with record.using(machine._replace(fork=0.0)), fw.options(threads=2):
            both = _usual(lambda: shared(a), pause)
        with fw.options(threads=1):
            alone = _usual(lambda: shared(half), pause)
        found.append(max(1e9 * (both - alone), 1.0))
    return math.sqrt(found[0] * found[1])


def _usual(run: Callable[[], Any], pause: float) -> float:
    """The median of many runs, with something else in between."""
    times = []
    run()
    for _ in range(FORKS):
        if pause:
            time.sleep(pause)
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def _page() -> float:
    """Nanoseconds for the first write to each 4 KiB of memory just mapped."""

    def seconds() -> float:
        fresh = np.empty(TOUCHED, np.uint8)
        began = time.perf_counter()
        fresh[::PAGE] = 1
        return time.perf_counter() - began

    return 1e9 * min(seconds() for _ in range(3)) * PAGE / TOUCHED


def _compiling(_: Machine) -> Figures:
    """A module of nothing, whose compilation starts LLVM the first time; then expressions of two
    lengths, new to this process.
    """
    began, again = _nothing_compiled(), _nothing_compiled()
    yield "compile_start", max(began - again, 0.0)
    x = fw.asarray(np.ones(100_000))
    few, many = OPERATORS
    _compiled(x, 1, 0)  # loads the planner
    short = min(_compiled(x, few, salt) for salt in range(1, 4))
    long = min(_compiled(x, many, salt) for salt in range(1, 3))
    node = (long[0] - short[0]) / (many - few)
    yield "compile_node", node
    yield "compile_line", (long[0] - short[0]) / max(long[1] - short[1], 1)
    yield "compile_structure", short[0] - few * node


def _nothing_compiled() -> float:
    began = time.perf_counter()
    text = "define void @kernel() {\n  ret void\n}\n"
    target("cpu").compile(Written(("nothing", began), lambda lanes: (None, text)), current())
    return time.perf_counter() - began


def _compiled(x: Any, operators: int, salt: int) -> tuple[float, int]:
    """Seconds that an expression takes to compile and run, and the lines of its text."""
    value = x
    for number in range(operators):
        value = value * x if number % 5 == salt else value + x
    with profile.listen() as told:
        began = time.perf_counter()
        fw.evaluate(value)
        seconds = time.perf_counter() - began
    return seconds, sum(kernel.llvm.count("\n") for kernel in told.kernels)
