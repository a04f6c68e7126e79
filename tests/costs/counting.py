"""The bytes that loop trees touch: planned kernels are interpreted element by element, and every
byte that they load from memory or store there is marked.

What a kernel stores and reads back counts as written; scratch is no memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fusewright.codegen.canonical import tree_once
from fusewright.ir import graph
from fusewright.ir.expr import Expr
from fusewright.ir.graph import Node
from fusewright.ir.nest import Alias, Program
from fusewright.ir.tree.interpret_arrays import ArrayMachine, UnitCalls, run_array_tree
from fusewright.ir.tree.nodes import stored
from fusewright.ir.tree.units import PartialResults
from fusewright.plan.plan import Kernel
from fusewright.runtime.arguments import fetcher, integer
from fusewright.runtime.trace import take
from fusewright.targets.cpu.build import decide

VECTOR_BYTES = 32
STRETCH = 64
"""Elements of dim 1 that are computed at a time, where they are: no byte depends on it."""


class Marks:
    """Addresses of bytes that one kernel touches."""

    def __init__(self) -> None:
        self.read: set[int] = set()
        self.written: set[int] = set()


class MarkingMachine(ArrayMachine):
    """A call of a tree that marks what it touches."""

    marks = Marks()

    def _one(self, node: Expr, operands: list[Any]) -> Any:
        if node.name != "load":
            return super()._one(node, operands)
        array, where = super()._place(node.attr, operands)
        if node.attr not in self.rooms and node.attr not in stored(self.tree.body):
            _mark(self.marks.read, array, where)
        return array[where]

    def _place(self, number: int, places: Sequence[Any]) -> tuple[Any, tuple[int, ...]]:
        array, where = super()._place(number, places)
        if number not in self.rooms and number not in self.partials:
            _mark(self.marks.written, array, where)
        return array, where

    def finish(self, each: PartialResults) -> None:
        """The results of blocks are stored when all have run."""
        super().finish(each)
        result = self.arrays[each.buffer]
        for where in np.ndindex(*result.shape):
            _mark(self.marks.written, result, where)


def _mark(marks: set[int], array: Any, where: Sequence[int]) -> None:
    offsets = (int(place) * stride for place, stride in zip(where, array.strides, strict=True))
    first = array.__array_interface__["data"][0] + sum(offsets)
    marks.update(range(first, first + array.itemsize))


class Counter:
    """The kernels of one plan, run in order on arrays of their own."""

    def __init__(self, order: Sequence[Node], program: Program) -> None:
        self.order, self.program = order, program
        self.values = [
            fetcher(source, order[source.slot].kind)(order) for source in program.arguments
        ]
        self.arrays: dict[int, Any] = {}

    def array(self, slot: int) -> Any:
        """A value's memory: a leaf's own, or what the plan's steps share."""
        if slot not in self.arrays:
            node = self.order[slot]
            if node.kind == graph.LEAF:
                memory, offset, strides = node.value
                self.arrays[slot] = np.ndarray(
                    node.shape, node.dtype.numpy, memory.owner, offset, strides
                )
            else:
                self.arrays[slot] = np.zeros(node.shape, node.dtype.numpy)
        return self.arrays[slot]

    def run(self, kernel: Kernel) -> tuple[int, int]:
        """Bytes read and written."""
        tree, slots, params = tree_once(self.program, kernel, VECTOR_BYTES)
        for stage in (member.stage for member in kernel.members):
            if stage.update not in (-1, stage.slot):
                base = self.array(stage.update)
                is_leaf = self.order[stage.update].kind == graph.LEAF
                self.arrays[stage.slot] = base.copy() if is_leaf else base
        own = [self.values[number] for number in params]
        assert tree.units is not None
        units = integer(tree.units.count)(own)
        machine = type("Marking", (MarkingMachine,), {"marks": Marks()})
        arrays = [self.array(slots[number]) for number in tree.declared.given]
        run_array_tree(tree, arrays, own, UnitCalls([(0, units)], 1, STRETCH), machine)
        return len(machine.marks.read), len(machine.marks.written)


def counted(nodes: Sequence[Node], options: Any) -> list[tuple[int, int]]:
    """Bytes read and written by each kernel the nodes need."""
    slice_ = take(nodes)
    program, plan = decide(slice_, options)
    counter, found = Counter(slice_.order, program), []
    for step in plan.steps:
        if isinstance(step, Kernel):
            found.append(counter.run(step))
        elif isinstance(step, Alias):
            shape = slice_.order[step.slot].shape
            counter.arrays[step.slot] = counter.array(step.source).reshape(shape)
    return found
