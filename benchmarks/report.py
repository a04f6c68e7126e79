"""What a benchmark prints and keeps: its tables, each claim beside what was measured, and the
machine it ran on.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from importlib import metadata
from pathlib import Path

from pairwise import Pair
from rich import box
from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("numpy", "llvmlite", "numexpr", "numba", "jax", "torch")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim of the project's issue and what was measured for it."""

    claim: str
    target: str
    measured: str
    passed: bool


@dataclass(slots=True)
class Section:
    """A table: its title, headings and rows."""

    title: str
    headings: tuple[str, ...]
    rows: list[tuple[str, ...]] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        """A row, shown at once: a benchmark that takes minutes should say where it is."""
        print("  ".join(cells), file=sys.stderr, flush=True)
        self.rows.append(cells)

    def add_pairs(self, what: str, pairs: Sequence[Pair]) -> None:
        """One row for each race."""
        for pair in pairs:
            times = (pair.ours.least, pair.ours.median, pair.theirs.least, pair.theirs.median)
            self.add(what, pair.peer, *map(milliseconds, times), f"{pair.ratio:.2f}×")


@dataclass(slots=True)
class Report:
    """Collects sections and verdicts of one benchmark."""

    name: str
    about: str
    quick: bool
    json_path: str | None
    sections: list[Section] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    clock: tuple[float, float, float] = field(default_factory=lambda: _clock())

    def section(self, title: str, *headings: str) -> Section:
        """Start a table."""
        self.sections.append(Section(title, headings))
        return self.sections[-1]

    def pairs_section(self) -> Section:
        """Start the table of races."""
        title = "Times (ms), pairwise in turns; ratio of medians"
        columns = ("ours least", "ours median", "peer least", "peer median", "ratio")
        return self.section(title, "program", "peer", *columns)

    def claim(self, claim: str, target: str, measured: str, passed: bool) -> None:
        """Set a claim beside what was measured."""
        self.verdicts.append(Verdict(claim, target, measured, passed))
        print("PASS" if passed else "MISS", claim, target, measured, file=sys.stderr, flush=True)

    def finish(self) -> int:
        """Print; keep a full run's Markdown and the JSON asked for; 1 when a claim is missed."""
        self.notes.append(_company(self.clock, _clock()))
        console = Console(width=150)
        for section in self.sections:
            console.print(_rich(section))
        for note in self.notes:
            console.print(note, markup=False, highlight=False)
        console.print(_rich(_verdicts(self.verdicts)))
        if self.json_path:
            content = {"name": self.name, "machine": machine(), **asdict(self)}
            Path(self.json_path).write_text(json.dumps(content, indent=1) + "\n")
        if not self.quick:
            RESULTS.mkdir(exist_ok=True)
            (RESULTS / f"{self.name}.md").write_text(_markdown(self))
        return 0 if all(verdict.passed for verdict in self.verdicts) else 1


def start(name: str, about: str) -> Report:
    """Read the command line every benchmark has."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--quick", action="store_true", help="fewer repeats; keeps no result file")
    parser.add_argument("--json", metavar="PATH", help="write everything as JSON too")
    chosen = parser.parse_args()
    return Report(name, about, chosen.quick, chosen.json)


def milliseconds(seconds: float) -> str:
    """Three significant digits."""
    value = seconds * 1e3
    return f"{value:.3f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:.0f}"


def _verdicts(verdicts: Sequence[Verdict]) -> Section:
    section = Section("Claims", ("claim", "target", "measured", ""))
    for verdict in verdicts:
        outcome = "PASS" if verdict.passed else "MISS"
        section.rows.append((verdict.claim, verdict.target, verdict.measured, outcome))
    return section


def _rich(section: Section) -> Table:
    table = Table(title=section.title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for number, heading in enumerate(section.headings):
        table.add_column(heading, justify="right" if number else "left")
    for row in section.rows:
        table.add_row(*row)
    return table


def _markdown(report: Report) -> str:
    lines = [f"# {report.name}", "", report.about, "", f"Measured {date.today()}. {machine()}", ""]
    for section in [_verdicts(report.verdicts), *report.sections]:
        lines += [f"## {section.title}", "", _row(section.headings)]
        lines.append(_row(["---", *["---:"] * (len(section.headings) - 1)]))
        lines += [*map(_row, section.rows), ""]
    lines += [f"* {note}" for note in report.notes]
    return "\n".join(lines).rstrip() + "\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def machine() -> str:
    """The machine in words."""
    model, size = platform.processor() or platform.machine(), 0
    for line in _lines("/proc/cpuinfo"):
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemTotal"):
            size = round(int(line.split()[1]) / (1 << 20))
    versions = ", ".join(f"{name} {_version(name)}" for name in PACKAGES if _version(name))
    count = len(os.sched_getaffinity(0))
    return (
        f"{model}, {count} CPUs{_vectors()}, {size} GiB, {platform.system()}, "
        f"Python {platform.python_version()}; {versions}."
    )


QUIET = 0.05
"""Share of the CPUs others may use: OpenMP's barriers suffer from more, and peers look slow."""


def _clock() -> tuple[float, float, float]:
    """Seconds by the clock, CPU seconds of this process and its children, CPU seconds of everybody
    (with what a hypervisor took).
    """
    own = sum(os.times()[:4])
    for line in _lines("/proc/stat"):
        if line.startswith("cpu "):
            user, nice, system, _, _, *rest = (int(text) for text in line.split()[1:9])
            everybody = (user + nice + system + sum(rest)) / os.sysconf("SC_CLK_TCK")
            return time.monotonic(), own, everybody
    return time.monotonic(), own, own


def _company(first: tuple[float, float, float], last: tuple[float, float, float]) -> str:
    """How much of the machine others used meanwhile."""
    passed, own, everybody = (b - a for a, b in zip(first, last, strict=True))
    others = max(everybody - own, 0.0) / (passed * len(os.sched_getaffinity(0)))
    advice = "" if others <= QUIET else "  Not quiet: these figures are not to be quoted."
    return f"Other processes used {others:.0%} of the CPUs meanwhile.{advice}"


def _vectors() -> str:
    flags = next((line for line in _lines("/proc/cpuinfo") if line.startswith("flags")), "")
    return " with AVX-512" if " avx512f " in flags else " with AVX2" if " avx2 " in flags else ""


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
