"""Reductions along the last dim: lane `i mod LANES` collects element `i`.

    for chunk of TILE elements:   acc[lane] = combine(acc[lane], body[i])   with lane = i mod LANES
                                  total[lane] = combine(total[lane], acc[lane])
    result = total folded in halves

Trailing reduced dims are one dim: `i` counts through all of them.  Where everything is reduced, the
rows of a block are one run of elements, too.  `codegen.runs` makes one loop of what lies end to end
in memory; of other operands the rows are taken one by one, from the lane at which the one before
ended (`_by_rows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from fusewright.codegen.loops import at, larger, smaller
from fusewright.codegen.spell import literal, llvm_type
from fusewright.codegen.work import Fold, Work
from fusewright.ir.dtypes import BOOL, INT64
from fusewright.ir.expr import Expr, const, op
from fusewright.ir.identity import of_reduction


class LaneOrder(Work):
    """One such phase."""

    def fold(self) -> None:
        lanes = self.node.lanes.width
        totals = self._slots(lanes)
        with ExitStack() as stack:
            here = self._loops(stack, self.node.kept, {})
            if self.node.spans_units:
                self._by_rows(here, totals, lanes)
                last = self._closes_block()
                stack.enter_context(self.builder.when(last))
            else:
                self._reset(totals, lanes)
                with ExitStack() as reduction:
                    there = self._loops(reduction, self.node.before, here)
                    collect = self._by_rows if self.node.run else self._chunks
                    collect(there, totals, lanes)
            finals = self._got(totals, lanes)
            for fold, final in zip(self.folds, finals, strict=True):
                self._finish_last(fold, here, final, lanes)

    def _slots(self, lanes: int) -> list[str]:
        """Accumulators of every fold."""
        return [self.builder.slot(llvm_type(fold.dtype, lanes)) for fold in self.folds]

    def _identities(self, lanes: int) -> list[str]:
        return [literal(of_reduction(f.name, f.dtype), f.dtype, lanes) for f in self.folds]

    def _reset(self, slots: Sequence[str], lanes: int) -> None:
        self._put(slots, self._identities(lanes), lanes)

    def _put(self, slots: Sequence[str], values: Sequence[str], lanes: int) -> None:
        for fold, slot, value in zip(self.folds, slots, values, strict=True):
            kind = llvm_type(fold.dtype, lanes)
            self.builder.line(f"store {kind} {value}, ptr {slot}, align 64")

    def _got(self, slots: Sequence[str], lanes: int) -> list[str]:
        return [
            self.builder.value(f"load {llvm_type(fold.dtype, lanes)}, ptr {slot}, align 64")
            for fold, slot in zip(self.folds, slots, strict=True)
        ]

    def _added(self, before: Sequence[str], more: Sequence[str], lanes: int) -> list[str]:
        """Accumulators combined, fold by fold."""
        return [
            self.folding.combine(fold.name, fold.dtype, a, b, lanes)
            for fold, a, b in zip(self.folds, before, more, strict=True)
        ]

    def _finish_last(self, fold: Fold, here: dict[int, Expr], final: str, lanes: int) -> None:
        if self.node.unit is not None and not self.node.kept:
            self._into_block(fold, final, lanes)
            return
        result = self.folding.halve(fold.name, fold.dtype, final, lanes)
        place = self._place(here)
        if self.node.unit is not None:
            self._combine_into(fold, self._block_place(fold, place), result)
            return
        self.memory.store(fold.slot, self._where(fold, place), result, fold.dtype)

    def _by_rows(self, here: dict[int, Expr], totals: Sequence[str], lanes: int) -> None:
        """A run of rows that do not lie end to end; a block of them is complete with its last."""
        chunks = self._slots(lanes)
        with ExitStack() as stack:
            if self.node.spans_units:
                first = self._opens_block()
                stack.enter_context(self.builder.when(first))
                self._reset(totals, lanes)
            self._reset(chunks, lanes)
        with ExitStack() as stack:
            there = self._loops(stack, self.node.run, here)
            self._row(there, chunks, totals, lanes)
        with ExitStack() as stack:
            if self.node.spans_units:
                last = self._closes_block()
                stack.enter_context(self.builder.when(last))
            self._add_chunk(chunks, totals, lanes)

    def _add_chunk(self, chunks: Sequence[str], totals: Sequence[str], lanes: int) -> None:
        both = self._added(self._got(totals, lanes), self._got(chunks, lanes), lanes)
        self._put(totals, both, lanes)

    def _row(
        self, here: dict[int, Expr], chunks: Sequence[str], totals: Sequence[str], lanes: int
    ) -> None:
        """One row: element j of it is element `start + j` of the run."""
        builder, width = self.builder, self.limits[1]
        (offset,) = self.lowering.derived.primitives([self.node.offset])
        origin = self.builder.scalar(at(offset, self._place(here)))
        start = builder.variable(origin)
        begin = self.builder.scalar(op("bitwise_and", start, const(-self.node.chunk, INT64)))
        end = self.builder.scalar(op("add", start, width))
        with builder.loop(begin, end, self.node.chunk) as chunk:
            low = op("subtract", chunk.variable, start)
            opens = op("less", const(0, INT64), chunk.variable)
            opens = op("bitwise_and", opens, op("less_equal", const(0, INT64), low))
            with builder.when(self.builder.scalar(opens)):
                self._add_chunk(chunks, totals, lanes)
                self._reset(chunks, lanes)
            high = smaller(op("add", low, const(self.node.chunk, INT64)), width)
            low = larger(low, const(0, INT64))
            short = const(self.node.short, INT64)
            is_short = self.builder.scalar(op("less", width, short))
            is_long = self.builder.scalar(op("less_equal", short, width))
            if self.node.short:
                with builder.when(is_short):
                    self._one_by_one(here, (low, high), start, chunks, lanes)
            with builder.when(is_long):
                begin, end = builder.scalar(low), builder.scalar(high)
                self.lowering.ordered_loop(
                    begin, end, lanes, lambda j: self._collect(here, j, chunks), origin
                )

    def _one_by_one(
        self,
        here: dict[int, Expr],
        bounds: tuple[Expr, Expr],
        start: Expr,
        chunks: Sequence[str],
        lanes: int,
    ) -> None:
        """The elements of a short row, each added to its lane."""
        low, high = (self.builder.scalar(bound) for bound in bounds)
        with self.builder.loop(low, high, 1) as loop:
            lane = op("bitwise_and", op("add", start, loop.variable), const(lanes - 1, INT64))
            number = self.builder.scalar(lane)
            place = self._place({**here, self.inner[-1]: loop.variable})
            self._store_maps(place)
            for fold, chunk in zip(self.folds, chunks, strict=True):
                kind = llvm_type(fold.dtype, 1)
                pointer = self.builder.value(f"getelementptr {kind}, ptr {chunk}, i64 {number}")
                before = self.builder.value(f"load {kind}, ptr {pointer}")
                value = self.builder.emit(at(fold.body, place))
                after = self.folding.combine(fold.name, fold.dtype, before, value, 1)
                self.builder.line(f"store {kind} {after}, ptr {pointer}")

    def _collect(self, here: dict[int, Expr], variable: Expr, chunks: Sequence[str]) -> None:
        """Add a vector of a row to the accumulators in memory; idle lanes keep theirs."""
        lanes = self.builder.lanes
        assert lanes is not None
        before = self._got(chunks, lanes.width)
        after = self._step(here, variable, before, lanes.mask or "")
        self._put(chunks, after, lanes.width)

    def _chunks(self, here: dict[int, Expr], totals: Sequence[str], lanes: int) -> None:
        """The last dim in chunks; each is collected in registers and added to the totals."""
        low, high = self.limits
        begin, end = self.builder.scalar(low), self.builder.scalar(high)
        with self.builder.loop(begin, end, self.node.chunk) as chunk:
            stop = op("add", chunk.variable, const(self.node.chunk, INT64))
            stop = op("where", op("less", stop, high), stop, high)
            values = self._chunk(here, chunk.variable, stop, lanes)
            self._put(totals, self._added(self._got(totals, lanes), values, lanes), lanes)

    def _chunk(self, here: dict[int, Expr], low: Expr, high: Expr, lanes: int) -> list[str]:
        """One chunk: whole vectors, then a masked one whose idle lanes hold the identity."""
        builder = self.builder
        kinds = [llvm_type(fold.dtype, lanes) for fold in self.folds]
        slots = self._slots(lanes)
        begin, end = self.builder.scalar(low), self.builder.scalar(high)
        count = builder.value(f"sub i64 {end}, {begin}")
        whole = builder.value(f"and i64 {count}, {-lanes}")
        middle = builder.value(f"add i64 {begin}, {whole}")
        with builder.when("true"):
            carried = list(zip(kinds, self._identities(lanes), strict=True))
            with (
                builder.loop(begin, middle, lanes, carried) as loop,
                self.lowering.lanes(loop.variable, lanes, loop.register, None),
            ):
                loop.next.extend(self._step(here, loop.variable, loop.current))
            self._put(slots, loop.current, lanes)
            with builder.when(builder.value(f"icmp slt i64 {middle}, {end}")):
                mask = self.lowering.mask(middle, end, lanes)
                variable = builder.variable(middle)
                with self.lowering.lanes(variable, lanes, middle, mask):
                    finals = self._step(here, variable, loop.current, mask)
                self._put(slots, finals, lanes)
        return self._got(slots, lanes)

    def _step(
        self, here: dict[int, Expr], variable: Expr, totals: Sequence[str], mask: str = ""
    ) -> list[str]:
        """One vector: what the phase stores, and the accumulators with the new elements."""
        place = self._place({**here, self.inner[-1]: variable})
        self._store_maps(place)
        after = []
        for fold, total in zip(self.folds, totals, strict=True):
            value = self.builder.emit(at(fold.body, place))
            if mask:
                kind = llvm_type(fold.dtype, self.width)
                idle = literal(of_reduction(fold.name, fold.dtype), fold.dtype, self.width)
                value = self.builder.value(
                    f"select {llvm_type(BOOL, self.width)} {mask}, {kind} {value}, {kind} {idle}"
                )
            after.append(self.folding.combine(fold.name, fold.dtype, total, value, self.width))
        return after
