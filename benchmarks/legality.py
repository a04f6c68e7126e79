"""What it costs to prove two loops fusable, or not: every pair of the catalogue and the loop groups
of Genesis' rigid solver, each question asked afresh (nothing remembered), witness, run-time guard
and the missing fact included.

*Fast* pairs are decided without integer sets, *exact* ones with them.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from report import Report, start
from tests.unit.analysis.catalogue import PAIRS, N
from tests.unit.analysis.test_quadrants import GENESIS

from fusewright.analysis.carried import order
from fusewright.analysis.exact import forget
from fusewright.analysis.pairs import compare
from fusewright.analysis.unit import NOTHING, Facts, Unit
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import const, param

Case = tuple[str, Unit, Unit, Facts]
MEDIAN, WORST, FAST = 1e-3, 20e-3, 100e-6


def symbolic(unit: Unit) -> Unit:
    """The same nest with the catalogue's extent of 4 as a run-time parameter."""
    four, n = const(N, INT64), param(0, INT64)
    dims = tuple(replace(dim, high=n) if dim.high is four else dim for dim in unit.dims)
    return replace(unit, dims=dims)


def cases() -> Iterator[tuple[str, list[Case]]]:
    """The groups of pairs."""
    yield "catalogue, n = 4", [(p.number, p.a, p.b, p.facts) for p in PAIRS]
    named = replace(NOTHING, names=((0, "n"),))
    yield (
        "catalogue, any n",
        [
            (p.number, symbolic(p.a), symbolic(p.b), replace(named, unique=p.facts.unique))
            for p in PAIRS
        ],
    )
    yield "Genesis", [(f"group {k}", a, b, NOTHING) for k, (a, b) in GENESIS.items()]


def seconds(question: Callable[[], object], repeats: int) -> float:
    """The median time of one question, asked anew each time."""
    question()
    times = []
    for _ in range(repeats):
        forget()
        begin = time.perf_counter()
        question()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def measure(report: Report) -> None:
    """Fill the tables and check the claims."""
    repeats = 5 if report.quick else 25
    section = report.section(
        "One pair (µs)", "pairs", "tier", "number", "median", "worst", "worst pair"
    )
    alone = report.section("One nest: which loops carry a value (µs)", "nests", "median", "worst")
    everything: list[float] = []
    fast: list[float] = []
    for title, group in cases():
        by_tier: dict[str, list[tuple[float, str]]] = {"fast": [], "exact": []}
        for name, a, b, facts in group:
            tier = compare(a, b, facts).tier
            taken = seconds(lambda a=a, b=b, facts=facts: compare(a, b, facts), repeats)  # type: ignore[misc]
            by_tier[tier].append((taken, name))
        for tier, rows in by_tier.items():
            worst, name = max(rows)
            median = statistics.median(t for t, _ in rows)
            section.add(title, tier, str(len(rows)), micro(median), micro(worst), name)
        everything += [t for rows in by_tier.values() for t, _ in rows]
        fast += [t for t, _ in by_tier["fast"]]
        nests = [
            seconds(lambda u=u, facts=facts: order(u, facts), repeats)  # type: ignore[misc]
            for _, a, b, facts in group
            for u in (a, b)
        ]
        alone.add(title, micro(statistics.median(nests)), micro(max(nests)))
    median, worst = statistics.median(everything), max(everything)
    report.claim("a pair, median", "≤ 1 ms", f"{median * 1e3:.2f} ms", median <= MEDIAN)
    report.claim("a pair, worst", "≤ 20 ms", f"{worst * 1e3:.1f} ms", worst <= WORST)
    quick = statistics.median(fast)
    report.claim("a pair on the fast tier", "≤ 100 µs", f"{quick * 1e6:.0f} µs", quick <= FAST)


def micro(value: float) -> str:
    """Microseconds."""
    return f"{value * 1e6:.0f}"


def precision(report: Report) -> None:
    """How many of the catalogue's legal pairs are proved, and whether an illegal one is."""
    verdicts = [(pair, compare(pair.a, pair.b, pair.facts)) for pair in PAIRS]
    for what, legal, proved in (
        ("in parallel", lambda p: p.par, lambda v: v.parallel),
        ("run in order", lambda p: p.seq, lambda v: v.in_order),
    ):
        right = sum(legal(p) and proved(v) for p, v in verdicts)
        wrong = sum(proved(v) and not legal(p) for p, v in verdicts)
        total = sum(legal(p) for p, _ in verdicts)
        report.notes.append(
            f"Fused {what}: {right} of {total} legal pairs proved, {wrong} illegal."
        )


def main() -> int:
    report = start("legality", __doc__ or "")
    precision(report)
    measure(report)
    return report.finish()


if __name__ == "__main__":
    raise SystemExit(main())
