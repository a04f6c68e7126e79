"""The geometry of the report's timeline: when each flush and each of its steps ran.

A long run has more steps than pixels: then the time is cut into equal columns, and each shows the
share of its time that went to kernels and to library steps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from fusewright.base.values import dataclass
from fusewright.base.words import seconds
from fusewright.runtime.profile import KernelRecord, Profile

WIDTH = 1000.0
"""Units of the drawing from the first flush to the end of the last."""

LANE = 34.0
MOST_BARS = 900
COLUMNS = 250
LEAST_WIDTH = 0.4
TICKS = 8


@dataclass(frozen=True, slots=True)
class Bar:
    """One rectangle: `style` names its colour, `text` is what it says when pointed at."""

    x: float
    y: float
    width: float
    height: float
    style: str
    text: str
    link: str = ""


@dataclass(frozen=True, slots=True)
class Timeline:
    """Bars of the flushes and of their steps, with the ticks of the axis (position, label)."""

    flushes: tuple[Bar, ...]
    steps: tuple[Bar, ...]
    ticks: tuple[tuple[float, str], ...]
    columns: bool
    span: float


@dataclass(frozen=True, slots=True)
class _Piece:
    """A step to be drawn."""

    start: float
    seconds: float
    label: str
    style: str
    text: str


def draw(
    profile: Profile, labels: Sequence[Sequence[str]], styles: Mapping[str, str]
) -> Timeline | None:
    """Lay the profile out; `labels` names each step's group and `styles` gives its colour."""
    if not profile.flushes:
        return None
    origin = profile.flushes[0].start
    end = max(flush.start + flush.seconds for flush in profile.flushes)
    scale = WIDTH / max(end - origin, 1e-9)
    pieces = [
        _Piece(step.start, step.seconds, label, styles[label], f"{label} {step.name}")
        for flush, row in zip(profile.flushes, labels, strict=True)
        for step, label in zip(flush.steps, row, strict=True)
    ]
    columns = len(pieces) > MOST_BARS
    steps = _columns(pieces, origin, end) if columns else _bars(pieces, origin, scale)
    return Timeline(
        flushes=tuple(_flush_bars(profile, origin, scale)),
        steps=tuple(steps),
        ticks=tuple(_ticks(end - origin)),
        columns=columns,
        span=end - origin,
    )


def _bars(pieces: Sequence[_Piece], origin: float, scale: float) -> list[Bar]:
    return [
        Bar(
            x=(piece.start - origin) * scale,
            y=LANE,
            width=max(piece.seconds * scale, LEAST_WIDTH),
            height=LANE - 6,
            style=piece.style,
            text=f"{piece.text}, {seconds(piece.seconds)}",
            link=piece.label,
        )
        for piece in pieces
    ]


def _columns(pieces: Sequence[_Piece], origin: float, end: float) -> list[Bar]:
    """For each column and style, the share of the column's time."""
    width = (end - origin) / COLUMNS
    busy: dict[tuple[int, str], float] = defaultdict(float)
    for piece in pieces:
        start, left = piece.start - origin, piece.seconds
        while left > 0:
            column = min(int(start / width), COLUMNS - 1)
            inside = left if column == COLUMNS - 1 else min(left, (column + 1) * width - start)
            # Rounding can leave a step standing exactly on a border.
            inside = inside if inside > 0 else min(left, width)
            busy[column, piece.style] += inside
            start, left = start + inside, left - inside
    bars, filled = [], [0.0] * COLUMNS
    for (column, style), time in sorted(busy.items()):
        height = min(time / width, 1.0) * (LANE - 6)
        y = 2 * LANE - 6 - filled[column] - height
        filled[column] += height
        text = f"{time / width:.0%} of {seconds(width)}"
        bars.append(Bar(column * WIDTH / COLUMNS, y, WIDTH / COLUMNS - 0.4, height, style, text))
    return bars


def _flush_bars(profile: Profile, origin: float, scale: float) -> list[Bar]:
    """Flushes, those too close to tell apart drawn as one."""
    bars: list[Bar] = []
    first = together = 0
    for number, flush in enumerate(profile.flushes, 1):
        x, width = (flush.start - origin) * scale, max(flush.seconds * scale, LEAST_WIDTH)
        text = f"flush {number}: {flush.trigger}, {seconds(flush.seconds)}"
        if bars and width < 1 and x - (bars[-1].x + bars[-1].width) < LEAST_WIDTH:
            together += 1
            merged = f"flushes {first} to {number}"
            width = max(x + width - bars[-1].x, bars[-1].width)
            bars[-1] = Bar(bars[-1].x, 6, width, LANE - 14, "flush", merged)
            continue
        first, together = number, 1
        bars.append(Bar(x, 6, width, LANE - 14, "flush", text))
    return bars


def _ticks(span: float) -> list[tuple[float, str]]:
    """Positions at round times, at most `TICKS` of them."""
    step = 1e-9
    for step in (m * 10.0**e for e in range(-9, 7) for m in (1, 2, 5)):
        if span / step <= TICKS:
            break
    return [
        (i * step / span * WIDTH, seconds(i * step)) for i in range(TICKS + 1) if i * step <= span
    ]


def busiest_kernels(profile: Profile, labels: Sequence[Sequence[str]]) -> list[str]:
    """The labels of the kernels, those that ran longest first."""
    time: dict[str, float] = defaultdict(float)
    for flush, row in zip(profile.flushes, labels, strict=True):
        for step, label in zip(flush.steps, row, strict=True):
            if isinstance(step, KernelRecord):
                time[label] += step.seconds
    return sorted(time, key=time.__getitem__, reverse=True)
