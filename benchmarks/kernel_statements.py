"""Kernels that stay kernels between array statements: two of them and three statements, on one
thread, against the same with the statements apart, and the loop fused by hand in C.

Apart is what arrays below 2^13 elements get: kernels and statements each run by themselves, values
between them in memory.  The C loop is compiled here by gcc (-O3 -march=native -ffp-contract=off),
where there is one.
"""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np
from kernel_chain import by_c
from pairwise import Contestant, compete
from report import Report, Section, start

import fusewright as fw
import fusewright.numpy as fnp
from fusewright.kernels import statements
from fusewright.runtime import background

SIZES = (1 << 6, 1 << 10, 1 << 13, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22)
LEAST, LEAST_BELOW = 1.5, 0.95
"""How many times as fast as apart: from 2^16 elements on, and below, where joining saves little or
statements do not join."""


@fw.kernel
def cubic(a: Any, out: Any) -> None:
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(4):
            s = s * a[i] + j
        out[i] = s


C_SOURCE = """
static double cubic(double x)
{
    double s = 0.0;
    for (int j = 0; j < 4; j++)
        s = s * x + j;
    return s;
}
void mixed(long n, const double *restrict a, const double *restrict b, double *restrict out)
{
    for (long i = 0; i < n; i++) {
        double u = cubic(2.0 * a[i] + b[i]), w = cubic(u * a[i] - 1.0);
        out[i] = w + u;
    }
}
"""


class Program:
    """Three statements and two kernels on arrays of one length."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.a, self.b = np.random.default_rng(0).random((2, n))
        self.lazy = [fw.asarray(self.a), fw.asarray(self.b)]
        self.result = np.empty(n)
        for _ in range(2):  # what comes often joins; its code is made in the background
            for _ in range(12):
                self.joined()
                self.apart()
            background.wait()

    def joined(self) -> Any:
        a, b = self.lazy
        u, w = fnp.empty(self.n), fnp.empty(self.n)
        cubic(2.0 * a + b, u)
        cubic(u * a - 1.0, w)
        found = w + u
        fw.evaluate(found)
        return found

    def apart(self) -> Any:
        statements.set_least(1 << 62)
        try:
            return self.joined()
        finally:
            statements.set_least()


def measure(report: Report, section: Section, folder: str, n: int) -> None:
    """One length."""
    with fw.options(threads=1):
        program = Program(n)
        others = [Contestant("ours, apart", program.apart)]
        loop = by_c(folder, C_SOURCE, "mixed")

        def by_hand() -> Any:
            assert loop is not None
            loop(program.a, program.b, program.result)
            return program.result

        if loop is None:
            report.notes.append("there is no gcc")
        else:
            others.append(Contestant("gcc -O3", by_hand, by_hand=True))
        seconds = 0.5 if report.quick else 4.0
        pairs, notes = compete(Contestant("ours", program.joined), others, seconds, rtol=0, atol=0)
    report.notes += notes
    section.add_pairs(f"3 statements, 2 kernels, {n} float64", pairs)
    wanted = LEAST if n >= 1 << 16 else LEAST_BELOW
    gain = pairs[0].ratio
    report.claim(f"{n}: {pairs[0].peer}", f"≥ {wanted}×", f"{gain:.2f}×", gain >= wanted)


def main() -> int:
    report = start("kernel_statements", __doc__ or "")
    section = report.pairs_section()
    with tempfile.TemporaryDirectory() as folder:
        for n in SIZES:
            measure(report, section, folder, n)
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
