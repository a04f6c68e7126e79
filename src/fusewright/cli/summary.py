"""What a profile says in total: equal kernels, equal library steps and equal flushes counted once.

`--explain` and the HTML report both show this, so they cannot disagree.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import field
from itertools import groupby
from typing import TypeVar

from fusewright.base.values import dataclass
from fusewright.ir.library_steps import ON_PURPOSE
from fusewright.runtime.decisions import code_of
from fusewright.runtime.once import Once
from fusewright.runtime.profile import (
    Decision,
    Flush,
    KernelRecord,
    Line,
    OpaqueRecord,
    Operation,
    Profile,
    Step,
    no_listing,
)


@dataclass(frozen=True, slots=True)
class KernelGroup:
    """All runs of one compiled kernel from one place in the program; bytes and seconds are sums."""

    label: str
    name: str
    operations: tuple[Operation, ...]
    decisions: tuple[Decision, ...]
    llvm: str
    runs: int
    seconds: float
    threads: int
    bytes_read: int
    bytes_written: int
    bytes_unfused: int
    origins: tuple[tuple[str, int], ...]
    compile_seconds: float
    shapes: int
    kind: str = "arrays"
    listing: Callable[[], str] = field(default=no_listing, compare=False)

    @property
    def loops(self) -> str:
        """Its loops as text."""
        return self.listing()

    @property
    def bytes_moved(self) -> int:
        return self.bytes_read + self.bytes_written

    @property
    def saved(self) -> int:
        return self.bytes_unfused - self.bytes_moved

    @property
    def bandwidth(self) -> float:
        """Bytes per second while it ran."""
        return self.bytes_moved / self.seconds if self.seconds else 0.0


@dataclass(frozen=True, slots=True)
class OpaqueGroup:
    """All runs of one library step from one line."""

    label: str
    name: str
    library: str
    why: str
    line: Line | None
    runs: int
    seconds: float


T = TypeVar("T")


def neighbours(steps: Sequence[T]) -> Iterator[tuple[T, int]]:
    """Neighbours that are the same thing, once, and how many they are.

    >>> a, b = "ab"
    >>> list(neighbours([a, a, b, a]))
    [('a', 2), ('b', 1), ('a', 1)]
    """
    for _, found in groupby(steps, id):
        first, *others = found
        yield first, 1 + len(others)


@dataclass(frozen=True, slots=True)
class FlushGroup:
    """All evaluations that were asked for at one line and ran the same steps."""

    first: int
    runs: int
    trigger: str
    line: Line | None
    seconds: float
    steps: tuple[KernelGroup | OpaqueGroup, ...]

    @property
    def turns(self) -> tuple[tuple[KernelGroup | OpaqueGroup, int], ...]:
        """The steps in order, those that repeat their neighbour with how often they do."""
        return tuple(neighbours(self.steps))


@dataclass(frozen=True, slots=True)
class Blocked:
    """A fusion that was declined, and how often; `seconds` are those of the kernels that follow."""

    what: str
    why: str
    line: Line | None
    runs: int
    code: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything counted; `labels[i][j]` is the group of step j of flush i.

    `loading` modules of ours is told for all of the program and for what happens inside flushes;
    `translating` kernels, and `planning` requests that are computed in parts, happens before those.
    """

    kernels: tuple[KernelGroup, ...]
    opaque: tuple[OpaqueGroup, ...]
    flushes: tuple[FlushGroup, ...]
    blocked: tuple[Blocked, ...]
    labels: tuple[tuple[str, ...], ...]
    flush_seconds: float
    recording: float | None
    telling: float
    loading: float = 0.0
    loading_inside: float = 0.0
    translating: float = 0.0
    planning: float = 0.0

    @property
    def kernel_runs(self) -> int:
        return sum(k.runs for k in self.kernels)

    @property
    def kernel_seconds(self) -> float:
        return sum(k.seconds for k in self.kernels)

    @property
    def opaque_runs(self) -> int:
        return sum(o.runs for o in self.opaque)

    @property
    def uncompiled_runs(self) -> int:
        """Library steps that are none on purpose."""
        return sum(o.runs for o in self.opaque if o.why != ON_PURPOSE)

    @property
    def opaque_seconds(self) -> float:
        return sum(o.seconds for o in self.opaque)

    @property
    def compile_seconds(self) -> float:
        return sum(k.compile_seconds for k in self.kernels)

    @property
    def bytes_moved(self) -> int:
        return sum(k.bytes_moved for k in self.kernels)

    @property
    def bytes_unfused(self) -> int:
        return sum(k.bytes_unfused for k in self.kernels)

    @property
    def operations(self) -> int:
        """Array operations that ran inside kernels: not what is read from memory, nor loops."""
        return sum(
            k.runs * sum(o.place != "input" and bool(o.dtype) for o in k.operations)
            for k in self.kernels
        )


NESTED = 8
"""Evaluations inside one another, at most, that are looked at."""


def summarise(profile: Profile) -> Summary:
    """Count what is equal once, in order of first appearance."""
    steps: dict[Hashable, list[Step]] = {}
    for flush in profile.flushes:
        for step in flush.steps:
            steps.setdefault(_key(step), []).append(step)
    groups: dict[Hashable, KernelGroup | OpaqueGroup] = {}
    counts: Counter[str] = Counter()
    for key, runs in steps.items():
        prefix = "K" if isinstance(runs[0], KernelRecord) else "L"
        counts[prefix] += 1
        groups[key] = _group(f"{prefix}{counts[prefix]}", runs)
    kernels = tuple(g for g in groups.values() if isinstance(g, KernelGroup))
    once = [each for each in profile.once if each.start >= profile.began]
    inside = list(_inside(profile.flushes, once))

    def of(what: str, found: Sequence[Once]) -> float:
        return sum(each.seconds for each in found if each.what == what)

    return Summary(
        kernels=kernels,
        opaque=tuple(g for g in groups.values() if isinstance(g, OpaqueGroup)),
        flushes=_flushes(profile.flushes, groups),
        blocked=_blocked(kernels),
        labels=tuple(tuple(groups[_key(s)].label for s in f.steps) for f in profile.flushes),
        flush_seconds=sum(f.seconds - f.telling for f in profile.flushes) - of("telling", inside),
        recording=profile.recording,
        telling=profile.telling + sum(f.telling for f in profile.flushes) + of("telling", once),
        loading=of("loading", once),
        loading_inside=of("loading", inside),
        translating=of("translating", once),
        planning=of("planning", once) - of("planning", inside),
    )


def _inside(flushes: Sequence[Flush], once: Sequence[Once]) -> Iterator[Once]:
    """What was done once in the midst of a flush."""
    flushes = sorted(flushes, key=lambda flush: flush.start)
    starts = [flush.start for flush in flushes]
    for each in once:
        after = bisect_right(starts, each.start)
        before = flushes[max(0, after - NESTED) : after]
        if any(each.start < flush.start + flush.seconds for flush in before):
            yield each


def _key(step: Step) -> Hashable:
    if isinstance(step, KernelRecord):
        # Where an input was made is no part of a kernel: a loop reads last time's value.
        computed = (o for o in step.operations if o.place != "input")
        return step.name, step.llvm, tuple((o.name, o.dtype, o.line) for o in computed)
    return step.name, step.library, step.why, step.line


def _group(label: str, runs: Sequence[Step]) -> KernelGroup | OpaqueGroup:
    first = runs[0]
    total = sum(run.seconds for run in runs)
    if isinstance(first, OpaqueRecord):
        return OpaqueGroup(
            label, first.name, first.library, first.why, first.line, len(runs), total
        )
    kernels = [run for run in runs if isinstance(run, KernelRecord)]
    return KernelGroup(
        label=label,
        name=first.name,
        operations=first.operations,
        decisions=first.decisions,
        llvm=first.llvm,
        runs=len(runs),
        seconds=total,
        threads=max(k.threads for k in kernels),
        bytes_read=sum(k.bytes_read for k in kernels),
        bytes_written=sum(k.bytes_written for k in kernels),
        bytes_unfused=sum(k.bytes_unfused for k in kernels),
        origins=tuple(Counter(k.origin for k in kernels).items()),
        compile_seconds=sum(k.compile_seconds for k in kernels),
        shapes=len({tuple(o.shape for o in k.operations) for k in kernels}),
        kind=kernels[0].kind,
        listing=first.listing,
    )


def _flushes(
    flushes: Sequence[Flush], groups: dict[Hashable, KernelGroup | OpaqueGroup]
) -> tuple[FlushGroup, ...]:
    same: dict[Hashable, list[tuple[int, Flush]]] = {}
    for number, flush in enumerate(flushes, 1):
        key = flush.trigger, flush.line, tuple(_key(step) for step in flush.steps)
        same.setdefault(key, []).append((number, flush))
    return tuple(
        FlushGroup(
            first=runs[0][0],
            runs=len(runs),
            trigger=runs[0][1].trigger,
            line=runs[0][1].line,
            seconds=sum(flush.seconds for _, flush in runs),
            steps=tuple(groups[_key(step)] for step in runs[0][1].steps),
        )
        for runs in same.values()
    )


def _blocked(kernels: Sequence[KernelGroup]) -> tuple[Blocked, ...]:
    counts: Counter[tuple[str, str, Line | None]] = Counter()
    took: defaultdict[tuple[str, str, Line | None], float] = defaultdict(float)
    for kernel in kernels:
        for decision in kernel.decisions:
            if not decision.fused:
                key = decision.what, decision.why, decision.line
                counts[key] += kernel.runs
                took[key] += kernel.seconds
    return tuple(
        Blocked(what, why, line, runs, code_of(False, why), took[what, why, line])
        for (what, why, line), runs in counts.most_common()
    )
