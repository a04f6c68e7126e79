"""Operands copied to where the tiles read them: panels with `width` numbers for each k.

    pack_W(from, along, across, k, count, to)

A panel has `count` rows (or columns) of an operand, `across` bytes apart, each with k numbers that
are `along` bytes apart.  What lies end to end along either of the two is read in vectors (and
transposed, where that is k); any other layout number by number.  A panel that is not full repeats
its last row, or has zeros.

A panel has room for a multiple of the vector's lanes of k's.  Where `width` is not such a multiple,
what is stored behind a row is overwritten by the next row, or the next panel.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusewright.base.figures import LINE, PREFETCH
from fusewright.codegen.recurrences.vectors import Vectors
from fusewright.ir.dtypes import DType

PARAMETERS = "ptr noalias %from, i64 %along, i64 %across, i64 %k, i64 %count, ptr noalias %to"


def packing_name(width: int) -> str:
    """That of the function for a width."""
    return f"pack_{width}"


class PackFunction(Vectors):
    """The function for one width."""

    def __init__(self, dtype: DType, lanes: int, width: int):
        super().__init__(lanes, dtype)
        self.width = width
        self.name = packing_name(width)
        self.size = dtype.itemsize
        self.given = dtype.itemsize
        """Bytes of a number of the operand."""
        self.groups = range(0, width, lanes)

    def text(self) -> str:
        is_row = self.line(f"icmp eq i64 %across, {self.given}")
        with self.when(is_row):
            self.copy()
        rest = self.line(f"xor i1 {is_row}, true")
        is_column = self.line(f"icmp eq i64 %along, {self.given}")
        with self.when(self.line(f"and i1 {rest}, {is_column}")):
            self.transpose()
        neither = self.line(f"xor i1 {is_column}, true")
        with self.when(self.line(f"and i1 {rest}, {neither}")):
            self.collect()
        self.fill()
        return self.function(self.name, PARAMETERS)

    def fill(self) -> None:
        """What k's that are missing in a panel need: nothing, as they are not read."""

    def vector(self, place: str, mask: str) -> str:
        """Some numbers of the operand, and zeros."""
        return self.load_masked(place, mask, self.number(0.0))

    def single(self, place: str) -> str:
        """One number."""
        return self.line(f"load {self.dtype.llvm}, ptr {place}, align {self.size}")

    def put(self, value: str, k: str, group: int) -> None:
        """Store a vector that begins at the number `group` of the row k."""
        place = self.at(self.at("%to", k, self.width * self.size), group, self.size)
        self.do(f"store {self.kind} {value}, ptr {place}, align {self.size}")

    def copy(self) -> None:
        masks = []
        for group in self.groups:
            most = self.least("%count", str(self.width))
            masks.append(self.mask(self.line(f"sub i64 {most}, {group}")))
        with self.loop("0", "%k") as k:
            source = self.at("%from", self.line(f"mul i64 {k}, %along"), 1)
            # Rows are too far apart for the hardware's prefetchers.
            rows = PREFETCH[-1][0] // (self.width * self.given)
            ahead = self.at(source, self.line(f"mul i64 %along, {rows}"), 1)
            for start in range(0, self.width * self.given, LINE):
                place = self.at(ahead, start, 1)
                self.do(f"call void @llvm.prefetch.p0(ptr {place}, i32 0, i32 3, i32 1)")
            for group, mask in zip(self.groups, masks, strict=True):
                self.put(self.vector(self.at(source, group, self.given), mask), k, group)

    def transpose(self) -> None:
        last = self.line("sub i64 %count, 1")
        more = self.line(f"add i64 %k, {self.lanes - 1}")
        blocks = self.line(f"sdiv i64 {more}, {self.lanes}")
        with self.loop("0", blocks) as block:
            start = self.line(f"mul i64 {block}, {self.lanes}")
            mask = self.mask(self.line(f"sub i64 %k, {start}"))
            columns = []
            for group in self.groups:
                rows = []
                for row in range(group, group + self.lanes):
                    if row < self.width:
                        place = self.at(self.row(row, last), start, self.given)
                        rows.append(self.vector(place, mask))
                    else:
                        rows.append("poison")
                columns.append(self.transposed(rows))
            for step in range(self.lanes):
                k = self.line(f"add i64 {start}, {step}")
                for group, vectors in zip(self.groups, columns, strict=True):
                    self.put(vectors[step], k, group)

    def transposed(self, rows: Sequence[str]) -> list[str]:
        """The columns of a square: each step interleaves the first half of the vectors with the
        second, which moves the top bit of the row's number to the end of the lane's.
        """
        half, found = self.lanes // 2, list(rows)
        for _ in range(self.lanes.bit_length() - 1):
            found = [
                self.interleaved(found[row], found[row + half], upper)
                for row in range(half)
                for upper in (0, half)
            ]
        return found

    def interleaved(self, a: str, b: str, start: int) -> str:
        """Halves of two vectors, lane by lane in turn."""
        lanes = ", ".join(
            f"i32 {lane}, i32 {lane + self.lanes}" for lane in range(start, start + self.lanes // 2)
        )
        return self.line(
            f"shufflevector {self.kind} {a}, {self.kind} {b}, <{self.lanes} x i32> <{lanes}>"
        )

    def collect(self) -> None:
        element, last = self.dtype.llvm, self.line("sub i64 %count, 1")
        with self.loop("0", "%k") as k:
            offset = self.line(f"mul i64 {k}, %along")
            target = self.at("%to", k, self.width * self.size)
            with self.loop("0", str(self.width)) as row:
                source = self.at(self.row(row, last), offset, 1)
                number = self.single(source)
                place = self.at(target, row, self.size)
                self.do(f"store {element} {number}, ptr {place}, align {self.size}")

    def row(self, number: str | int, last: str) -> str:
        """Where a row begins; those that are not there are the last one."""
        here = self.least(str(number), last)
        return self.at("%from", self.line(f"mul i64 {here}, %across"), 1)

    def least(self, a: str, b: str) -> str:
        return self.line(f"call i64 @llvm.smin.i64(i64 {a}, i64 {b})")
