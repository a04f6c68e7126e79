"""Writes what ran as one self-contained HTML page, for `--report`."""

from __future__ import annotations

import linecache
from base64 import b64encode
from collections import Counter
from pathlib import Path
from typing import Any

from markupsafe import Markup

from fusewright.base.html import sentence
from fusewright.base.values import dataclass
from fusewright.base.words import count, seconds, size, times_as_much
from fusewright.cli.compare import Comparison
from fusewright.cli.console import version_of
from fusewright.cli.listing import listings
from fusewright.cli.overview import advice_of, remark_on_compiling, shares_of
from fusewright.cli.picture import drawn
from fusewright.cli.sampling import HotPlace
from fusewright.cli.summary import KernelGroup, Summary, summarise
from fusewright.cli.timeline import busiest_kernels, draw
from fusewright.runtime.decisions import KINDS, DecisionClass
from fusewright.runtime.profile import Line, Profile

HUES = 8
"""Kernels with a colour of their own in the timeline; the rest share one."""

LLVM_KERNELS = 40
LLVM_CHARACTERS = 200_000
"""LLVM text is shown of the longest-running kernels, and cut: a page must open quickly."""

OPEN_KERNELS = 1
STYLES = ("kernel", "library", "compile", "launch", "load", "record", "tell", "python")
"""Colours of the parts of the time, in the order of `overview.shares_of`."""
TITLE_NAMES = 7
FLUSH_ROWS = 200


@dataclass(frozen=True, slots=True)
class Story:
    """What the page says around the profile: the program, its end, how it compares with NumPy.

    `seconds` are those of the recorded run, `own_seconds` those that are compared with NumPy's:
    of a run that nobody recorded.  `hot` is the loop, or the package, that most of its own time
    goes into.
    """

    title: str
    seconds: float
    error: str = ""
    plain_seconds: float | None = None
    own_seconds: float | None = None
    agrees: bool | None = None
    comparisons: tuple[Comparison, ...] = ()
    picture: Any = None
    hot: HotPlace | None = None

    @property
    def picture_link(self) -> str:
        """The array as a picture, in the page itself."""
        return f"data:image/png;base64,{b64encode(drawn(self.picture)).decode()}"


@dataclass(frozen=True, slots=True)
class Share:
    """A part of the run's time; `percent` of the whole."""

    name: str
    style: str
    seconds: float
    percent: float


@dataclass(frozen=True, slots=True)
class OperationRow:
    """Equal operations of a kernel; `runs` says how many."""

    name: str
    dtype: str
    shape: str
    place: str
    line: str
    anchor: str
    code: str
    runs: int


def render(profile: Profile, story: Story) -> str:
    """The whole page."""
    # Imported here: jinja2 costs 40 ms, and only a report needs it.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("fusewright.cli"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"seconds": seconds, "size": size, "place": short, "anchor": anchor}
    environment.filters["sentence"] = lambda text: Markup(sentence(text))
    environment.globals |= {"count": count, "times_as_much": as_much}
    return environment.get_template("report.html").render(_view(profile, story))


def _view(profile: Profile, story: Story) -> dict[str, Any]:
    summary = summarise(profile)
    order = busiest_kernels(profile, summary.labels)
    styles = {label: f"hue{i}" if i < HUES else "rest" for i, label in enumerate(order)}
    styles |= {step.label: "library" for step in summary.opaque}
    rank = {label: position for position, label in enumerate(order)}
    kernels = sorted(summary.kernels, key=lambda kernel: rank[kernel.label])
    return {
        "story": story,
        "summary": summary,
        "shares": shares(summary, story.seconds),
        "remark_on_compiling": remark_on_compiling(summary),
        "advice": advice_of(summary, story.seconds, story.hot),
        "timeline": draw(profile, summary.labels, styles),
        "styles": styles,
        "kernels": kernels,
        "titles": {kernel.label: title(kernel) for kernel in kernels},
        "operations": {kernel.label: operation_rows(kernel) for kernel in kernels},
        "with_llvm": {kernel.label for kernel in kernels[:LLVM_KERNELS]},
        "llvm_characters": LLVM_CHARACTERS,
        "open_kernels": OPEN_KERNELS,
        "reasons": _reasons(summary),
        "flushes": sorted(summary.flushes, key=lambda flush: -flush.seconds)[:FLUSH_ROWS],
        "flush_runs": sum(flush.runs for flush in summary.flushes),
        "files": listings(summary),
        "versions": [(name, version_of(name)) for name in ("fusewright", "numpy", "llvmlite")],
    }


def _reasons(summary: Summary) -> dict[str, DecisionClass]:
    """What the codes of declined fusions mean, for those that the page shows."""
    shown = {item.code for item in summary.blocked}
    return {code: kind for code, kind in KINDS.items() if code in shown}


def shares(summary: Summary, total: float) -> list[Share]:
    """The run's time in parts, as the first screen of an explanation has them."""
    parts = shares_of(summary, total)
    return [
        Share(part.name, style, part.seconds, 100 * part.seconds / max(total, 1e-9))
        for style, part in zip(STYLES, parts, strict=True)
    ]


def operation_rows(kernel: KernelGroup) -> list[OperationRow]:
    """The operations of a kernel in order, equal ones (a loop unrolled into a flush) as one row."""
    counts = Counter(
        (o.name, o.dtype, o.shape, o.place, o.line) for o in kernel.operations
    )  # a Counter keeps the order of first appearance
    return [
        OperationRow(
            name=name,
            dtype=dtype,
            shape=" × ".join(map(str, shape)) or ("scalar" if dtype else ""),
            place=where,
            line=short(line),
            anchor=anchor(line[0], line[1]) if line else "",
            code=linecache.getline(line[0], line[1]).strip() if line else "",
            runs=runs,
        )
        for (name, dtype, shape, where, line), runs in counts.items()
    ]


def title(kernel: KernelGroup) -> str:
    """The names of a kernel's operations, as many as fit in a heading."""
    names = [o.name for o in kernel.operations if o.place != "input"]
    more = len(names) - TITLE_NAMES
    return ", ".join(names[:TITLE_NAMES]) + (f" and {more} more" if more > 0 else "")


def as_much(more: float, less: float) -> str:
    """How many times as much, as a page writes it: `12×`."""
    return times_as_much(more, less).replace("x", "×")


def short(line: Line | None) -> str:
    """The file's own name and the line; the whole path heads the listing it links to."""
    return f"{Path(line[0]).name}:{line[1]}" if line else "-"


def anchor(file: str, line: int) -> str:
    """The id of a source line in the page."""
    return f"line-{''.join(c if c.isalnum() else '-' for c in file)}-{line}"
