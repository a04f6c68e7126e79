"""Products of bfloat16 with tile registers (AMX): two by two tiles of 16 by 16 results.

    columns  [k/2][32 columns][2]     pairs of k's side by side, as the instruction reads them
    rows     [k/32][32 rows][32 k's]  or where they are, if their k's lie end to end in whole blocks

Tiles are named: registers 0 to 3 hold results, 4 and 5 rows, 6 and 7 columns.  They are configured
for a block, and released after it: threads with tiles in use are slower to switch.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fusewright.codegen.products.blocks import MultipliedBlock, TilePlace
from fusewright.codegen.products.packing import PackFunction
from fusewright.codegen.products.pairs import SIZE, store_result
from fusewright.codegen.products.registers import RegisterTile
from fusewright.codegen.products.tile import tile_name
from fusewright.codegen.recurrences.vectors import Vectors
from fusewright.ir.dtypes import FLOAT32
from fusewright.ir.products import PAIRED

SIDE = 16
"""Rows of a tile register, and results in each."""
WIDTH = 2 * SIDE
LINE = 64
"""Bytes of a row of a tile register."""
BLOCK = PAIRED * WIDTH * SIZE
"""Bytes of a block of k's in a panel of either operand."""
ROWS = "pack_rows"
PARAMETERS = (
    "ptr noalias %p, ptr noalias %q, i64 %across, i64 %every, i64 %k, ptr noalias %out, i64 %step, "
    "i64 %rows, i64 %columns, i1 %adds"
)
"""Of a tile: columns and rows; bytes between rows, and from block to block of them."""


def _configuration() -> str:
    """The operand of `ldtilecfg`: eight tiles of 16 rows of 64 bytes."""
    numbers = [1, *[0] * 15, *[LINE, 0] * 8, *[0] * 16, *[SIDE] * 8, *[0] * 8]
    text = ", ".join(f"i8 {number}" for number in numbers)
    return f"@configuration = private constant [64 x i8] [{text}], align 64\n"


class MatrixTile(Vectors):
    """`tile_R_V`: R rows (16 or 32) times V vectors of 16 columns."""

    def __init__(self, rows: int, vectors: int, result: int) -> None:
        super().__init__(SIDE, FLOAT32)
        self.rows = rows
        self.result = result
        self.down = range(rows // SIDE)
        self.right = range(vectors)

    def text(self) -> str:
        made = self.line(f"alloca [{4 * WIDTH * WIDTH} x i8], align 64")
        for down in self.down:
            for right in self.right:
                self.do(f"call void @llvm.x86.tilezero(i8 {2 * down + right})")
        if self.result != SIZE:
            with self.when("%adds"):
                self.resume(made)
        above = self.line(f"add i64 %k, {PAIRED - 1}")
        with self.loop("0", self.line(f"sdiv i64 {above}, {PAIRED}")) as block:
            q = self.at("%q", self.line(f"mul i64 {block}, %every"), 1)
            p = self.at("%p", block, BLOCK)
            lower = self.line(f"mul i64 %across, {SIDE}")
            for down in self.down:
                self.fetch(4 + down, self.at(q, lower, 1) if down else q, "%across")
            for right in self.right:
                self.fetch(6 + right, self.at(p, right, LINE), str(2 * LINE))
            for down in self.down:
                for right in self.right:
                    tiles = 2 * down + right, 4 + down, 6 + right
                    self.do(f"call void @llvm.x86.tdpbf16ps({', '.join(f'i8 {n}' for n in tiles)})")
        for number, place in self.results(made):
            self.do(f"call void @llvm.x86.tilestored64(i8 {number}, ptr {place}, i64 {2 * LINE})")
        self.store_rows(made)
        return self.function(tile_name(self.rows, len(self.right)), PARAMETERS)

    def results(self, made: str) -> Iterator[tuple[int, str]]:
        """The registers of results, and where each lies in a block of 32 columns."""
        for down in self.down:
            for right in self.right:
                place = down * SIDE * 2 * LINE + right * LINE
                yield 2 * down + right, self.at(made, place, 1)

    def resume(self, made: str) -> None:
        """Begin with the sums of earlier k's."""
        count, zero = self.least_rows(), self.number(0.0)
        masks = [self.mask(self.line(f"sub i64 %columns, {r * SIDE}")) for r in self.right]
        with self.loop("0", count) as row:
            source = self.at("%out", self.line(f"mul i64 {row}, %step"), 1)
            target = self.at(made, row, 2 * LINE)
            for right, mask in zip(self.right, masks, strict=True):
                old = self.load_masked(self.at(source, right, LINE), mask, zero)
                self.store(old, target, right)
        for number, place in self.results(made):
            self.fetch(number, place, str(2 * LINE))

    def least_rows(self) -> str:
        return self.line(f"call i64 @llvm.smin.i64(i64 %rows, i64 {self.rows})")

    def fetch(self, tile: int, place: str, stride: str) -> None:
        self.do(f"call void @llvm.x86.tileloadd64(i8 {tile}, ptr {place}, i64 {stride})")

    def store_rows(self, made: str) -> None:
        """Round the rows and columns there are."""
        count = self.least_rows()
        whole = self.line(f"icmp sge i64 %columns, {SIDE * len(self.right)}")
        part = self.line(f"xor i1 {whole}, true")
        for masked in (False, True):
            with self.when(part if masked else whole):
                masks = [
                    self.mask(self.line(f"sub i64 %columns, {right * SIDE}")) if masked else ""
                    for right in self.right
                ]
                with self.loop("0", count) as row:
                    source = self.at(made, row, 2 * LINE)
                    target = self.at("%out", self.line(f"mul i64 {row}, %step"), 1)
                    for right, mask in zip(self.right, masks, strict=True):
                        place = self.at(target, right, SIDE * self.result)
                        store_result(self, self.load(source, right), self.result, place, mask)


class _MatrixPack(PackFunction):
    """What packing rows and columns has in common: a panel of 32, in blocks of 32 k's."""

    def __init__(self, lanes: int) -> None:
        super().__init__(FLOAT32, lanes, WIDTH)
        self.given = SIZE

    def halves(self, place: str, mask: str) -> str:
        """32 numbers, and zeros where a mask has them."""
        return self.line(
            f"call <32 x i16> @llvm.masked.load.v32i16.p0(ptr {place}, i32 {SIZE}, "
            f"<32 x i1> {mask}, <32 x i16> zeroinitializer)"
        )

    def below(self, left: str) -> str:
        """The lanes, of 32, below a count."""
        wide = Vectors(PAIRED, FLOAT32)
        wide.lines, wide.count = self.lines, self.count
        found = wide.mask(left)
        self.count = wide.count
        return found

    def number_of_blocks(self) -> str:
        return self.line(f"sdiv i64 {self.line(f'add i64 %k, {PAIRED - 1}')}, {PAIRED}")

    @contextmanager
    def each_block(self) -> Iterator[tuple[str, str, str]]:
        """A loop over blocks: the first k, which of its k's there are, where it is packed."""
        with self.loop("0", self.number_of_blocks()) as block:
            start = self.line(f"mul i64 {block}, {PAIRED}")
            mask = self.below(self.line(f"sub i64 %k, {start}"))
            yield start, mask, self.at("%to", block, BLOCK)

    def clear_last(self) -> None:
        """Zeros in the last block, for the numbers that it lacks."""
        last = self.at("%to", self.line(f"sub i64 {self.number_of_blocks()}, 1"), BLOCK)
        for line in range(0, BLOCK, LINE):
            place = self.at(last, line, 1)
            self.do(f"store <16 x i32> zeroinitializer, ptr {place}, align {SIZE}")

    def collect(self) -> None:
        self.clear_last()
        last = self.line("sub i64 %count, 1")
        with self.loop("0", "%k") as k, self.loop("0", str(WIDTH)) as row:
            source = self.at(self.row(row, last), self.line(f"mul i64 {k}, %along"), 1)
            number = self.line(f"load i16, ptr {source}, align {SIZE}")
            self.do(f"store i16 {number}, ptr {self.place(k, row)}, align {SIZE}")

    def place(self, k: str, row: str) -> str:
        """Where a number is."""
        raise NotImplementedError


class PairColumns(_MatrixPack):
    """`pack_32`: columns, in pairs of k's."""

    def __init__(self) -> None:
        super().__init__(SIDE)

    def place(self, k: str, row: str) -> str:
        pair = self.at("%to", self.line(f"lshr i64 {k}, 1"), 2 * LINE)
        return self.at(self.at(pair, row, 2 * SIZE), self.line(f"and i64 {k}, 1"), SIZE)

    def copy(self) -> None:
        self.clear_last()
        mask = self.below("%count")
        lanes = ", ".join(f"i32 {lane // 2 + lane % 2 * 32}" for lane in range(64))
        pairs = self.line(f"sdiv i64 {self.line('add i64 %k, 1')}, 2")
        with self.loop("0", pairs) as pair:
            k = self.line(f"mul i64 {pair}, 2")
            after = self.line(f"add i64 {k}, 1")
            there = self.line(f"icmp slt i64 {after}, %k")
            only = self.line(f"select i1 {there}, <32 x i1> {mask}, <32 x i1> zeroinitializer")
            even, odd = (
                self.halves(self.at("%from", self.line(f"mul i64 {each}, %along"), 1), lacking)
                for each, lacking in ((k, mask), (after, only))
            )
            both = self.line(
                f"shufflevector <32 x i16> {even}, <32 x i16> {odd}, <64 x i32> <{lanes}>"
            )
            place = self.at("%to", pair, 2 * LINE)
            self.do(f"store <64 x i16> {both}, ptr {place}, align {SIZE}")

    def transpose(self) -> None:
        last = self.line("sub i64 %count, 1")
        with self.each_block() as (start, mask, target):
            for group in self.groups:
                rows = []
                for row in range(group, group + SIDE):
                    pairs = self.halves(self.at(self.row(row, last), start, SIZE), mask)
                    rows.append(self.line(f"bitcast <32 x i16> {pairs} to {self.kind}"))
                for step, vector in enumerate(self.transposed(rows)):
                    place = self.at(target, step * 2 * LINE + group * 2 * SIZE, 1)
                    self.do(f"store {self.kind} {vector}, ptr {place}, align {SIZE}")


class BlockedRows(_MatrixPack):
    """`pack_rows`: rows, each with the k's of a block end to end."""

    def __init__(self) -> None:
        super().__init__(PAIRED)
        self.kind = "<32 x i16>"
        self.name = ROWS

    def place(self, k: str, row: str) -> str:
        block = self.at("%to", self.line(f"lshr i64 {k}, 5"), BLOCK)
        return self.at(self.at(block, row, LINE), self.line(f"and i64 {k}, 31"), SIZE)

    def transpose(self) -> None:
        """Rows whose k's lie end to end."""
        last = self.line("sub i64 %count, 1")
        with self.each_block() as (start, mask, target), self.loop("0", str(WIDTH)) as row:
            numbers = self.halves(self.at(self.row(row, last), start, SIZE), mask)
            place = self.at(target, row, LINE)
            self.do(f"store {self.kind} {numbers}, ptr {place}, align {SIZE}")

    def copy(self) -> None:
        """Rows that lie side by side."""
        mask, last = self.below("%count"), self.line("sub i64 %k, 1")
        with self.loop("0", self.number_of_blocks()) as block:
            start = self.line(f"mul i64 {block}, {PAIRED}")
            columns = []
            for step in range(PAIRED):
                k = self.line(f"add i64 {start}, {step}")
                here = self.line(f"mul i64 {self.least(k, last)}, %along")
                there = self.line(f"icmp sle i64 {k}, {last}")
                only = self.line(f"select i1 {there}, <32 x i1> {mask}, <32 x i1> zeroinitializer")
                columns.append(self.halves(self.at("%from", here, 1), only))
            target = self.at("%to", block, BLOCK)
            for row, vector in enumerate(self.transposed(columns)):
                place = self.at(target, row, LINE)
                self.do(f"store {self.kind} {vector}, ptr {place}, align {SIZE}")


class MatrixBlock(MultipliedBlock):
    """`block`, with tile registers in use meanwhile."""

    @contextmanager
    def prepared(self) -> Iterator[None]:
        self.do("call void @llvm.x86.ldtilecfg(ptr @configuration)")
        yield
        self.do("call void @llvm.x86.tilerelease()")

    packing = ROWS

    def share_fetched(self) -> str:
        return "0"

    def first_packed(self) -> str:
        is_row = self.line(f"icmp eq i64 %along, {SIZE}")
        is_whole = self.line(f"icmp eq i64 {self.line(f'and i64 %k, {PAIRED - 1}')}, 0")
        direct = self.line(f"and i1 {is_row}, {is_whole}")
        full = self.line(f"sdiv i64 %rows, {WIDTH}")
        return self.line(f"select i1 {direct}, i64 {full}, i64 0")

    def multiply(self, p: str, q: str, out: str, rows: str, columns: str, at: TilePlace) -> None:
        """One tile, of its packed rows or of those that lie where they are."""
        here = self.line(f"icmp slt i64 {at.number}, {at.first_packed}")
        q = self.line(f"select i1 {here}, ptr {self.moved('%from', at.row, '%across')}, ptr {q}")
        between = self.line(f"select i1 {here}, i64 %across, i64 {LINE}")
        every = self.line(f"select i1 {here}, i64 {LINE}, i64 {BLOCK}")
        words = (
            f"ptr {p}, ptr {q}, i64 {between}, i64 {every}, i64 %k, ptr {out}, i64 %step, "
            f"i64 {rows}, i64 {columns}, i1 %adds"
        )
        self.call_smallest(words, rows, columns)


def matrix_functions(tile: RegisterTile) -> list[str]:
    """What a block calls."""
    tiles = (
        MatrixTile(rows, vectors, tile.result).text() for rows in tile.sizes for vectors in (2, 1)
    )
    return [_configuration(), *tiles, PairColumns().text(), BlockedRows().text()]
