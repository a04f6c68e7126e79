"""Combining accumulators: one step of a reduction, lanes and blocks by
halving.
"""

from __future__ import annotations

from fusewright.codegen.builder import Builder
from fusewright.codegen.loops import Loops
from fusewright.codegen.memory import Layout, Memory
from fusewright.codegen.spell import literal, llvm_type, spell
from fusewright.ir import ops
from fusewright.ir.dtypes import BOOL, INT64, DType
from fusewright.ir.expr import Expr, const, load, op, param, postorder, typed_op
from fusewright.ir.nest import Buffer
from fusewright.ir.tree.units import PartialResults
from fusewright.rules.decompose import decompose


class Folding:
    """Writes the combinations of one kernel; `partials` are the pointers to its sinks' blocks."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.builder = memory.builder
        self.partials: dict[int, str] = {}

    def combine(self, name: str, dtype: DType, a: str, b: str, width: int) -> str:
        """Two registers combined, as a reduction or scan of this name does."""
        row = ops.REDUCE.get(name) or ops.SCAN[name]
        return self.update(row.combine, dtype, a, b, width)

    def update(self, by: str, dtype: DType, a: str, b: str, width: int) -> str:
        """An operation of two registers, as instructions in the innermost scope."""
        left, right = param(-1, dtype), param(-2, dtype)
        registers: dict[Expr, str] = {left: a, right: b}
        root = decompose(typed_op(by, dtype, left, right))
        for node in postorder([root]):
            if node in registers:
                continue
            if node.name == "const":
                registers[node] = literal(node.attr, node.dtype, width)
            else:
                operands = [registers[arg] for arg in node.args]
                out = self.builder.scopes[-1].lines
                registers[node] = spell(
                    node, operands, width, out, self.builder.fresh, self.builder.avx512
                )
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
    loops: Loops, kept: PartialResults, dtype: DType, partial: str, result: str, folding: Folding
) -> None:
    """Combine the partial results of `%hi` blocks by halving, and write the result."""
    blocks, out, size = kept.buffer, -1, kept.size
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
                total = folding.combine(kept.by, dtype, a, b, width)
                loops.memory.store(blocks, (below, j), total, dtype)

            loops.vector_loop("0", builder.scalar(size), kept.width, statement)
        round_.next.append(half)
    if kept.are_lanes:
        _halve_lanes(builder, kept, dtype, partial, result, folding)
        return
    with builder.when(builder.value("icmp sgt i64 %hi, 0")):

        def copy(j: Expr) -> None:
            width = builder.lanes.width if builder.lanes else 1
            value = loops.memory.load(load(blocks, (const(0, INT64), j), dtype), width)
            loops.memory.store(out, (j,), value, dtype)

        loops.vector_loop("0", builder.scalar(size), kept.width, copy)


def _halve_lanes(
    builder: Builder,
    kept: PartialResults,
    dtype: DType,
    partial: str,
    result: str,
    folding: Folding,
) -> None:
    lanes = kept.width
    memory = "i8" if dtype is BOOL else dtype.llvm
    layout = Buffer(-1, dtype, (const(kept.parts, INT64),))
    folding.memory.layouts[-1] = Layout(result, layout)
    for part in range(kept.parts):
        pointer = builder.value(f"getelementptr [{lanes} x {memory}], ptr {partial}, i64 {part}")
        total = folding.halve(kept.by, dtype, load_lanes(builder, pointer, dtype, lanes), lanes)
        folding.memory.store(-1, (const(part, INT64),), total, dtype)
