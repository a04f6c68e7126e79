"""The user's source as the report shows it: which line ran in which kernel, and where its value
lives.
"""

from __future__ import annotations

import linecache
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import field

from markupsafe import Markup

from fusewright.base.values import dataclass
from fusewright.cli.summary import Summary
from fusewright.runtime.profile import Line, left_to_library

WHOLE = 800
"""Files longer than this are shown only around the lines that ran."""

AROUND = 6

PLACES = ("register", "row", "memory")
"""Where a line's values live, the best first; a line is marked with its worst."""


@dataclass(slots=True)
class Marks:
    """What happened on one line: the kernels and library steps it is in, and why not fused."""

    labels: list[str] = field(default_factory=list)
    places: set[str] = field(default_factory=set)
    opaque: bool = False
    notes: list[str] = field(default_factory=list)

    @property
    def style(self) -> str:
        if self.opaque:
            return "opaque"
        return next((p for p in reversed(PLACES) if p in self.places), "")

    def label(self, text: str) -> None:
        if text not in self.labels:
            self.labels.append(text)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of source; `number` 0 stands for lines left out."""

    number: int
    code: Markup
    marks: Marks | None


@dataclass(frozen=True, slots=True)
class Listing:
    """One file; `missing` when its text cannot be read any more."""

    name: str
    rows: tuple[Row, ...]
    missing: bool


def listings(summary: Summary) -> list[Listing]:
    """Every file that recorded something, the one with most marked lines first."""
    marks = _marks(summary)
    ordered = sorted(marks, key=lambda name: -len(marks[name]))
    return [_listing(name, marks[name]) for name in ordered]


def _marks(summary: Summary) -> dict[str, dict[int, Marks]]:
    marks: dict[str, dict[int, Marks]] = defaultdict(lambda: defaultdict(Marks))

    def at(line: Line | None) -> Marks:
        # What has no line is marked on a line that is thrown away.
        return marks[line[0]][line[1]] if line else Marks()

    for kernel in summary.kernels:
        for operation in kernel.operations:
            if operation.place != "input":
                at(operation.line).label(kernel.label)
                at(operation.line).places.add(operation.place)
            if operation.is_ordered and operation.why:
                at(operation.line).note(f"runs {operation.place}: {operation.why}")
    for step in summary.opaque:
        at(step.line).label(step.label)
        at(step.line).opaque = True
        at(step.line).note(f"{step.library}: {step.name}: {left_to_library(step.why)}")
    for blocked in summary.blocked:
        at(blocked.line).note(f"not fused: {blocked.what}: {blocked.why}")
    return marks


def _listing(name: str, marks: dict[int, Marks]) -> Listing:
    text = linecache.getlines(name)
    if not text:
        return Listing(name, (), missing=True)
    code = _highlight("".join(text))
    wanted = _wanted(len(text), marks)
    rows: list[Row] = []
    for number in sorted(wanted):
        if rows and number != rows[-1].number + 1:
            rows.append(Row(0, Markup(), None))
        line = code[number - 1] if number <= len(code) else Markup()
        rows.append(Row(number, line, marks.get(number)))
    return Listing(name, tuple(rows), missing=False)


def _wanted(lines: int, marks: Iterable[int]) -> set[int]:
    if lines <= WHOLE:
        return set(range(1, lines + 1))
    near = {n for mark in marks for n in range(mark - AROUND, mark + AROUND + 1)}
    return {n for n in near if 1 <= n <= lines}


def _highlight(source: str) -> list[Markup]:
    """The lines of Python code as HTML."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    formatter = HtmlFormatter(nowrap=True)
    html = highlight(source, PythonLexer(stripnl=False, ensurenl=False), formatter)
    # Pygments escapes the text and closes its spans at the end of every line.
    return [Markup(line) for line in html.split("\n")]
