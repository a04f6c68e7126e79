"""NPBench's programs (https://github.com/spcl/npbench), as they are, against NumPy.

    python benchmarks/npbench.py --sources FOLDER [--sizes S M] [--seconds S] [names ...]

FOLDER is a checkout of the suite; nothing of it is kept here.  Each program runs in two processes,
`python npbench_worker.py` and `fusewright run npbench_worker.py`, which take turns: after a
rest a call that is not timed, then as many as fit into `TURN` seconds.  A call gets the same
arguments, made anew (not timed), and ends when all results and all arguments are computed.  Ours
runs alone for `WARM` seconds first; ratios are those of medians.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import geometric_mean, median
from types import TracebackType
from typing import Any

import numpy as np
from report import Report, milliseconds

WORKER = Path(__file__).with_name("npbench_worker.py")
WARM = 3.0
"""Seconds ours runs before the race: structures are compiled beside the program meanwhile."""
LEAST = 3
COMMIT = "f2d7f27d87ba4881991e62c18a607aa6ba52b260"
RTOL = 1e-7


class Failed(Exception):
    """A worker ended; the text is its last line on standard error."""


class Worker:
    """A process that calls one program when it is told to."""

    def __init__(self, words: Sequence[str], program: Path, sources: Path, size: str) -> None:
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        command = [sys.executable, *words, str(WORKER), str(program), str(sources), size]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True
        )

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def call(self) -> float:
        """Seconds of one call."""
        return float(self._ask("call"))

    def turn(self) -> list[float]:
        """Seconds of the calls of one turn."""
        return [float(text) for text in self._ask("turn").split()]

    def values(self, path: Path) -> list[np.ndarray[Any, Any]]:
        """Results and arguments after one call."""
        self._ask(f"save {path}")
        with np.load(path) as saved:
            return [saved[name] for name in saved]

    def _ask(self, words: str) -> str:
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(words + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass
        for line in self._process.stdout:
            if line.startswith("done "):
                return line[5:]
        self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().strip().splitlines()
        raise Failed(said[-1] if said else f"exit code {self._process.returncode}")


def programs(sources: Path, names: Sequence[str]) -> dict[str, Path]:
    """The descriptions of the suite's programs by their folder's name."""
    found = {}
    for path in sorted((sources / "bench_info").glob("*.json")):
        description = json.loads(path.read_text(encoding="utf-8"))["benchmark"]
        name = Path(description["relative_path"]).name
        if not names or name in names:
            found[name] = path
    return found


def measure(program: Path, sources: Path, size: str, seconds: float) -> dict[str, Any]:
    """Times of both, and how the results compare."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Worker(["-m", "fusewright", "run"], program, sources, size) as ours,
        Worker([], program, sources, size) as theirs,
    ):
        first, end = ours.call(), time.perf_counter() + WARM
        values = [side.values(Path(folder, "values.npz")) for side in (ours, theirs)]
        while time.perf_counter() < end:
            ours.call()
        taken: tuple[list[float], list[float]] = [], []
        end = time.perf_counter() + seconds
        while len(taken[0]) < LEAST or time.perf_counter() < end:
            for mine, side in zip(taken, (ours, theirs), strict=True):
                mine += side.turn()
    least, medians = [min(mine) for mine in taken], [median(mine) for mine in taken]
    problem = _difference(*values)
    return {"problem": problem, "first": first, "least": least, "median": medians}


def _difference(got: list[np.ndarray[Any, Any]], want: list[np.ndarray[Any, Any]]) -> str:
    """What is not within rounding of NumPy's results; empty if all is."""
    for mine, other in zip(got, want, strict=True):
        if mine.shape != other.shape or mine.dtype != other.dtype:
            return f"{mine.dtype}{mine.shape}, not {other.dtype}{other.shape}"
        scale = np.abs(other[np.isfinite(other)]).max(initial=0) if other.size else 0
        rtol = RTOL if other.dtype.itemsize > 4 or other.dtype.kind in "iub" else 1e-4
        close = np.isclose(mine, other, rtol=rtol, atol=rtol * scale, equal_nan=True)
        if not close.all():
            return f"{close.size - np.count_nonzero(close):,} of {close.size:,} elements differ"
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument("--sizes", nargs="+", default=["S", "M"])
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--quick", action="store_true", help="keep no result file")
    parser.add_argument("names", nargs="*")
    chosen = parser.parse_args()
    how = "`python benchmarks/npbench.py --sources FOLDER`"
    about = f"NPBench at {COMMIT[:7]}, its NumPy versions unchanged: {how}."
    report = Report("npbench", about, chosen.quick, None)
    for size in chosen.sizes:
        ratios = _section(report, size, chosen)
        if ratios and not chosen.names:
            mean, least = geometric_mean(ratios), min(ratios)
            report.claim(f"{size}: geometric mean", ">= 6x" if size == "M" else "-",
                         f"{mean:.2f}x", size != "M" or mean >= 6)  # fmt: skip
            report.claim(f"{size}: least", ">= 0.95x", f"{least:.2f}x", least >= 0.95)
    return report.finish()


def _section(report: Report, size: str, chosen: argparse.Namespace) -> list[float]:
    title = f"Size {size} (ms), in turns in one process; ratio of medians"
    columns = ("program", "first call", "ours least", "ours median", "NumPy least", "NumPy median",
               "ratio", "result")  # fmt: skip
    section, ratios = report.section(title, *columns), []
    for name, program in programs(chosen.sources, chosen.names).items():
        try:
            one = measure(program, chosen.sources, size, chosen.seconds)
        except Failed as error:
            section.add(name, *["-"] * 6, str(error)[:120])
            continue
        (ours, theirs), (our, their) = one["least"], one["median"]
        ratios.append(their / our)
        times = map(milliseconds, (one["first"], ours, our, theirs, their))
        section.add(name, *times, f"{ratios[-1]:.2f}×", one["problem"] or "NumPy's")
    return ratios


if __name__ == "__main__":
    sys.exit(main())
