"""Reductions and scans in a kernel: accumulators, their fixed order, and the combination of blocks.

For a reduction along the last dim (`LANE` order):

    for chunk of TILE elements:   acc[lane] = combine(acc[lane], body[i])   with lane = i mod LANES
                                  total[lane] = combine(total[lane], acc[lane])
    result = total folded in halves

For one along other dims the accumulators are the result's own elements, taken in the order of the reduced dims.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from fusewright.codegen.builder import Builder
from fusewright.codegen.loops import Loops, at
from fusewright.codegen.memory import Layout, Memory
from fusewright.codegen.spell import literal, llvm_type, spell
from fusewright.ir import linear, ops
from fusewright.ir.dtypes import BOOL, INT64, DType, component
from fusewright.ir.expr import Expr, const, load, op, param, postorder, typed_op
from fusewright.ir.nest import Buffer, Nest, Stage
from fusewright.plan.plan import TILE, is_sink
from fusewright.rules.decompose import decompose

if TYPE_CHECKING:
    from fusewright.codegen.lower import Lowering

LANE_BYTES = 128


def lanes_of(dtype: DType) -> int:
    """How many accumulators a reduction along the last dim keeps: a constant of the dtype, not of the machine."""
    return LANE_BYTES // max(dtype.itemsize, 4)


def identity(name: str, dtype: DType) -> Any:
    """The value that changes nothing: -0.0 for a sum, so that the sum of -0.0 is -0.0."""
    if name in ("sum", "cumsum"):
        return -0.0 if dtype.is_float else 0
    if name in ("prod", "cumprod"):
        return 1
    if name in ("any", "all"):
        return name == "all"
    least = name in ("max", "cummax")
    if dtype is BOOL:
        return not least
    if dtype.is_float:
        return float("-inf") if least else float("inf")
    bits = dtype.bits
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if dtype.kind == "i" else (0, 2**bits - 1)
    return low if least else high


class Folding:
    """Writes the reductions and scans of one kernel."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.builder = memory.builder
        self.partials: dict[int, str] = {}
        self.block = ""

    def run(
        self,
        lowering: Lowering,
        stage: Stage,
        outer: tuple[Expr, ...],
        unit: Expr | None,
        bounds: tuple[Expr, Expr] | None = None,
    ) -> None:
        """One stage for one index of the shared dims; `bounds` cut the last dim (a tile)."""
        for part, nest in enumerate(stage.nests):
            body = lowering.bodies([nest])[0]
            work = _Work(self, lowering, stage, nest, body, part, outer, unit, bounds)
            if stage.form == "scan":
                work.scan()
            elif stage.axes[-1] == len(stage.extents) - 1:
                work.fold_last()
            else:
                work.fold_outer()

    def combine(self, name: str, dtype: DType, a: str, b: str, width: int) -> str:
        """combine(a, b) of registers, as instructions in the innermost scope."""
        left, right = param(-1, dtype), param(-2, dtype)
        row = ops.REDUCE.get(name) or ops.SCAN[name]
        registers: dict[Expr, str] = {left: a, right: b}
        root = decompose(typed_op(row.combine, dtype, left, right))
        for node in postorder([root]):
            if node in registers:
                continue
            if node.name == "const":
                registers[node] = literal(node.attr, node.dtype, width)
            else:
                operands = [registers[arg] for arg in node.args]
                out = self.builder.scopes[-1].lines
                registers[node] = spell(node, operands, width, out, self.builder.fresh)
        return registers[root]

    def halve(self, name: str, dtype: DType, lanes: str, width: int) -> str:
        """All lanes combined, the upper half onto the lower until one is left."""
        while width > 1:
            kind, half = llvm_type(dtype, width), width // 2
            halves = []
            for start in (0, half):
                order = ", ".join(f"i32 {start + lane}" for lane in range(half))
                halves.append(
                    self.builder.value(
                        f"shufflevector {kind} {lanes}, {kind} poison, <{half} x i32> <{order}>"
                    )
                )
            if half == 1:
                narrow = llvm_type(dtype, 1)
                halves = [
                    self.builder.value(f"extractelement <1 x {narrow}> {part}, i64 0")
                    for part in halves
                ]
            lanes, width = self.combine(name, dtype, halves[0], halves[1], half), half
        return lanes


class _Work:
    """One part of one stage being written (a complex value has two parts)."""

    def __init__(
        self,
        folding: Folding,
        lowering: Lowering,
        stage: Stage,
        nest: Nest,
        body: Expr,
        part: int,
        outer: tuple[Expr, ...],
        unit: Expr | None,
        bounds: tuple[Expr, Expr] | None,
    ) -> None:
        self.folding = folding
        self.builder = folding.builder
        self.memory = folding.memory
        self.lowering = lowering
        self.stage = stage
        self.nest = nest
        self.body = body
        self.dtype = body.dtype
        self.part = part
        self.outer = outer
        self.unit = unit
        self.bounds = bounds
        self.sink = is_sink(stage)
        self.inner = range(len(outer), len(stage.extents))

    # -- scans ----------------------------------------------------------------------------------

    def scan(self) -> None:
        (axis,) = self.stage.axes
        with ExitStack() as stack:
            here = self._loops(stack, self.inner[:-1], {})
            if axis == self.inner[-1]:
                self._scan_last(here)
            else:
                self._scan_outer(here, axis)

    def _scan_last(self, here: dict[int, Expr]) -> None:
        """One element after the other."""
        name, last = self.stage.fold, self.inner[-1]
        low, high = (self.lowering.position(e) for e in self._limits())
        start = literal(identity(name, self.dtype), self.dtype, 1)
        kind = llvm_type(self.dtype, 1)
        with self.builder.loop(low, high, 1, [(kind, start)]) as loop:
            place = self._place({**here, last: loop.variable})
            value = self.builder.scalar(at(self.body, place))
            total = self.folding.combine(name, self.dtype, loop.current[0], value, 1)
            self._store(place, total)
            loop.next.append(total)

    def _scan_outer(self, here: dict[int, Expr], axis: int) -> None:
        """A vector of elements at a time, each from the one before along the axis."""
        name, last = self.stage.fold, self.inner[-1]
        first = op("equal", here[axis], const(0, INT64))
        before = op("where", first, const(0, INT64), op("subtract", here[axis], const(1, INT64)))

        def statement(variable: Expr) -> None:
            place = self._place({**here, last: variable})
            value = self.builder.emit(at(self.body, place))
            previous = self._load(self._place({**here, last: variable, axis: before}))
            width = self.builder.lanes.width if self.builder.lanes else 1
            total = self.folding.combine(name, self.dtype, previous, value, width)
            choice = self.builder.emit(first)
            kind = llvm_type(self.dtype, width)
            chosen = self.builder.value(
                f"select {llvm_type(BOOL, width)} {choice}, {kind} {value}, {kind} {total}"
            )
            self._store(place, chosen)

        width = self.lowering.width([self.body])
        self.lowering.vector_loop(*self._limits(), width, statement)

    # -- reductions -----------------------------------------------------------------------------

    def fold_last(self) -> None:
        kept = [dim for dim in self.inner[:-1] if dim not in self.stage.axes]
        reduced = [dim for dim in self.inner[:-1] if dim in self.stage.axes]
        lanes = lanes_of(self.dtype)
        kind = llvm_type(self.dtype, lanes)
        total = self.builder.slot(kind)
        with ExitStack() as stack:
            here = self._loops(stack, kept, {})
            start = literal(identity(self.stage.fold, self.dtype), self.dtype, lanes)
            self.builder.line(f"store {kind} {start}, ptr {total}, align 64")
            with ExitStack() as reduction:
                there = self._loops(reduction, reduced, here)
                self._chunks(there, total, lanes)
            final = self.builder.value(f"load {kind}, ptr {total}, align 64")
            self._finish_last(here, final, kept, lanes)

    def _finish_last(
        self, here: dict[int, Expr], final: str, kept: Sequence[int], lanes: int
    ) -> None:
        name = self.stage.fold
        if self.sink and not kept:
            self._into_block(final, lanes)
            return
        result = self.folding.halve(name, self.dtype, final, lanes)
        if self.sink:
            place = self._block_place(self._place(here))
            self._combine_into(place, result, 1, self._first_of_block())
        else:
            self._store(self._place(here), self._nothing_is_zero(result))

    def _chunks(self, here: dict[int, Expr], total: str, lanes: int) -> None:
        """The last dim in chunks; each is collected in registers and added to `total`."""
        low, high = self._limits()
        begin, end = self.lowering.position(low), self.lowering.position(high)
        kind = llvm_type(self.dtype, lanes)
        with self.builder.loop(begin, end, TILE) as chunk:
            stop = op("add", chunk.variable, const(TILE, INT64))
            stop = op("where", op("less", stop, high), stop, high)
            value = self._chunk(here, chunk.variable, stop, lanes)
            before = self.builder.value(f"load {kind}, ptr {total}, align 64")
            after = self.folding.combine(self.stage.fold, self.dtype, before, value, lanes)
            self.builder.line(f"store {kind} {after}, ptr {total}, align 64")

    def _chunk(self, here: dict[int, Expr], low: Expr, high: Expr, lanes: int) -> str:
        """One chunk: whole vectors, then a masked one whose idle lanes hold the identity."""
        builder, name, dtype = self.builder, self.stage.fold, self.dtype
        kind, last = llvm_type(dtype, lanes), self.inner[-1]
        begin, end = self.lowering.position(low), self.lowering.position(high)
        count = builder.value(f"sub i64 {end}, {begin}")
        whole = builder.value(f"and i64 {count}, {-lanes}")
        middle = builder.value(f"add i64 {begin}, {whole}")
        start = literal(identity(name, dtype), dtype, lanes)
        slot = builder.slot(kind)
        with builder.when("true"):
            with builder.loop(begin, middle, lanes, [(kind, start)]) as loop:
                with self.lowering.lanes(loop.variable, lanes, loop.register, None):
                    place = self._place({**here, last: loop.variable})
                    value = builder.emit(at(self.body, place))
                    loop.next.append(
                        self.folding.combine(name, dtype, loop.current[0], value, lanes)
                    )
            builder.line(f"store {kind} {loop.current[0]}, ptr {slot}, align 64")
            rest = builder.value(f"icmp slt i64 {middle}, {end}")
            with builder.when(rest):
                mask = self.lowering.mask(middle, end, lanes)
                variable = builder.variable(middle)
                with self.lowering.lanes(variable, lanes, middle, mask):
                    place = self._place({**here, last: variable})
                    value = builder.emit(at(self.body, place))
                value = builder.value(
                    f"select {llvm_type(BOOL, lanes)} {mask}, {kind} {value}, {kind} {start}"
                )
                total = self.folding.combine(name, dtype, loop.current[0], value, lanes)
                builder.line(f"store {kind} {total}, ptr {slot}, align 64")
        return builder.value(f"load {kind}, ptr {slot}, align 64")

    def fold_outer(self) -> None:
        """Accumulate into the result's own elements (for a sink, the block's), in the order of the reduced dims."""
        if self.sink:
            with self.builder.when(self.lowering.position(self._first_of_block())):
                self._clear()
        else:
            self._clear()
        kept = [dim for dim in self.inner[:-1] if dim not in self.stage.axes]
        reduced = [dim for dim in self.inner[:-1] if dim in self.stage.axes]
        with ExitStack() as stack:
            here = self._loops(stack, [*reduced, *kept], {})
            self._accumulate(here)

    def _clear(self) -> None:
        kept = [dim for dim in self.inner[:-1] if dim not in self.stage.axes]
        name = self.stage.fold

        def clear(variable: Expr) -> None:
            place = self._place({**here, self.inner[-1]: variable})
            width = self.builder.lanes.width if self.builder.lanes else 1
            start = literal(identity(name, self.dtype), self.dtype, width)
            if name == "sum" and self.dtype.is_float:
                empty = self.builder.emit(self._is_empty())
                kind = llvm_type(self.dtype, width)
                zero = literal(0.0, self.dtype, width)
                start = self.builder.value(
                    f"select {llvm_type(BOOL, width)} {empty}, {kind} {zero}, {kind} {start}"
                )
            self._write(place, start)

        with ExitStack() as stack:
            here = self._loops(stack, kept, {})
            width = self.lowering.width([self.body])
            self.lowering.vector_loop(*self._limits(), width, clear)

    def _accumulate(self, here: dict[int, Expr]) -> None:
        name = self.stage.fold

        def statement(variable: Expr) -> None:
            place = self._place({**here, self.inner[-1]: variable})
            width = self.builder.lanes.width if self.builder.lanes else 1
            value = self.builder.emit(at(self.body, place))
            before = self._read(place)
            self._write(place, self.folding.combine(name, self.dtype, before, value, width))

        width = self.lowering.width([self.body])
        self.lowering.vector_loop(*self._limits(), width, statement)

    # -- where things are -----------------------------------------------------------------------

    def _limits(self) -> tuple[Expr, Expr]:
        if self.bounds is not None:
            return self.bounds
        return self.nest.box.low[-1], self.nest.box.high[-1]

    def _loops(
        self, stack: ExitStack, dims: Sequence[int], here: dict[int, Expr]
    ) -> dict[int, Expr]:
        here = dict(here)
        box = self.nest.box
        for dim in dims:
            low, high = (self.lowering.position(e) for e in (box.low[dim], box.high[dim]))
            here[dim] = stack.enter_context(self.builder.loop(low, high, 1)).variable
        return here

    def _place(self, here: dict[int, Expr]) -> tuple[Expr, ...]:
        """The loop index; dims that are done count as 0."""
        zero = const(0, INT64)
        return (*self.outer, *(here.get(dim, zero) for dim in self.inner))

    def _where(self, place: tuple[Expr, ...]) -> list[Expr]:
        return [at(i, place) for i in self.nest.store]

    def _store(self, place: tuple[Expr, ...], value: str) -> None:
        self.memory.store(self.stage.slot, self._where(place), value, self.dtype)

    def _load(self, place: tuple[Expr, ...]) -> str:
        width = self.builder.lanes.width if self.builder.lanes else 1
        return self.memory.load(load(self.stage.slot, tuple(self._where(place)), self.dtype), width)

    def _write(self, place: tuple[Expr, ...], value: str) -> None:
        where = self._block_place(place) if self.sink else self._where(place)
        self.memory.store(self.stage.slot, where, value, self.dtype)

    def _read(self, place: tuple[Expr, ...]) -> str:
        width = self.builder.lanes.width if self.builder.lanes else 1
        where = self._block_place(place) if self.sink else self._where(place)
        return self.memory.load(load(self.stage.slot, tuple(where), self.dtype), width)

    # -- blocks of units ------------------------------------------------------------------------

    def _block_number(self) -> Expr:
        assert self.unit is not None
        if self.bounds is not None:
            return self.unit
        return op("tdiv", self.unit, self.lowering.block_size)

    def _first_of_block(self) -> Expr:
        assert self.unit is not None
        if self.bounds is not None:
            return op("equal", self.unit, self.unit)
        return op(
            "equal", op("trem", self.unit, self.lowering.block_size), const(0, INT64)
        )

    def _block_place(self, place: tuple[Expr, ...]) -> list[Expr]:
        return [self._block_number(), *self._where(place)]

    def _into_block(self, lanes_register: str, lanes: int) -> None:
        """Add the lanes to this unit's block."""
        builder, kind = self.builder, llvm_type(self.dtype, lanes)
        parts = len(self.stage.nests)
        number = builder.scalar(
            linear.plus(linear.times(self._block_number(), parts), self.part)
        )
        memory = self.dtype if self.dtype is not BOOL else None
        stored = f"[{lanes} x i8]" if memory is None else f"[{lanes} x {memory.llvm}]"
        pointer = builder.value(
            f"getelementptr {stored}, ptr {self.folding.partials[self.stage.slot]}, i64 {number}"
        )
        if self.bounds is None:
            first = self.lowering.position(self._first_of_block())
            slot = builder.slot(kind)
            builder.line(f"store {kind} {lanes_register}, ptr {slot}, align 64")
            later = builder.value(f"xor i1 {first}, true")
            with builder.when(later):
                before = load_lanes(builder, pointer, self.dtype, lanes)
                total = self.folding.combine(
                    self.stage.fold, self.dtype, before, lanes_register, lanes
                )
                builder.line(f"store {kind} {total}, ptr {slot}, align 64")
            lanes_register = builder.value(f"load {kind}, ptr {slot}, align 64")
        store_lanes(builder, pointer, lanes_register, self.dtype, lanes)

    def _combine_into(
        self, place: list[Expr], value: str, width: int, first: Expr
    ) -> None:
        start = self.lowering.position(first)
        kind = llvm_type(self.dtype, width)
        before = self.memory.load(load(self.stage.slot, tuple(place), self.dtype), width)
        total = self.folding.combine(self.stage.fold, self.dtype, before, value, width)
        chosen = self.builder.value(f"select i1 {start}, {kind} {value}, {kind} {total}")
        self.memory.store(self.stage.slot, place, chosen, self.dtype)

    def _is_empty(self) -> Expr:
        total: Expr = const(1, INT64)
        for dim in self.stage.axes:
            total = op("multiply", total, self.stage.extents[dim])
        return op("equal", total, const(0, INT64))

    def _nothing_is_zero(self, result: str) -> str:
        if self.stage.fold != "sum" or not self.dtype.is_float:
            return result
        empty = self.builder.scalar(self._is_empty())
        kind = llvm_type(self.dtype, 1)
        zero = literal(0.0, self.dtype, 1)
        return self.builder.value(f"select i1 {empty}, {kind} {zero}, {kind} {result}")


def load_lanes(builder: Builder, pointer: str, dtype: DType, lanes: int) -> str:
    """Accumulators from memory (a bool is a byte there)."""
    if dtype is BOOL:
        raw = builder.value(f"load <{lanes} x i8>, ptr {pointer}, align 1")
        return builder.value(f"icmp ne <{lanes} x i8> {raw}, zeroinitializer")
    kind = llvm_type(dtype, lanes)
    return builder.value(f"load {kind}, ptr {pointer}, align {dtype.itemsize}")


def store_lanes(builder: Builder, pointer: str, value: str, dtype: DType, lanes: int) -> None:
    """Accumulators to memory."""
    kind = llvm_type(dtype, lanes)
    if dtype is BOOL:
        value = builder.value(f"zext {kind} {value} to <{lanes} x i8>")
        builder.line(f"store <{lanes} x i8> {value}, ptr {pointer}, align 1")
    else:
        builder.line(f"store {kind} {value}, ptr {pointer}, align {dtype.itemsize}")



def finish(
    loops: Loops, stage: Stage, size: Expr, partial: str, result: str, folding: Folding
) -> None:
    """Combine a sink's `%hi` blocks of `size` elements by halving, and write the result."""
    dtype = component(stage.dtype)
    blocks, out = stage.slot, -1
    one = const(1, INT64)
    loops.memory.layouts[blocks] = Layout(partial, Buffer(blocks, dtype, (one, size)))
    loops.memory.layouts[out] = Layout(result, Buffer(out, dtype, (size,)))
    builder = loops.builder
    with builder.loop("0", "64", 1, [("i64", "%hi")]) as round_:
        count = round_.current[0]
        half = builder.value(f"lshr i64 {builder.value(f'add i64 {count}, 1')}, 1")
        distance = builder.variable(half)
        with builder.loop(half, count, 1) as upper:
            above = upper.variable
            below = op("subtract", above, distance)

            def statement(j: Expr) -> None:
                width = builder.lanes.width if builder.lanes else 1
                a = loops.memory.load(load(blocks, (below, j), dtype), width)
                b = loops.memory.load(load(blocks, (above, j), dtype), width)
                total = folding.combine(stage.fold, dtype, a, b, width)
                loops.memory.store(blocks, (below, j), total, dtype)

            loops.vector_loop(const(0, INT64), size, lanes_of(dtype), statement)
        round_.next.append(half)
    if blocks_hold_lanes(stage):
        _halve_lanes(builder, stage, dtype, partial, result, folding)
        return
    with builder.when(builder.value("icmp sgt i64 %hi, 0")):

        def copy(j: Expr) -> None:
            width = builder.lanes.width if builder.lanes else 1
            value = loops.memory.load(load(blocks, (const(0, INT64), j), dtype), width)
            loops.memory.store(out, (j,), value, dtype)

        loops.vector_loop(const(0, INT64), size, lanes_of(dtype), copy)


def _halve_lanes(
    builder: Builder, stage: Stage, dtype: DType, partial: str, result: str, folding: Folding
) -> None:
    lanes = lanes_of(dtype)
    memory = "i8" if dtype is BOOL else dtype.llvm
    layout = Buffer(-1, dtype, (const(len(stage.nests), INT64),))
    folding.memory.layouts[-1] = Layout(result, layout)
    for part in range(len(stage.nests)):
        pointer = builder.value(f"getelementptr [{lanes} x {memory}], ptr {partial}, i64 {part}")
        total = folding.halve(
            stage.fold, dtype, load_lanes(builder, pointer, dtype, lanes), lanes
        )
        folding.memory.store(-1, (const(part, INT64),), total, dtype)


def blocks_hold_lanes(stage: Stage) -> bool:
    """Whether a sink's block is one set of lanes: everything is reduced."""
    return len(stage.axes) == len(stage.extents)


def block_size(stage: Stage) -> Expr:
    """Elements of one block of a sink (a complex value counts twice)."""
    parts = len(stage.nests)
    if blocks_hold_lanes(stage):
        return const(lanes_of(component(stage.dtype)) * parts, INT64)
    total: Expr = const(parts, INT64)
    for dim in stage.kept:
        total = linear.times(total, stage.extents[dim])
    return total
