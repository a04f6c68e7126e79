"""`fusewright gallery`: packaged programs of many fields, run with NumPy and with Fusewright.

Each file of `programs/` is a user's program: plain NumPy, or a kernel of loops.  It takes its size
as the first argument, and what it leaves in `image` is its picture.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fusewright.base import words
from fusewright.base.meant import did_you_mean
from fusewright.base.values import dataclass
from fusewright.cli import compare, console
from fusewright.cli.gallery.catalogue import ENTRIES, Entry
from fusewright.cli.parsing import UsageError
from fusewright.cli.picture import save_png

FOLDER = Path(__file__).resolve().parent / "programs"
PICTURE_SIDE = 192
"""Pixels of a picture's longer side, at most."""


class ProgramFailed(Exception):
    """A program of the gallery did not come to its end."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One program on both sides: seconds inside the program, and how the results compare."""

    entry: Entry
    theirs: float
    ours: float
    rows: tuple[compare.Comparison, ...]
    image: NDArray[Any]

    @property
    def agrees(self) -> bool:
        """Whether every result is NumPy's within its tolerance."""
        return not any(row.problem for row in self.rows)


def command(chosen: argparse.Namespace) -> int:
    """List the programs, print one, or run one; exit code 1 when its results differ."""
    if chosen.name is None:
        print("\n".join(f"{entry.name:18} {entry.title}" for entry in ENTRIES.values()))
        print("\n`fusewright gallery NAME` runs one with NumPy and with Fusewright.")
        return 0
    entry = find(chosen.name)
    if chosen.source:
        print(source(entry), end="")
        return 0
    print(f"{entry.title}\nprogram: {FOLDER / entry.file}", flush=True)
    try:
        with console.progress(f"running {entry.name} twice"):
            measured = measure(entry, chosen.size)
    except ProgramFailed as error:
        console.say(str(error))
        return 1
    print("\n".join(_lines(measured)))
    if chosen.picture is not None:
        save_png(chosen.picture, reduced(measured.image))
        print(f"picture: {chosen.picture}")
    return 0 if measured.agrees else 1


def find(name: str) -> Entry:
    """The program of that name; a `UsageError` where there is none."""
    if name not in ENTRIES:
        meant = did_you_mean(name, ENTRIES) or f"there are {', '.join(ENTRIES)}."
        lists = "`fusewright gallery` lists them with their titles"
        raise UsageError(f"there is no program {name!r} in the gallery: {meant} {lists}")
    return ENTRIES[name]


def source(entry: Entry) -> str:
    """The text of a program."""
    return (FOLDER / entry.file).read_text(encoding="utf-8")


def measure(entry: Entry, size: int | None = None) -> Measured:
    """Run a program in two processes, one after the other, and compare what they leave.

    Times count from the program's first line to its last result, without the start of Python.
    """
    with tempfile.TemporaryDirectory(prefix="fusewright-gallery-") as name:
        folder = Path(name)
        # A copy outside the package: its lines are the user's, which a line in here never is.
        shutil.copy(FOLDER / entry.file, folder)
        theirs, theirs_seconds = run(entry, folder, "plain", size)
        ours, ours_seconds = run(entry, folder, "ours", size)
        image = np.array(ours["image"])
        rows = tuple(compare.compare_all(ours, theirs, None))
    return Measured(entry, theirs_seconds, ours_seconds, rows, image)


def run(
    entry: Entry, folder: Path, side: str, size: int | None
) -> tuple[dict[str, NDArray[Any]], float]:
    """Run the copy of a program in `folder`: its results, and the seconds inside it.

    The side `plain` is NumPy's, and of loops Python's; any other is ours.
    """
    saved = folder / side
    saved.mkdir()
    results = ",".join(dict.fromkeys((*entry.results, "image")))
    command = [
        sys.executable,
        "-m",
        "fusewright",
        "run",
        "--save",
        str(saved),
        "--results",
        results,
    ]
    if side == "plain":
        command.append("--plain")
    command += [str(folder / entry.file), str(size or entry.size)]
    # A kernel of loops runs as Python there, not compiled.
    command += ["plain"] if side == "plain" and entry.loops else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not (saved / "results.json").exists():
        raise ProgramFailed(f"{entry.name} ({side}) ended with {done.returncode}:\n{done.stderr}")
    found, seconds = compare.load(saved)
    return dict(found), seconds


def _lines(measured: Measured) -> list[str]:
    """What is printed of a run."""
    beside = "Python" if measured.entry.loops else "NumPy"
    theirs, ours = words.seconds(measured.theirs), words.seconds(measured.ours)
    ratio = measured.theirs / measured.ours
    bad = ", ".join(row.name for row in measured.rows if row.problem)
    verdict = f"results differ: {bad}" if bad else "all results agree"
    return [
        f"{beside} {theirs}, Fusewright {ours}: {ratio:.2f}x; {verdict}",
        f"moral: {measured.entry.moral}",
    ]


def reduced(image: NDArray[Any]) -> NDArray[Any]:
    """Each k-th row and column, so that the longer side fits into `PICTURE_SIDE` pixels."""
    step = max(1, -(-max(image.shape) // PICTURE_SIDE))
    return image[::step, ::step]
