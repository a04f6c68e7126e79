"""The loops around the tiles of one product, and the kernels that the thread pool calls.

`columns_packed` packs one panel of columns a unit, for all threads.  `rows_multiplied` is for one
block of the result a unit: it packs the block's rows into its scratch, and goes through the panels
of columns, each (in the first-level cache) times all tiles of rows (in the second).
"""

from __future__ import annotations

from collections.abc import Sequence

from fusewright.codegen.products.packing import PackFunction, packing_name
from fusewright.codegen.products.registers import RegisterTile
from fusewright.codegen.products.tile import UNROLLED, tile_functions, tile_name
from fusewright.codegen.recurrences.vectors import ATTRIBUTES, LINE, Vectors
from fusewright.ir.dtypes import DType

KERNEL = "ptr %args, i64 %lo, i64 %hi, ptr %scratch"
PACK_WORDS = ("from", "along", "across", "k", "count", "to", "panel")
"""What `columns_packed` reads: the addresses and strides (bytes) of the columns, how many k's and
columns there are; the panels, each of so many bytes.
"""
MULTIPLY_WORDS = (
    "from", "along", "across", "k", "rows", "block", "panels", "panel", "columns", "strip",
    "strips", "out", "step", "adds",
)  # fmt: skip
"""What `rows_multiplied` reads: the rows as above, and how many are in a block; the panels of
columns, and how many columns there are, in a strip and how many strips; the result and the bytes
between its rows; whether to add to it.
"""


def rounded_up(count: int, unit: int) -> int:
    """The least multiple of a unit that is not below a count."""
    return -(-count // unit) * unit


def panel_bytes(dtype: DType, tile: RegisterTile, k: int, width: int) -> int:
    """Bytes of a panel."""
    return rounded_up(k, tile.lanes) * width * dtype.itemsize


class _Blocks(Vectors):
    def __init__(self, dtype: DType, tile: RegisterTile) -> None:
        super().__init__(tile.lanes, dtype)
        self.tile = tile

    def words(self, names: Sequence[str]) -> None:
        for place, name in enumerate(names):
            kind = "ptr" if name in ("from", "to", "panels", "out") else "i64"
            address = self.at("%args", place, 8)
            self.do(f"%{name} = load {kind}, ptr {address}, align 8")

    def least(self, a: str, b: str) -> str:
        return self.line(f"call i64 @llvm.smin.i64(i64 {a}, i64 {b})")

    def moved(self, base: str, index: str, stride: str) -> str:
        return self.at(base, self.line(f"mul i64 {index}, {stride}"), 1)

    def pack(self, width: int, base: str, start: str, count: str, target: str) -> None:
        source = self.moved(base, start, "%across")
        self.do(
            f"call void @{packing_name(width)}(ptr {source}, i64 %along, i64 %across, i64 %k, "
            f"i64 {count}, ptr {target})"
        )

    def columns_packed(self) -> str:
        self.words(PACK_WORDS)
        width = self.tile.columns
        with self.loop("%lo", "%hi") as unit:
            start = self.line(f"mul i64 {unit}, {width}")
            left = self.least(self.line(f"sub i64 %count, {start}"), str(width))
            self.pack(width, "%from", start, left, self.moved("%to", unit, "%panel"))
        return self.function("columns_packed", KERNEL, private=False)

    def rows_multiplied(self) -> str:
        self.words(MULTIPLY_WORDS)
        rows, columns, size = self.tile.rows, self.tile.columns, self.dtype.itemsize
        padded = self.line(f"add i64 %k, {self.lanes - 1}")
        padded = self.line(f"and i64 {padded}, {-self.lanes}")
        of_rows = self.line(f"mul i64 {padded}, {rows * size}")
        lines = self.line(f"mul i64 {self.line(f'sdiv i64 %k, {UNROLLED}')}, {LINE}")
        with self.loop("%lo", "%hi") as unit:
            first = self.line(f"mul i64 {self.line(f'sdiv i64 {unit}, %strips')}, %block")
            left = self.least(self.line(f"sub i64 %rows, {first}"), "%block")
            above = self.line(f"add i64 {left}, {rows - 1}")
            tiles = self.line(f"sdiv i64 {above}, {rows}")
            with self.loop("0", tiles) as tile:
                row = self.line(f"mul i64 {tile}, {rows}")
                count = self.least(self.line(f"sub i64 {left}, {row}"), str(rows))
                start = self.line(f"add i64 {first}, {row}")
                self.pack(rows, "%from", start, count, self.moved("%scratch", tile, of_rows))
            strip = self.line(f"mul i64 {self.line(f'srem i64 {unit}, %strips')}, %strip")
            wide = self.least(self.line(f"sub i64 %columns, {strip}"), "%strip")
            across = self.line(f"add i64 {wide}, {columns - 1}")
            panels = self.line(f"sdiv i64 {across}, {columns}")
            before = self.line(f"sdiv i64 {strip}, {columns}")
            with self.loop("0", panels) as turn:
                panel = self.line(f"add i64 {turn}, {before}")
                p = self.moved("%panels", panel, "%panel")
                column = self.line(f"mul i64 {panel}, {columns}")
                right = self.line(f"sub i64 %columns, {column}")
                after = self.at(p, "%panel", 1)
                with self.loop("0", tiles) as tile:
                    following = self.moved(after, tile, lines)
                    q = self.moved("%scratch", tile, of_rows)
                    row = self.line(f"mul i64 {tile}, {rows}")
                    down = self.line(f"add i64 {first}, {row}")
                    out = self.at(self.moved("%out", down, "%step"), column, size)
                    count = self.line(f"sub i64 {left}, {row}")
                    self.multiply(p, q, out, count, right, following)
        return self.function("rows_multiplied", KERNEL, private=False)

    def multiply(
        self, p: str, q: str, out: str, rows: str, columns: str, following: str
    ) -> None:
        """One tile, of the smallest size that holds what is left."""
        adds = self.line("icmp ne i64 %adds, 0")
        for vectors in range(self.tile.vectors, 0, -1):
            is_last = vectors == self.tile.vectors
            fits = self.between(columns, (vectors - 1) * self.lanes, vectors * self.lanes, is_last)
            with self.when(fits):
                for number, (size, least) in enumerate(self.tile.covers()):
                    with self.when(self.between(rows, least - 1, size, number == 0)):
                        self.do(
                            f"call void @{tile_name(size, vectors)}(ptr {p}, ptr {q}, i64 %k, "
                            f"ptr {out}, i64 %step, i64 {rows}, i64 {columns}, i1 {adds}, "
                            f"ptr {following})"
                        )

    def between(self, value: str, above: int, to: int, unbounded: bool) -> str:
        """Whether `above` < value <= `to`."""
        more = self.line(f"icmp sgt i64 {value}, {above}")
        if unbounded:
            return more
        return self.line(f"and i1 {more}, {self.line(f'icmp sle i64 {value}, {to}')}")


def product_module(dtype: DType, tile: RegisterTile) -> str:
    """The module for one dtype: all layouts and extents."""
    parts = [
        tile_functions(dtype, tile),
        *(PackFunction(dtype, tile.lanes, width).text() for width in (tile.columns, tile.rows)),
        _Blocks(dtype, tile).columns_packed(),
        _Blocks(dtype, tile).rows_multiplied(),
    ]
    return "".join(parts) + ATTRIBUTES
