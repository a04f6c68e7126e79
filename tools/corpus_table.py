"""The table of a run of the corpus: one row for each program, geometric means, the slowest ten and
what failed.
"""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import numpy as np
from tools.corpus_runs import Measured

LONG = 0.3
"""Seconds under NumPy from which a program counts as a long one."""
HEADINGS = (
    "program", "field", "NumPy, s", "cold", "second", "third",
    "whole: NumPy, s", "cold", "second", "third", "peak: NumPy, MB", "ours", "verdict",
)  # fmt: skip
MEANS: tuple[tuple[str, str, bool], ...] = (
    ("inside, cold", "cold", False),
    ("inside, second process", "second", False),
    ("inside, third process", "third", False),
    ("whole process, cold", "cold", True),
    ("whole process, second", "second", True),
    ("whole process, third", "third", True),
)


def page(rows: Sequence[Measured], half: str | None, repeat: int) -> str:
    """The whole page, in Markdown."""
    timed = [row for row in rows if row.verdict in ("ok", "wrong") and "third" in row.inside]
    parts = [_head(rows, half, repeat), _means(timed), _worst(timed), _failures(rows), _all(rows)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(rows: Sequence[Measured], half: str | None, repeat: int) -> str:
    counts = {kind: sum(row.verdict == kind for row in rows) for kind in ("ok", "wrong", "crash")}
    repositories = len({row.program.repository for row in rows})
    return (
        "# Other people's programs\n\n"
        f"{len(rows)} programs from {repositories} public repositories"
        f" ({half or 'both'} {'half' if half else 'halves'} of `benchmarks/corpus/programs.toml`),"
        f" best of {repeat}: {counts['ok']} with NumPy's results, {counts['wrong']} with others,"
        f" {counts['crash']} ended with an error. Ratios are NumPy's time over ours: above 1 is"
        f" faster.\n\n{datetime.now(UTC):%Y-%m-%d}, {platform.machine()},"
        f" {os.cpu_count()} cores, Python {platform.python_version()}, NumPy {np.__version__}."
        " Made by `python -m tools.corpus`."
    )


def _means(rows: Sequence[Measured]) -> str:
    long = [row for row in rows if row.inside["plain"] >= LONG]
    groups = (("all", rows), (f"of {LONG} s and more", long))
    lines = [
        [name, *(_summary([row.ratio(kind, whole) for row in group]) for _, group in groups)]
        for name, kind, whole in MEANS
    ]
    heads = [f"{name} ({len(group)})" for name, group in groups]
    return "## Geometric means\n\n" + table(["", *heads], lines)


def _summary(ratios: Sequence[float]) -> str:
    if not ratios:
        return ""
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    faster = sum(ratio >= 1 for ratio in ratios)
    return f"{mean:.2f}×, {faster} faster, least {min(ratios):.3f}×"


def _worst(rows: Sequence[Measured], count: int = 10) -> str:
    orders: tuple[tuple[str, Callable[[Measured], float]], ...] = (
        ("code on disk (third process)", lambda row: row.ratio("third")),
        ("cold", lambda row: row.ratio("cold")),
        ("peak memory", lambda row: 1 / row.memory),
    )
    parts = []
    for name, key in orders:
        lines = [
            [
                row.program.name, f"{row.inside['plain']:.3f}", f"{row.ratio('cold'):.3f}×",
                f"{row.ratio('third'):.3f}×", f"{row.memory:.2f}×",
            ]
            for row in sorted(rows, key=key)[:count]
        ]  # fmt: skip
        heads = ["program", "NumPy, s", "cold", "third", "memory"]
        parts.append(f"### {name}\n\n{table(heads, lines)}")
    return "## The worst ten\n\n" + "\n\n".join(parts) if rows else ""


def _failures(rows: Sequence[Measured]) -> str:
    lines = [
        [row.program.name, row.program.repository, row.verdict, row.detail]
        for row in rows
        if row.verdict != "ok"
    ]
    heads = ["program", "repository", "verdict", "last line of the error, or the difference"]
    return "## Failures\n\n" + table(heads, lines) if lines else ""


def _all(rows: Sequence[Measured]) -> str:
    return "## All programs\n\n" + table(HEADINGS, [_cells(row) for row in rows])


def _cells(row: Measured) -> list[str]:
    cells = [row.program.name, row.program.field]
    for whole in (False, True):
        times = row.whole if whole else row.inside
        cells.append(f"{times['plain']:.3f}" if "plain" in times else "")
        cells += [
            f"{row.ratio(kind, whole):.2f}×" if kind in times else ""
            for kind in ("cold", "second", "third")
        ]
    cells.append(f"{row.peak['plain'] / 1e6:.0f}" if "plain" in row.peak else "")
    cells.append(f"{row.memory:.2f}×" if len(row.peak) > 1 else "")
    return [*cells, row.verdict]


def table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    rows = [heads, ["---"] * len(heads), *lines]
    return "\n".join("| " + " | ".join(_escaped(cell) for cell in row) + " |" for row in rows)


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")
