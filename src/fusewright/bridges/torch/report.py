"""What of a model is ours, and why not the rest."""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

from torch import fx

from fusewright.base.errors import StrictError
from fusewright.base.options import current
from fusewright.base.values import dataclass
from fusewright.bridges.torch.partition import ALONE, LITTLE, TUNED, Partition, name_of
from fusewright.bridges.torch.running import RunningSegment

KEPT = 64
"""Graphs that are remembered."""


@dataclass(frozen=True, slots=True)
class GraphReport:
    """One graph: its kind, its operations of ours in segments, and those of torch's with the
    reason.
    """

    kind: str
    running: tuple[RunningSegment, ...]
    theirs: tuple[tuple[str, str, int], ...]

    @property
    def ours(self) -> int:
        """Operations of ours."""
        return sum(each.segment.computed for each in self.running)

    def __str__(self) -> str:
        others = sum(count for _, _, count in self.theirs)
        lines = [
            f"{self.kind} graph: {self.ours} operations in {len(self.running)} segments of ours, "
            f"{others} operations of torch's"
        ]
        for each in self.running:
            names = Counter(name_of(n) for n in each.segment.members if n in each.segment.members)
            lines.append("  ours   " + ", ".join(_short(name) for name in names))
            lines += [f"         {n} layouts by torch: {why}" for why, n in each.refused.items()]
        lines += [f"  torch  {_short(name)} x{count}: {why}" for name, why, count in self.theirs]
        return "\n".join(lines)


def _short(name: str) -> str:
    return name.removeprefix("aten.").removesuffix(".default")


graphs: deque[GraphReport] = deque(maxlen=KEPT)
"""The last graphs that were compiled, the newest last."""
told: set[str] = set()


def note(
    kind: str,
    module: fx.GraphModule,
    parts: Partition,
    running: Sequence[RunningSegment],
    strict: bool,
) -> None:
    """Remember a graph; with `strict` refuse what has no row."""
    counts: Counter[tuple[str, str]] = Counter()
    for node, why in parts.theirs.items():
        if not why:
            continue
        counts[name_of(node), why] += 1
        if why not in (ALONE, LITTLE, TUNED) and (strict or current().strict):
            raise StrictError(
                f"{_short(name_of(node))} is no operation of ours",
                why=f"{why}, and strict=True forbids to leave it to torch in silence" + _line(node),
                help="leave strict off: it then runs as torch's own operation",
            )
    rows = tuple((name, why, n) for (name, why), n in counts.items())
    report = GraphReport(kind, tuple(running), rows)
    graphs.append(report)
    if current().diagnostics != "off":
        for name, why, _ in rows:
            if name not in told:
                told.add(name)
                print(f"fusewright: torch runs {_short(name)}: {why}", file=sys.stderr)


def declined(count: int, why: str) -> None:
    """The last graphs run as the model's own after all, with the operations that would be ours."""
    for place in range(-count, 0):
        graph = graphs[place]
        if graph.ours:
            whole = ("the whole graph", why, graph.ours)
            graphs[place] = GraphReport(graph.kind, (), (whole, *graph.theirs))


def refused(why: str, strict: bool) -> None:
    """A whole graph that torch's own tracing takes no further: it runs as torch's; told once."""
    first = why.strip().splitlines()[0] if why.strip() else "an assertion of its own"
    if strict or current().strict:
        raise StrictError(
            "a graph is no graph of ours",
            why=f"torch's tracing refuses it ({first}), and strict=True forbids to leave it to "
            "torch in silence",
            help="leave strict off: it then runs as torch's own operations",
        )
    graphs.append(GraphReport("refused", (), (("the whole graph", first, 1),)))
    if current().diagnostics != "off" and first not in told:
        told.add(first)
        print(f"fusewright: torch runs a whole graph: {first}", file=sys.stderr)


def _line(node: fx.Node) -> str:
    """The model's line that an operation comes from."""
    trace: Any = node.meta.get("stack_trace")
    if not trace:
        return ""
    lines = [line.strip() for line in trace.strip().splitlines()]
    return "\n   " + "\n   ".join(lines[-2:])


def explain() -> str:
    """The graphs that were compiled, each with what is ours and why the rest is torch's."""
    if not graphs:
        return "no graph of torch's has been compiled yet"
    return "\n".join(map(str, graphs))
