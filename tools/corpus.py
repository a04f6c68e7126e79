"""Runs other people's NumPy programs under plain Python and under Fusewright: `python -m
tools.corpus --sources FOLDER`.

The programs are rows of `benchmarks/corpus/programs.toml`; `benchmarks/corpus/README.md` says how
to fill the folder of sources.  Half of the repositories are held back: what was learnt from a
program must not decide how the others are judged.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.corpus_programs import HALVES, MANIFEST, Program, chosen, materialise, read_manifest
from tools.corpus_runs import Measured, measure
from tools.corpus_table import page

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fusewright-corpus"


def main(words: Sequence[str] | None = None) -> int:
    """Measure what was asked for and print the page; 1 when a program crashed or was wrong."""
    asked = _parser().parse_args(words)
    programs = list(chosen(read_manifest(asked.manifest), asked.only, asked.half))
    if asked.list:
        print("\n".join(f"{p.half}  {p.field}  {p.name}  {p.repository}" for p in programs))
        return 0
    if any(program.half == "held" for program in programs) and not asked.plain:
        print("the held-back half is for the end of the work", file=sys.stderr)
    rows = list(_measured(programs, asked))
    text = page(rows, asked.half, asked.repeat)
    print(text)
    if asked.write:
        asked.write.write_text(text, encoding="utf-8")
    return int(any(row.verdict != "ok" for row in rows))


def _parser() -> argparse.ArgumentParser:
    parser = corpus_parser("tools.corpus", __doc__ or "")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="best of N")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time (for checks only)")
    parser.add_argument("--plain", action="store_true", help="run under plain NumPy only")
    parser.add_argument("--list", action="store_true", help="print the programs and end")
    return parser


def corpus_parser(module: str, about: str) -> argparse.ArgumentParser:
    """What every tool of the corpus asks: which programs, where they are, where the page goes."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=about)
    parser.add_argument("--manifest", type=Path, default=MANIFEST)
    parser.add_argument("--sources", type=Path, default=CACHE / "sources")
    parser.add_argument("--folder", type=Path, default=CACHE / "programs")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="names or beginnings")
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for each process")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page there too")
    return parser


def _measured(programs: Sequence[Program], asked: argparse.Namespace) -> Iterator[Measured]:
    """Each program's row, told on standard error when it is there."""

    def one(program: Program) -> Measured:
        entry = materialise(program, asked.sources, asked.folder)
        return measure(program, entry, asked.repeat, asked.timeout, ours=not asked.plain)

    with ThreadPoolExecutor(asked.jobs) as pool:
        for number, row in enumerate(pool.map(one, programs), start=1):
            print(f"{number}/{len(programs)} {_line(row)}", file=sys.stderr, flush=True)
            yield row


def _line(row: Measured) -> str:
    times = "  ".join(f"{kind} {seconds:.3f}" for kind, seconds in row.inside.items())
    return f"{row.program.name}: {times}  {row.verdict} {row.detail}"


if __name__ == "__main__":
    sys.exit(main())
