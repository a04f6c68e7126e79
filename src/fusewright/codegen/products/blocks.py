"""The loops around the tiles of one product, and the kernels that the thread pool calls.

    panels: a strip of columns, packed        (third-level cache, shared by threads)
    block:  rows, packed, times every panel   (second-level cache; the panel at hand in the first)

`columns_packed` packs one panel a unit, `rows_multiplied` computes one block of the result a unit:
a product on several threads is a launch of each for every chunk of k and strip of columns.
`whole_products` does all of it for one product a unit, with panels in the unit's own scratch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from fusewright.base.figures import LINE
from fusewright.codegen.products.packing import packing_name
from fusewright.codegen.products.registers import RegisterTile
from fusewright.codegen.products.tile import UNROLLED, tile_name
from fusewright.codegen.recurrences.vectors import Vectors
from fusewright.ir.dtypes import BFLOAT16, DType

KERNEL = "ptr %args, i64 %lo, i64 %hi, ptr %scratch"
PACK_WORDS = ("from", "along", "across", "k", "count", "to", "panel")
"""What `columns_packed` reads: the address of the columns, bytes between k's and between columns,
how many of both there are; the panels, each of so many bytes.
"""
MULTIPLY_WORDS = (
    "from", "along", "across", "k", "rows", "block", "panels", "panel", "columns", "strip",
    "strips", "out", "step", "adds",
)  # fmt: skip
"""What `rows_multiplied` reads: the rows as above, and how many are in a block; the panels of
columns, and how many columns there are, in a strip and how many strips; the result and the bytes
between its rows; whether to add to it.
"""
WHOLE_WORDS = (
    "from", "along", "across", "rows", "block", "source", "down", "right", "columns", "strip",
    "out", "step", "depth", "chunk", "panel", "kept", "offsets",
)  # fmt: skip
"""What `whole_products` reads: rows as above; where the columns are and bytes between their k's and
between them, and how many are packed at a time; the result; all k's, and those of a chunk; bytes of
a panel, and of the panels of a strip; bytes to add to the three addresses for each unit.
"""
TOGETHER = 8
"""Panels that are packed side by side where rows of them lie end to end: memory is read in runs."""
POINTERS = ("from", "to", "panels", "out", "source", "offsets", "steps", "last")


class Loops(Vectors):
    """What the functions below share."""

    def __init__(self, dtype: DType, tile: RegisterTile) -> None:
        super().__init__(tile.lanes, dtype)
        self.tile = tile

    def words(self, names: Sequence[str]) -> None:
        for place, name in enumerate(names):
            kind = "ptr" if name in POINTERS else "i64"
            address = self.at("%args", place, 8)
            self.do(f"%{name} = load {kind}, ptr {address}, align 8")

    def least(self, a: str, b: str) -> str:
        return self.line(f"call i64 @llvm.smin.i64(i64 {a}, i64 {b})")

    def times(self, a: str, b: str | int) -> str:
        return self.line(f"mul i64 {a}, {b}")

    def minus(self, a: str, b: str) -> str:
        return self.line(f"sub i64 {a}, {b}")

    def parts(self, count: str, unit: str | int) -> str:
        """How many units hold a count."""
        above = self.line(f"add i64 {count}, {unit}")
        return self.line(f"sdiv i64 {self.line(f'sub i64 {above}, 1')}, {unit}")

    def moved(self, base: str, index: str, stride: str) -> str:
        return self.at(base, self.times(index, stride), 1)


class PackedPanels(Loops):
    """`panels`: some panels of columns, packed."""

    PARAMETERS = (
        "ptr %from, i64 %along, i64 %across, i64 %k, i64 %count, i64 %lo, i64 %hi, ptr %to, "
        "i64 %panel"
    )

    def text(self) -> str:
        first = "%lo" if self.dtype is BFLOAT16 else self.side_by_side()
        width = self.tile.columns
        with self.loop(first, "%hi") as panel:
            start = self.times(panel, width)
            left = self.least(self.minus("%count", start), str(width))
            source = self.moved("%from", start, "%across")
            target = self.moved("%to", panel, "%panel")
            self.do(
                f"call void @{packing_name(width)}(ptr {source}, i64 %along, i64 %across, i64 %k, "
                f"i64 {left}, ptr {target})"
            )
        return self.function("panels", self.PARAMETERS)

    def side_by_side(self) -> str:
        """Copy those that lie end to end, row by row; the first that is left."""
        width = self.tile.columns
        is_row = self.line(f"icmp eq i64 %across, {self.dtype.itemsize}")
        full = self.least("%hi", self.line(f"sdiv i64 %count, {width}"))
        full = self.line(f"call i64 @llvm.smax.i64(i64 {full}, i64 %lo)")
        first = self.line(f"select i1 {is_row}, i64 {full}, i64 %lo")
        with self.loop("0", self.parts(self.minus(first, "%lo"), TOGETHER)) as group:
            start = self.line(f"add i64 %lo, {self.times(group, TOGETHER)}")
            end = self.least(self.line(f"add i64 {start}, {TOGETHER}"), first)
            with self.loop("0", "%k") as k:
                row = self.moved("%from", k, "%along")
                with self.loop(start, end) as panel:
                    self.copied(row, panel, k)
        return first

    def copied(self, row: str, panel: str, k: str) -> None:
        """One k of a full panel, which lies end to end."""
        size = self.dtype.itemsize
        wide = self.tile.columns * size
        source = self.at(row, panel, wide)
        target = self.at(self.moved("%to", panel, "%panel"), k, wide)
        for vector in range(self.tile.vectors):
            place = self.at(source, vector, self.bytes)
            value = self.line(f"load {self.kind}, ptr {place}, align {size}")
            self.store(value, target, vector)


class TilePlace(NamedTuple):
    """A tile's number and first row; the first tile whose rows are packed; where the next panel is,
    and how many bytes of it each tile fetches.
    """

    number: str
    row: str
    first_packed: str
    next_panel: str
    share: str


class MultipliedBlock(Loops):
    """`block`: rows, packed here, times panels of columns."""

    PARAMETERS = (
        "ptr %from, i64 %along, i64 %across, i64 %k, i64 %rows, ptr %panels, i64 %panel, "
        "i64 %columns, ptr %out, i64 %step, i1 %adds, ptr %packed"
    )

    def text(self) -> str:
        with self.prepared():
            self.every_tile()
        return self.function("block", self.PARAMETERS)

    @contextmanager
    def prepared(self) -> Iterator[None]:
        """The processor's state that tiles need, inside alone."""
        yield

    @property
    def packing(self) -> str:
        """The function that packs a tile's rows."""
        return packing_name(self.tile.rows)

    def first_packed(self) -> str:
        """The first tile whose rows are packed; those before it are read where they are."""
        return "0"

    def share_fetched(self) -> str:
        """Bytes of the next panel that each tile fetches."""
        return self.times(self.line(f"sdiv i64 %k, {UNROLLED}"), LINE)

    def every_tile(self) -> None:
        """Pack the rows, then multiply those of each tile by each panel."""
        rows, columns = self.tile.rows, self.tile.columns
        deep = self.tile.deep
        size = self.times(self.parts("%k", deep), deep * rows * self.tile.number)
        share = self.share_fetched()
        first = self.first_packed()
        tiles, across = self.parts("%rows", rows), self.parts("%columns", columns)
        with self.loop(first, tiles) as tile:
            row = self.times(tile, rows)
            count = self.least(self.minus("%rows", row), str(rows))
            source, target = self.moved("%from", row, "%across"), self.moved("%packed", tile, size)
            self.do(
                f"call void @{self.packing}(ptr {source}, i64 %along, i64 %across, i64 %k, "
                f"i64 {count}, ptr {target})"
            )
        with self.loop("0", across) as panel:
            p = self.moved("%panels", panel, "%panel")
            after = self.at(p, "%panel", 1)
            column = self.times(panel, columns)
            right = self.minus("%columns", column)
            with self.loop("0", tiles) as tile:
                q, row = self.moved("%packed", tile, size), self.times(tile, rows)
                place = self.at(self.moved("%out", row, "%step"), column, self.tile.result)
                at = TilePlace(tile, row, first, after, share)
                self.multiply(p, q, place, self.minus("%rows", row), right, at)

    def multiply(self, p: str, q: str, out: str, rows: str, columns: str, at: TilePlace) -> None:
        """One tile; what comes next is fetched."""
        following = self.moved(at.next_panel, at.number, at.share)
        words = (
            f"ptr {p}, ptr {q}, i64 %k, ptr {out}, i64 %step, i64 {rows}, i64 {columns}, "
            f"i1 %adds, ptr {following}"
        )
        self.call_smallest(words, rows, columns)

    def call_smallest(self, words: str, rows: str, columns: str) -> None:
        """The smallest tile that holds what is left."""
        for vectors in range(self.tile.vectors, 0, -1):
            widest = vectors == self.tile.vectors
            fits = self.between(columns, (vectors - 1) * self.lanes, vectors * self.lanes, widest)
            with self.when(fits):
                for size, least in self.tile.covers():
                    with self.when(self.between(rows, least - 1, size, size == self.tile.rows)):
                        self.do(f"call void @{tile_name(size, vectors)}({words})")

    def between(self, value: str, above: int, to: int, unbounded: bool) -> str:
        """Whether `above` < value <= `to`."""
        more = self.line(f"icmp sgt i64 {value}, {above}")
        if unbounded:
            return more
        return self.line(f"and i1 {more}, {self.line(f'icmp sle i64 {value}, {to}')}")


class PackKernel(Loops):
    """`columns_packed`."""

    def text(self) -> str:
        self.words(PACK_WORDS)
        self.do(
            "call void @panels(ptr %from, i64 %along, i64 %across, i64 %k, i64 %count, i64 %lo, "
            "i64 %hi, ptr %to, i64 %panel)"
        )
        return self.function("columns_packed", KERNEL, private=False)


class MultiplyKernel(Loops):
    """`rows_multiplied`."""

    def text(self) -> str:
        self.words(MULTIPLY_WORDS)
        adds = self.line("icmp ne i64 %adds, 0")
        with self.loop("%lo", "%hi") as unit:
            first = self.times(self.line(f"sdiv i64 {unit}, %strips"), "%block")
            left = self.least(self.minus("%rows", first), "%block")
            source = self.moved("%from", first, "%across")
            strip = self.times(self.line(f"srem i64 {unit}, %strips"), "%strip")
            wide = self.least(self.minus("%columns", strip), "%strip")
            before = self.line(f"sdiv i64 {strip}, {self.tile.columns}")
            panels = self.moved("%panels", before, "%panel")
            out = self.at(self.moved("%out", first, "%step"), strip, self.tile.result)
            self.do(
                f"call void @block(ptr {source}, i64 %along, i64 %across, i64 %k, i64 {left}, "
                f"ptr {panels}, i64 %panel, i64 {wide}, ptr {out}, i64 %step, i1 {adds}, "
                "ptr %scratch)"
            )
        return self.function("rows_multiplied", KERNEL, private=False)


class WholeKernel(Loops):
    """`whole_products`."""

    def text(self) -> str:
        self.words(WHOLE_WORDS)
        packed = self.at("%scratch", "%kept", 1)
        strips, chunks = self.parts("%columns", "%strip"), self.parts("%depth", "%chunk")
        blocks = self.parts("%rows", "%block")
        with self.loop("%lo", "%hi") as unit:
            offsets = self.at("%offsets", unit, 24)
            rows, columns, out = (
                self.at(base, self.word(offsets, place, "i64"), 1)
                for place, base in enumerate(("%from", "%source", "%out"))
            )
            with self.loop("0", strips) as strip, self.loop("0", chunks) as chunk:
                column, k = self.times(strip, "%strip"), self.times(chunk, "%chunk")
                wide = self.least(self.minus("%columns", column), "%strip")
                deep = self.least(self.minus("%depth", k), "%chunk")
                source = self.moved(self.moved(columns, column, "%right"), k, "%down")
                self.do(
                    f"call void @panels(ptr {source}, i64 %down, i64 %right, i64 {deep}, "
                    f"i64 {wide}, i64 0, i64 {self.parts(wide, self.tile.columns)}, "
                    "ptr %scratch, i64 %panel)"
                )
                adds = self.line(f"icmp ne i64 {chunk}, 0")
                with self.loop("0", blocks) as block:
                    row = self.times(block, "%block")
                    left = self.least(self.minus("%rows", row), "%block")
                    source = self.moved(self.moved(rows, row, "%across"), k, "%along")
                    place = self.at(self.moved(out, row, "%step"), column, self.tile.result)
                    self.do(
                        f"call void @block(ptr {source}, i64 %along, i64 %across, i64 {deep}, "
                        f"i64 {left}, ptr %scratch, i64 %panel, i64 {wide}, ptr {place}, "
                        f"i64 %step, i1 {adds}, ptr {packed})"
                    )
        return self.function("whole_products", KERNEL, private=False)
