"""PyKokkos programs on the bridge: what a launch costs, five element-wise kernels through four
temporaries, and the first call of a kernel nobody has seen.

The loop fused by hand in C runs in the same process.  `FUSEWRIGHT_PYKOKKOS_PYTHON` names an
interpreter that has PyKokkos (it needs a C++ compiler and a build of Kokkos): it runs the same
programs on one thread (`pykokkos_peer.py`), just before ours.  The cited figures were measured on a
machine of the same kind (2 AVX-512 cores, Kokkos 4.6.01 with OpenMP, one thread).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from kernel_chain import by_c, least
from report import Report, Section, start

import fusewright as fw
import fusewright.bridges.pykokkos as pk

sys.modules["pykokkos"] = pk  # as `fusewright run --as pykokkos` has it
import pykokkos_programs as programs  # noqa: E402
from pykokkos_programs import LARGE, SMALL, Scaled, square, subtract_scaled, total  # noqa: E402

CITED = {
    "parallel_for, 1 view": 124.0,
    "parallel_for, 3 views and a scalar": 136.0,
    "parallel_for, a functor's method": 104.0,
    "parallel_reduce and its value": 129.0,
    "5 kernels and a value, N = 10": 595.0,
    "5 kernels, N = 2^22, ms": 27.6,
    "first call, ms": 7200.0,
}
"""The least of PyKokkos' figures: microseconds, where the name does not say milliseconds."""


class Chain(programs.Chain):
    """The five kernels, and the value asked for."""

    def run(self) -> None:
        self.launch()
        fw.evaluate(self.out.array)


def measured() -> dict[str, float]:
    """PyKokkos' figures, measured here and now; none where no interpreter is named."""
    python = os.environ.get("FUSEWRIGHT_PYKOKKOS_PYTHON")
    if not python:
        return {}
    folder = Path(tempfile.gettempdir()) / "fusewright-pykokkos-peer"
    folder.mkdir(exist_ok=True)  # It stays: the next run finds what was compiled.
    path = f"{Path(python).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    done = subprocess.run(
        [python, "-P", str(Path(__file__).with_name("pykokkos_peer.py"))],
        cwd=folder, env={**os.environ, "PATH": path, "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, check=False,  # Kokkos objects to how views die at exit.
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        raise RuntimeError(f"PyKokkos measured nothing: {done.stderr[-500:]}")
    found: dict[str, float] = json.loads(lines[-1])
    return found


PEER: dict[str, float] = {}


def row(section: Section, name: str, ours: float, hand: str = "") -> None:
    """Our figure beside PyKokkos'."""
    theirs = PEER.get(name)
    here = "" if theirs is None else f"{theirs:.1f}"
    ratio = (theirs or CITED[name]) / ours
    section.add(name, f"{ours:.2f}", here, f"{CITED[name]:.1f}", f"{ratio:.0f}x", hand)


def launches(report: Report, section: Section) -> None:
    """What a call costs at N = 10."""
    rounds = 5 if report.quick else 40
    chain, scaled = Chain(SMALL), Scaled(SMALL)
    policy, a, b, out = chain.policy, chain.a, chain.b, chain.out

    def microseconds(run: Any) -> float:
        return least(run, 300, rounds) * 1e6

    def three() -> None:
        pk.parallel_for(policy, subtract_scaled, a=a, b=b, out=out, scale=2.0)

    def one() -> None:
        pk.parallel_for(policy, square, a=a, out=a)

    whole = microseconds(Chain(SMALL).run)  # First: nothing else is pending.
    row(section, "parallel_for, 1 view", microseconds(one))
    row(section, "parallel_for, 3 views and a scalar", microseconds(three))
    method = microseconds(lambda: pk.parallel_for(policy, scaled.scaled))
    row(section, "parallel_for, a functor's method", method)
    a.fill(0.5)
    reduced = microseconds(lambda: pk.parallel_reduce(policy, total, a=b))
    row(section, "parallel_reduce and its value", reduced)
    row(section, "5 kernels and a value, N = 10", whole)
    report.claim("5 kernels, N = 10", "≤ 15 µs", f"{whole:.1f} µs", whole <= 15)


def large(report: Report, section: Section) -> None:
    """The chain at 2^22, one thread, against the loop fused by hand."""
    chain = Chain(LARGE)
    with tempfile.TemporaryDirectory() as folder, fw.options(threads=1):
        by_hand = by_c(folder)
        rounds = 5 if report.quick else 30
        chain.run()
        ours = least(chain.run, 1, rounds) * 1e3
        if by_hand is None:
            report.notes.append("there is no gcc")
            row(section, "5 kernels, N = 2^22, ms", ours)
            return
        expected = np.empty(LARGE)
        hand = least(lambda: by_hand(*chain.host, expected), 1, rounds) * 1e3
    same = np.array_equal(np.asarray(chain.out), expected)
    words = f"C fused by hand {hand:.2f}, {'same' if same else 'other'} bits"
    row(section, "5 kernels, N = 2^22, ms", ours, words)
    ratio = ours / hand
    report.claim(
        "5 kernels, 2^22, to C fused by hand", "≤ 1.15×", f"{ratio:.2f}×", ratio <= 1.15 and same
    )


FIRST = """
import sys, time
import fusewright as fw
import fusewright.bridges.pykokkos as pk

@pk.workunit
def known(i, a):
    a[i] = 1.0 + i

@pk.workunit
def fresh(i, a, b):
    b[i] = a[i] * {number} + i

a, b = pk.View([10], pk.double), pk.View([10], pk.double)
pk.parallel_for(10, known, a=a)
a[0]
start = time.perf_counter()
pk.parallel_for(10, fresh, a=a, b=b)
assert b[1] == a[1] * {number} + 1
print(time.perf_counter() - start)
"""


def first_calls(report: Report, section: Section) -> None:
    """A kernel that is in no cache, after another one; each in a process of its own."""
    times = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(3 if report.quick else 7):
            script = Path(folder) / f"first_{number}.py"
            script.write_text(FIRST.format(number=number + 0.25))
            done = subprocess.run(
                [sys.executable, str(script)], capture_output=True, text=True, check=True
            )
            times.append(float(done.stdout) * 1e3)
    taken = min(times)
    row(section, "first call, ms", taken)
    report.claim("first call of a new kernel", "≤ 60 ms", f"{taken:.1f} ms", taken <= 60)


def main() -> int:
    report = start("pykokkos", __doc__ or "")
    section = report.section(
        "Least of many (µs, or as it says)", "what", "ours", "PyKokkos here", "PyKokkos, cited",
        "ratio", "",
    )  # fmt: skip
    began = time.perf_counter()
    PEER.update(measured())
    if not PEER:
        report.notes.append("PyKokkos was not run here: ratios are to the cited figures")
    launches(report, section)
    large(report, section)
    first_calls(report, section)
    report.notes.append(f"took {time.perf_counter() - began:.0f} s")
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
