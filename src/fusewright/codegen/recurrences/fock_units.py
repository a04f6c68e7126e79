"""Some vectors of kets of one group for one pair of shells (the bra): evaluated by their class's
code and digested, as LLVM text.  See `fock`.
"""

from __future__ import annotations

from fusewright.codegen.recurrences.quartets import WORDS
from fusewright.codegen.recurrences.records import (
    CALL,
    CLASS,
    COULOMB,
    EIGHT,
    FRAME,
    GROUP,
    INTEGER,
    MATRIX,
)
from fusewright.codegen.recurrences.scalars import Scalars

BRA = "ptr %args, ptr %scratch, ptr %k, ptr %j, ptr %counts, i64 %group, i64 %pair"
UNITS = f"{BRA}, i64 %other, i64 %many"
ROWS = ("k_rows", "l_rows")
"""Two, so that the order in which lanes are added does not depend on how many there are."""
DIGESTS = ("both", "coulomb", "exchange")
"""Of a class, by the kind of a matrix."""


class FockText(Scalars):
    """What the functions of `fock` share."""

    def call(self, name: str) -> str:
        return self.field("%args", CALL, name)

    def part(self, name: str) -> str:
        """A part of scratch."""
        return self.at("%scratch", self.call(name), 1)

    def group(self, number: str) -> str:
        return self.at(self.call("groups"), number, GROUP.size)

    def class_of(self, group: str) -> str:
        """The record of a group's class with %other."""
        behind = self.integer("sub", "%other", "%group")
        number = self.integer("add", self.field(group, GROUP, "own_class"), behind)
        return self.at(self.call("classes"), number, CLASS.size)

    def element(self, group: str, number: str) -> str:
        """Doubles from the beginning of D or J of pairs to function `number` of %pair."""
        vector = self.integer("sdiv", "%pair", self.lanes)
        size = self.field(group, GROUP, "block_functions")
        place = self.integer("add", self.integer("mul", vector, size), number)
        lane = self.integer("srem", "%pair", self.lanes)
        first = self.integer("add", self.field(group, GROUP, "block"), lane)
        return self.integer("add", first, self.integer("mul", place, self.lanes))


class FockUnits(FockText):
    """Evaluates and digests some vectors of kets of one group."""

    def text(self) -> str:
        group, mine = self.group("%other"), self.group("%group")
        kind = self.class_of(mine)
        with self.when(self.test("ne", "%many", 0)):
            behind = self.integer("sub", "%other", "%group")
            number = self.integer("add", self.field(mine, GROUP, "own_class"), behind)
            place = self.at("%counts", number, 8)
            self.keep(self.integer("add", self.word(place, 0, INTEGER), "%many"), place)
            across = self.frame(kind, mine)
            self.run(kind)
            with self.loop("0", "%many") as unit:
                self.unit(kind, group, across, unit)
        return self.function("units", UNITS)

    def run(self, kind: str) -> None:
        """The class's code, with its words but for units and results."""
        words, theirs = self.part("words"), self.field(kind, CLASS, "words")
        for place in range(len(WORDS)):
            self.keep(self.word(theirs, place, INTEGER), self.at(words, place, 8))
        for name in ("units", "results"):
            self.do(
                f"store ptr {self.part(name)}, ptr {self.at(words, WORDS.index(name), 8)}, align 8"
            )
        code, scratch = self.field(kind, CLASS, "code"), self.part("class_scratch")
        self.do(f"call void {code}(ptr {words}, i64 0, i64 %many, ptr {scratch})")

    def frame(self, kind: str, group: str) -> str:
        """The words of `digest`; the functions of i and j."""
        frame = self.part("frame")
        for name in ("d_k", "d_l", "k_k", "k_l"):
            place = self.at(frame, FRAME.place(name), 8)
            self.do(f"store ptr {self.part(name)}, ptr {place}, align 8")
        for name in ("a", "b", "bra_first", "bra_second", "ket_first", "ket_second"):
            self.keep(self.field(kind, CLASS, name), self.at(frame, FRAME.place(name), 8))
        split = self.field(group, GROUP, "first_functions")
        across = self.integer("add", split, self.field(group, GROUP, "second_functions"))
        self.keep(split, self.at(frame, FRAME.place("split"), 8))
        self.keep(across, self.at(frame, FRAME.place("across"), 8))
        return across

    def unit(self, kind: str, group: str, across: str, unit: str) -> None:
        vector = self.word(self.at(self.part("units"), unit, 16), 1, INTEGER)
        each = self.field(kind, CLASS, "unit_bytes")
        size = self.integer("mul", each, self.call("operator_count"))
        whole = self.strided(self.part("results"), unit, size)
        ket = self.integer("mul", vector, self.lanes)
        last = self.integer("add", ket, self.lanes - 1)
        same = self.test("eq", "%group", "%other")
        with self.when(self.line(f"and i1 {same}, {self.test('sge', last, '%pair')}")):
            self.halve(whole, size, ket)
        start = self.integer("mul", ket, self.field(group, GROUP, "block_functions"))
        start = self.integer("add", start, self.field(group, GROUP, "block"))
        own = self.field(self.group("%group"), GROUP, "block_functions")
        half = self.integer("mul", self.integer("srem", vector, EIGHT // self.lanes), own)
        half = self.integer("mul", half, self.bytes)
        with self.loop("0", self.call("matrix_count")) as number:
            matrix = self.at(self.call("matrices"), number, MATRIX.size)
            values = self.strided(whole, self.field(matrix, MATRIX, "operator"), each)
            places = (values, start, half)
            self.matrix(kind, matrix, number, places, self.sides(group, ket, across), across)

    def matrix(
        self, kind: str, matrix: str, number: str, places: tuple[str, str, str],
        sides: list[tuple[str, str]], across: str,
    ) -> None:  # fmt: skip
        """One matrix of a unit."""
        rows = self.integer("mul", number, self.call("rows_stride"))
        with self.unless(matrix, MATRIX, "kind", COULOMB):
            for (numbers, many), block in zip(sides, ("d_k", "d_l"), strict=True):
                self.do(
                    f"call void @gather(ptr {self.at(self.part('d_rows'), rows, 1)}, "
                    f"ptr {numbers}, i64 {across}, i64 {many}, ptr {self.part(block)})"
                )
        self.digest(kind, matrix, number, *places)
        with self.unless(matrix, MATRIX, "kind", COULOMB):
            blocks = zip(sides, ("k_k", "k_l"), ROWS, strict=True)
            for (numbers, many), block, name in blocks:
                self.do(
                    f"call void @scatter(ptr {self.part(block)}, ptr {numbers}, i64 {across}, "
                    f"i64 {many}, ptr {self.at(self.part(name), rows, 1)})"
                )

    def sides(self, group: str, ket: str, across: str) -> list[tuple[str, str]]:
        """For k and l: where the numbers of their first functions are, elements of a lane."""
        return [
            (self.at(self.field(group, GROUP, f"{name}_at"), ket, 8),
             self.integer("mul", self.field(group, GROUP, f"{name}_functions"), across))
            for name in ("first", "second")
        ]  # fmt: skip

    def digest(
        self, kind: str, matrix: str, number: str, values: str, start: str, half: str
    ) -> None:
        pairs = self.at(self.field(matrix, MATRIX, "pairs"), start, 8)
        sums = self.at("%j", self.field(matrix, MATRIX, "j_at"), 1)
        places = (
            self.part("frame"), values, pairs, self.at(sums, start, 8),
            self.strided(self.part("dij"), number, self.call("dij_stride")),
            self.sums(number, half),
        )  # fmt: skip
        first = self.at(kind, CLASS.place(DIGESTS[0]), 8)
        code = self.word(first, self.field(matrix, MATRIX, "kind"), "ptr")
        self.do(f"call void {code}({', '.join(f'ptr {place}' for place in places)})")

    def sums(self, number: str, half: str) -> str:
        """Where J of the pair is added up."""
        return self.at(self.strided(self.part("jij"), number, self.call("jij_stride")), half, 1)

    def halve(self, values: str, size: str, ket: str) -> None:
        """Half of the bra with itself, nothing of later kets."""
        own = self.integer("sub", "%pair", ket)
        lanes = f"<{self.lanes} x i64>"
        first = self.line(f"insertelement {lanes} poison, i64 {own}, i64 0")
        zeros = f"<{self.lanes} x i32> zeroinitializer"
        own = self.line(f"shufflevector {lanes} {first}, {lanes} poison, {zeros}")
        numbers = ", ".join(f"i64 {lane}" for lane in range(self.lanes))
        before = self.line(f"icmp slt {lanes} <{numbers}>, {own}")
        equal = self.line(f"icmp eq {lanes} <{numbers}>, {own}")
        factor = self.select(before, self.number(1.0), self.number(0.0))
        factor = self.select(equal, self.number(0.5), factor)
        with self.loop("0", self.integer("sdiv", size, self.bytes)) as place:
            at = self.at(values, place, self.bytes)
            self.store(self.mul(self.load(at), factor), at)
