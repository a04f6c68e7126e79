"""From a planned kernel to the text of its module: loops over units, phases, boxes and lanes.

Arguments arrive as 64-bit words in the order of `Module.words`;
the function runs units [lo, hi).

A reduction's order is fixed by shapes alone: `codegen.lane_order` along the last dim.  Over units,
blocks of a fixed number of units are collected separately and combined by halving when all units
are done (`finish`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from fusewright.codegen import reduction, repeat
from fusewright.codegen.arguments import Arguments, Index
from fusewright.codegen.boxes import (
    boxes,
    halo_of,
    inside,
    margin_of,
    starts_aligned,
    stretched,
    written_once,
)
from fusewright.codegen.fold import Folding, block_size, finish
from fusewright.codegen.loops import Loops, at, larger, smaller, spelled
from fusewright.codegen.memory import Layout
from fusewright.codegen.module import Module, Word
from fusewright.codegen.prelude import prelude
from fusewright.codegen.runs import is_one_run, run_together
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, op
from fusewright.ir.nest import Nest, Program
from fusewright.plan.plan import TILE, Kernel, Member, counts_tiles

ATTRIBUTES = 'attributes #0 = { nounwind "prefer-vector-width"="512" }\n!0 = !{i32 1}'


def lower(program: Program, kernel: Kernel, vector_bytes: int, large: bool = False) -> Module:
    """The kernel's module for machine vectors of this many bytes; `large` results are written past
    the caches.
    """
    return Lowering(program, kernel, vector_bytes, large).run()


class Lowering(Arguments):
    """One kernel being written."""

    def run(self) -> Module:
        past = written_once(self.kernel) if self.large else frozenset()
        self.kernel = run_together(self.program, self.kernel)
        self._arguments()
        self._layouts()
        tables = {
            bodies: repeat.fill_table(self.builder, one, self.words_of[bodies])
            for bodies, one in self.repeats.items()
        }
        self.tables.update(tables)
        # A single loop may as well run on data in L1, where asking twice would cost time.
        single = self.kernel.form == "tiles" and not counts_tiles(self.kernel)
        self.memory.fetches = self.large or not single
        self.memory.past = past
        if self.kernel.form == "tiles":
            self._tiles()
        elif self.kernel.shared == 0:
            for phase in self.kernel.phases:
                # a phase's loads stay behind the stores of those before it
                with self.builder.when("true"):
                    self._row_phase(phase, (), const(0, INT64))
        else:
            self._rows()
        if self.memory.past:
            self.builder.line("call void @llvm.x86.sse.sfence()")
        text = self.text("kernel")
        ending = self._finish()
        text = f"{text}{ending}"
        full = f"{text}\n{prelude(text)}\n{ATTRIBUTES}\n"
        partials = tuple(
            (m.stage.slot, block_size(m.stage), m.stage.dtype.itemsize // len(m.stage.nests))
            for m in self.kernel.sinks
        )
        return Module(full, tuple(self.words), tuple(self.scratch), bool(ending), partials)

    def _most(self, extents: Sequence[Expr]) -> Expr:
        total = extents[0]
        for extent in extents[1:]:
            gap = linear.distance(total, extent)
            if gap is None or gap < 0:
                total = extent if gap is not None else larger(total, extent)
        return total

    # -- forms ----------------------------------------------------------------------------------

    def _tiles(self) -> None:
        phases = self.kernel.phases
        extent = self._most([group[0] for group in self.kernel.extents])
        if not counts_tiles(self.kernel):
            self.memory.aligned = starts_aligned(phases[0])
            self._range(phases[0], "%lo", "%hi")
            return
        with self.builder.loop("%lo", "%hi", 1) as unit:
            start = op("multiply", unit.variable, const(TILE, INT64))
            stop = op("add", start, const(TILE, INT64))
            low = self.builder.scalar(start)
            high = self.builder.scalar(spelled(smaller(stop, extent)))
            low_var, high_var = self.builder.variable(low), self.builder.variable(high)
            for phase in phases:
                self._tile_phase(phase, low_var, high_var, unit.variable)

    def _tile_phase(self, phase: Sequence[Member], low: Expr, high: Expr, unit: Expr) -> None:
        member = phase[0]
        begin = op("add", low, const(member.low, INT64))
        end = op("add", high, const(member.high, INT64))
        zero = const(0, INT64)
        begin = larger(begin, zero) if member.low else begin
        end = smaller(end, member.stage.extents[0])
        for each in phase:
            if each.place == "row":
                layout = self.memory.layouts[each.stage.slot]
                origin = linear.plus(low, each.low)
                self.memory.layouts[each.stage.slot] = Layout(
                    layout.base, layout.buffer, origin=origin
                )
        self._range(phase, self.position(begin), self.position(end), unit)

    def _range(
        self, phase: Sequence[Member], low: str, high: str, unit: Expr | None = None
    ) -> None:
        """One loop over the only dim."""
        stage = phase[0].stage
        for members, nests in boxes(phase):
            box = nests[0].box
            with self.builder.when("true"):
                begin, end = self.builder.variable(low), self.builder.variable(high)
                if linear.constant(box.low[0]) != 0:
                    begin = larger(begin, box.low[0])
                if linear.distance(box.high[0], stage.extents[0]) != 0:
                    end = smaller(end, box.high[0])
                self._innermost(members, nests, (), begin, end, unit)

    def _rows(self) -> None:
        shared = self.kernel.shared
        if self.kernel.tiled:
            self._stretches()
            return
        if self.kernel.streams:
            self._streamed_rows()
            return
        if is_one_run(self.kernel):
            self._blocks()
            return
        with self.builder.loop("%lo", "%hi", 1) as unit:
            indices = [unit.variable]
            if shared > 1:
                rest, indices = unit.variable, []
                extents = self.kernel.extents[0]
                for extent in reversed(extents[1:]):
                    indices.insert(0, op("trem", rest, extent))
                    rest = op("tdiv", rest, extent)
                indices.insert(0, rest)
                indices = [self.builder.variable(self.builder.scalar(i)) for i in indices]
            for phase in self.kernel.phases:
                with ExitStack() as stack:
                    if len(self.kernel.extents) > 1:  # units for the longest; others end before
                        there = op("less", indices[0], phase[0].stage.extents[0])
                        stack.enter_context(self.builder.when(self.position(there)))
                    self._row_phase(phase, tuple(indices), unit.variable)

    def _blocks(self) -> None:
        """The thread's rows a block at a time: all of its elements are one loop."""
        (phase,) = self.kernel.phases
        (rows,) = self.kernel.extents[0]
        size, start, end = self.block_size, *map(self.builder.variable, ("%lo", "%hi"))
        more = op("subtract", op("add", end, size), const(1, INT64))
        row = op("tdiv", phase[0].stage.extents[0], larger(rows, const(1, INT64)))
        first, last = (self.position(op("tdiv", place, size)) for place in (start, more))
        with self.builder.loop(first, last, 1) as block:
            begin = op("multiply", block.variable, size)
            stop = smaller(op("add", begin, size), end)
            low, high = (self.position(op("multiply", place, row)) for place in (begin, stop))
            bounds = self.builder.variable(low), self.builder.variable(high)
            reduction.write(self.folding, self, phase, (), block.variable, bounds)

    def _stretches(self) -> None:
        """The thread's rows, a stretch of dim 1 after the other."""
        widest = self._most([m.stage.extents[1] for m in self.kernel.members])
        more = op("subtract", op("add", widest, self.stretch), const(1, INT64))
        count = self.position(op("tdiv", more, self.stretch))
        with self.builder.loop("0", count, 1) as turn:
            low = self.builder.variable(self.position(op("multiply", turn.variable, self.stretch)))
            high = smaller(op("add", low, self.stretch), widest)
            high = self.builder.variable(self.position(high))
            for member in self.kernel.members:
                if member.place == "row":
                    slot = member.stage.slot
                    self.memory.layouts[slot] = self.memory.layouts[slot]._replace(
                        stretch=linear.plus(self.stretch, halo_of(member)),
                        start=linear.plus(low, -margin_of(member, -member.left)),
                    )
            self._streamed_rows((low, high))

    def _streamed_rows(self, stretch: tuple[Expr, Expr] | None = None) -> None:
        """Rows in order; each phase works on the row its lag says, if its thread needs it."""
        members = self.kernel.members
        first = min(m.low - m.lag for m in members)
        last = max(m.high - m.lag for m in members)
        low = self.builder.value(f"add i64 %lo, {first}")
        high = self.builder.value(f"add i64 %hi, {last}")
        own_low, own_high = self.builder.variable("%lo"), self.builder.variable("%hi")
        with self.builder.loop(low, high, 1) as unit:
            for phase in self.kernel.phases:
                if stretch is not None:
                    phase = tuple(stretched(m, *stretch) for m in phase)
                member = phase[0]
                row = self.builder.variable(
                    self.builder.value(f"add i64 {unit.register}, {member.lag}")
                )
                begin = op("add", own_low, const(member.low, INT64))
                end = op("add", own_high, const(member.high, INT64))
                extent = member.stage.extents[0]
                begin = larger(begin, const(0, INT64)) if member.low else begin
                end = smaller(end, extent)
                needed = op("bitwise_and", op("less_equal", begin, row), op("less", row, end))
                with self.builder.when(self.position(needed)):
                    self._row_phase(phase, (row,), row)

    def _row_phase(self, phase: Sequence[Member], shared: tuple[Expr, ...], unit: Expr) -> None:
        """All boxes of a phase for one index of the shared dims."""
        stage = phase[0].stage
        for members, nests in boxes(phase):
            conditions = inside(nests[0], stage, shared)
            with ExitStack() as stack:
                if conditions is not None:
                    stack.enter_context(self.builder.when(self.position(conditions)))
                self._phase(members, shared, nests, unit)

    def _phase(
        self,
        phase: Sequence[Member],
        shared: tuple[Expr, ...],
        nests: Sequence[Nest],
        unit: Expr | None = None,
    ) -> None:
        stage = phase[0].stage
        if len(stage.extents) == len(shared):
            self._scalars(phase, nests, shared)
        elif all(m.stage.form == "map" for m in phase):
            self._inner(phase, nests, shared)
        else:
            reduction.write(self.folding, self, phase, shared, unit)

    def _inner(
        self, phase: Sequence[Member], nests: Sequence[Nest], outer: tuple[Expr, ...]
    ) -> None:
        """Loops over the inner dims of a box; the last is the vector loop."""
        box, rank = nests[0].box, len(nests[0].box.low)
        with ExitStack() as stack:
            for dim in range(len(outer), rank - 1):
                loop = stack.enter_context(
                    self.builder.loop(self.position(box.low[dim]), self.position(box.high[dim]), 1)
                )
                outer = (*outer, loop.variable)
            self._innermost(phase, nests, outer, box.low[-1], box.high[-1])

    def _innermost(
        self,
        phase: Sequence[Member],
        nests: Sequence[Nest],
        outer: tuple[Expr, ...],
        low: Expr,
        high: Expr,
        unit: Expr | None = None,
    ) -> None:
        if any(m.stage.form != "map" for m in phase):
            reduction.write(self.folding, self, phase, outer, unit, (low, high))
            return
        turns = self.repeats.get(tuple(nest.body for nest in nests))
        if turns is not None:
            self._turns(turns, phase, nests, outer, (low, high))
            return
        bodies = self.bodies(nests)
        width = self.width(bodies)

        def statement(variable: Expr) -> None:
            here = (*outer, variable)
            values = [self.builder.emit(at(body, here)) for body in bodies]
            self._store(phase, nests, values, here)

        self.vector_loop(low, high, width, statement, self.origin(phase, outer))

    def _turns(
        self,
        turns: repeat.Repeat,
        phase: Sequence[Member],
        nests: Sequence[Nest],
        outer: Index,
        bounds: tuple[Expr, Expr],
    ) -> None:
        """A vector loop around a loop of turns."""
        width = turns.lanes(self.vector_bytes)
        table = self.tables[tuple(nest.body for nest in nests)]

        def statement(variable: Expr) -> None:
            vectors = repeat.parts(self.builder, outer, width)
            for vector, values in repeat.Turns(self.builder, turns, table, vectors).write():
                whole, self.builder.lanes = self.builder.lanes, vector.lanes
                self._store(phase, nests, values, vector.here)
                self.builder.lanes = whole

        together = width * turns.vectors(self.vector_bytes)
        self.vector_loop(*bounds, together, statement, "0" if self.kernel.tiled else None)

    def _store(
        self, phase: Sequence[Member], nests: Sequence[Nest], values: list[str], here: Index
    ) -> None:
        """Write the values of a phase's nests; the two parts of a complex number together."""
        number = 0
        while number < len(nests):
            slot, nest, value = phase[number].stage.slot, nests[number], values[number]
            where = [at(i, here) for i in nest.store]
            number += 1
            if not self.program.buffers[slot].dtype.is_complex:
                self.memory.store(slot, where, value, nest.body.dtype)
                continue
            parts = value, values[number]
            self.memory.store_parts(slot, where[:-1], parts, nest.body.dtype)
            number += 1

    def _scalars(
        self, phase: Sequence[Member], nests: Sequence[Nest], here: tuple[Expr, ...]
    ) -> None:
        """One element for each member."""
        for member, nest, body in zip(phase, nests, self.bodies(nests), strict=True):
            value = self.builder.scalar(at(body, here))
            where = [at(i, here) for i in nest.store]
            lanes, self.builder.lanes = self.builder.lanes, None
            self.memory.store(member.stage.slot, where, value, body.dtype)
            self.builder.lanes = lanes

    # -- bodies ---------------------------------------------------------------------------------

    def _finish(self) -> str:
        """A function that combines the blocks of every sink; empty where there is none."""
        if not self.kernel.sinks:
            return ""
        loops = Loops(avx512=self.vector_bytes == 64)
        folding = Folding(loops.memory)
        for node in self.used:
            loops.builder.scopes[0].memo[(node, 1)] = loops.argument(
                self._word(Word.param(node.attr)), node.dtype
            )
        for member in self.kernel.sinks:
            slot = member.stage.slot
            partial = loops.argument(self._word(Word("partial", slot)), None)
            result = loops.argument(self._word(Word("pointer", slot)), None)
            finish(loops, member.stage, block_size(member.stage), partial, result, folding)
        return loops.text("finish")
