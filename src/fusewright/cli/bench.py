"""`fusewright bench`: a short benchmark against NumPy, with its results checked.

E = sqrt(a*a + b*b) * exp(-c) + where(d > 0, a, b), ten operations on four inputs, and its sum.  The
scripts in `benchmarks/` compare with more peers and more programs.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from itertools import product
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fusewright.base.options import options
from fusewright.base.values import dataclass
from fusewright.base.words import seconds, size
from fusewright.cli.compare import compare
from fusewright.cli.console import make_console, progress

SIZES = (10_000, 1_000_000, 10_000_000)
DTYPES = ("float64", "float32")
SECONDS = 0.4
"""Each figure is the median of as many runs as fit into this time, at least `LEAST_RUNS`."""

LEAST_RUNS = 3
MOST_RUNS = 200


@dataclass(frozen=True, slots=True)
class Figure:
    """One row: medians in seconds, bandwidth in bytes (inputs and output once) per second."""

    name: str
    elements: int
    dtype: str
    theirs: float
    ours: float
    bandwidth: float
    problem: str


def expression(np: ModuleType, a: Any, b: Any, c: Any, d: Any) -> Any:
    """E, written once for both libraries."""
    return np.sqrt(a * a + b * b) * np.exp(-c) + np.where(d > 0, a, b)


def summed(np: ModuleType, a: Any, b: Any, c: Any, d: Any) -> Any:
    """The sum of E."""
    return expression(np, a, b, c, d).sum()


def command(chosen: argparse.Namespace) -> int:
    """Measure and print; exit code 1 when a result is wrong."""
    if chosen.calibrate:
        # Imported here: only who asks measures the machine.
        from fusewright.cli import calibrate

        return calibrate.command()
    sizes = (chosen.size,) if chosen.size else SIZES
    wanted = list(product((("E", expression), ("sum(E)", summed)), sizes, DTYPES))
    figures = []
    with progress("measuring", len(wanted)) as done:
        for (name, function), elements, dtype in wanted:
            figures.append(measure(name, function, elements, dtype))
            done()
    _print(figures)
    return 1 if any(figure.problem for figure in figures) else 0


def measure(name: str, function: Callable[..., Any], elements: int, dtype: str) -> Figure:
    """Time one expression on both sides, after one run each that is compared.  Ours is compiled at
    once and for good: what is measured is how fast it is, not how soon.
    """
    import fusewright as fw
    import fusewright.numpy as fnp

    inputs = _inputs(elements, dtype)
    arrays = [fw.asarray(values) for values in inputs]  # `fnp.asarray` gives NumPy's own back
    expected = np.asarray(function(np, *inputs))
    with options(interpret=False, background=False):
        found = np.asarray(function(fnp, *arrays))
        ours = _median(lambda: _evaluate(function(fnp, *arrays)))
    theirs = _median(lambda: function(np, *inputs))
    moved = sum(values.nbytes for values in inputs) + expected.nbytes
    problem = compare(name, found, expected).problem
    return Figure(name, elements, dtype, theirs, ours, moved / ours, problem)


def _inputs(elements: int, dtype: str) -> list[NDArray[Any]]:
    rng = np.random.default_rng(7)
    return [rng.standard_normal(elements).astype(dtype) for _ in range(4)]


def _evaluate(value: Any) -> None:
    from fusewright.api import evaluate

    evaluate(value)


def _median(run: Callable[[], Any]) -> float:
    """Seconds of one run; the first, which compiles, does not count."""
    run()
    times: list[float] = []
    end = time.perf_counter() + SECONDS
    while len(times) < LEAST_RUNS or (time.perf_counter() < end and len(times) < MOST_RUNS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _print(figures: list[Figure]) -> None:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("what", "elements", "dtype", "NumPy", "Fusewright", "ratio", "memory", ""):
        table.add_column(heading, justify="left" if heading in ("what", "dtype", "") else "right")
    for f in figures:
        table.add_row(
            f.name, f"{f.elements:,}", f.dtype, seconds(f.theirs), seconds(f.ours),
            f"{f.theirs / f.ours:.1f}x", f"{size(f.bandwidth)}/s", f.problem or "right",
        )  # fmt: skip
    console = make_console(sys.stdout)
    console.print("E = sqrt(a*a + b*b) * exp(-c) + where(d > 0, a, b); medians", markup=False)
    console.print(table)
