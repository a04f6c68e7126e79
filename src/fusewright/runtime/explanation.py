"""What `fw.explain` answers: the steps that ran, or would run, as text and as HTML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from fusewright.base.html import code, sentence, table
from fusewright.base.options import current
from fusewright.base.source import near
from fusewright.base.words import count, seconds, size, times_as_much
from fusewright.runtime.decisions import page_link
from fusewright.runtime.listening import COMPILES_LESS, interprets
from fusewright.runtime.profile import (
    Flush,
    KernelRecord,
    Line,
    OpaqueRecord,
    Operation,
    Step,
)

MOST_FLUSHES = 12
"""Evaluations told one by one; equal ones that follow each other count as one."""
MOST_NAMES = 12
OPERATIONS = ("operation", "value", "lives in", "why", "line")
LOOPS = ("loop", "runs", "line")
"""What is told of each operation, and of each loop."""
WHAT_TO_EXPLAIN = (
    "fw.explain(function, *args) tells what a function runs, "
    "fw.explain(a + b) what a pending value needs."
)
NOTHING_RAN = (
    "Nothing of ours ran: the function asked for no value of a lazy array, and called no kernel.",
    "NumPy's arrays (those of np.array, and small ones) stay NumPy's: begin with fw.asarray(x), "
    "or run the program with `fusewright run`.",
)
PLACES = (
    ("row", "kept in cache"),
    ("memory", "stored in memory"),
    ("register", "in registers, never stored"),
)


@dataclass(frozen=True)
class Explanation:
    """The evaluations of a function, or the one that asking for some values would cause.

    `ran` says which of the two; `notes` are remarks that belong to no step (what is computed
    already, what `fw.jit` cannot replay); `result` is what the explained function returned.
    """

    flushes: tuple[Flush, ...]
    ran: bool
    notes: tuple[str, ...] = ()
    result: Any = None

    @property
    def kernels(self) -> tuple[KernelRecord, ...]:
        return tuple(s for f in self.flushes for s in f.steps if isinstance(s, KernelRecord))

    @property
    def library_steps(self) -> tuple[OpaqueRecord, ...]:
        return tuple(s for f in self.flushes for s in f.steps if isinstance(s, OpaqueRecord))

    @property
    def bytes_moved(self) -> int:
        return sum(k.bytes_read + k.bytes_written for k in self.kernels)

    @property
    def bytes_unfused(self) -> int:
        return sum(k.bytes_unfused for k in self.kernels)

    @property
    def compiles_more(self) -> bool:
        """Whether kernels were compiled whose work another run begins without them."""
        fresh = any(k.kind == "arrays" and k.origin == "compiled" for k in self.kernels)
        return fresh and interprets(current())

    def __str__(self) -> str:
        return "\n".join(self._lines())

    __repr__ = __str__

    def _lines(self) -> Iterator[str]:
        yield from self.notes
        yield from self._total()
        groups = _grouped(self.flushes)
        for flush, runs in groups[:MOST_FLUSHES]:
            yield from self._flush(flush, runs)
        if len(groups) > MOST_FLUSHES:
            yield f"... and {len(groups) - MOST_FLUSHES} more evaluations"

    def _total(self) -> Iterator[str]:
        if not self.flushes:
            if not self.notes:
                yield from NOTHING_RAN if self.ran else ("Nothing has to be computed.",)
            yield WHAT_TO_EXPLAIN
            return
        verb = "ran" if self.ran else "would run"
        parts = [count(len(self.kernels), "kernel")]
        if self.library_steps:
            parts.append(count(len(self.library_steps), "library step"))
        loops = all(kernel.kind == "loops" for kernel in self.kernels)
        moved = (
            f"arrays of {size(self.bytes_moved)}" if loops and self.kernels
            else _bytes_line(self.bytes_moved, self.bytes_unfused)
        )  # fmt: skip
        yield f"{' and '.join(parts)} {verb}; {moved}"
        if self.ran and self.compiles_more:
            yield COMPILES_LESS

    def _flush(self, flush: Flush, runs: int) -> Iterator[str]:
        if self.ran:
            times = f", {runs} times" if runs > 1 else ""
            yield ""
            yield f"{flush.trigger}{_at(flush.line)}{times}: {seconds(flush.seconds)}"
        if flush.is_slow:
            yield "dropped: its operations were faster one by one, and run so when nobody listens"
        for step in flush.steps:
            yield ""
            yield from self._kernel(step) if isinstance(step, KernelRecord) else self._library(step)

    def _library(self, step: OpaqueRecord) -> Iterator[str]:
        took = f", {seconds(step.seconds)}" if self.ran else ""
        yield f"library step {step.name} ({step.library}){_at(step.line)}{took}"
        yield f"    {step.reason}"

    def _kernel(self, kernel: KernelRecord) -> Iterator[str]:
        yield from _heading(kernel)
        if self.ran:
            threads = count(kernel.threads, "thread")
            yield f"    time: {seconds(kernel.seconds)} on {threads}; code: {_origin(kernel)}"
        if kernel.loops:
            yield "    loops:"
        yield from (f"        {line}" for line in kernel.loops.splitlines())
        yield from _ways(kernel) if kernel.kind == "loops" else _places(kernel.operations)
        for decision in kernel.decisions:
            yield from (f"    {line}" for line in decision.lines(_at(decision.line)))

    def _repr_html_(self) -> str:
        """For notebooks: a heading and a table for each step, the loops folded away."""
        parts = [f"<p>{escape(line)}</p>" for line in (*self.notes, *self._total())]
        for flush, _ in _grouped(self.flushes)[:MOST_FLUSHES]:
            if self.ran:
                parts.append(f"<h4>{escape(flush.trigger + _at(flush.line))}</h4>")
            parts += [_html_step(step) for step in flush.steps]
        return f"<div>{''.join(parts)}</div>"


def _grouped(flushes: Sequence[Flush]) -> list[tuple[Flush, int]]:
    groups: list[tuple[Flush, int]] = []
    for flush in flushes:
        if groups and _signature(groups[-1][0]) == _signature(flush):
            groups[-1] = (groups[-1][0], groups[-1][1] + 1)
        else:
            groups.append((flush, 1))
    return groups


def _signature(flush: Flush) -> object:
    steps = tuple(s.loops if isinstance(s, KernelRecord) else (s.name, s.line) for s in flush.steps)
    return flush.trigger, flush.line, steps


def _places(operations: Sequence[Operation]) -> Iterator[str]:
    for place, title in PLACES:
        counts = Counter(
            f"{o.name}{list(o.shape)}{_at(o.line)}" + (f": {o.why}" if o.why else "")
            for o in operations
            if o.place == place
        )
        if not counts:
            continue
        yield f"    {title}:"
        for text, runs in counts.items():
            yield f"        {text}" + (f" ({runs} times)" if runs > 1 else "")


def _heading(kernel: KernelRecord) -> Iterator[str]:
    """What it is, and what it moves."""
    sizes = _sizes(kernel)
    if kernel.kind == "loops":
        yield f"kernel {kernel.name}: loops of fw.kernel"
        yield f"    arrays: {sizes}"
        return
    names = [o.name for o in kernel.operations if o.place != "input"]
    if kernel.kind == "products":
        yield f"{_title(kernel)}: {_shortened(names)}"
    else:
        yield f"kernel of {count(len(names), 'operation')}: {_shortened(names)}"
    moved = kernel.bytes_read + kernel.bytes_written
    yield f"    memory: {sizes}; {_unfused(moved, kernel.bytes_unfused)}"


def _sizes(kernel: KernelRecord) -> str:
    return f"reads {size(kernel.bytes_read)}, writes {size(kernel.bytes_written)}"


def _title(kernel: KernelRecord) -> str:
    """What a kernel is called in pages."""
    if kernel.kind == "products":
        fused = any(decision.fused for decision in kernel.decisions)
        return "products of matrices, block by block" if fused else "product of matrices"
    return f"kernel {kernel.name}" if kernel.kind == "loops" else "kernel"


def _ways(kernel: KernelRecord) -> Iterator[str]:
    """How each loop runs, and what keeps it in order."""
    for loop in kernel.operations:
        why = f": {loop.why}" if loop.why else ""
        yield f"    {loop.name}{_at(loop.line)}: {loop.place}{why}"


def _html_step(step: Step) -> str:
    if isinstance(step, OpaqueRecord):
        name = escape(f"{step.name} ({step.library}){_at(step.line)}")
        return f"<p><b>library step {name}</b>: {escape(step.why)}</p>"
    shown = _loop_cells if step.kind == "loops" else _operation_cells
    headings = LOOPS if step.kind == "loops" else OPERATIONS
    decisions = "".join(
        f"<li>{d.word}: {sentence(f'{d.what}: {d.why}{_at(d.line)}')} {page_link(d.code)}</li>"
        for d in step.decisions
    )
    name, moved = _title(step), step.bytes_read + step.bytes_written
    what = _sizes(step) if step.kind == "loops" else _bytes_line(moved, step.bytes_unfused)
    return (
        f"<p><b>{escape(name)}</b>: {escape(what)}</p>"
        f"{table(headings, map(shown, step.operations))}<ul>{decisions}</ul>"
        f"<details><summary>loops</summary><pre>{escape(step.loops)}</pre></details>"
    )


def _operation_cells(operation: Operation) -> tuple[str, ...]:
    name, value, place = operation.name, _value(operation), operation.place
    return escape(name), value, place, sentence(operation.why), _line_cell(operation)


def _loop_cells(loop: Operation) -> tuple[str, ...]:
    why = f": {loop.why}" if loop.why else ""
    return code(loop.name), loop.place + sentence(why), _line_cell(loop)


def _line_cell(operation: Operation) -> str:
    return code(_at(operation.line).removeprefix(" at "))


def _value(operation: Operation) -> str:
    return f"{operation.dtype}{list(operation.shape)}" if operation.dtype else ""


def _shortened(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _bytes_line(moved: int, unfused: int) -> str:
    return f"memory moved {size(moved)}; {_unfused(moved, unfused)}"


def _unfused(moved: int, unfused: int) -> str:
    found = times_as_much(unfused, moved)
    return f"one operation at a time {size(unfused)}" + (f" ({found})" if found else "")


def _origin(kernel: KernelRecord) -> str:
    if kernel.origin == "memory":
        return "in memory"
    verb = "read from disk" if kernel.origin == "disk" else "compiled"
    return f"{verb} in {seconds(kernel.compile_seconds)}"


def _at(line: Line | None) -> str:
    if line is None:
        return ""
    return f" at {near(line[0])}:{line[1]}"
