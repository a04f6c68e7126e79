"""A slice compiled for the CPU: its steps in order, ready to run on any slice of the same structure."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fusewright.base.options import Options
from fusewright.codegen.lower import Module, lower
from fusewright.ir import graph
from fusewright.ir.dtypes import DType
from fusewright.ir.expr import Expr, postorder
from fusewright.ir.graph import Memory, Node, contiguous_strides
from fusewright.ir.nest import Alias, Library, Program
from fusewright.plan import fuse, stages
from fusewright.plan.plan import Kernel, Plan
from fusewright.runtime import cache as disk
from fusewright.runtime.image import Image, load
from fusewright.runtime.limits import cpu_count
from fusewright.runtime.trace import Slice
from fusewright.targets.cpu import compiler
from fusewright.targets.cpu.features import FeatureSet, select
from fusewright.targets.cpu.launch import Launch, fetcher, integer, prepare

Memories = dict[int, tuple[Memory, int]]
Results = dict[int, Any]
Compute = Callable[[Node, list[Any]], Any]
"""What a node means to NumPy: the reference target's table."""


@dataclass(slots=True)
class Runner:
    """The steps of a plan with their code.  `last_use[k]` are the slots nobody needs after step k."""

    program: Program
    plan: Plan
    steps: list[Launch | Library | Alias]
    leaves: tuple[int, ...]
    outputs: tuple[int, ...]
    fetches: tuple[Callable[[Sequence[Node]], Any], ...]
    last_use: list[tuple[int, ...]] = field(default_factory=list)

    def run(self, order: Sequence[Node], options: Options, compute: Compute) -> None:
        """Compute, and make the output nodes leaves."""
        values = [fetch(order) for fetch in self.fetches]
        memories: Memories = {slot: order[slot].value[:2] for slot in self.leaves}
        limit = options.threads or cpu_count()
        results: Results = {}
        for step, dead in zip(self.steps, self.last_use, strict=True):
            if isinstance(step, Launch):
                step.run(values, memories, limit)
            elif isinstance(step, Alias):
                memories[step.slot] = memories[step.source]
            else:
                _library(order, step, memories, results, compute)
            for slot in dead:
                memories.pop(slot, None)
        for slot in self.outputs:
            node = order[slot]
            memory, offset = memories[slot]
            shape = node.shape
            size = node.dtype.itemsize
            strides = (size,) if len(shape) == 1 else contiguous_strides(shape, size)
            node.become_leaf(memory, offset, strides)


def build(slice_: Slice, options: Options) -> Runner:
    """Plan and compile a slice."""
    order, outputs = slice_.order, frozenset(slice_.outputs)
    reusable = frozenset(slice_.slots[node] for node in slice_.reusable)
    program = stages.build(order, outputs, reusable)
    values = [
        fetcher(source, order[source.slot].kind)(order) for source in program.arguments
    ]

    def size(expr: Expr) -> int:
        return integer(expr)(values)

    plan = fuse.group(program, size, options.fuse)
    features = select(options.features)
    scalars = {
        number: order[source.slot].dtype
        for number, source in enumerate(program.arguments)
        if source.what == "scalar"
    }
    steps = [
        _compiled(program, step, features, scalars) if isinstance(step, Kernel) else step
        for step in plan.steps
    ]
    leaves = tuple(slot for slot, node in enumerate(order) if node.kind == graph.LEAF)
    fetches = tuple(fetcher(source, order[source.slot].kind) for source in program.arguments)
    return Runner(
        program, plan, steps, leaves, tuple(sorted(outputs)), fetches, _last_uses(plan, outputs)
    )


def _last_uses(plan: Plan, outputs: frozenset[int]) -> list[tuple[int, ...]]:
    """After which step each stored value is no longer needed."""
    seen = set(outputs)
    result: list[tuple[int, ...]] = []
    for step in reversed(plan.steps):
        used = _touched(step)
        result.append(tuple(used - seen))
        seen |= used
    return result[::-1]


def _touched(step: Kernel | Library | Alias) -> set[int]:
    if isinstance(step, Alias):
        return {step.slot, step.source}
    if isinstance(step, Library):
        return {step.slot, *step.reads}
    loads = postorder(n.body for m in step.members for n in m.stage.nests)
    updates = {m.stage.update for m in step.members if m.stage.update >= 0}
    stored = {m.stage.slot for m in step.members}
    return stored | updates | {e.attr for e in loads if e.name == "load"}


def _compiled(
    program: Program, kernel: Kernel, features: FeatureSet, scalars: dict[int, DType]
) -> Launch:
    module = lower(program, kernel, features.vector_bytes)
    image = load(_image(module, features))
    code = (image.address("kernel"), image.address("finish") if module.finish else 0)
    work = 0.05 * sum(
        len(list(postorder([nest.body]))) for m in kernel.members for nest in m.stage.nests
    )
    launch = prepare(program, kernel, module, code, work, scalars)
    launch.image = image
    return launch


def _image(module: Module, features: FeatureSet) -> Image:
    key = hashlib.sha256(
        f"{compiler.version()}\n{features.llvm_features}\n{module.text}".encode()
    ).hexdigest()
    stored = disk.get(key)
    if stored is not None:
        try:
            return Image.from_bytes(stored)
        except ValueError:
            pass  # damaged: made again below
    image = compiler.compile_ir(module.text, features, 2)
    disk.put(key, image.to_bytes())
    return image


def _library(
    order: Sequence[Node], step: Library, memories: Memories, results: Results, compute: Compute
) -> None:
    """Run a step on whole arrays."""
    node = order[step.slot]
    slots = {id(n): number for number, n in enumerate(order)}
    operands = [_array(arg, slots, memories, results) for arg in node.args]
    with np.errstate(all="ignore"):
        result = compute(node, operands)
    if isinstance(result, tuple):
        results[step.slot] = result
        return
    array = np.array(result, dtype=node.dtype.numpy, order="C", ndmin=1).reshape(node.shape)
    address = array.__array_interface__["data"][0]
    memories[step.slot] = (Memory(address, array.nbytes, array.reshape(-1).view(np.uint8)), 0)


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


def viewed(node: Node, source: Any) -> Any:
    """A VIEW of an array, without a copy."""
    first = tuple(slice(start, start + 1) for _, start, _ in node.attr)
    strides = [0] * len(node.shape)
    for (out, _, step), stride in zip(node.attr, source.strides, strict=True):
        if out >= 0:
            strides[out] += step * stride
    if 0 in node.shape or 0 in source.shape:
        return np.empty(node.shape, source.dtype)
    return np.lib.stride_tricks.as_strided(source[first], node.shape, strides)
