"""Where a program's own Python spends its time: the line that runs is looked at now and then, and
the loop it stands in, or the package that it has called, is told on the first screen of an
explanation.
"""

from __future__ import annotations

import ast
import linecache
import os
import sys
import sysconfig
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

from fusewright import driver
from fusewright.base.source import is_inside, parse_module

PERIOD = 0.004
"""Seconds between two looks: 250 of a second of Python, for half a per mille of its time."""
FEWEST = 10
"""Looks from which shares say something."""
MOST_LINES = 4096

Place = tuple[str, int]
"""File and line."""


class HotPlace(NamedTuple):
    """A loop of the program, or the line at which it calls a `package`, and its share of the looks
    at what is not Fusewright's.
    """

    file: str
    line: int
    share: float
    package: str = ""


class Samples:
    """How often each line was running when it was looked at; where a package was, the line that
    called it, with its name.
    """

    def __init__(self) -> None:
        self.lines: Counter[Place] = Counter()
        self.packages: Counter[tuple[str, Place]] = Counter()

    def hottest(self) -> HotPlace | None:
        """The loop, without those around it, or the package that most of the looks were in."""
        whole = self.lines.total() + self.packages.total()
        if whole < FEWEST:
            return None
        found = [each for each in (self._loop(whole), self._package(whole)) if each is not None]
        return max(found, key=lambda each: each.share, default=None)

    def _loop(self, whole: int) -> HotPlace | None:
        loops: Counter[Place] = Counter()
        for place, times in self.lines.items():
            found = loop_of(*place)
            if found is not None:
                loops[place[0], found] += times
        if not loops:
            return None
        ((file, line), times) = loops.most_common(1)[0]
        return HotPlace(file, line, times / whole)

    def _package(self, whole: int) -> HotPlace | None:
        """The package with most looks, and the line that called it most often."""
        names: Counter[str] = Counter()
        for (name, _), times in self.packages.items():
            names[name] += times
        if not names:
            return None
        ((chosen, times),) = names.most_common(1)
        places = Counter({p: t for (name, p), t in self.packages.items() if name == chosen})
        (((file, line), _),) = places.most_common(1)
        return HotPlace(file, line, times / whole, chosen)

    def look(self, frame: FrameType | None) -> None:
        """Count where a thread is."""
        while frame is not None and is_inside(frame.f_code):
            if frame.f_code.co_filename == driver.__file__:
                return  # an evaluation
            frame = frame.f_back
        package = None if frame is None else _package_of(frame.f_code.co_filename)
        while frame is not None and frame.f_code.co_filename.startswith(_LIBRARIES):
            frame = frame.f_back
        line = None if frame is None else frame.f_lineno or _line_before(frame)
        if frame is None or line is None or is_inside(frame.f_code):
            return
        place = frame.f_code.co_filename, line
        if package is not None:
            self._count(self.packages, (package, place))
        else:
            self._count(self.lines, place)

    def _count(self, seen: Counter[Any], what: Any) -> None:
        if what in seen or len(seen) < MOST_LINES:
            seen[what] += 1


@contextmanager
def sampled() -> Iterator[Samples]:
    """Look at the calling thread while the `with` block runs."""
    samples, ended, thread = Samples(), threading.Event(), threading.get_ident()

    def look() -> None:
        while not ended.wait(PERIOD):
            samples.look(sys._current_frames().get(thread))

    looker = threading.Thread(target=look, name="fusewright-sampling", daemon=True)
    looker.start()
    try:
        yield samples
    finally:
        ended.set()
        looker.join()


def _package_of(file: str) -> str | None:
    """The package, or the module of Python's library, that a file is of; None for a program's.

    >>> _package_of("program.py"), _package_of(linecache.__file__)
    (None, 'linecache')
    """
    folder = next((folder for folder in _LIBRARIES if file.startswith(folder)), None)
    if folder is None:
        return None
    return file.removeprefix(folder).lstrip(os.sep).partition(os.sep)[0].partition(".")[0]


def _line_before(frame: FrameType) -> int | None:
    """The last line before what has none: the jump from a loop's end to its head."""
    lines = frame.f_code.co_lines()
    before = [line for start, _, line in lines if line and start <= frame.f_lasti]
    return before[-1] if before else None


_FOLDERS = {sysconfig.get_path(name) + os.sep for name in ("stdlib", "purelib", "platlib")}
_LIBRARIES = (*sorted(_FOLDERS, key=len, reverse=True), "<")
"""Where packages and Python's library are, those inside others first; and code without a file."""


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
