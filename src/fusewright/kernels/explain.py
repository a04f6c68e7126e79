"""What became of a kernel: for each set of argument types its statements, how its loops run and
why, and where the code came from.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from fusewright.base.source import Span
from fusewright.frontends.kernels.values import (
    ArrayKind,
    Kind,
    NumberKind,
    Path,
    StaticKind,
    StructKind,
    TupleKind,
)
from fusewright.ir.loops.statements import NOWHERE, For
from fusewright.ir.loops.statements import Kernel as Loops
from fusewright.ir.loops.text import kernel_text
from fusewright.kernels.iteration import NotRaised
from fusewright.kernels.listing import kernel_listing
from fusewright.kernels.recipe import Recipe
from fusewright.kernels.specialise import Specialised
from fusewright.plan.loops.decide import decide
from fusewright.plan.loops.plan import LoopPlan, PairReport
from fusewright.runtime.decisions import code_of
from fusewright.targets.executable import LoopExecutable

if TYPE_CHECKING:
    from fusewright.kernels.kernel import Kernel


@dataclass(frozen=True, slots=True)
class LoopRecord:
    """How one loop runs: on threads (where the work is worth it), in vectors, or in order.

    `why` names what keeps the iterations in order, `because` its line.
    """

    line: Span
    names: tuple[str, ...]
    threads: bool
    vectors: bool
    why: str
    because: Span
    folds: tuple[str, ...] = ()
    scans: tuple[str, ...] = ()

    @property
    def parallel(self) -> bool:
        return self.threads or self.vectors


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
    loops: tuple[LoopRecord, ...]
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


@dataclass(frozen=True, slots=True)
class KernelExplanation:
    """A record for each code, and for each kind of lazy call; prints as text."""

    name: str
    codes: tuple[CodeRecord, ...]
    lazy: tuple[LazyRecord, ...] = ()

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"kernel {self.name}" + ("" if self.codes or self.lazy else ": not called yet")
        for call in self.lazy:
            yield from _lazy_lines(call)
        for code in self.codes:
            yield f"for ({', '.join(code.arguments)})"
            yield (
                f"  {code.origin}, {code.seconds * 1e3:.1f} ms, {code.features}; "
                f"calls: {code.calls}"
            )
            for a, b in code.sharing:
                yield f"  where `{a}` and `{b}` share memory (looked at in each call)"
            for loop in written_loops(code.loops):
                yield from _loop_lines(loop)
            for pair in code.pairs:
                yield from pair_lines(pair)
            yield from _measured_lines(code)
            yield from _planned_lines(code)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        # Imported here: only notebooks ask.
        from fusewright.kernels.pages import page

        return page(self)


def _lazy_lines(call: LazyRecord) -> Iterator[str]:
    shapes = ", ".join(map(str, call.shapes))
    yield f"for lazy ({', '.join(call.arguments)}) of shapes {shapes}"
    if call.raised:
        yield f"  recorded as array statements: {call.operations} operations"
        return
    yield f"  runs as a kernel of its own when a value is asked for: {call.why}"
    if call.because[1]:
        reason = linecache.getline(call.because[0], call.because[1]).strip()
        yield f"    line {call.because[1]}: {reason}"


def _measured_lines(code: CodeRecord) -> Iterator[str]:
    for nbytes, times in code.measured:
        where = f"arrays of {nbytes >> 10} KiB"
        if times is None:
            yield f"  fused and apart are close; being measured for {where}"
            continue
        fused, apart = (f"{1e3 * seconds:.3g} ms" for seconds in times)
        form = "fused" if times[0] <= times[1] else "apart"
        yield f"  measured for {where}: fused {fused}, apart {apart}: runs {form}"


def _planned_lines(code: CodeRecord) -> Iterator[str]:
    yield f"  when {code.guard}: {_calls(code.taken[0])}" if code.guard else "  as it runs:"
    yield from ("    " + line for line in code.listing.splitlines())
    if code.guard:
        yield f"  otherwise: {_calls(code.taken[1])}"
        yield from ("    " + line for line in code.otherwise.splitlines())


def _calls(count: int) -> str:
    return f"{count} call{'' if count == 1 else 's'}"


def pair_lines(pair: PairReport) -> Iterator[str]:
    """What became of two neighbouring loops."""
    head = f"  lines {pair.first[1]} and {pair.second[1]}"
    if not pair.fused:
        first, *more = pair.why.splitlines() or ["nothing to gain"]
        yield f"{head}: NOT FUSED: {first} [{code_of(False, pair.why)}]"
        yield from (f"    {line.strip()}" for line in more)
        return
    when = f", when {pair.when}" if pair.when else ""
    yield f"{head}: FUSED on ({', '.join(pair.on)}), {pair.form}{when}"
    yield f"    saves a barrier and {pair.nbytes} bytes of memory traffic an iteration"


def written_loops(loops: Iterable[LoopRecord]) -> Iterator[LoopRecord]:
    """The loops that the user wrote; one that runs in blocks or strips was taken apart."""
    parts: dict[object, list[LoopRecord]] = {}
    for loop in loops:
        parts.setdefault((loop.line, loop.names), []).append(loop)
    for first, *others in parts.values():
        every = [first, *others]
        ordered = next((loop for loop in every if not loop.parallel), first)
        threads, vectors = (any(getattr(p, way) for p in every) for way in ("threads", "vectors"))
        folds, scans = (
            tuple(dict.fromkeys(name for part in every for name in getattr(part, names)))
            for names in ("folds", "scans")
        )
        kept = replace(ordered, why="", because=NOWHERE) if threads or vectors else ordered
        yield replace(kept, threads=threads, vectors=vectors, folds=folds, scans=scans)


def how_it_runs(loop: LoopRecord) -> str:
    """In order, or how else, and why."""
    found = (("on threads", loop.threads), ("in vectors", loop.vectors))
    ways = [way for way, runs in found if runs]
    collected = ", ".join(f"`{name}`" for name in loop.folds)
    begun = ", ".join(f"`{name}`" for name in loop.scans)
    free = (
        f"in blocks, once it is known what {begun} is where each begins" if begun
        else f"any order of updating {collected} is the same" if collected
        else "its iterations are independent"
    )  # fmt: skip
    how = f"{' and '.join(ways)}: {free}" if ways else "in order"
    return how + (f": {loop.why}" if loop.why else "")


def _loop_lines(loop: LoopRecord) -> Iterator[str]:
    text = linecache.getline(loop.line[0], loop.line[1]).strip()
    over = f", loop over {', '.join(loop.names)}" if loop.names else ""
    yield f"  line {loop.line[1]}{over}: {text}"
    yield f"    runs {how_it_runs(loop)}"
    if loop.because[1] and not loop.parallel and loop.because != loop.line:
        reason = linecache.getline(loop.because[0], loop.because[1]).strip()
        yield f"    line {loop.because[1]}: {reason}"


@dataclass(frozen=True, slots=True)
class KernelStats:
    """`translations`: sets of argument types; `codes`: machine code made for them or found.

    Over all codes: `parallel_loops` and `ordered_loops`, `tasks` (loops at the top), pairs of
    neighbouring loops that were `fused`, and dead arrays that need no memory (`contracted`).
    Of the calls with lazy arrays, `raised` became array statements, `deferred` pending kernels.
    """

    calls: int
    raised: int
    deferred: int
    translations: int
    codes: int
    parallel_loops: int
    ordered_loops: int
    tasks: int
    fused: int
    contracted: int


def explain(kernel: Kernel[Any, Any]) -> KernelExplanation:
    """The records of all code a kernel has."""
    codes = [
        _record(kinds, found, code)
        for (kinds, _), candidates in kernel.specialisations.items()
        for found in candidates
        for code in found.compiled.values()
    ]
    lazy = [
        _recorded(kinds, shapes, recipe)
        for (kinds, _), candidates in kernel.specialisations.items()
        for found in candidates
        for ((shapes, _), _), recipe in found.recipes.items()
    ]
    return KernelExplanation(kernel.function.__name__, tuple(codes), tuple(lazy))


def stats(kernel: Kernel[Any, Any]) -> KernelStats:
    """Counts over all code a kernel has."""
    every = [found for candidates in kernel.specialisations.values() for found in candidates]
    bound = kernel.bound.counted if kernel.bound is not None else 0
    plans = [code.plan for found in every for code in found.compiled.values()]
    loops = [loop for plan in plans for loop in plan.loops]
    parallel = sum(loop.parallel for loop in loops)
    replayed = kernel.replayed + sum(recorder.calls for recorder in kernel.recorders)
    redeferred = kernel.redeferred + sum(recorder.calls for recorder in kernel.deferrals)
    return KernelStats(
        calls=sum(found.calls for found in every) + bound + replayed + redeferred,
        raised=sum(found.raised for found in every) + replayed,
        deferred=sum(found.deferred for found in every) + redeferred,
        translations=len(every),
        codes=sum(len(found.compiled) for found in every),
        parallel_loops=parallel,
        ordered_loops=len(loops) - parallel,
        tasks=sum(isinstance(s, For) for plan in plans for s in plan.kernel.body),
        fused=sum(pair.fused for plan in plans for pair in plan.pairs),
        contracted=sum(len(plan.gone) for plan in plans),
    )


def _recorded(kinds: tuple[Kind, ...], shapes: Any, recipe: Recipe | NotRaised) -> LazyRecord:
    arguments, extents = tuple(map(spelled, kinds)), tuple(shape for shape, _ in shapes)
    if isinstance(recipe, Recipe):
        return LazyRecord(arguments, extents, len(recipe.steps), "", NOWHERE)
    return LazyRecord(arguments, extents, 0, recipe.why, recipe.span)


def _record(kinds: tuple[Kind, ...], found: Specialised, code: LoopExecutable) -> CodeRecord:
    plan = reasoned(found, code)
    loops = tuple(
        LoopRecord(one.span, one.names, one.threads, one.vectors, one.why, one.because, one.folds,
                   one.scans)
        for one in plan.loops
    )  # fmt: skip
    return CodeRecord(
        tuple(map(spelled, kinds)),
        kernel_text(code.kernel),
        loops,
        plan.pairs,
        kernel_text(code.plan.kernel),
        listed(found, code, code.plan.kernel),
        code.origin,
        code.features.name,
        code.seconds,
        found.calls,
        code.module.text,
        plan.guard.text if plan.guard is not None else "",
        listed(found, code, plan.otherwise.kernel) if plan.otherwise is not None else "",
        (code.counts[0], code.counts[1]),
        _sharing(found, code),
        tuple(
            (trial.nbytes, trial.least)
            for (address, _), trial in found.trials.items()
            if address == code.address
        ),
    )


def _sharing(found: Specialised, code: LoopExecutable) -> tuple[tuple[str, str], ...]:
    kernel, names = code.kernel, _names(found)
    return tuple(
        (names[a], names[b])
        for a, b in combinations(sorted(names), 2)
        if (a in kernel.written or b in kernel.written) and not kernel.apart(a, b)
    )


def _names(found: Specialised) -> dict[int, str]:
    """What the user calls the buffers."""
    paths = zip(found.kernel.given, found.translated.paths, strict=True)
    return {number: _path(path) for number, path in paths if path is not None}


def reasoned(found: Specialised, code: LoopExecutable) -> LoopPlan:
    """The plan once more, in the user's names and with the reason for each decision."""
    return decide(code.kernel, code.settings, _names(found), _numbers(found, code), reasons=True)


def listed(found: Specialised, code: LoopExecutable, kernel: Loops) -> str:
    """A planned form of the kernel in the user's names."""
    return kernel_listing(kernel, _names(found), _numbers(found, code))


def _numbers(found: Specialised, code: LoopExecutable) -> dict[int, str]:
    """What the user calls the parameters."""
    names, scalars = _names(found), found.translated.scalars
    return {
        number: _path(scalars[source.slot])
        if source.what == "scalar"
        else f"{names.get(source.slot, 'result')}.{_FIELDS[source.what]}[{source.dim}]"
        for number, source in enumerate(code.kernel.arguments)
    }


_FIELDS = {"extent": "shape", "stride": "strides"}


def _path(path: Path) -> str:
    root, *steps = path
    return str(root) + "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in steps)


def spelled(kind: Kind) -> str:
    """An argument's type in words."""
    if isinstance(kind, ArrayKind):
        layout = "" if kind.layout == "c" else f", strides {kind.layout}"
        return f"{kind.dtype}[{', '.join(':' * kind.rank)}{layout}]"
    if isinstance(kind, NumberKind):
        plain = {"int64": "int", "float64": "float"}.get(kind.dtype.name, kind.dtype.name)
        return plain if kind.python else kind.dtype.name
    if isinstance(kind, TupleKind):
        return f"({', '.join(map(spelled, kind.items))})"
    if isinstance(kind, StructKind):
        return kind.type.__name__
    assert isinstance(kind, StaticKind)
    return kind.token or getattr(kind.value, "__name__", repr(kind.value))
