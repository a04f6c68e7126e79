"""Where a program's own Python spends its time: the line that runs is looked at now and then, and
the loop it stands in is told on the first screen of an explanation.
"""

from __future__ import annotations

import ast
import linecache
import sys
import sysconfig
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NamedTuple

from fusewright import driver
from fusewright.base.source import is_inside, parse_module

PERIOD = 0.004
"""Seconds between two looks: 250 of a second of Python, for half a per mille of its time."""
FEWEST = 10
"""Looks from which shares say something."""
MOST_LINES = 4096

Place = tuple[str, int]
"""File and line."""


class HotLoop(NamedTuple):
    """A loop of the program and its share of the looks at the program's own Python."""

    file: str
    line: int
    share: float


class Samples:
    """How often each line was running when it was looked at."""

    def __init__(self) -> None:
        self.lines: Counter[Place] = Counter()

    def loop(self) -> HotLoop | None:
        """The loop, with those around it left out, that most of the looks were in."""
        whole = sum(self.lines.values())
        loops: Counter[Place] = Counter()
        for place, times in self.lines.items():
            found = loop_of(*place)
            if found is not None:
                loops[place[0], found] += times
        if whole < FEWEST or not loops:
            return None
        ((file, line), times) = loops.most_common(1)[0]
        return HotLoop(file, line, times / whole)


@contextmanager
def sampled() -> Iterator[Samples]:
    """Look at the calling thread while the `with` block runs."""
    samples, ended, thread = Samples(), threading.Event(), threading.get_ident()

    def look() -> None:
        while not ended.wait(PERIOD):
            place = _own_place(sys._current_frames().get(thread))
            if place is not None and (place in samples.lines or len(samples.lines) < MOST_LINES):
                samples.lines[place] += 1

    looker = threading.Thread(target=look, name="fusewright-sampling", daemon=True)
    looker.start()
    try:
        yield samples
    finally:
        ended.set()
        looker.join()


def _own_place(frame: FrameType | None) -> Place | None:
    """The line that a frame is at, also where it is in a function of ours; None in an evaluation,
    in Python's library and in packages.
    """
    while frame is not None and is_inside(frame.f_code):
        if frame.f_code.co_filename == driver.__file__:
            return None
        frame = frame.f_back
    if frame is None:
        return None
    file, line = frame.f_code.co_filename, frame.f_lineno or _line_before(frame)
    return None if line is None or file.startswith(_LIBRARIES) else (file, line)


def _line_before(frame: FrameType) -> int | None:
    """The last line before what has none: the jump from a loop's end to its head."""
    lines = frame.f_code.co_lines()
    before = [line for start, _, line in lines if line and start <= frame.f_lasti]
    return before[-1] if before else None


_LIBRARIES = (*{sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")}, "<")


def loop_of(file: str, line: int) -> int | None:
    """The line of the innermost `for` or `while` statement around a line."""
    try:
        tree = parse_module("".join(linecache.getlines(file)), file)
    except (SyntaxError, ValueError):
        return None
    around = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.For | ast.While) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(around, default=None)
