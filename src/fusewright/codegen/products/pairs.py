"""Products of bfloat16 with fused multiply-adds: panels of float32, and tiles with two accumulators
for each element, of the even and of the odd k's.

    for each block of 32 k's:  even, odd = 0;  fused multiply-adds;  sum = sum + (even + odd)

Denormal numbers are zeros wherever they go in or come out: the processor is told so for a block.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fusewright.codegen.products.blocks import MultipliedBlock
from fusewright.codegen.products.packing import PackFunction
from fusewright.codegen.products.registers import RegisterTile
from fusewright.codegen.products.tile import TileFunction
from fusewright.codegen.recurrences.vectors import Vectors
from fusewright.ir.dtypes import BFLOAT16, FLOAT32
from fusewright.ir.products import PAIRED

SIZE = BFLOAT16.itemsize
TURN = 8
"""Steps of k in one turn of the loop."""
CONTROL = 0x9FC0
"""Of the MXCSR register: denormal numbers are zeros going in and coming out; to nearest; no traps.
"""


class WideningPack(PackFunction):
    """Packing that widens to float32; missing k's of the last block are zeros."""

    def __init__(self, lanes: int, width: int) -> None:
        super().__init__(FLOAT32, lanes, width)
        self.given = SIZE

    def vector(self, place: str, mask: str) -> str:
        kind, lanes = f"<{self.lanes} x i16>", self.lanes
        bits = self.line(
            f"call {kind} @llvm.masked.load.v{lanes}i16.p0(ptr {place}, i32 {SIZE}, "
            f"<{lanes} x i1> {mask}, {kind} zeroinitializer)"
        )
        return self.widened(bits, kind, f"<{lanes} x i32>", "splat (i32 16)", self.kind)

    def single(self, place: str) -> str:
        bits = self.line(f"load i16, ptr {place}, align {SIZE}")
        return self.widened(bits, "i16", "i32", "16", "float")

    def widened(self, bits: str, narrow: str, wide: str, half: str, kind: str) -> str:
        """The upper half of float32's bits."""
        bits = self.line(f"zext {narrow} {bits} to {wide}")
        return self.line(f"bitcast {wide} {self.line(f'shl {wide} {bits}, {half}')} to {kind}")

    def fill(self) -> None:
        above = self.line(f"add i64 %k, {PAIRED - 1}")
        with self.loop("%k", self.line(f"and i64 {above}, {-PAIRED}")) as k:
            for group in self.groups:
                self.put("zeroinitializer", k, group)


def store_result(to: Vectors, value: str, size: int, place: str, mask: str) -> None:
    """Store float32 as it is, or as bfloat16, to nearest and ties to even: each NaN as the same
    one.  `mask` may be empty: all lanes.
    """
    lanes = to.lanes
    if size != SIZE:
        if mask:
            to.store_masked(value, place, mask)
        else:
            to.do(f"store {to.kind} {value}, ptr {place}, align {size}")
        return
    wide, narrow = f"<{lanes} x i32>", f"<{lanes} x i16>"
    bits = to.line(f"bitcast {to.kind} {value} to {wide}")
    upper = to.line(f"lshr {wide} {bits}, splat (i32 16)")
    last = to.line(f"and {wide} {upper}, splat (i32 1)")
    moved = to.line(f"add {wide} {to.line(f'add {wide} {bits}, splat (i32 32767)')}, {last}")
    nearest = to.line(f"lshr {wide} {moved}, splat (i32 16)")
    missing = to.compare("uno", value, value)
    found = to.line(
        f"select <{lanes} x i1> {missing}, {wide} splat (i32 {0x7FC0}), {wide} {nearest}"
    )
    found = to.line(f"trunc {wide} {found} to {narrow}")
    if mask:
        to.do(
            f"call void @llvm.masked.store.v{lanes}i16.p0({narrow} {found}, ptr {place}, "
            f"i32 {SIZE}, <{lanes} x i1> {mask})"
        )
    else:
        to.do(f"store {narrow} {found}, ptr {place}, align {SIZE}")


class PairedTile(TileFunction):
    """One size of tile."""

    def __init__(self, tile: RegisterTile, rows: int, vectors: int, least: int) -> None:
        super().__init__(FLOAT32, tile, rows, vectors, least)

    def blocks(self, sums: list[list[str]], halves: list[list[list[str]]]) -> None:
        """Add up all blocks of k's."""
        above = self.line(f"add i64 %k, {PAIRED - 1}")
        with self.loop("0", self.line(f"sdiv i64 {above}, {PAIRED}")) as block:
            for half in halves:
                self.clear(half)
            with self.loop("0", str(PAIRED // TURN)) as turn:
                start = self.line(f"mul i64 {block}, {PAIRED}")
                k = self.line(f"add i64 {start}, {self.line(f'mul i64 {turn}, {TURN}')}")
                self.steps(k, TURN, halves)
            for evens, odds, row in zip(*halves, sums, strict=True):
                for even, odd, place in zip(evens, odds, row, strict=True):
                    both = self.add(self.load(even), self.load(odd))
                    self.store(self.add(self.load(place), both), place)

    def text(self) -> str:
        sums, *halves = (self.variables() for _ in range(3))  # in the function's first block
        self.clear(sums)
        if self.tile.result != SIZE:
            with self.when("%adds"):
                self.resume(sums)
        self.blocks(sums, halves)
        found = [[self.load(place) for place in row] for row in sums]
        whole = self.line(f"icmp sge i64 %columns, {self.lanes * self.vectors}")
        part = self.line(f"xor i1 {whole}, true")
        for masked in (False, True):
            with self.when(part if masked else whole):
                self.finish(found, False, masked)
        return self.named()

    def resume(self, sums: list[list[str]]) -> None:
        """Begin with the sums of earlier k's."""
        zero = self.number(0.0)
        left = (self.line(f"sub i64 %columns, {v * self.lanes}") for v in range(self.vectors))
        masks = [self.mask(each) for each in left]
        for row, places in enumerate(sums):
            with self.when(self.line(f"icmp sgt i64 %rows, {row}")):
                start = self.at("%out", self.line(f"mul i64 %step, {row}"), 1)
                for vector, (place, mask) in enumerate(zip(places, masks, strict=True)):
                    old = self.load_masked(self.at(start, vector, self.bytes), mask, zero)
                    self.store(old, place)

    def finish_row(self, sums: list[str], row: int, adds: bool, masks: list[str]) -> None:
        start = self.at("%out", self.line(f"mul i64 %step, {row}"), 1)
        for vector, value in enumerate(sums):
            place = self.at(start, vector, self.lanes * self.tile.result)
            store_result(self, value, self.tile.result, place, masks[vector] if masks else "")


class PairedBlock(MultipliedBlock):
    """`block`, with the processor's treatment of denormal numbers changed meanwhile."""

    @contextmanager
    def prepared(self) -> Iterator[None]:
        kept, other = (self.line("alloca i32, align 4") for _ in range(2))
        self.do(f"call void @llvm.x86.sse.stmxcsr(ptr {kept})")
        self.do(f"store i32 {CONTROL}, ptr {other}, align 4")
        self.do(f"call void @llvm.x86.sse.ldmxcsr(ptr {other})")
        yield
        self.do(f"call void @llvm.x86.sse.ldmxcsr(ptr {kept})")
