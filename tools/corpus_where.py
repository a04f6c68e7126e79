"""Where the programs of the corpus spend their time under plain NumPy, and what that leaves to win:
`python -m tools.corpus_where --sources FOLDER`.

Each program runs with a sampler (`benchmarks/corpus/sampler.c`, built with the system's compiler),
which looks at every tick of the main thread's CPU clock (1 to 4 ms) which file's code is running.
From the shares follows a bound: how much faster the program would be if what NumPy, its BLAS and
the C library do, for arrays of every size, took a quarter of its time, or none at all.  The rest is
Python and other libraries, which Fusewright leaves alone.  Beside it stands the same under
Fusewright with code on disk, where the time in its core and in compiled code is told apart.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from statistics import geometric_mean, median

from tools.corpus import corpus_parser
from tools.corpus_programs import Program, chosen, materialise, read_manifest
from tools.corpus_runs import KINDS, ROOT, run_once
from tools.corpus_table import table

SOURCE = ROOT / "benchmarks" / "corpus" / "sampler.c"
PLACES = (
    ("BLAS", "openblas"),
    ("core", "/fusewright/"),
    ("compiled", "[compiled]"),
    ("NumPy", "/numpy/"),
    ("NumPy", "/libc."),
    ("NumPy", "/libm."),
    ("Python", "/lib-dynload/"),
    ("Python", "/libpython"),
)
"""The part of a process that a file is, by the first text found in its name: the C library's
`memcpy` and `exp` are counted as NumPy's.  The program itself is `python`; all else is `other`.
"""
COLUMNS = ("Python", "other", "NumPy", "BLAS", "core", "compiled")
FACTORS = {"twice as fast": 2.0, "four times as fast": 4.0, "take no time": inf}


@dataclass(frozen=True, slots=True)
class Spent:
    """Milliseconds of each part in one run."""

    parts: dict[str, float]

    @property
    def whole(self) -> float:
        return sum(self.parts.values())


@dataclass(frozen=True, slots=True)
class Looked:
    """A program under NumPy and, with its code on disk, under Fusewright."""

    program: Program
    plain: Spent
    ours: Spent

    def bound(self, factor: float) -> float:
        """How much faster the program is if NumPy and its BLAS are `factor` times as fast."""
        wins = self.plain.parts["NumPy"] + self.plain.parts["BLAS"]
        return self.plain.whole / max(self.plain.whole - wins + wins / factor, 1.0)


def main(words: Sequence[str] | None = None) -> int:
    """Print the page."""
    parser = corpus_parser("tools.corpus_where", __doc__ or "")
    asked = parser.parse_args(words)
    programs = list(chosen(read_manifest(asked.manifest), asked.only, asked.half))
    text = page(list(_looked_at(programs, asked)))
    print(text)
    if asked.write:
        asked.write.write_text(text, encoding="utf-8")
    return 0


def _looked_at(programs: Sequence[Program], asked: argparse.Namespace) -> Iterator[Looked]:
    with tempfile.TemporaryDirectory(prefix="corpus-sampler-") as folder:
        library = Path(folder, "sampler.so")
        command = ["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-lrt"]
        subprocess.run(command, check=True)
        os.environ["CORPUS_SAMPLER"] = str(library)
        for program in programs:
            entry, cache = (
                materialise(program, asked.sources, asked.folder),
                Path(folder, program.name),
            )
            runs = [run_once(program, entry, kind, cache, asked.timeout) for kind in KINDS]
            if not any(run.error for run in runs):
                plain, ours = (spent(run.samples, run.inside) for run in (runs[0], runs[-1]))
                looked = Looked(program, plain, ours)
                print(
                    program.name, looked.plain.parts, looked.ours.parts, file=sys.stderr, flush=True
                )
                yield looked


def spent(samples: str, seconds: float) -> Spent:
    """The time of a run, shared out by lines of a count and a file."""
    counts = dict.fromkeys(COLUMNS, 0.0)
    for line in samples.splitlines():
        count, _, name = line.partition(" ")
        counts[_part(name)] += int(count)
    each = 1e3 * seconds / max(sum(counts.values()), 1)
    return Spent({part: count * each for part, count in counts.items()})


def _part(name: str) -> str:
    if name == "python":
        return "Python"
    return next((part for part, text in PLACES if text in name), "other")


def page(rows: Sequence[Looked]) -> str:
    """Markdown: what is left to win, then a row for each program, those with most to win last."""
    rows = sorted((row for row in rows if row.plain.whole), key=lambda row: row.bound(inf))
    heads = ["NumPy and BLAS", "geometric mean", "median", "below 1.1×", "below 1.5×", "below 2×"]
    lines = []
    for name, factor in FACTORS.items():
        bounds = [row.bound(factor) for row in rows]
        below = [str(sum(bound < limit for bound in bounds)) for limit in (1.1, 1.5, 2.0)]
        lines.append([name, f"{geometric_mean(bounds):.2f}×", f"{median(bounds):.2f}×", *below])
    return (
        "# Where other people's programs spend their time\n\n"
        f"## How much faster the {len(rows)} could be\n\n" + table(heads, lines)
        + "\n\n## Milliseconds under NumPy, and under Fusewright with code on disk\n\n"
        + table(["program", *COLUMNS[:4], "all", "ours: " + COLUMNS[0], *COLUMNS[1:], "all"],
                [_cells(row) for row in rows]) + "\n"
    )  # fmt: skip


def _cells(row: Looked) -> list[str]:
    plain = [f"{row.plain.parts[name]:.0f}" for name in COLUMNS[:4]]
    ours = [f"{row.ours.parts[name]:.0f}" for name in COLUMNS]
    return [row.program.name, *plain, f"{row.plain.whole:.0f}", *ours, f"{row.ours.whole:.0f}"]


if __name__ == "__main__":
    sys.exit(main())
