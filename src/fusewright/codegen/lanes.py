"""Loops as the tree maps them: one iteration at a time, or in vectors, where branches are masks and
loops with the same bounds in all lanes stay loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace

from fusewright.codegen.associative import across_lanes, joined
from fusewright.codegen.builder import mask_type
from fusewright.codegen.derived import Derived
from fusewright.codegen.nontemporal import NonTemporal
from fusewright.codegen.spell import literal, llvm_type
from fusewright.ir.expr import Expr, op
from fusewright.ir.identity import of_update
from fusewright.ir.loops.statements import Let
from fusewright.ir.tree.nodes import (
    Allocate,
    LaneMapping,
    MappedLoop,
    MaskedBlock,
    Node,
    Tree,
)

Bounds = tuple[str, str]


class InLanes(NonTemporal):
    """A kernel being written, with its loops in vectors."""

    along = 0
    """The index of the vector loop being written."""

    def __init__(self, tree: Tree, avx512: bool, derived: Derived | None = None) -> None:
        super().__init__(tree, avx512, derived)
        self.wide: dict[int, str] = {}
        self.folded: dict[int, str] = {}

    def block(self, body: Sequence[Node]) -> None:
        """The nodes, one after the other."""
        raise NotImplementedError

    def loop(self, loop: MappedLoop, bounds: Bounds) -> None:
        """The loop between these bounds, by this thread."""
        if loop.lanes is not None:
            self._in_vectors(loop, loop.lanes, bounds)
        else:
            with self.builder.loop(*bounds, 1) as here:
                self.builder.scopes[-1].guard = self.in_order
                self.variables[loop.index] = here.variable
                self.block(loop.body)

    def _in_vectors(self, loop: MappedLoop, lanes: LaneMapping, bounds: Bounds) -> None:
        before, width = dict(self.values), lanes.width
        kinds = {r.number: r.by for r in loop.reductions if r.what == "variable"}
        cells = {number: self._lanes_of_fold(number, kinds[number], width) for number in kinds}

        def statement(variable: Expr) -> None:
            self.variables[loop.index] = variable
            wide, self.wide, self.folded = self.wide, dict(cells), cells
            self.block(loop.body)
            self.wide, self.folded = wide, {}
            self.values = dict(before)

        builder, self.along = self.builder, loop.index
        origin = self.origin(lanes, bounds)
        for test, past in self.forms(lanes, origin):
            with builder.when(test) if test else nullcontext(), self.past_caches(lanes, past):
                self.vector_loop(*bounds, width, statement, origin)
        for number, kind in kinds.items():
            self._join_lanes(number, kind, cells[number], width)

    def origin(self, lanes: LaneMapping, bounds: Bounds) -> str | None:
        """What puts whole vectors where the anchor's are, or where the origin says."""
        if lanes.anchor is None:
            return None if lanes.origin is None else self.scalar(lanes.origin)
        builder = self.builder
        aligned = self.first_element(lanes.anchor)
        count = builder.value(f"sub i64 {bounds[1]}, {bounds[0]}")
        long = builder.value(f"icmp sge i64 {count}, {lanes.least}")
        here = builder.value(f"sub i64 0, {bounds[0]}")
        return builder.value(f"select i1 {long}, i64 {aligned}, i64 {here}")

    # -- statements -----------------------------------------------------------------------------

    def let_in_lanes(self, let: Let) -> None:
        """A value for each lane."""
        value = self.settled(let.value)
        if let.local in self.wide:
            self._put_wide(let.local, value)
        else:
            self.values[let.local] = value

    def masked(self, node: MaskedBlock) -> None:
        """Nodes under a mask."""
        builder = self.builder
        holds = self.settled(node.mask)
        lanes, outer = builder.lanes, self.chosen
        assert lanes is not None
        self.chosen = holds if outer is None else op("bitwise_and", outer, holds)
        register = builder.emit(holds)
        if lanes.mask is not None:
            register = builder.value(f"and {mask_type(lanes.width)} {lanes.mask}, {register}")
        builder.lanes = replace(lanes, mask=register)
        self.block(node.body)
        builder.lanes, self.chosen = lanes, outer

    # -- variables that lanes collect apart -----------------------------------------------------

    def _lanes_of_fold(self, number: int, kind: str, width: int) -> str:
        """A variable for each lane, which begins with what changes nothing."""
        dtype = self.kernel.locals[number].dtype
        place = self.builder.slot(llvm_type(dtype, width))
        start = literal(of_update(kind, dtype), dtype, width)
        self.builder.line(f"store {llvm_type(dtype, width)} {start}, ptr {place}")
        return place

    def _join_lanes(self, number: int, kind: str, place: str, width: int) -> None:
        builder, dtype = self.builder, self.kernel.locals[number].dtype
        scalar, vector = llvm_type(dtype, 1), llvm_type(dtype, width)
        lanes = builder.value(f"load {vector}, ptr {place}")
        one = across_lanes(builder, kind, dtype, lanes, width)
        before = builder.value(f"load {scalar}, ptr {self.cell(number)}")
        total = joined(builder, kind, dtype, before, one)
        builder.line(f"store {scalar} {total}, ptr {self.cell(number)}")

    def _only_inside(self, number: int, register: str) -> str:
        """What a collected variable holds: lanes beyond the loop's end keep what they have."""
        builder = self.builder
        lanes, dtype = builder.lanes, self.kernel.locals[number].dtype
        if number not in self.folded or lanes is None or lanes.mask is None:
            return register
        kind = llvm_type(dtype, lanes.width)
        old = builder.value(f"load {kind}, ptr {self.wide[number]}")
        mask = f"{mask_type(lanes.width)} {lanes.mask}"
        return builder.value(f"select {mask}, {kind} {register}, {kind} {old}")

    # -- variables that loops inside hand on ----------------------------------------------------

    def widen(self, room: Allocate) -> None:
        """Let a variable live in memory (LLVM makes a register of it), a value for each lane."""
        number, lanes = room.number, self.builder.lanes
        assert lanes is not None
        dtype = self.kernel.locals[number].dtype
        self.wide[number] = self.builder.slot(llvm_type(dtype, lanes.width))
        value = self.values.pop(number, None)
        if value is not None:
            self._put_wide(number, value)

    def _put_wide(self, number: int, value: Expr) -> None:
        lanes = self.builder.lanes
        assert lanes is not None
        register = self._only_inside(number, self.builder.emit(value))
        kind = llvm_type(value.dtype, lanes.width)
        self.builder.line(f"store {kind} {register}, ptr {self.wide[number]}")

    def _wide_value(self, number: int) -> Expr:
        lanes = self.builder.lanes
        assert lanes is not None
        dtype = self.kernel.locals[number].dtype
        kind = llvm_type(dtype, lanes.width)
        register = self.builder.value(f"load {kind}, ptr {self.wide[number]}")
        return self.builder.lane_variable(register, dtype)

    def read_variable(self, node: Expr) -> Expr:
        """A variable's value here and now."""
        if node.attr in self.wide:
            return self._wide_value(node.attr)
        return super().read_variable(node)
