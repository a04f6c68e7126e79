"""Stacks of small products: one product in each vector lane.

    for as many products as a panel is wide:
        pack both operands: a[row, k] and b[k, column] are vectors, one lane for each product
        out[row, column] = sum of a[row, k] * b[k, column], tiles of SIDE x SIDE accumulators
        unpack the results

Each element has the order of summation of the other products (`tile`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fusewright.base.figures import LINE
from fusewright.codegen.products.packing import PackFunction, packing_name
from fusewright.codegen.products.registers import RegisterTile
from fusewright.codegen.recurrences.vectors import Vectors
from fusewright.ir.dtypes import DType

KERNEL = "ptr %args, i64 %lo, i64 %hi, ptr %scratch"
SIDES = {32: 4, 16: 3}
"""Rows and columns of accumulators, by the number of registers."""
WORDS = (
    "left", "lstack", "lalong", "lruns", "llength", "lstep",
    "right", "rstack", "ralong", "rruns", "rlength", "rstep",
    "out", "stack", "m", "k", "n", "items",
)  # fmt: skip
"""Of each operand: its address, bytes between products, between numbers of a run, how many runs
there are, of how many numbers, and bytes between them.  The result lies end to end.
"""
_POINTERS = ("left", "right", "out")


def side_of(tile: RegisterTile) -> int:
    """Rows and columns of a tile of accumulators."""
    return SIDES[32 if tile.rows * tile.vectors > 16 else 16]


class _Lanes(Vectors):
    """What the functions below share."""

    def __init__(self, dtype: DType, tile: RegisterTile) -> None:
        super().__init__(tile.lanes, dtype)
        self.tile = tile
        self.size = dtype.itemsize
        self.wide = tile.columns * dtype.itemsize
        """Bytes of a row of a panel."""

    def least(self, a: str, b: str) -> str:
        return self.line(f"call i64 @llvm.smin.i64(i64 {a}, i64 {b})")


class StackTile(_Lanes):
    """`stack_R_C`: rows R times columns C of the result."""

    PARAMETERS = "ptr noalias %a, ptr noalias %b, ptr noalias %out, i64 %k, i64 %n"

    def __init__(self, dtype: DType, tile: RegisterTile, rows: int, columns: int) -> None:
        super().__init__(dtype, tile)
        self.rows = rows
        self.columns = columns

    def text(self) -> str:
        places = [
            [self.line(f"alloca {self.kind}, align 64") for _ in range(self.columns)]
            for _ in range(self.rows)
        ]
        deep = self.line(f"mul i64 %k, {self.wide}")
        across = self.line(f"mul i64 %n, {self.wide}")
        starts = [self.at("%a", self.line(f"mul i64 {deep}, {row}"), 1) for row in range(self.rows)]
        with self.loop("0", str(self.tile.vectors)) as vector:
            here = self.line(f"mul i64 {vector}, {self.bytes}")
            for row in places:
                for place in row:
                    self.store("zeroinitializer", place)
            with self.loop("0", "%k") as k:
                below = self.line(f"add i64 {self.line(f'mul i64 {k}, {self.wide}')}, {here}")
                left = [self.load(self.at(start, below, 1)) for start in starts]
                line = self.line(f"add i64 {self.line(f'mul i64 {k}, {across}')}, {here}")
                first = self.at("%b", line, 1)
                right = [self.load(self.at(first, c, self.wide)) for c in range(self.columns)]
                for a, row in zip(left, places, strict=True):
                    for b, place in zip(right, row, strict=True):
                        self.store(self.fma(a, b, self.load(place)), place)
            for number, row in enumerate(places):
                offset = self.line(f"add i64 {self.line(f'mul i64 {across}, {number}')}, {here}")
                target = self.at("%out", offset, 1)
                for column, place in enumerate(row):
                    self.store(self.load(place), self.at(target, column, self.wide))
        return self.function(f"stack_{self.rows}_{self.columns}", self.PARAMETERS)


class UnpackFunction(_Lanes):
    """`unpack`: `length` numbers of each of `count` lanes, end to end, `stack` bytes apart."""

    PARAMETERS = "ptr noalias %from, i64 %length, i64 %count, ptr noalias %to, i64 %stack"

    def text(self) -> str:
        transposing = PackFunction(self.dtype, self.lanes, self.tile.columns)
        above = self.line(f"add i64 %length, {self.lanes - 1}")
        with self.loop("0", self.line(f"sdiv i64 {above}, {self.lanes}")) as block:
            start = self.line(f"mul i64 {block}, {self.lanes}")
            mask = self.mask(self.line(f"sub i64 %length, {start}"))
            source = self.at("%from", start, self.wide)
            target = self.at("%to", start, self.dtype.itemsize)
            for vector in range(self.tile.vectors):
                first = self.at(source, vector, self.bytes)
                rows = [self.load(self.at(first, row, self.wide)) for row in range(self.lanes)]
                transposing.lines, transposing.count = self.lines, self.count
                columns = transposing.transposed(rows)
                self.count = transposing.count
                for number, value in enumerate(columns, vector * self.lanes):
                    with self.when(self.line(f"icmp sgt i64 %count, {number}")):
                        place = self.at(target, self.line(f"mul i64 %stack, {number}"), 1)
                        self.store_masked(value, place, mask)
        return self.function("unpack", self.PARAMETERS)


class StackKernel(_Lanes):
    """`stacked_products`: a panel of products a unit."""

    def text(self) -> str:
        for place, name in enumerate(WORDS):
            kind = "ptr" if name in _POINTERS else "i64"
            self.do(f"%{name} = load {kind}, ptr {self.at('%args', place, 8)}, align 8")
        a, width = "%scratch", self.tile.columns
        for side, extents in (("l", ("%m", "%k")), ("r", ("%k", "%n")), ("", ("%m", "%n"))):
            self.dense(side, *extents)
        b = self.behind(a, "%m", "%k")
        c = self.behind(b, "%k", "%n")
        with self.loop("%lo", "%hi") as unit:
            first = self.line(f"mul i64 {unit}, {width}")
            count = self.least(self.line(f"sub i64 %items, {first}"), str(width))
            self.pack("l", "%left", a, first, count)
            self.pack("r", "%right", b, first, count)
            out = self.at("%out", self.line(f"mul i64 {first}, %stack"), 1)
            self.fetch(out, "%all", 1)
            self.tiles(a, b, c)
            size = self.line("mul i64 %m, %n")
            self.do(f"call void @unpack(ptr {c}, i64 {size}, i64 {count}, ptr {out}, i64 %stack)")
        return self.function("stacked_products", KERNEL, private=False)

    def dense(self, side: str, rows: str, columns: str) -> None:
        """The bytes of a panel's products in an array; 0 where others lie between them."""
        size = self.line(f"mul i64 {self.line(f'mul i64 {rows}, {columns}')}, {self.size}")
        is_dense = self.line(f"icmp eq i64 {size}, %{side}stack")
        every = self.line(f"mul i64 {size}, {self.tile.columns}")
        self.do(f"%{side}all = select i1 {is_dense}, i64 {every}, i64 0")

    def behind(self, start: str, rows: str, columns: str) -> str:
        """Where a panel ends that may be written a little further."""
        numbers = self.line(f"add i64 {self.line(f'mul i64 {rows}, {columns}')}, {self.lanes}")
        return self.at(start, numbers, self.wide)

    def pack(self, side: str, base: str, panel: str, first: str, count: str) -> None:
        """One operand of all products: its runs one after another."""
        here = self.at(base, self.line(f"mul i64 {first}, %{side}stack"), 1)
        self.fetch(self.at(here, f"%{side}all", 1), f"%{side}all", 0)
        size = self.line(f"mul i64 %{side}length, {self.wide}")
        with self.loop("0", f"%{side}runs") as run:
            source = self.at(here, self.line(f"mul i64 {run}, %{side}step"), 1)
            target = self.at(panel, self.line(f"mul i64 {run}, {size}"), 1)
            self.do(
                f"call void @{packing_name(self.tile.columns)}(ptr {source}, i64 %{side}along, "
                f"i64 %{side}stack, i64 %{side}length, i64 {count}, ptr {target})"
            )

    def fetch(self, start: str, size: str, writes: int) -> None:
        """Have memory in the cache that is about to be used: products of a panel lie too far apart
        for the hardware's prefetchers.
        """
        with self.loop("0", self.line(f"sdiv i64 {size}, {LINE}")) as line:
            place = self.at(start, line, LINE)
            self.do(f"call void @llvm.prefetch.p0(ptr {place}, i32 {writes}, i32 2, i32 1)")

    def tiles(self, a: str, b: str, c: str) -> None:
        """The results of a panel."""
        side = side_of(self.tile)
        with self.steps("%m", side) as (row, rows), self.steps("%n", side) as (column, columns):
            left = self.at(a, self.line(f"mul i64 {row}, %k"), self.wide)
            right = self.at(b, column, self.wide)
            place = self.line(f"add i64 {self.line(f'mul i64 {row}, %n')}, {column}")
            out = self.at(c, place, self.wide)
            for r in range(1, side + 1):
                with self.when(self.line(f"icmp eq i64 {rows}, {r}")):
                    for s in range(1, side + 1):
                        with self.when(self.line(f"icmp eq i64 {columns}, {s}")):
                            self.do(
                                f"call void @stack_{r}_{s}(ptr {left}, ptr {right}, ptr {out}, "
                                "i64 %k, i64 %n)"
                            )

    @contextmanager
    def steps(self, extent: str, side: int) -> Iterator[tuple[str, str]]:
        """A loop in steps: where one begins, and how much of it there is."""
        above = self.line(f"add i64 {extent}, {side - 1}")
        with self.loop("0", self.line(f"sdiv i64 {above}, {side}")) as turn:
            start = self.line(f"mul i64 {turn}, {side}")
            yield start, self.least(self.line(f"sub i64 {extent}, {start}"), str(side))


def stack_functions(dtype: DType, tile: RegisterTile) -> str:
    """All of them; packing is that of the columns of other products."""
    sides = range(1, side_of(tile) + 1)
    tiles = (StackTile(dtype, tile, rows, columns).text() for rows in sides for columns in sides)
    return "".join((*tiles, UnpackFunction(dtype, tile).text(), StackKernel(dtype, tile).text()))
