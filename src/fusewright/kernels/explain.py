"""What became of a kernel: for each set of argument types its statements, how its loops run and
why, and where the code came from.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any

from fusewright.base.values import dataclass
from fusewright.base.words import seconds
from fusewright.codegen.listing import listing
from fusewright.codegen.trees.build import tree_of
from fusewright.codegen.wording import Names, free_name
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
from fusewright.ir.loops.text import kernel_text
from fusewright.kernels.iteration import NotRaised
from fusewright.kernels.recipe import Recipe
from fusewright.kernels.records import (
    CodeRecord,
    LazyRecord,
    decisions,
    lazy_lines,
    measured_lines,
    planned_lines,
)
from fusewright.kernels.specialise import Specialised
from fusewright.plan.loops.decide import decide
from fusewright.plan.loops.plan import LoopPlan
from fusewright.plan.loops.wording import loop_lines, written_loops
from fusewright.targets.executable import LoopExecutable

if TYPE_CHECKING:
    from fusewright.kernels.kernel_data import KernelData


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
            yield from lazy_lines(call)
        for code in self.codes:
            yield f"for ({', '.join(code.arguments)})"
            yield (
                f"  {code.origin}, {seconds(code.seconds)}, {code.features}; calls: {code.calls}"
            )
            for a, b in code.sharing:
                yield f"  where `{a}` and `{b}` share memory (looked at in each call)"
            for loop in written_loops(code.loops):
                yield from loop_lines(loop)
            for pair in decisions(code.pairs):
                yield from (f"  {line}" for line in pair.lines())
            yield from measured_lines(code)
            yield from planned_lines(code)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        # Imported here: only notebooks ask.
        from fusewright.kernels.pages import page

        return page(self.name, self.codes, str(self))


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


def explain(kernel: KernelData) -> KernelExplanation:
    """The records of all code a kernel has."""
    codes = [
        _record(kernel, kinds, found, code)
        for (kinds, _), candidates in kernel.specialisations.copy().items()
        for found in candidates
        for code in found.compiled.copy().values()
    ]
    lazy = [
        _recorded(kinds, shapes, recipe)
        for (kinds, _), candidates in kernel.specialisations.copy().items()
        for found in candidates
        for ((shapes, _), _), recipe in found.recipes.copy().items()
    ]
    return KernelExplanation(kernel.function.__name__, tuple(codes), tuple(lazy))


def stats(kernel: KernelData) -> KernelStats:
    """Counts over all code a kernel has."""
    every = [found for candidates in kernel.specialisations.copy().values() for found in candidates]
    bound = kernel.bound.counted if kernel.bound is not None else 0
    plans = [code.plan for found in every for code in found.compiled.copy().values()]
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


def _record(
    kernel: KernelData, kinds: tuple[Kind, ...], found: Specialised, code: LoopExecutable
) -> CodeRecord:
    plan = reasoned(found, code)
    bound = kernel.bound.counted_of(found) if kernel.bound is not None else 0
    return CodeRecord(
        tuple(map(spelled, kinds)),
        kernel_text(code.kernel),
        plan.loops,
        plan.pairs,
        kernel_text(code.plan.kernel),
        listed(found, code, code.plan),
        code.origin,
        code.features.name,
        code.seconds,
        found.calls + bound,
        code.signature.text,
        plan.guard.text if plan.guard is not None else "",
        listed(found, code, plan.otherwise) if plan.otherwise is not None else "",
        (code.counts[0], code.counts[1]),
        _sharing(found, code),
        tuple(
            (trial.nbytes, trial.least)
            for (address, _), trial in found.trials.copy().items()
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
    """What the user calls the buffers; of two with one name the second has a number."""
    paths = zip(found.kernel.given, found.translated.paths, strict=True)
    names = {number: _path(path) for number, path in paths if path is not None}
    taken = {*names.values()}
    inside = dict.fromkeys(sorted(found.kernel.scratch), "temporary")
    made = {**inside, **found.translated.names}
    names |= {number: free_name(name, taken) for number, name in made.items()}
    return names


def reasoned(found: Specialised, code: LoopExecutable) -> LoopPlan:
    """The plan once more, in the user's names and with the reason for each decision."""
    return decide(code.kernel, code.settings, _names(found), _numbers(found, code), reasons=True)


def listed(found: Specialised, code: LoopExecutable, plan: LoopPlan) -> str:
    """The loop tree of a planned form in the user's names."""
    names = _names(found)
    # what has no name is what the kernel gives, or stands in an array statement
    nameless = [number for number in found.kernel.given if number not in names]
    written = [number for number in nameless if number in found.kernel.written]
    read = [number for number in nameless if number not in found.kernel.written]
    for word, numbers in (("result", written), ("array", read)):
        many = len(numbers) > 1
        names |= {number: f"{word}{place if many else ''}" for place, number in enumerate(numbers)}
    tree = tree_of(plan, code.features.vector_bytes)
    return listing(tree, Names(names, _numbers(found, code)))


def _numbers(found: Specialised, code: LoopExecutable) -> dict[int, str]:
    """What the user calls the parameters; the numbers of an array statement have no name."""
    names, scalars = _names(found), found.translated.scalars
    called = [*map(_path, scalars)]
    called += [f"number{each}" for each in range(len(scalars), len(code.kernel.arguments))]
    return {
        number: called[source.slot]
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
