"""Kernels and library steps as records: what ran, or would run, in the user's words and in bytes.

Only built while somebody listens, or for `fw.explain`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache
from math import prod
from time import perf_counter
from typing import Any

from fusewright.analysis.traffic import Space, traffic
from fusewright.base.options import Options
from fusewright.base.values import dataclass
from fusewright.codegen.array_listing import array_listing
from fusewright.codegen.canonical import tree_once
from fusewright.codegen.derived import AsWritten
from fusewright.ir import graph
from fusewright.ir.graph import Node
from fusewright.ir.names import name_of
from fusewright.ir.nest import Alias, Library, Program
from fusewright.plan import count, explain
from fusewright.plan.plan import Kernel, Plan
from fusewright.runtime.arguments import fetcher
from fusewright.runtime.once import elapsed
from fusewright.runtime.profile import (
    Decision,
    Flush,
    KernelRecord,
    OpaqueRecord,
    Operation,
    Step,
    collect,
    told,
)
from fusewright.runtime.trace import Slice
from fusewright.runtime.trigger import asked
from fusewright.targets.cpu import product_records, recorded_products
from fusewright.targets.cpu.build import decide
from fusewright.targets.cpu.compiled import BEST
from fusewright.targets.cpu.features import select
from fusewright.targets.cpu.launch import Launch
from fusewright.targets.cpu.runner import Compute, Runner

MOST_DESCRIBED = 512
"""Descriptions kept, by structure, shapes and lines: a program's loop runs the same ones."""


@dataclass(frozen=True, slots=True)
class Ran:
    """When a step ran, for how long, on how many threads."""

    start: float
    seconds: float
    threads: int


_described: dict[Any, tuple[Runner, tuple[Step | None, ...]]] = {}


def run(
    began: float,
    order: list[Node],
    runner: Runner,
    fresh: bool,
    options: Options,
    compute: Compute,
    is_slow: bool = False,
) -> None:
    """Run a slice's code, and tell every listener what ran; the evaluation `began` with planning
    and compiling.
    """
    flush = Flush(*asked(), began, is_slow=is_slow)
    ran: list[Ran] = []
    looked = perf_counter()

    def watch(start: float, seconds: float, threads: int) -> None:
        ran.append(Ran(start, seconds, threads))

    described = steps_of(order, runner, options, fresh)
    flush.telling = elapsed(looked)
    with collect() as loops:
        try:
            runner.run(order, options, compute, watch)
        finally:
            ended = perf_counter()
            flush.seconds = ended - flush.start
            inside = [describe() for describe in loops]
            for step in with_times(described, ran):
                flush.steps += _ran_inside(step, inside)
            told(flush, elapsed(ended))


def _ran_inside(step: Step, loops: Sequence[KernelRecord]) -> list[Step]:
    """A step as it ran: pending calls of kernels are the kernels that their code told of."""
    if not isinstance(step, KernelRecord) or step.kind != "loops":
        return [step]
    found = [each for each in loops if 0.0 <= each.start - step.start <= step.seconds]
    return list(found) or [step]  # the reference interpreter tells of none


def steps_of(
    order: Sequence[Node], runner: Runner, options: Options, fresh: bool
) -> tuple[Step | None, ...]:
    """One record for each step of a runner (None for an alias).

    Made before it runs: a node that has been computed has forgotten how.  `fresh` says that the
    runner was made for this evaluation.
    """
    shapes = tuple((node.shape, node.line) for node in order)
    key = (id(runner), shapes)
    found = _described.get(key)
    if found is None:
        if len(_described) >= MOST_DESCRIBED:
            _described.clear()
        # the runner is kept with its records, so that its id stays its own
        found = (runner, _of_runner(order, runner, options))
        _described[key] = found
    return tuple(
        _with_code(record, step, runner, fresh)
        for record, step in zip(found[1], runner.steps, strict=True)
    )


def _with_code(
    record: Step | None, step: Launch | Library | Alias, runner: Runner, fresh: bool
) -> Step | None:
    if not isinstance(record, KernelRecord) or not isinstance(step, Launch):
        return record
    text = step.signature.text
    kernels = sum(isinstance(each, Launch) for each in runner.steps)
    return replace(
        record,
        name=kernel_name(text),
        llvm=text,
        origin=runner.origin if fresh else "memory",
        compile_seconds=runner.seconds / kernels if fresh else 0.0,
    )


@lru_cache(maxsize=MOST_DESCRIBED)
def kernel_name(text: str) -> str:
    """A name that is the same wherever the code is."""
    return f"k_{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def planned_steps(
    order: Sequence[Node], program: Program, plan: Plan, options: Options, is_large: bool
) -> tuple[Step | None, ...]:
    """The steps of a plan as records that have not run: no time, no code."""
    describer = _Describer(order, program, plan, select(options.features).vector_bytes, is_large)
    return tuple(map(describer.step, plan.steps))


def _of_runner(order: Sequence[Node], runner: Runner, options: Options) -> tuple[Step | None, ...]:
    return planned_steps(order, runner.program, runner.plan, options, runner.is_large)


class _Describer:
    def __init__(
        self,
        order: Sequence[Node],
        program: Program,
        plan: Plan,
        vector_bytes: int,
        is_large: bool,
    ) -> None:
        self.vector_bytes, self.is_large = vector_bytes, is_large
        self.order = order
        self.program = program
        self.plan = plan
        self.values = [
            fetcher(source, order[source.slot].kind)(order) for source in program.arguments
        ]
        self.shown = [(node.dtype, node.shape) for node in order]
        self.counted: set[int] = set()

    def step(self, step: Kernel | Library | Alias) -> Step | None:
        if isinstance(step, Kernel):
            return self._kernel(step)
        if isinstance(step, Library) and not self._is_taken(self.order[step.slot]):
            return self._library(step)
        return None

    def _is_taken(self, node: Node) -> bool:
        """Whether a value has been computed, in place, by the step it is a part of."""
        return node.kind == graph.PART and isinstance(node.args[0].value, graph.InPlace)

    def _library(self, step: Library) -> Step:
        node = self.order[step.slot]
        if isinstance(node.value, graph.InPlace):
            return self._calls(node)
        if node.kind == graph.PRODUCT:
            return product_records.alone(node)
        return OpaqueRecord(name_of(node), "numpy", 0.0, 0.0, explain.why_opaque(node), node.line)

    def _calls(self, whole: Node) -> KernelRecord:
        """Pending calls of kernels, before they run: code is found when the arrays are known."""
        parts = [n for n in self.order if n.kind == graph.PART and n.args and n.args[0] is whole]
        read, written = sum(map(_nbytes, whole.args)), sum(map(_nbytes, parts))
        return KernelRecord(
            name=name_of(whole).removeprefix("kernel "),
            start=0.0,
            seconds=0.0,
            threads=1,
            bytes_read=read,
            bytes_written=written,
            bytes_unfused=read + written,
            operations=(),
            decisions=(),
            origin="memory",
            compile_seconds=0.0,
            llvm="",
            kind="loops",
        )

    def _kernel(self, kernel: Kernel) -> KernelRecord:
        placed = explain.operations(self.order, self.plan, kernel)
        computed = {each.slot for each in placed if each.place != "input"}
        planned = self.program, kernel, self.vector_bytes, self.is_large
        numbered = tree_once(*planned, AsWritten())
        given = [self.values[number] for number in numbered.params]
        moved = traffic(numbered.tree, given, lambda number: self._place(numbered.slots[number]))
        # what two kernels compute is one operation of the user's: it would have run once
        unfused = sum(count.unfused(self.order[slot]) for slot in computed - self.counted)
        self.counted |= computed
        shown = self.shown  # no node is kept for the listing: references are counted
        return KernelRecord(
            name="",
            start=0.0,
            seconds=0.0,
            threads=1,
            bytes_read=moved.read,
            bytes_written=moved.written,
            bytes_unfused=unfused,
            operations=tuple(self._operation(kernel, each) for each in placed),
            decisions=tuple(self._decisions(kernel, computed)),
            origin="memory",
            compile_seconds=0.0,
            llvm="",
            listing=cache(lambda: array_listing(shown, planned[0], *tree_once(*planned))),
        )

    def _place(self, slot: int) -> tuple[Space, int]:
        """Where a value begins, in its memory."""
        node = self.order[slot]
        if node.kind != graph.LEAF:
            return ("value", slot), 0
        memory, offset, _ = node.value
        return ("memory", id(memory)), offset

    def _operation(self, kernel: Kernel, placed: explain.Placed) -> Operation:
        node = self.order[placed.slot]
        name = name_of(node)
        why = ""
        if placed.place in ("row", "memory"):
            member = next(m for m in kernel.members if m.stage.slot == placed.slot)
            why = explain.why_kept(self.order, self.program, kernel, member)
        return Operation(name, node.dtype.name, node.shape, placed.place, node.line, why)

    def _decisions(self, kernel: Kernel, computed: set[int]) -> list[Decision]:
        found = [
            Decision(
                decided.fused,
                explain.spelled(self.order, decided),
                decided.why,
                self.order[decided.slots[1]].line,
            )
            for decided in explain.decisions_of(self.plan, computed)
        ]
        return list(dict.fromkeys(found))


def _nbytes(node: Node) -> int:
    return prod(node.shape) * node.dtype.itemsize


def with_times(records: Sequence[Step | None], ran: Sequence[Ran]) -> list[Step]:
    """The records of the steps that ran, in order."""
    finished: list[Step] = []
    for record, each in zip(records, ran, strict=False):
        if isinstance(record, KernelRecord):
            finished.append(
                replace(record, start=each.start, seconds=each.seconds, threads=each.threads)
            )
        elif record is not None:
            finished.append(record._replace(start=each.start, seconds=each.seconds))
    return finished


def planned(slice_: Slice, options: Options) -> list[Step]:
    """What would run for a slice; nothing runs."""
    if not any(node.kind == graph.PRODUCT for node in slice_.order):
        return _planned(slice_, options)
    found: list[Step] = []
    for each in recorded_products.planned(slice_, options):
        found += _planned(each, options) if isinstance(each, Slice) else [each]
    return found


def _planned(slice_: Slice, options: Options) -> list[Step]:
    program, plan = decide(slice_, options)
    steps = planned_steps(slice_.order, program, plan, options, slice_.is_large)
    return [step for step in steps if step is not None]


def texts(order: Sequence[Node], runner: Runner, options: Options, what: str) -> list[str]:
    """Each kernel as text: its loops (library steps, too), LLVM's, or machine code."""
    if what == "loops":
        steps = _of_runner(order, runner, options)
        return [s.loops if isinstance(s, KernelRecord) else _noted(s) for s in steps if s]
    found = [step.signature.text for step in runner.steps if isinstance(step, Launch)]
    if what == "llvm":
        return found
    # Imported here: only machine code needs the compiler.
    from fusewright.targets.cpu import compiler

    features = select(options.features)
    return [compiler.assembly(text, features, BEST) for text in found]


def _noted(step: OpaqueRecord) -> str:
    return f"# library step: {step.name} ({step.library}): {step.why}"
