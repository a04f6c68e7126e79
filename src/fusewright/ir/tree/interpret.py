"""What a loop tree means, run by NumPy: lanes are arrays of numbers, tasks run in parts.

The parts of a task run last part first, each with nothing but its frame, so that what depends on
their order, or on what is not in the frame, shows.  In lanes a node is evaluated for all of them;
loads and operations under a mask for its lanes only, the others hold zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from fusewright.ir.dtypes import DType
from fusewright.ir.expr import Expr, param, postorder, typed_op
from fusewright.ir.identity import of_update
from fusewright.ir.loops.interpret import RUN, Failed, KernelMachine, meaning
from fusewright.ir.loops.statements import (
    Block,
    Check,
    If,
    Leave,
    Let,
    Print,
    Store,
    While,
)
from fusewright.ir.tree.nodes import (
    Allocate,
    Branch,
    Labelled,
    MappedLoop,
    MaskedBlock,
    PairedStore,
    Reduction,
    ThreadMapping,
    Tree,
    WhileLoop,
)

PARTS = 3
"""Into how many parts a task is cut."""
_ALL_LANES = frozenset({"where", "bitwise_and", "invert"})
"""Operations that masks and selections are made of."""
Bounds = tuple[int, int]


def run_tree(
    tree: Tree,
    arrays: Sequence[Any],
    params: Sequence[Any],
    show: Callable[[str], None],
    failed: Failed,
) -> None:
    """Run a tree on the arrays it is given, with one value for each parameter; the other arguments
    are those of `ir.loops.interpret.run`.
    """
    machine = TreeMachine(tree, arrays, params, show, failed)
    with np.errstate(all="ignore"):
        if tree.guard is None or tree.otherwise is None or machine.value(tree.guard):
            machine.block(tree.body)
        else:
            run_tree(tree.otherwise, arrays, params, show, failed)


class TreeMachine(KernelMachine):
    """`active` says which lanes run; None outside lanes."""

    def __init__(
        self,
        tree: Tree,
        arrays: Sequence[Any],
        params: Sequence[Any],
        show: Callable[[str], None],
        failed: Failed,
    ) -> None:
        kernel = tree.declared
        pairs = zip(kernel.given, arrays, strict=True)
        seen = [_as_reals(array, len(kernel.buffers[number].extents)) for number, array in pairs]
        super().__init__(kernel, seen, params, show, failed)
        self.tree = tree
        self.active: Any = None

    def block(self, body: Sequence[Any]) -> None:
        """Nodes, one after the other."""
        for node in body:
            _RUN_NODE[type(node)](self, node)

    # -- lanes ----------------------------------------------------------------------------------

    def value(self, root: Expr) -> Any:
        """What an expression stands for: a number, or one for each lane."""
        if self.active is None:
            return super().value(root)
        values: dict[Expr, Any] = {}
        for node in postorder([root]):
            values[node] = self._in_lanes(node, [values[arg] for arg in node.args])
        return values[root]

    def _in_lanes(self, node: Expr, operands: list[Any]) -> Any:
        if not node.args and node.name != "load":
            return np.broadcast_to(self._one(node, []), self.active.shape)
        found = np.zeros(self.active.shape, node.dtype.numpy)
        everywhere = node.name in _ALL_LANES
        for lane in range(len(found)) if everywhere else np.flatnonzero(self.active):
            found[lane] = self._one(node, [operand[lane] for operand in operands])
        return found

    def store(self, statement: Store) -> None:
        """An element, or one for each lane that runs."""
        if self.active is None:
            RUN[Store](self, statement)
            return
        places = [self.value(place) for place in statement.indices]
        values = self.value(statement.value)
        array, dtype = self.arrays[statement.buffer], statement.value.dtype
        for lane in np.flatnonzero(self.active):
            place = tuple(int(each[lane]) for each in places)
            array[place] = updated(statement.combine, dtype, array[place], values[lane])

    def masked(self, node: MaskedBlock) -> None:
        """Nodes in some lanes."""
        before = self.active
        self.active = before & self.value(node.mask)
        self.block(node.body)
        self.active = before

    def allocate_node(self, node: Allocate) -> None:
        """An array; a variable takes whatever it is given."""
        if node.scope != "register":
            self.allocate(node.number)

    # -- loops ----------------------------------------------------------------------------------

    def loop(self, loop: MappedLoop) -> None:
        """A loop, as it is mapped."""
        if self.active is not None:  # the bounds are the same in all lanes that run
            if self.active.any():
                lane = int(np.flatnonzero(self.active)[0])
                self.turns(loop, *(int(self.value(e)[lane]) for e in (loop.low, loop.high)))
            return
        low, high = int(self.value(loop.low)), int(self.value(loop.high))
        if loop.threads is not None:
            self._task(loop, loop.threads, low, high)
        else:
            self.turns(loop, low, high)

    def turns(self, loop: MappedLoop, low: int, high: int) -> None:
        """The iterations from `low` on, by one thread."""
        if loop.lanes is not None:
            self._vectors(loop, loop.lanes.width, low, high)
            return
        for position in range(low, high):
            self.indices[loop.index] = np.int64(position)
            self.block(loop.body)

    def _vectors(self, loop: MappedLoop, width: int, low: int, high: int) -> None:
        reduced = [each for each in loop.reductions if each.what == "variable"]
        before = dict(self.locals)
        copies = {each.number: self._identities(each, width) for each in reduced}
        for start in range(low, high, width):
            lanes = min(width, high - start)
            self.active = np.ones(lanes, bool)
            self.indices[loop.index] = np.arange(start, start + lanes)
            self.locals = before | {number: own[:lanes] for number, own in copies.items()}
            self.block(loop.body)
            for number, own in copies.items():
                own[:lanes] = self.locals[number]
        self.active, self.locals = None, before
        for each in reduced:
            for own in copies[each.number][::-1]:
                self._join(each, own)

    def _identities(self, each: Reduction, count: int) -> Any:
        dtype = self.kernel.locals[each.number].dtype
        return np.full(count, of_update(each.by, dtype), dtype.numpy)

    def _join(self, each: Reduction, own: Any) -> None:
        dtype = self.kernel.locals[each.number].dtype
        self.locals[each.number] = updated(each.by, dtype, self.locals[each.number], own)

    # -- tasks ----------------------------------------------------------------------------------

    def _task(self, loop: MappedLoop, task: ThreadMapping, low: int, high: int) -> None:
        arrays = [each for each in loop.reductions if each.what == "array"]
        small = all(self.arrays[each.number].size <= each.most for each in arrays)
        cuts = [low + (high - low) * part // PARTS for part in range(PARTS + 1)]
        for begin, end in reversed(list(pairwise(cuts if small else [low, high]))):
            self._part(loop, task, (begin, end), arrays if small else [])

    def _part(
        self, loop: MappedLoop, task: ThreadMapping, bounds: Bounds, arrays: list[Reduction]
    ) -> None:
        given = [self.arrays[number] for number in self.kernel.given]
        own = TreeMachine(self.tree, given, self.params, self.show, self.failed)
        own.arrays |= {number: self.arrays[number] for number in task.shared}
        for node in task.frame:
            known, theirs = (
                (own.indices, self.indices) if node.name == "index" else (own.locals, self.locals)
            )
            known[node.attr] = theirs[node.attr]
        for room in task.own:
            own.allocate(room.number)
        variables = [each for each in loop.reductions if each.what == "variable"]
        own.locals |= {each.number: self._identities(each, 1)[0] for each in variables}
        copies = {each.number: own.copy_of(each) for each in arrays}
        own.turns(loop, *bounds)
        for each in variables:
            self._join(each, own.locals[each.number])
        for each in arrays:
            self._join_array(each, copies[each.number])

    def copy_of(self, each: Reduction) -> Any:
        """A copy of an array, which is used from now on."""
        array = self.arrays[each.number]
        start = of_update(each.by, self.kernel.buffers[each.number].dtype)
        fresh = self.arrays[each.number] = np.full(array.shape, start, array.dtype)
        return fresh

    def _join_array(self, each: Reduction, own: Any) -> None:
        array, dtype = self.arrays[each.number], self.kernel.buffers[each.number].dtype
        for place in np.ndindex(*array.shape):
            array[place] = updated(each.by, dtype, array[place], own[place])


def _as_reals(array: Any, rank: int) -> Any:
    """The array; one of complex numbers as reals with one more dim, where the kernel has that."""
    if array.ndim == rank:
        return array
    shape, strides = (*array.shape, 2), (*array.strides, array.itemsize // 2)
    return np.lib.stride_tricks.as_strided(array.real, shape, strides)


def updated(by: str, dtype: DType, before: Any, value: Any) -> Any:
    """What an element, or a variable, holds after an update."""
    if not by:
        return value
    operand = param(0, dtype)
    return meaning(typed_op(by, dtype, operand, operand), [before, value])


def _paired(machine: TreeMachine, node: PairedStore) -> None:
    machine.store(node.first)
    machine.store(node.second)


_RUN_NODE: Mapping[type, Callable[[TreeMachine, Any], None]] = {
    Let: RUN[Let],
    Store: TreeMachine.store,
    PairedStore: _paired,
    MappedLoop: TreeMachine.loop,
    MaskedBlock: TreeMachine.masked,
    Branch: RUN[If],
    WhileLoop: RUN[While],
    Labelled: RUN[Block],
    Leave: RUN[Leave],
    Print: RUN[Print],
    Check: RUN[Check],
    Allocate: TreeMachine.allocate_node,
}
