"""Statements that run for all lanes of a vector at once: branches are masks, variables registers,
and loops with the same bounds in all lanes stay loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace

from fusewright.codegen.associative import across_lanes, joined
from fusewright.codegen.builder import Lanes, mask_type
from fusewright.codegen.nontemporal import NonTemporal
from fusewright.codegen.pairs import in_pairs, updated
from fusewright.codegen.spell import literal, llvm_type
from fusewright.ir.expr import Expr, op, postorder
from fusewright.ir.identity import of_update
from fusewright.ir.loops.statements import (
    For,
    If,
    Let,
    Statement,
    Store,
    expressions,
    walk,
)
from fusewright.plan.loops.plan import LoopPlan

ALIGNED = 6
"""Whole vectors a loop has, at least, where it begins with a part of one so that the others write
whole lines.  (Stores across the ends of lines take twice as long, and more where several arrays
are written: measured 1.1 to 2 times the loop's time within the caches.)
"""


class InLanes(NonTemporal):
    """A kernel being written, with its loops in vectors."""

    def __init__(self, plan: LoopPlan, vector_bytes: int) -> None:
        super().__init__(plan.kernel, vector_bytes)
        self.plan = plan
        self.wide: dict[int, str] = {}
        self.folded: dict[int, str] = {}

    def block(self, body: Sequence[Statement]) -> None:
        """The statements, one iteration at a time."""
        raise NotImplementedError

    def store(self, statement: Store) -> None:
        """An element of an array."""
        raise NotImplementedError

    def loops(self, loop: For, bounds: Sequence[tuple[str, str]]) -> None:
        """The loop from its outermost dim on, given all bounds."""
        leave = self.inside(loop.body, again=True)
        for local in sorted(self._varying(loop)):
            self._widen(local)
        self._nest(loop, bounds, 0)
        leave()

    def _nest(self, loop: For, bounds: Sequence[tuple[str, str]], depth: int) -> None:
        builder = self.builder
        if depth == len(loop.dims):
            if builder.lanes is None:
                self.block(loop.body)
            else:
                self._block_in_lanes(loop.body)
            return
        dim, (low, high) = loop.dims[depth], bounds[depth]
        if dim.index in self.plan.vectors and builder.lanes is None:
            width = self._width(loop)
            if width > 1:
                self._in_vectors(loop, bounds, depth, width)
                return
        with builder.loop(low, high, 1) as here:
            builder.scopes[-1].guard = True
            self.variables[dim.index] = here.variable
            self._nest(loop, bounds, depth + 1)

    def _width(self, loop: For) -> int:
        """Lanes: a machine vector of the widest type in the loop."""
        sizes = [
            node.dtype.itemsize
            for statement in walk(loop.body)
            for node in postorder(expressions(statement))
            if node.name == "load"
        ]
        stores = (s.value.dtype.itemsize for s in walk(loop.body) if isinstance(s, Store))
        dims = {number for dim in loop.dims for number in self.plan.folds.get(dim.index, ())}
        folded = (self.kernel.locals[number].dtype.itemsize for number in dims)
        return self.vector_bytes // max([1, *sizes, *stores, *folded])

    def _in_vectors(
        self, loop: For, bounds: Sequence[tuple[str, str]], depth: int, width: int
    ) -> None:
        before = dict(self.values)
        kinds = self.plan.folds.get(loop.dims[depth].index, {})
        cells = {number: self._lanes_of_fold(number, kinds[number], width) for number in kinds}

        def statement(variable: Expr) -> None:
            self.variables[loop.dims[depth].index] = variable
            known, wide = self.available, self.wide
            self.available, self.wide, self.folded = {}, dict(cells), cells
            if depth + 1 < len(loop.dims):
                for local in sorted(self._varying(loop)):
                    self._widen(local)
            self._nest(loop, bounds, depth + 1)
            self.available, self.wide, self.folded = known, wide, {}
            self.values = dict(before)

        builder = self.builder
        begin, end = (builder.variable(bound) for bound in bounds[depth])
        origin = self._origin(loop, bounds[depth], width) if depth + 1 == len(loop.dims) else None
        for test, past in self.forms(loop, origin, width):
            self.memory.past = past
            with builder.when(test) if test else nullcontext():
                self.vector_loop(begin, end, width, statement, origin)
        for number, kind in kinds.items():
            self._join_lanes(number, kind, cells[number], width)

    def _origin(self, loop: For, bounds: tuple[str, str], width: int) -> str | None:
        """What puts whole vectors where the first store along the loop's last dim writes whole
        lines; None where no store does, or other loops inside take the time.
        """
        builder = self.builder
        if any(isinstance(statement, For) for statement in walk(loop.body)):
            return None
        for store in self.along(loop):
            aligned = self.first_element(loop, store)
            count = builder.value(f"sub i64 {bounds[1]}, {bounds[0]}")
            long = builder.value(f"icmp sge i64 {count}, {ALIGNED * width}")
            here = builder.value(f"sub i64 0, {bounds[0]}")
            return builder.value(f"select i1 {long}, i64 {aligned}, i64 {here}")
        return None

    # -- statements -----------------------------------------------------------------------------

    def _block_in_lanes(self, body: Sequence[Statement]) -> None:
        for statement in in_pairs(body):
            if isinstance(statement, tuple):
                self._store_pair(*statement)
            elif isinstance(statement, Let):
                self._let_in_lanes(statement)
            elif isinstance(statement, If):
                self._masked_if(statement)
            elif isinstance(statement, For):
                bounds = [(self.scalar(dim.low), self.scalar(dim.high)) for dim in statement.dims]
                self.loops(statement, bounds)
            else:
                assert isinstance(statement, Store)
                self.store(statement)

    def _store_pair(self, first: Store, second: Store) -> None:
        """Both parts of a complex number."""
        indices = [self.settled(place) for place in first.indices[:-1]]
        values = [self.builder.emit(self.settled(updated(store))) for store in (first, second)]
        dtype = first.value.dtype
        self.memory.store_parts(first.buffer, indices, (values[0], values[1]), dtype)
        self.forget({first.buffer})

    def _let_in_lanes(self, statement: Let) -> None:
        value = self.settled(statement.value)
        number, mask = statement.local, self.chosen
        if number in self.wide:
            if mask is not None:
                value = op("where", mask, value, self._wide_value(number))
            self._put_wide(number, value)
            return
        old = self.values.get(number)
        if mask is not None and old is not None:
            value = op("where", mask, value, old)
        self.values[number] = value

    def _masked_if(self, statement: If) -> None:
        builder = self.builder
        condition = self.settled(statement.condition)
        lanes, outer = builder.lanes, self.chosen
        assert lanes is not None
        for body, holds in (
            (statement.body, condition), (statement.orelse, op("invert", condition)),
        ):  # fmt: skip
            if body:
                known = dict(self.available)
                self.chosen = holds if outer is None else op("bitwise_and", outer, holds)
                builder.lanes = self._with_mask(lanes, holds)
                self._block_in_lanes(body)
                builder.lanes, self.chosen = lanes, outer
                written = {s.buffer for s in walk(tuple(body)) if isinstance(s, Store)}
                self.available = known
                self.forget(written)

    def _with_mask(self, lanes: Lanes, holds: Expr) -> Lanes:
        register = self.builder.emit(holds)
        if lanes.mask is not None:
            kind = mask_type(lanes.width)
            register = self.builder.value(f"and {kind} {lanes.mask}, {register}")
        return replace(lanes, mask=register)

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

    def _varying(self, loop: For) -> set[int]:
        """The variables that the loop's iterations hand on, one value for each lane."""
        if self.builder.lanes is None:
            return set()
        lets = (s.local for s in walk(loop.body) if isinstance(s, Let))
        return {number for number in lets if self.kernel.locals[number].mutable}

    def _widen(self, number: int) -> None:
        """Let a variable live in memory (LLVM makes a register of it), a value for each lane."""
        if number in self.wide:
            return
        lanes = self.builder.lanes
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
