"""What is known of a kernel as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from fusewright.base.html import code as code_of
from fusewright.base.html import sentence, table
from fusewright.base.words import seconds
from fusewright.kernels.records import CodeRecord, decisions
from fusewright.plan.loops.plan import LoopReport
from fusewright.plan.loops.wording import loop_line, written_loops

HEADINGS = ("line", "loop", "runs")


def page(name: str, codes: Iterable[CodeRecord], text: str) -> str:
    """A table of loops for each kind of arguments; all that is printed beneath it."""
    return "".join(_parts(name, codes, text))


def _parts(name: str, codes: Iterable[CodeRecord], text: str) -> Iterator[str]:
    yield f"<p><b>kernel {escape(name)}</b></p>"
    for code in codes:
        yield from _code(code)
    yield f"<details><summary>as text</summary><pre>{escape(text)}</pre></details>"


def _code(code: CodeRecord) -> Iterator[str]:
    where = f"{code.origin}, {seconds(code.seconds)}, {code.features}; calls: {code.calls}"
    yield f"<p>for ({escape(', '.join(code.arguments))}): {escape(where)}</p>"
    yield table(HEADINGS, map(_cells, written_loops(code.loops)))
    pairs = ["<br>".join(map(sentence, pair.lines())) for pair in decisions(code.pairs)]
    if pairs:
        yield "<ul>" + "".join(f"<li>{each}</li>" for each in pairs) + "</ul>"


def _cells(loop: LoopReport) -> tuple[str, ...]:
    told = loop_line(loop)
    return str(loop.span[1]), code_of(told.head), sentence(told.runs_where)
