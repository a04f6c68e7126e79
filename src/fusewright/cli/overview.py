"""The first screen of an explanation: where the time went, the dearest steps, what to try."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from fusewright.base.options import current
from fusewright.base.words import count, seconds, size, times_as_much
from fusewright.cli.console import place
from fusewright.cli.sampling import HotPlace
from fusewright.cli.summary import KernelGroup, OpaqueGroup, Summary
from fusewright.ir.library_steps import ON_PURPOSE
from fusewright.plan.loops.plan import OF_FLOATS
from fusewright.runtime.decisions import KINDS
from fusewright.runtime.listening import COMPILES_LESS, interprets
from fusewright.runtime.profile import first_case

MOST_DEAREST = 3
"""Steps told first, those that took longest."""
MOST_ADVICE = 3
MOST_NAMED = 4
"""Operations by which a kernel is told from others."""
LARGE = 0.3
"""A share of the time that is worth advice."""
NOTEWORTHY = 0.05
"""A share of the time from which kernels that were not fused are worth advice."""
NOTICED = 0.5
"""Seconds from which a program's own time is."""
FELT = 0.1
"""Seconds of it that are worth naming a loop."""

OWN = "the program's own Python and NumPy"
OWN_AND_RECORDING = f"{OWN}, and recording"
"""Without the native core nobody knows what recording takes."""


STILL_PENDING = (
    "Operations were recorded, and what is pending at the end is never computed: print a result, "
    "or save it."
)


class TimeShare(NamedTuple):
    """A part of a program's time."""

    name: str
    seconds: float


def shares_of(summary: Summary, whole: float) -> list[TimeShare]:
    """Where the time went; the parts add up to the whole."""
    inside = min(summary.flush_seconds, whole)
    flushes = _Rest(inside)
    kernels = flushes.take(summary.kernel_seconds)
    library = flushes.take(summary.opaque_seconds)
    compiling = flushes.take(summary.compile_seconds)
    loading = flushes.take(summary.loading_inside)
    others = _Rest(whole - inside)
    telling = others.take(summary.telling)
    loading += others.take(summary.loading - summary.loading_inside)
    starting = others.take(summary.translating + summary.planning)
    recording = others.take(summary.recording or 0.0)
    unknown = summary.recording is None
    return [
        TimeShare("kernels", kernels),
        TimeShare("library steps", library),
        TimeShare("compiling", compiling),
        TimeShare("planning and starting kernels", flushes.seconds + starting),
        TimeShare("loading Fusewright's modules", loading),
        TimeShare("recording operations", recording),
        TimeShare("noting all this", telling),
        TimeShare(OWN_AND_RECORDING if unknown else OWN, others.seconds),
    ]


class _Rest:
    """Seconds of which parts are taken, never more than there are left."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def take(self, wanted: float) -> float:
        """As much of it as there is."""
        taken = min(max(wanted, 0.0), self.seconds)
        self.seconds -= taken
        return taken


def lines_of(summary: Summary, whole: float | None, hot: HotPlace | None = None) -> Iterator[str]:
    """What the first screen says; `whole` is the program's time, where it is known, `hot` the loop,
    or the package, that most of its own time goes into.
    """
    if not summary.flushes:
        yield "Nothing was evaluated: no array value was asked for."
        if summary.recording:
            yield STILL_PENDING
    if whole is not None and (summary.flushes or whole > NOTICED):
        yield from split(summary, whole)
    if summary.flushes:
        yield from totals(summary)
        yield from _dearest(summary)
    advice = advice_of(summary, whole, hot)
    if advice:
        yield "what to try:"
        yield from (f"  {each}" for each in advice)


def advice_of(summary: Summary, whole: float | None, hot: HotPlace | None = None) -> list[str]:
    """What to try, in sentences."""
    parts = [] if whole is None else shares_of(summary, whole)
    return list(_advice(summary, parts, hot))[:MOST_ADVICE]


def split(summary: Summary, whole: float) -> Iterator[str]:
    """The parts of a program's time, a line for each; where nothing was evaluated only those that
    took time.
    """
    yield f"where the time went, of {seconds(whole)}:"
    for part in shares_of(summary, whole):
        if not summary.flushes and not part.seconds:
            continue
        share = part.seconds / whole if whole else 0.0
        yield f"  {share:4.0%} {part.name}, {seconds(part.seconds)}"


def totals(summary: Summary) -> Iterator[str]:
    """What ran, and how much memory it moved."""
    flushes = sum(f.runs for f in summary.flushes)
    operations = count(summary.operations, "array operation")
    if any(kernel.kind == "loops" for kernel in summary.kernels):
        operations += " and loops of kernels"
    yield (
        f"{count(flushes, 'flush') if flushes == 1 else f'{flushes:,} flushes'}: "
        f"{f'{operations} ran as ' if summary.operations else ''}"
        f"{count(summary.kernel_runs, 'kernel run')} of {count(len(summary.kernels), 'kernel')} "
        f"in {seconds(summary.kernel_seconds)}"
    )
    if summary.operations:
        yield (
            f"memory moved {size(summary.bytes_moved)}; one operation at a time "
            f"{size(summary.bytes_unfused)}{ratio(summary.bytes_unfused, summary.bytes_moved)}"
        )
    remark = remark_on_compiling(summary)
    yield f"compiling {seconds(summary.compile_seconds)}{remark and f': {remark}'}"
    if summary.opaque:
        yield (
            f"{count(summary.opaque_runs, 'library step')} ran as "
            f"{'it is' if summary.opaque_runs == 1 else 'they are'} "
            f"in {seconds(summary.opaque_seconds)}"
        )


def remark_on_compiling(summary: Summary) -> str:
    """That kernels were compiled whose work another run begins without them, where it is so."""
    fresh = any(k.kind == "arrays" and "compiled" in dict(k.origins) for k in summary.kernels)
    return COMPILES_LESS if fresh and interprets(current()) else ""


def ratio(unfused: int, moved: int) -> str:
    """How many times as much is moved one operation at a time: ` (3.0x)`."""
    found = times_as_much(unfused, moved)
    return f" ({found})" if found else ""


def times(runs: int) -> str:
    """`, 30 times`, but nothing for once."""
    return f", {runs:,} times" if runs > 1 else ""


def often(runs: int) -> str:
    """`once`, `30 times`."""
    return "once" if runs == 1 else f"{runs:,} times"


# -- the dearest steps ----------------------------------------------------------------------------


def _dearest(summary: Summary) -> Iterator[str]:
    """The steps that took longest, each with its line and what kept it from being faster."""
    steps: list[KernelGroup | OpaqueGroup] = [*summary.kernels, *summary.opaque]
    steps.sort(key=lambda step: -step.seconds)
    if steps:
        yield "the dearest steps:"
    for step in steps[:MOST_DEAREST]:
        yield _dear(step)


def _dear(step: KernelGroup | OpaqueGroup) -> str:
    if isinstance(step, OpaqueGroup):
        line, why, what = step.line, "" if step.why == ON_PURPOSE else step.why, "library step"
    else:
        lines = [o.line for o in step.operations if o.place != "input" and o.line]
        whys = [o.why for o in step.operations if o.why and o.is_ordered]
        whys += [f"{d.what} not fused: {d.short}" for d in step.decisions if not d.fused]
        line, why, what = next(iter(lines), None), next(iter(whys), ""), "kernel"
    name = step.name if isinstance(step, OpaqueGroup) else called(step)
    told = f"  {step.label} {what} {name} at {place(line)}{times(step.runs)}, "
    return told + seconds(step.seconds) + (f": {why}" if why else "")


def called(kernel: KernelGroup) -> str:
    """What a kernel computes: its name where the user gave it one, or its commonest operations."""
    if kernel.kind != "arrays":
        return kernel.name
    names = Counter(o.name for o in kernel.operations if o.place != "input")
    most = [name for name, _ in names.most_common(MOST_NAMED)]
    what = f"of {count(names.total(), 'operation')}"
    more = ", ..." if len(names) > len(most) else ""
    return f"{what} ({', '.join(most)}{more})" if most else kernel.name


# -- what to try ----------------------------------------------------------------------------------


def _advice(summary: Summary, parts: list[TimeShare], hot: HotPlace | None) -> Iterator[str]:
    """What follows from the figures, the most useful first."""
    whole = sum(part.seconds for part in parts)
    shares = [part.seconds / whole for part in parts] if whole else [0.0] * 8
    kernels, library, compiling, _, _, recording, _, own = shares
    if compiling > LARGE:
        yield "run it again: its code is on disk now, the next process compiles nothing"
    if recording > LARGE and whole > NOTICED:
        yield (
            "much of the time goes into recording operations: give each more elements, or put "
            "what repeats into a function under fw.jit, which records once"
        )
    elif hot is not None and own > NOTEWORTHY and hot.share * own * whole > FELT:
        yield _hot(hot, hot.share * own * whole)
    elif own > 2 * LARGE and whole > NOTICED:
        yield (
            "most of the time is the program's own Python: loops over elements belong into "
            "functions under @fw.kernel"
        )
    if library > LARGE and summary.opaque:
        step = max(summary.opaque, key=lambda each: each.seconds)
        where = f"{step.library}'s {step.name} at {place(step.line)}"
        if step.why == ON_PURPOSE:
            yield f"{where} is left to the library: call it less often, or on less"
        else:
            yield f"{where} is not compiled: {step.why}"
    if kernels > LARGE:
        yield from _about_kernels(summary, whole)
    for each in summary.blocked:
        kind = KINDS[each.code]
        if each.seconds > NOTEWORTHY * whole and not kind.mend.startswith("Nothing"):
            at = f"{each.what} at {place(each.line)}"
            yield f"not fused{times(each.runs)}: {at}: {first_case(each.why)} [{each.code}]"


def _hot(hot: HotPlace, spent: float) -> str:
    """Where seconds of the program's own Python go."""
    where = place((hot.file, hot.line, 1, 0))
    into = f"about {seconds(spent)} of {OWN} go into"
    if hot.package == "numpy":
        return (
            f"{into} numpy, called at {where}: arrays of few elements, and functions without a "
            "compiled form, are NumPy's own"
        )
    if hot.package:
        return f"{into} {hot.package}, called at {where}: that is not Fusewright's to make faster"
    return (
        f"{into} the loop at {where}: where it goes over elements, put it into a function under "
        "@fw.kernel, or write statements on whole arrays"
    )


def _about_kernels(summary: Summary, whole: float) -> Iterator[str]:
    """What would make the kernels faster."""
    ordered = [step for step in summary.kernels if _keeps_float_order(step)]
    if sum(step.seconds for step in ordered) > LARGE * whole:
        dearest = max(ordered, key=lambda each: each.seconds)
        loop = next(o for o in dearest.operations if OF_FLOATS in o.why)
        yield (
            f"the loop at {place(loop.line)} takes its floats in order, for the same last bits: "
            "under fw.options(reassociate=True) it runs in vectors and on threads"
        )
    elif summary.bytes_unfused < 1.2 * summary.bytes_moved:
        yield (
            "little was fused: a value that is asked for (float(), print(), if, an index) ends an "
            "expression; ask once, after the last step"
        )


def _keeps_float_order(step: KernelGroup) -> bool:
    """Whether a loop of it is kept from vectors and threads by that alone."""
    return any(OF_FLOATS in operation.why for operation in step.operations)
