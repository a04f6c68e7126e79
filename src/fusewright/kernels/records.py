"""What is known of a kernel's codes and calls, and each as lines of text."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.base.words import memory, seconds
from fusewright.ir.loops.statements import NOWHERE
from fusewright.plan.loops.plan import IN_ORDER, LoopReport, PairReport
from fusewright.runtime.profile import Decision


@dataclass(frozen=True, slots=True)
class CodeRecord:
    """A kernel's code for one set of argument types.

    `arguments` spells the types; `statements` is the program as written, `planned` as it runs, both
    in the exact form, `listing` as it runs in the user's names; `pairs` say which neighbouring
    loops were fused; `seconds` is what getting the code took, `origin` where it came from.

    Where that is right for some parameters only, `guard` says for which, `otherwise` is the listing
    of what runs for others, and `taken` counts the calls of either.
    `measured` are the times of calls fused and apart, by the least size of their arrays in bytes.
    `sharing` are pairs of arrays, one of them written, that share memory in these calls.
    """

    arguments: tuple[str, ...]
    statements: str
    loops: tuple[LoopReport, ...]
    pairs: tuple[PairReport, ...]
    planned: str
    listing: str
    origin: str
    features: str
    seconds: float
    calls: int
    llvm: str
    guard: str = ""
    otherwise: str = ""
    taken: tuple[int, int] = (0, 0)
    sharing: tuple[tuple[str, str], ...] = ()
    measured: tuple[tuple[int, tuple[float, float] | None], ...] = ()


@dataclass(frozen=True, slots=True)
class LazyRecord:
    """What calls with lazy arrays of some shapes record: so many `operations` on arrays, or one
    pending value, because of `why` at a line.
    """

    arguments: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    operations: int
    why: str
    because: Span

    @property
    def raised(self) -> bool:
        """Whether its loops are array statements."""
        return not self.why


def lazy_lines(call: LazyRecord) -> Iterator[str]:
    """What calls with lazy arrays do."""
    shapes = ", ".join(map(str, call.shapes))
    yield f"for lazy ({', '.join(call.arguments)}) of shapes {shapes}"
    if call.raised:
        yield f"  recorded as array statements: {call.operations} operations"
        return
    yield f"  runs as a kernel of its own when a value is asked for: {call.why}"
    if call.because[1]:
        yield f"    line {call.because[1]}: {written(call.because)}"


def measured_lines(code: CodeRecord) -> Iterator[str]:
    """The times of both forms, where they were measured."""
    for nbytes, times in code.measured:
        where = f"arrays of {memory(nbytes)}"
        if times is None:
            yield f"  fused and apart are close; being measured for {where}"
            continue
        fused, apart = map(seconds, times)
        form = "fused" if times[0] <= times[1] else "apart"
        yield f"  measured for {where}: fused {fused}, apart {apart}: runs {form}"


def planned_lines(code: CodeRecord) -> Iterator[str]:
    """The loops as they run."""
    yield f"  when {code.guard}: {_calls(code.taken[0])}" if code.guard else "  as it runs:"
    yield from ("    " + line for line in code.listing.splitlines())
    if code.guard:
        yield f"  otherwise: {_calls(code.taken[1])}"
        yield from ("    " + line for line in code.otherwise.splitlines())


def _calls(count: int) -> str:
    return f"{count} call{'' if count == 1 else 's'}"


def decisions(pairs: Iterable[PairReport]) -> list[Decision]:
    """What became of the pairs of loops that the user wrote; an array statement may have several
    loops of its own, of which only those that pass something on are worth a word.
    """
    told = (p for p in pairs if p.nbytes or p.first[:2] != p.second[:2] or not p.first[1])
    return [*dict.fromkeys(map(_decision, told))]


def _decision(pair: PairReport) -> Decision:
    """What became of two neighbouring loops; those without a line were array statements."""
    lines = [span[1] for span in (pair.first, pair.second)]
    what = (
        f"two loops of line {lines[0]}" if lines[0] and lines[0] == lines[1]
        else "lines {} and {}".format(*lines) if all(lines)
        else " and ".join(f"line {line}" if line else "an array statement" for line in lines)
    )  # fmt: skip
    line = pair.second if pair.second[0] else None
    if not pair.fused:
        return Decision(False, what, pair.why or "nothing to gain", line)
    on = f"on ({', '.join(pair.on)}), " if pair.on else ""
    when = f", when {pair.when}" if pair.when else ""
    traffic = f" and {pair.nbytes} bytes of memory traffic an iteration" if pair.nbytes else ""
    saves = f"saves a barrier{traffic}"
    return Decision(True, what, f"{on}{pair.form}{when}\n{saves}", line)


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
