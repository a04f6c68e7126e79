"""An interpreter of planned kernels that marks every byte it loads from memory or stores there.

It runs the loops of each member in NumPy over the whole box at once, addresses included, so it
shares nothing with `plan.count` but the definition of what counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fusewright.ir import graph
from fusewright.ir.expr import Expr, postorder
from fusewright.ir.graph import Node, contiguous_strides
from fusewright.ir.interpret import Environment, evaluate
from fusewright.ir.nest import Nest, Program
from fusewright.plan.plan import Kernel, Member
from fusewright.runtime.arguments import fetcher, integer
from fusewright.runtime.trace import take
from fusewright.targets.cpu.build import decide

Marks = dict[object, set[int]]


class Counter:
    """Which bytes one kernel touches."""

    def __init__(self, order: Sequence[Node], program: Program, kernel: Kernel) -> None:
        self.order = order
        self.program = program
        self.kernel = kernel
        self.values = [
            fetcher(source, order[source.slot].kind)(order) for source in program.arguments
        ]
        self.read: Marks = {}
        self.written: Marks = {}

    def run(self) -> tuple[int, int]:
        for member in self.kernel.members:
            for nest in member.stage.nests:
                self._nest(member, nest)
        return _total(self.read), _total(self.written)

    def _nest(self, member: Member, nest: Nest) -> None:
        low = [integer(bound)(self.values) for bound in nest.box.low]
        high = [integer(bound)(self.values) for bound in nest.box.high]
        ranges = [np.arange(a, max(a, b)) for a, b in zip(low, high, strict=True)]
        grid = np.meshgrid(*ranges, indexing="ij", sparse=True) if ranges else []
        inside = {each.stage.slot for each in self.kernel.members}
        for load in (e for e in postorder([nest.body]) if e.name == "load"):
            if load.attr not in inside:
                self._mark(self.read, load.attr, load.args, grid, load.dtype.itemsize)
        if member.place == "memory":
            size = self.order[member.stage.slot].dtype.itemsize
            self._mark(self.written, member.stage.slot, nest.store, grid, size)

    def _mark(
        self, marks: Marks, slot: int, where: Sequence[Expr], grid: Sequence[Any], size: int
    ) -> None:
        environment = Environment(
            buffers=self._tables(where),
            params=dict(enumerate(self.values)),
            indices=dict(enumerate(grid)),
        )
        key, first, strides = self._layout(slot, len(where))
        address: Any = np.int64(first)
        for position, stride in zip(where, strides, strict=False):
            address = address + evaluate(position, environment) * stride
        shape = np.broadcast_shapes(np.shape(address), *(np.shape(axis) for axis in grid))
        found = marks.setdefault(key, set())
        for start in np.unique(np.broadcast_to(address, shape)).tolist():
            found.update(range(start, start + size))

    def _tables(self, where: Sequence[Expr]) -> dict[int, Any]:
        """The arrays that indices themselves are read from."""
        slots = {e.attr for e in postorder(where) if e.name == "load"}
        return {slot: _content(self.order[slot]) for slot in slots}

    def _layout(self, slot: int, rank: int) -> tuple[object, int, tuple[int, ...]]:
        node = self.order[slot]
        if node.kind == graph.LEAF:
            memory, offset, strides = node.value
            key: object = id(memory)
        else:
            key, offset = ("value", slot), 0
            strides = contiguous_strides(node.shape, node.dtype.itemsize)
        return key, offset, strides if rank == len(strides) else (node.dtype.itemsize,) * rank


def _content(node: Node) -> Any:
    memory, offset, strides = node.value
    return np.ndarray(node.shape, node.dtype.numpy, memory.owner, offset, strides)


def _total(marks: Marks) -> int:
    return sum(map(len, marks.values()))


def counted(nodes: Sequence[Node], options: Any) -> list[tuple[int, int]]:
    """Bytes read and written by each kernel the nodes need."""
    slice_ = take(nodes)
    program, plan = decide(slice_, options)
    return [
        Counter(slice_.order, program, step).run()
        for step in plan.steps
        if isinstance(step, Kernel)
    ]
