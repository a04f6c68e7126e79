"""The innermost loop: one register tile of a product, over one chunk of k.

    tile_R_V(p, q, k, out, step, rows, columns, adds)

`p` has `vectors` vectors of columns for each k, `q` one number for each row; both are packed
(`packing`).  Every element has one accumulator: from +0.0 on, fused multiply-adds, k ascending.
Then the tile is stored to `out`, whose rows are `step` bytes apart, or added to what is there.
What of it exceeds `rows` and `columns` is computed from padding and not stored.
"""

from __future__ import annotations

from fusewright.base.figures import LINE
from fusewright.codegen.products.registers import RegisterTile
from fusewright.codegen.recurrences.vectors import Vectors
from fusewright.ir.dtypes import DType

PARAMETERS = (
    "ptr noalias %p, ptr noalias %q, i64 %k, ptr noalias %out, i64 %step, "
    "i64 %rows, i64 %columns, i1 %adds, ptr %next"
)
UNROLLED = 4
"""Steps of k in one turn of the loop."""
FETCHED = 16
"""Turns before the end at which the result is fetched."""


def tile_name(rows: int, vectors: int) -> str:
    """That of the function for a tile of this size."""
    return f"tile_{rows}_{vectors}"


class TileFunction(Vectors):
    """One size: `rows` of the packed rows, `vectors` of the packed vectors; rows below `least` need
    no test.
    """

    def __init__(self, dtype: DType, tile: RegisterTile, rows: int, vectors: int, least: int):
        super().__init__(tile.lanes, dtype)
        self.tile = tile
        self.rows = rows
        self.vectors = vectors
        self.least = least

    def variables(self) -> list[list[str]]:
        """One for each vector of the tile."""
        return [
            [self.line(f"alloca {self.kind}, align 64") for _ in range(self.vectors)]
            for _ in range(self.rows)
        ]

    def clear(self, places: list[list[str]]) -> None:
        for row in places:
            for place in row:
                self.store("zeroinitializer", place)

    def named(self) -> str:
        return self.function(tile_name(self.rows, self.vectors), PARAMETERS)

    def text(self) -> str:
        places = self.variables()
        self.clear(places)
        turns = self.line(f"sdiv i64 %k, {UNROLLED}")
        early = self.line(f"sub i64 {turns}, {FETCHED + self.rows}")
        with self.loop("0", turns) as turn:
            first = self.line(f"mul i64 {turn}, {UNROLLED}")
            self.steps(first, UNROLLED, [places])
            self.fetch(self.line(f"sub i64 {turn}, {early}"))
            self.prefetch(self.at("%next", turn, LINE), 0, 2)
        done = self.line(f"mul i64 {turns}, {UNROLLED}")
        with self.loop(done, "%k") as k:
            self.steps(k, 1, [places])
        sums = [[self.load(place) for place in row] for row in places]
        whole = self.line(f"icmp sge i64 %columns, {self.lanes * self.vectors}")
        self.do("%starts = xor i1 %adds, true")
        self.do(f"%part = xor i1 {whole}, true")
        for adds in ("%adds", "%starts"):
            with self.when(adds):
                for masked in (False, True):
                    with self.when("%part" if masked else whole):
                        self.finish(sums, adds == "%adds", masked)
        return self.named()

    def fetch(self, row: str) -> None:
        """Have a row of the result in the cache when it is needed."""
        row = self.line(f"call i64 @llvm.smax.i64(i64 {row}, i64 0)")
        row = self.line(f"call i64 @llvm.smin.i64(i64 {row}, i64 {self.rows - 1})")
        start = self.at("%out", self.line(f"mul i64 %step, {row}"), 1)
        wide = self.vectors * self.bytes
        for place in (*range(0, wide, LINE), wide - 1):
            self.prefetch(self.at(start, place, 1), 1, 3)

    def prefetch(self, place: str, writes: int, locality: int) -> None:
        self.do(f"call void @llvm.prefetch.p0(ptr {place}, i32 {writes}, i32 {locality}, i32 1)")

    def steps(self, k: str, count: int, turns: list[list[list[str]]]) -> None:
        """Add the products of `count` successive k's to variables that take turns."""
        size = self.dtype.itemsize
        p = self.at("%p", k, self.tile.columns * size)
        q = self.at("%q", k, self.tile.rows * size)
        for step in range(count):
            there = step * self.tile.vectors
            columns = [self.load(p, there + vector) for vector in range(self.vectors)]
            for row in range(self.rows):
                number = self.broadcast(q, step * self.tile.rows + row)
                for vector in range(self.vectors):
                    place = turns[step % len(turns)][row][vector]
                    self.store(self.fma(columns[vector], number, self.load(place)), place)

    def finish(self, sums: list[list[str]], adds: bool, masked: bool) -> None:
        """Store the rows there are."""
        masks = []
        if masked:
            for vector in range(self.vectors):
                left = self.line(f"sub i64 %columns, {vector * self.lanes}")
                masks.append(self.mask(left))
        for row in range(self.rows):
            if row < self.least:
                self.finish_row(sums[row], row, adds, masks)
            else:
                with self.when(self.line(f"icmp sgt i64 %rows, {row}")):
                    self.finish_row(sums[row], row, adds, masks)

    def finish_row(self, sums: list[str], row: int, adds: bool, masks: list[str]) -> None:
        start = self.at("%out", self.line(f"mul i64 %step, {row}"), 1)
        size = self.dtype.itemsize
        for vector, value in enumerate(sums):
            place = self.at(start, vector, self.bytes)
            if masks:
                if adds:
                    old = self.load_masked(place, masks[vector], self.number(0.0))
                    value = self.add(old, value)
                self.store_masked(value, place, masks[vector])
            else:
                if adds:
                    old = self.line(f"load {self.kind}, ptr {place}, align {size}")
                    value = self.add(old, value)
                self.do(f"store {self.kind} {value}, ptr {place}, align {size}")
