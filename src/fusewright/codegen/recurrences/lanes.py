"""Between vectors of kets and rows of memory, as LLVM text: a lane's numbers stand together there.

    void gather(rows, numbers, across, count, out)     out[n] lane m = rows[numbers[m] across + n]
    void scatter(sums, numbers, across, count, rows)   rows[numbers[m] across + n] += sums[n] lane m

`count` doubles of each lane, by squares of as many as there are lanes: what is read and written
(with zeros added) beyond `count` must be there.  Lanes are added one after the other, so they may
have the same place.  `scatter` leaves zeros in `sums`.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusewright.codegen.recurrences.vectors import Vectors

GATHER = "ptr noalias %rows, ptr noalias %numbers, i64 %across, i64 %count, ptr noalias %out"
SCATTER = "ptr noalias %sums, ptr noalias %numbers, i64 %across, i64 %count, ptr noalias %rows"


def gather_and_scatter(lanes: int) -> str:
    """Both functions."""
    return _Squares(lanes).gathering() + _Squares(lanes).scattering()


class _Squares(Vectors):
    def gathering(self) -> str:
        rows = self.rows()
        with self.loop("0", self.squares()) as square:
            first = self.line(f"mul i64 {square}, {self.lanes}")
            values = [self.unaligned(self.at(row, first, 8)) for row in rows]
            for place, value in enumerate(self.transposed(values)):
                row = self.line(f"add i64 {first}, {place}")
                self.store(value, self.at("%out", row, self.bytes))
        return self.function("gather", GATHER)

    def scattering(self) -> str:
        rows = self.rows()
        with self.loop("0", self.squares()) as square:
            first = self.line(f"mul i64 {square}, {self.lanes}")
            places = [
                self.at("%sums", self.line(f"add i64 {first}, {place}"), self.bytes)
                for place in range(self.lanes)
            ]
            values = [self.load(place) for place in places]
            for place in places:
                self.store("zeroinitializer", place)
            for row, value in zip(rows, self.transposed(values), strict=True):
                at = self.at(row, first, 8)
                total = self.add(self.unaligned(at), value)
                self.do(f"store {self.kind} {total}, ptr {at}, align 8")
        return self.function("scatter", SCATTER)

    def rows(self) -> list[str]:
        """Where each lane's numbers begin."""
        numbers = [self.word("%numbers", lane, "i64") for lane in range(self.lanes)]
        places = [self.line(f"mul i64 {number}, %across") for number in numbers]
        return [self.at("%rows", place, 8) for place in places]

    def squares(self) -> str:
        more = self.line(f"add i64 %count, {self.lanes - 1}")
        return self.line(f"lshr i64 {more}, {self.lanes.bit_length() - 1}")

    def unaligned(self, place: str) -> str:
        return self.line(f"load {self.kind}, ptr {place}, align 8")

    def transposed(self, rows: Sequence[str]) -> list[str]:
        """Exchanges the bits of row and lane, one after the other."""
        found, lanes = list(rows), range(self.lanes)
        bit = 1
        while bit < self.lanes:
            low = [lane if not lane & bit else self.lanes + lane - bit for lane in lanes]
            high = [lane + bit if not lane & bit else self.lanes + lane for lane in lanes]
            for row in (row for row in lanes if not row & bit):
                one, two = found[row], found[row + bit]
                found[row], found[row + bit] = self.mixed(one, two, low), self.mixed(one, two, high)
            bit *= 2
        return found

    def mixed(self, one: str, two: str, lanes: Sequence[int]) -> str:
        """The lanes with these numbers of both vectors."""
        mask = ", ".join(f"i32 {lane}" for lane in lanes)
        return self.line(
            f"shufflevector {self.kind} {one}, {self.kind} {two}, <{self.lanes} x i32> <{mask}>"
        )
