"""A slice compiled for the CPU: its steps in order, ready to run on any slice of the same
structure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fusewright.base.later import later
from fusewright.base.options import Options
from fusewright.base.values import dataclass
from fusewright.codegen.trees.launches import launches_of
from fusewright.ir import graph
from fusewright.ir.graph import InPlace, Memory, Node, contiguous_strides, memory_of
from fusewright.ir.nest import Alias, Library, Program
from fusewright.ir.tree.launches import TreeLaunch, runs_of
from fusewright.plan.plan import Plan
from fusewright.runtime import background
from fusewright.runtime.arguments import fetcher
from fusewright.runtime.limits import default_threads
from fusewright.runtime.reuse import spare
from fusewright.targets.cpu.compiled import Compiled
from fusewright.targets.cpu.direct import taken, viewed
from fusewright.targets.cpu.launch import Launch, prepare
from fusewright.targets.cpu.stored_programs import HOT, ROOM

if TYPE_CHECKING:
    from fusewright.targets.cpu import recorded_products
else:  # most programs have no large product
    recorded_products = later("fusewright.targets.cpu.recorded_products")

Memories = dict[int, tuple[Memory, int]]
Results = dict[int, Any]
Watch = Callable[[float, float, int], None]
"""Called after each step with its start, its seconds and the threads it used."""
Compute = Callable[[Node, list[Any]], Any]
"""What a node means to NumPy: the reference target's table."""


UNKNOWN = object()


@dataclass(slots=True)
class Runner:
    """The steps of a plan with their code.

    `last_use[k]` are the slots nobody needs after step k, `complete[k]` the outputs that step k
    finishes.  `improve` makes better code once the runner has shown that it is needed again: after
    `trial` seconds of running.  `origin` and `seconds` say where the code came from and how long
    that took; `runs` counts the evaluations, `is_large` is as of `Compiled`.
    """

    program: Program
    plan: Plan
    kinds: tuple[int, ...]
    steps: list[Launch | Library | Alias]
    leaves: tuple[int, ...]
    outputs: tuple[int, ...]
    fetches: tuple[Callable[[Sequence[Node]], Any], ...]
    is_large: bool
    last_use: list[tuple[int, ...]] = field(default_factory=list)
    complete: list[tuple[int, ...]] = field(default_factory=list)
    improve: Callable[[], None] | None = None
    trial: float = 0.0
    origin: Literal["compiled", "disk"] = "disk"
    seconds: float = 0.0
    runs: int = 0
    is_final: bool = True
    """Whether there will be no better code."""
    affordable: int = ROOM
    """Bytes of stored values up to which running it holds no more memory than its statements."""
    native: Any = UNKNOWN
    """Its form for the native core; None where the core cannot run it."""

    def run(
        self,
        order: Sequence[Node],
        options: Options,
        compute: Compute,
        watch: Watch | None = None,
    ) -> None:
        """Compute, and make the output nodes leaves; `watch` hears of every step."""
        began = perf_counter()
        if graph.PRODUCT in self.kinds and recorded_products.replayed(order, self.outputs, options):
            return
        values = [fetch(order) for fetch in self.fetches]
        memories: Memories = {slot: order[slot].value[:2] for slot in self.leaves}
        limit = options.threads or default_threads()
        results: Results = {}
        slots: dict[int, int] = {}
        for number, step in enumerate(self.steps):
            start, used = perf_counter() if watch is not None else 0.0, 1
            if isinstance(step, Launch):
                used = step.run(values, memories, limit)
            elif isinstance(step, Alias):
                memories[step.slot] = memories[step.source]
            else:
                slots = slots or {id(node): place for place, node in enumerate(order)}
                self._library(order, number, slots, memories, results, compute)
            if watch is not None:
                watch(start, perf_counter() - start, used)
            # At once: should a later step fail, what was written in place is not written again.
            for slot in self.complete[number]:
                node = order[slot]
                if slot in results:  # several arrays: `compute` has left them with the node
                    continue
                memory, offset = memories[slot]
                shape = node.shape
                size = node.dtype.itemsize
                strides = (size,) if len(shape) == 1 else contiguous_strides(shape, size)
                node.become_leaf(memory, offset, strides)
            for slot in self.last_use[number]:
                memories.pop(slot, None)
        self.note_run(perf_counter() - began)

    def _library(
        self,
        order: Sequence[Node],
        number: int,
        slots: dict[int, int],
        memories: Memories,
        results: Results,
        compute: Compute,
    ) -> None:
        """Run a step on whole arrays."""
        slot = self.steps[number].slot  # type: ignore[union-attr]
        node = order[slot]
        operands = [_array(arg, slots, memories, results) for arg in node.args]
        if node.kind == graph.PRODUCT:
            memories[slot] = (recorded_products.into_pool(node, operands), 0)
            return
        if isinstance(node.value, InPlace):
            last = self.last_use[number]
            node.value.may_overwrite(spare(node, order, [slots[id(a)] in last for a in node.args]))
        if node.kind == graph.PART and node.op and isinstance(operands[0][node.attr], np.ndarray):
            memories[slot] = (memory_of(operands[0][node.attr]), 0)  # a step's own array
            return
        if node.kind == graph.PART:
            given = [operands[0][node.attr]]
        else:
            with np.errstate(all="ignore"):
                given = [compute(node, operands)]
        if isinstance(given[0], tuple):
            results[slot] = given[0]
        else:
            memories[slot] = (memory_of(taken(given, node.dtype.numpy)), 0)

    def note_run(self, seconds: float, runs: int = 1) -> None:
        """Count runs; what runs again is worth better code."""
        self.runs += runs
        self.trial -= seconds
        if self.improve is not None and self.runs >= HOT and self.trial <= 0:
            background.submit(self.improve)
            self.improve = None


def assemble(compiled: Compiled) -> Runner:
    """Make compiled code ready to run."""
    program, plan = compiled.program, compiled.plan
    slots = len(compiled.kinds)
    kernels = [kernel for kernel in compiled.kernels if kernel is not None]
    runs = list(runs_of(launches_of(program, plan)))
    steps: list[Launch | Library | Alias] = [
        prepare(program, kernels[run.work.tree], slots)
        if isinstance(run.work, TreeLaunch)
        else run.work
        for run in runs
    ]
    leaves = tuple(slot for slot, kind in enumerate(compiled.kinds) if kind == graph.LEAF)
    fetches = tuple(fetcher(s, compiled.kinds[s.slot]) for s in program.arguments)
    outputs = tuple(sorted(program.outputs))
    return Runner(
        program,
        plan,
        compiled.kinds,
        steps,
        leaves,
        outputs,
        fetches,
        compiled.is_large,
        [run.release for run in runs],
        [run.complete for run in runs],
    )


def _array(node: Node, slots: dict[int, int], memories: Memories, results: Results) -> Any:
    """An operand as NumPy sees it."""
    if node.kind == graph.SCALAR:
        return node.dtype.numpy.type(node.value)
    slot = slots[id(node)]
    if slot in results:
        return results[slot]
    if slot in memories:
        memory, offset = memories[slot]
        strides = (
            node.value[2]
            if node.kind == graph.LEAF
            else contiguous_strides(node.shape, node.dtype.itemsize)
        )
        return np.ndarray(node.shape, node.dtype.numpy, memory.owner, offset, strides)
    source = _array(node.args[0], slots, memories, results)
    return viewed(node, source)
