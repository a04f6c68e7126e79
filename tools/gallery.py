"""Runs the programs of the gallery and writes their page: pictures, times, morals.

    python tools/gallery.py            # docs/guide/13-gallery.md and docs/guide/pictures/*.png
    python tools/gallery.py heat wave  # only the times of these, printed

Each time is the least of `RUNS` runs, the two sides in turns, after one that compiles.
"""

from __future__ import annotations

import argparse
import os
import platform
from pathlib import Path

import numpy as np

from fusewright.base import words
from fusewright.cli import gallery
from fusewright.cli.gallery.catalogue import ENTRIES, Entry
from fusewright.cli.picture import save_png

RUNS = 3
PAGE = Path(__file__).parents[1] / "docs" / "guide" / "13-gallery.md"
PICTURES = PAGE.parent / "pictures"
MARK = "<!-- made by tools/gallery.py -->"
END = "<!-- end -->"


def measured(entry: Entry) -> gallery.Measured:
    """The least time of each side over several runs in turns; the first run compiles."""
    first = gallery.measure(entry)
    if not first.agrees:
        raise SystemExit(f"{entry.name}: results differ")
    runs = [gallery.measure(entry) for _ in range(RUNS)]
    theirs, ours = min(run.theirs for run in runs), min(run.ours for run in runs)
    return gallery.Measured(entry, theirs, ours, first.rows, first.image)


def main() -> None:
    """Measure, print, and write the page when all programs were measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="programs of the gallery (default: all)")
    names = parser.parse_args().names or list(ENTRIES)
    rows = []
    for name in names:
        found = measured(ENTRIES[name])
        rows.append(found)
        print(_times(found), name, flush=True)
    if len(names) == len(ENTRIES):
        for found in rows:
            save_png(PICTURES / f"{found.entry.name}.png", gallery.reduced(found.image))
        text = PAGE.read_text(encoding="utf-8")
        before, after = text.partition(MARK)[0], text.partition(END)[2]
        PAGE.write_text(f"{before}{MARK}\n{_table(rows)}\n{END}{after}", encoding="utf-8")


def _table(rows: list[gallery.Measured]) -> str:
    where = f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}"
    lines = [
        f"\nTimes: {where}, NumPy {np.__version__}; least of {RUNS} runs, compiled code on disk.\n",
        "| | program | | moral |",
        "|---|---|---|---|",
    ]
    for found in rows:
        entry = found.entry
        picture = f"![{entry.title}](pictures/{entry.name}.png)"
        link = f"[{entry.name}](../../src/fusewright/cli/gallery/programs/{entry.file})"
        lines.append(f"| {picture} | **{link}** {entry.title} | {_times(found)} | {entry.moral} |")
    return "\n".join(lines) + "\n"


def _times(found: gallery.Measured) -> str:
    beside = "Python" if found.entry.loops else "NumPy"
    theirs, ours = words.seconds(found.theirs), words.seconds(found.ours)
    return f"{beside} {theirs}, ours {ours}: **{found.theirs / found.ours:.1f}x**"


if __name__ == "__main__":
    main()
