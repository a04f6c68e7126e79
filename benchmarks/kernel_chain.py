"""Chains of loop kernels on lazy arrays: five element-wise kernels through four temporaries, which
die or live on, against the loop fused by hand in C and for Numba; what recording a known sequence
of calls costs, and its flush; a chain of 200 kernels.

The C loop is compiled here by gcc (-O3 -march=native -ffp-contract=off), where there is one.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import peers
from numpy.typing import NDArray
from pairwise import Contestant, compete
from report import Report, Section, start

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.runtime import background

LARGE, SMALL, LONG = 1 << 22, 10, 200
MOST_RATIO, MOST_SMALL, MOST_COMPILE = 1.15, 15e-6, 3.0
MOST_RECORD, MOST_FLUSH = 1.5e-6, 8e-6
SCALE = 3.0


@fw.kernel
def add(a: Any, b: Any, out: Any) -> None:
    for i in range(a.shape[0]):
        out[i] = a[i] + b[i]


@fw.kernel
def multiply(a: Any, b: Any, out: Any) -> None:
    for i in range(a.shape[0]):
        out[i] = a[i] * b[i]


@fw.kernel
def subtract_scaled(a: Any, b: Any, out: Any, scale: float) -> None:
    for i in range(a.shape[0]):
        out[i] = a[i] - scale * b[i]


@fw.kernel
def square(a: Any, out: Any) -> None:
    for i in range(a.shape[0]):
        out[i] = a[i] * a[i] + 1.0


@fw.kernel
def running(a: Any, out: Any, by: float) -> None:
    for i in range(1, a.shape[0]):
        out[i] = by * out[i - 1] + a[i]


@fw.kernel
def halvings(a: Any, out: Any) -> None:
    for i in range(a.shape[0]):
        v = a[i]
        while v > 1.0:
            v = v * 0.5
        out[i] = v


@fw.kernel
def inner(a: Any, b: Any) -> Any:
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * b[i]
    return s


@fw.kernel
def divide(a: Any, b: Any, out: Any) -> None:
    for i in range(a.shape[0]):
        out[i] = a[i] / (b[i] + 2.0)


def chain(a: Any, b: Any, temporaries: list[Any], out: Any) -> None:
    """The five kernels."""
    t1, t2, t3, t4 = temporaries
    add(a, b, t1)
    multiply(t1, a, t2)
    subtract_scaled(t2, b, t3, SCALE)
    square(t3, t4)
    divide(t4, a, out)


C_SOURCE = """
void chain(long n, const double *restrict a, const double *restrict b, double *restrict out)
{
    for (long i = 0; i < n; i++) {
        double t1 = a[i] + b[i], t2 = t1 * a[i], t3 = t2 - 3.0 * b[i], t4 = t3 * t3 + 1.0;
        out[i] = t4 / (a[i] + 2.0);
    }
}
"""


def by_c(folder: str, text: str = C_SOURCE, name: str = "chain") -> Callable[..., None] | None:
    """A loop fused by hand, from gcc; None where there is no gcc."""
    compiler = shutil.which("gcc")
    if compiler is None:
        return None
    source, library = Path(folder) / f"{name}.c", Path(folder) / f"{name}.so"
    source.write_text(text)
    flags = ["-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, "-o", str(library), str(source)], check=True)
    function = getattr(ctypes.CDLL(str(library)), name)

    def run(*arrays: NDArray[Any]) -> None:
        function(ctypes.c_long(arrays[0].size), *(ctypes.c_void_p(x.ctypes.data) for x in arrays))

    return run


def by_numba() -> Callable[..., None]:
    """The same loop for Numba."""

    @peers.numba().njit  # type: ignore[untyped-decorator]
    def loop(a: Any, b: Any, out: Any) -> None:
        for i in range(a.shape[0]):
            t2 = (a[i] + b[i]) * a[i]
            t3 = t2 - 3.0 * b[i]
            out[i] = (t3 * t3 + 1.0) / (a[i] + 2.0)

    return loop  # type: ignore[no-any-return]


class Ours:
    """The chain on lazy arrays of one length; its temporaries live on, or are made anew."""

    def __init__(self, n: int) -> None:
        rng = np.random.default_rng(0)
        self.a, self.b = rng.random(n), rng.random(n)
        self.lazy = [fw.asarray(self.a), fw.asarray(self.b)]
        self.kept = [fnp.empty(n) for _ in range(4)]
        self.out = fnp.empty(n)
        self.n = n

    def hoisted(self) -> Any:
        chain(*self.lazy, self.kept, self.out)
        fw.evaluate(self.out)
        return self.out

    def dying(self) -> Any:
        chain(*self.lazy, [fnp.empty(self.n) for _ in range(4)], self.out)
        fw.evaluate(self.out)
        return self.out


def large(report: Report, section: Section, folder: str) -> None:
    """One pass over memory, on one thread."""
    ours = Ours(LARGE)
    result = np.empty(LARGE)
    by_hand = {"gcc -O3": by_c(folder), "numba": by_numba()}
    others = []
    for name, function in by_hand.items():
        if function is None:
            report.notes.append("there is no gcc")
            continue

        def run(function: Callable[..., None] = function) -> Any:
            function(ours.a, ours.b, result)
            return result

        others.append(Contestant(name, run, by_hand=True))
    with fw.options(threads=1):
        for what, program in (("hoisted", ours.hoisted), ("dying", ours.dying)):
            seconds = 0.5 if report.quick else 6.0
            mine = Contestant("ours", program)
            pairs, notes = compete(mine, others, seconds, rtol=0, atol=0)
            report.notes += notes
            section.add_pairs(f"5 kernels, 2^22 float64, temporaries {what}", pairs)
            for pair in pairs:
                report.claim(
                    f"temporaries {what}: {pair.peer}, fused by hand",
                    f"≤ {MOST_RATIO}×",
                    f"{1 / pair.ratio:.2f}×",
                    1 / pair.ratio <= MOST_RATIO,
                )


def least(run: Callable[[], object], repeats: int, rounds: int = 30) -> float:
    """The least time of one call."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(repeats):
            run()
        best = min(best, (time.perf_counter() - start) / repeats)
    return best


def small(report: Report, section: Section) -> None:
    """What a call costs."""
    ours = Ours(SMALL)
    rounds = 5 if report.quick else 40
    for what, program in (("hoisted", ours.hoisted), ("dying", ours.dying)):
        taken = least(program, 500, rounds)
        section.add(f"5 kernels and a value, N = 10, temporaries {what}", f"{taken * 1e6:.2f}")
        passed = taken <= MOST_SMALL
        report.claim(
            f"5 kernels, N = 10, temporaries {what}", "≤ 15 µs", f"{taken * 1e6:.1f} µs", passed
        )
    recorded = least(lambda: square(ours.lazy[0], ours.kept[0]), 200, rounds)
    section.add("recording a kernel", f"{recorded * 1e6:.2f}")
    good = recorded <= MOST_RECORD
    report.claim("recorded kernel", "≤ 1.5 µs", f"{recorded * 1e6:.2f} µs", good)

    def flush() -> None:
        square(ours.lazy[0], ours.out)
        fw.evaluate(ours.out)

    flushed = least(flush, 500, rounds) - recorded
    section.add("a flush of it", f"{flushed * 1e6:.2f}")
    report.claim("flush", "≤ 8 µs", f"{flushed * 1e6:.1f} µs", flushed <= MOST_FLUSH)


class Sequences:
    """Programs of a few calls each; `number` is another one in every step."""

    def __init__(self) -> None:
        host = [np.random.default_rng(k).random(SMALL) for k in range(6)]
        self.host = [x.copy() for x in host]
        self.lazy = [fw.asarray(x) for x in host]
        self.number = 0.0

    def element_wise(self, arrays: list[Any]) -> None:
        a, b, c, d, e, out = arrays
        add(a, b, c)
        square(c, d)
        subtract_scaled(d, b, e, 2.0)
        multiply(e, a, d)
        divide(d, a, out)

    def new_numbers(self, arrays: list[Any]) -> None:
        a, b, c, d, e, out = arrays
        self.number += 1.0
        subtract_scaled(a, b, c, self.number)
        subtract_scaled(c, b, d, 0.5)
        subtract_scaled(d, b, e, self.number - 2.0)
        subtract_scaled(e, b, c, 0.25)
        subtract_scaled(c, b, out, self.number)

    def with_statements(self, arrays: list[Any]) -> None:
        a, b, c, d, _, out = arrays
        add(a, b, c)
        v = c * 2.0 + 1.0
        square(v, d)
        add(d - a, v, out)

    def carried(self, arrays: list[Any]) -> None:
        a, _, c, d, e, out = arrays
        self.number += 1.0
        running(a, c, self.number)
        running(c, d, 0.5)
        running(d, e, 0.25)
        running(e, c, 0.5)
        running(c, out, self.number)

    def contracted(self, arrays: list[Any]) -> None:
        a, _, c, d, e, out = arrays
        halvings(a, c)
        halvings(c, d)
        halvings(d, e)
        halvings(e, out)

    def carried_with_statements(self, arrays: list[Any]) -> None:
        a, b, c, d, e, out = arrays
        add(a, b, c)
        running(c, d, 0.5)
        square(d, e)
        running(e - a, out, 0.5)

    def numbers_handed_on(self, arrays: list[Any]) -> None:
        a, b, _, _, _, out = arrays
        running(a, out, inner(a, b))


SEQUENCES = (
    ("element by element", "element_wise", 5),
    ("element by element, new numbers each time", "new_numbers", 5),
    ("element by element, with array statements", "with_statements", 3),
    ("loops that carry values, new numbers each time", "carried", 5),
    ("loops that carry values, with array statements", "carried_with_statements", 4),
    ("kernels whose temporaries become registers", "contracted", 4),
    ("a sum, handed on as a number", "numbers_handed_on", 2),
)


def sequences(report: Report) -> None:
    """Recording a known sequence of calls and its flush, each timed by itself."""
    section = report.section(
        "Known sequences at N = 10 (µs), least of many", "calls", "a kernel", "the flush"
    )
    rounds = 2000 if report.quick else 5000
    for words, name, kernels in SEQUENCES:
        for lent in (False, True):
            program = Sequences()
            body = getattr(program, name)
            arrays = program.host if lent else program.lazy
            if lent and name in ("with_statements", "carried_with_statements"):
                continue  # a statement on NumPy's arrays is NumPy's

            record, flush = timed(body, arrays, lent, rounds)
            each = record / kernels
            where = f"{words}: NumPy arrays in fw.lazy()" if lent else words
            section.add(where, f"{each * 1e6:.2f}", f"{flush * 1e6:.2f}")
            good = each <= MOST_RECORD and flush <= MOST_FLUSH
            report.claim(
                f"recorded kernel, flush: {where}", "≤ 1.5 µs, ≤ 8 µs",
                f"{each * 1e6:.2f} µs, {flush * 1e6:.2f} µs", good,
            )  # fmt: skip


def timed(
    body: Callable[[list[Any]], None], arrays: list[Any], lent: bool, rounds: int
) -> tuple[float, float]:
    """The least time to record a sequence, and the least to compute what it gives."""
    record = flush = float("inf")
    for turn in range(rounds):
        if turn == rounds // 4:
            background.wait()
        block = fw.lazy()
        if lent:
            block.__enter__()
        start = time.perf_counter()
        body(arrays)
        recorded = time.perf_counter()
        if lent:
            block.__exit__(None, None, None)
        else:
            fw.evaluate(arrays[-1])
        done = time.perf_counter()
        record, flush = min(record, recorded - start), min(flush, done - recorded)
    return record, flush


def long(report: Report, section: Section) -> None:
    """200 kernels that nobody has seen before, each reading what the last one wrote."""
    x, y = (np.random.default_rng(1).random(1000) for _ in range(2))
    a, b = fw.asarray(x), fw.asarray(y)
    with tempfile.TemporaryDirectory() as cold, fw.options(cache_dir=cold):
        fw.cache_clear()
        start = time.perf_counter()
        for _ in range(LONG // 2):
            subtract_scaled(a, b, b, 0.5)
            add(a, b, a)
        fw.evaluate(a, b)
        taken = time.perf_counter() - start
    for _ in range(LONG // 2):
        y = x - 0.5 * y
        x = x + y
    same = np.array_equal(np.asarray(a), x) and np.array_equal(np.asarray(b), y)
    section.add(f"chain of {LONG} kernels, nothing compiled before", f"{taken * 1e6:.0f}")
    measured = f"{taken:.2f} s, {'same' if same else 'other'} bits"
    report.claim(f"chain of {LONG} kernels", "≤ 3 s", measured, taken <= MOST_COMPILE and same)


def main() -> int:
    report = start("kernel_chain", __doc__ or "")
    pairs = report.pairs_section()
    with tempfile.TemporaryDirectory() as folder:
        large(report, pairs, folder)
    costs = report.section("Costs (µs), least of many", "what", "µs")
    small(report, costs)
    sequences(report)
    long(report, costs)
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
