"""How a loop of the user's runs, and why, in words: for plans, explanations, tables and pages."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from fusewright.base.source import Span
from fusewright.ir.loops.statements import NOWHERE
from fusewright.plan.loops.plan import IN_ORDER, LoopReport


def written_loops(loops: Iterable[LoopReport]) -> Iterator[LoopReport]:
    """The loops that the user wrote; one that runs in blocks or strips was taken apart.  An array
    statement is one, or two where a part of its work runs in order.
    """
    parts: dict[object, list[LoopReport]] = {}
    for loop in _blocks(loops):
        if not loop.made:
            own = loop.names if any(loop.names) else loop.parallel
            parts.setdefault((loop.span[:2], own), []).append(loop)
    for first, *others in parts.values():
        every = [first, *others]
        ordered = next((loop for loop in every if not loop.parallel), first)
        if not any(first.names) and not _HEAD.match(written(first.span)):
            ordered = _of_statement(every, ordered)
        threads, vectors = (any(getattr(p, way) for p in every) for way in ("threads", "vectors"))
        folds, scans = (
            tuple(dict.fromkeys(name for part in every for name in getattr(part, names)))
            for names in ("folds", "scans")
        )
        kept = replace(ordered, why="", because=NOWHERE) if threads or vectors else ordered
        yield replace(kept, threads=threads, vectors=vectors, folds=folds, scans=scans)


def _blocks(loops: Iterable[LoopReport]) -> Iterator[LoopReport]:
    """A loop over blocks of another one's iterations, which a dialect has written (its name has a
    dot, as no user's), is told with that one.
    """
    blocks: LoopReport | None = None
    for loop in loops:
        if any("." in name for name in loop.names):
            blocks = loop
        elif blocks is not None and loop.span[:2] == blocks.span[:2]:
            yield replace(loop, blocks=blocks.threads)
            blocks = None
        else:
            yield loop


def _of_statement(every: Sequence[LoopReport], ordered: LoopReport) -> LoopReport:
    """An array statement, whose own loops are nothing that the user wrote: what keeps it in order
    is an array of the user's, or NumPy's order.
    """
    if ordered.parallel:
        return ordered
    whys = [loop for loop in every if loop.dims and loop.why]
    found = next((loop for loop in whys if "`" in loop.why), None)
    return found or replace(ordered, why=IN_ORDER, because=NOWHERE)


WORDED = {"threads": "on threads", "vectors": "in vectors"}
"""What explanations call the ways of `LoopReport`."""
ORDERED = "in order"


class LoopLine(NamedTuple):
    """What explanations say of a loop, as text, in tables and in pages: its line and its `head`;
    `how` it runs and `why`; `because`, the line that keeps it in order where that is another one.
    """

    span: Span
    head: str
    how: str
    why: str
    because: Span

    @property
    def runs(self) -> str:
        """How it runs, and why."""
        return f"{self.how}: {self.why}" if self.why else self.how

    @property
    def runs_where(self) -> str:
        """The same with the line that the reason stands at."""
        return f"{self.how}: {self.why_where}" if self.why else self.how

    @property
    def why_where(self) -> str:
        """Why, with the line that the reason stands at."""
        place = f"(line {self.because[1]})"
        return self.why if not self.because[1] or place in self.why else f"{self.why} {place}"


def loop_line(loop: LoopReport) -> LoopLine:
    """How a loop that the user wrote runs."""
    ways = " and ".join(WORDED[way] for way in loop.ways) or ORDERED
    how = f"in blocks on threads, each {ways}" if loop.blocks else ways
    if loop.tile:
        how = f"{how}, in tiles of {loop.tile} rows whose sums stay in registers"
    why = ": ".join(filter(None, (_free(loop) if loop.ways else "", loop.why)))
    is_elsewhere = why and not loop.parallel and loop.because[1] not in (0, loop.span[1])
    because = loop.because if is_elsewhere else NOWHERE
    return LoopLine(loop.span, heading(loop), how, why, because)


def _free(loop: LoopReport) -> str:
    """Why its iterations need not run in order."""
    collected = ", ".join(f"`{name}`" for name in loop.folds)
    begun = ", ".join(f"`{name}`" for name in loop.scans)
    return (
        f"in blocks, once it is known what {begun} is where each begins" if begun
        else f"any order of updating {collected} is the same" if collected
        else "its iterations are independent"
    )  # fmt: skip


def written(span: Span) -> str:
    """The source line."""
    return linecache.getline(span[0], span[1]).strip()


def heading(loop: LoopReport) -> str:
    """A loop as its line has it, of several that run as one with the names of those inside it; an
    array statement is its whole line.

    >>> heading(LoopReport(NOWHERE, (0, 1), ("i", "j"), True, False))
    'loop over i, j'
    """
    text, names = written(loop.span), [name for name in loop.names if name]
    head = _HEAD.match(text)
    if head is not None:
        _, *inside = names or [""]
        return head[1] + (f" with {' and '.join(inside)} inside" if inside else "")
    return f"loop over {', '.join(names)}" if names else text or "array statement"


_HEAD = re.compile(r"((?:for|while)\b.*?):\s*(?:#.*)?$")
"""A line that is the head of a loop and nothing else."""


def loop_lines(loop: LoopReport) -> Iterator[str]:
    """One loop: its line, how it runs, and why."""
    told, text = loop_line(loop), written(loop.span)
    text = f": {text}" if told.head.startswith("loop over") else ""
    yield f"  line {loop.span[1]}: {told.head}{text}"
    yield f"    runs {told.runs}"
    if told.because[1]:
        yield f"    line {told.because[1]}: {written(told.because)}"
