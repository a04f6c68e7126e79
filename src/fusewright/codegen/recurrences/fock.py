"""Coulomb and exchange matrices of one pair of shells after the other, as LLVM text.

A unit of `kernel` is a bin: a list of pairs of shells i j (bras), whose contributions are added to
the bin's own matrices, in order.  For one bra

* the rows of D for i and j are copied into a block [functions][x], where x goes through the
  functions of i and then those of j; the rows of K are added up in blocks like it;
* for each group of kets not before its own, eights of kets whose largest contribution is seen are
  evaluated by their class's code, a few at a time, and digested (`digest`);
* K's rows, and J of the bra's own pair, are added to the bin's.

D and J of pairs stand in vectors of kets, so that kets need no search for theirs.

|(ij|kl)| <= q_ij q_kl.  An eight is left out where, for all its kets,
q_ij q_kl min(1, max(4 |D_ij|, 4 |D_kl|, |D_ik|, |D_jk|, |D_il|, |D_jl|)) is at most `tolerance`:
the rule of PySCF for each quartet.
"""

from __future__ import annotations

from fusewright.codegen.recurrences.columns import KERNEL
from fusewright.codegen.recurrences.lanes import gather_and_scatter
from fusewright.codegen.recurrences.quartets import WORDS
from fusewright.codegen.recurrences.records import (
    CALL,
    CLASS,
    COULOMB,
    EXCHANGE,
    FRAME,
    GROUP,
    INTEGER,
    MATRIX,
    REAL,
)
from fusewright.codegen.recurrences.scalars import Scalars
from fusewright.codegen.recurrences.vectors import ATTRIBUTES, Vectors

EIGHT = 8
"""Kets that are screened together, whatever a vector's width is: the result must not depend on it.
"""
BRA = "ptr %args, ptr %scratch, ptr %k, ptr %j, ptr %counts, i64 %group, i64 %pair"
KETS = f"{BRA}, i64 %other, double %own, double %most"
UNITS = f"{BRA}, i64 %other, i64 %many"
ROWS = ("k_rows", "l_rows")
"""Two, so that the order in which lanes are added does not depend on how many there are."""
DIGESTS = ("both", "coulomb", "exchange")
"""Of a class, by the kind of a matrix."""


def fock(lanes: int) -> str:
    """The module."""
    parts = (_Bins, _Bra, _Kets, _Units)
    return "".join([
        *(part(lanes).text() for part in parts), gather_and_scatter(lanes), ATTRIBUTES,
    ])  # fmt: skip


class _Fock(Scalars):
    """What the functions share."""

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


class _Bins(_Fock):
    def text(self) -> str:
        bins, tasks = self.call("bins"), self.call("tasks")
        with self.loop("%lo", "%hi") as number:
            k, j, counts = (
                self.at(self.call(name), self.integer("mul", number, stride), 1)
                for name, stride in (
                    ("k", self.call("k_stride")), ("j", self.call("j_stride")),
                    ("counts", self.integer("mul", self.call("class_count"), 8)),
                )
            )  # fmt: skip
            for name in ("k_k", "k_l"):
                self.clear(self.part(name), self.call("block_doubles"))
            start = self.at(bins, number, 8)
            first, last = self.word(start, 0, INTEGER), self.word(start, 1, INTEGER)
            with self.loop(first, last) as turn:
                task = self.at(tasks, turn, 16)
                group, pair = self.word(task, 0, INTEGER), self.word(task, 1, INTEGER)
                self.do(
                    f"call void @bra(ptr %args, ptr %scratch, ptr {k}, ptr {j}, ptr {counts}, "
                    f"i64 {group}, i64 {pair})"
                )
        return self.function("kernel", KERNEL, private=False)


class _Bra(_Fock):
    def text(self) -> str:
        group = self.group("%group")
        functions = self.call("functions")
        sides = [
            (self.word(self.field(group, GROUP, f"{name}_at"), "%pair", INTEGER),
             self.field(group, GROUP, f"{name}_functions"))
            for name in ("first", "second")
        ]  # fmt: skip
        across = self.integer("add", sides[0][1], sides[1][1])
        places = [(sides[0][0], "0", sides[0][1]), (sides[1][0], sides[0][1], across)]
        size = self.field(group, GROUP, "block_functions")
        self.enter(group, functions, across, places, size)
        most = self.seen(group)
        own = self.word(self.field(group, GROUP, "largest"), "%pair", REAL)
        with self.loop("%group", self.call("group_count")) as other:
            self.do(
                "call void @kets(ptr %args, ptr %scratch, ptr %k, ptr %j, ptr %counts, i64 %group, "
                f"i64 %pair, i64 {other}, double {own}, double {most})"
            )
        self.leave(group, functions, across, places, size)
        return self.function("bra", BRA)

    def seen(self, group: str) -> str:
        """The largest |D| of i and j with each shell, and with all."""
        shells, table = self.call("shells"), self.call("densities")
        rows = []
        for name in ("first", "second"):
            number = self.index(self.field(group, GROUP, name), "%pair")
            rows.append(self.at(table, self.integer("mul", number, shells), 8))
        largest = self.part("largest")
        self.put("0.0", self.part("most"))
        with self.loop("0", shells) as shell:
            found = self.larger_of(*(self.word(row, shell, REAL) for row in rows))
            self.put(found, self.at(largest, shell, 8))
            whole = self.larger_of(found, self.word(self.part("most"), 0, REAL))
            self.put(whole, self.part("most"))
        return self.word(self.part("most"), 0, REAL)

    def enter(
        self, group: str, functions: str, across: str, places: list[tuple[str, str, str]], size: str
    ) -> None:
        """Rows of D, empty rows of K, D of the pair, empty sums of J."""
        with self.loop("0", self.call("matrix_count")) as number:
            matrix = self.at(self.call("matrices"), number, MATRIX.size)
            with self.unless(matrix, MATRIX, "kind", COULOMB):
                rows = self.integer("mul", number, self.call("rows_stride"))
                into = self.at(self.part("d_rows"), rows, 1)
                for name in ROWS:
                    sums = self.at(self.part(name), rows, 1)
                    self.clear(sums, self.integer("mul", across, functions))
                density = self.field(matrix, MATRIX, "density")
                for first, start, end in places:
                    with self.loop(start, end) as x:
                        row = self.row(density, first, start, x, functions)
                        with self.loop("0", functions) as k:
                            value = self.word(row, k, REAL)
                            self.put(value, self.at(into, self.times_plus(k, across, x), 8))
            with self.unless(matrix, MATRIX, "kind", EXCHANGE):
                into = self.strided(self.part("dij"), number, self.call("dij_stride"))
                sums = self.strided(self.part("jij"), number, self.call("jij_stride"))
                pairs = self.field(matrix, MATRIX, "pairs")
                with self.loop("0", size) as place:
                    value = self.word(pairs, self.element(group, place), REAL)
                    self.put(value, self.at(into, place, 8))
                self.clear(sums, self.integer("mul", size, EIGHT))

    def leave(
        self, group: str, functions: str, across: str, places: list[tuple[str, str, str]], size: str
    ) -> None:
        """Add rows of K and the pair's J to the bin's."""
        with self.loop("0", self.call("matrix_count")) as number:
            matrix = self.at(self.call("matrices"), number, MATRIX.size)
            with self.unless(matrix, MATRIX, "kind", COULOMB):
                stride = self.call("rows_stride")
                rows = [self.strided(self.part(name), number, stride) for name in ROWS]
                whole = self.at("%k", self.field(matrix, MATRIX, "k_at"), 1)
                for first, start, end in places:
                    with self.loop(start, end) as x:
                        row = self.row(whole, first, start, x, functions)
                        with self.loop("0", functions) as k:
                            place = self.times_plus(k, across, x)
                            found = [self.word(each, place, REAL) for each in rows]
                            self.increase(self.at(row, k, 8), self.real("fadd", *found))
            with self.unless(matrix, MATRIX, "kind", EXCHANGE):
                sums = self.strided(self.part("jij"), number, self.call("jij_stride"))
                whole = self.at("%j", self.field(matrix, MATRIX, "j_at"), 1)
                with self.loop("0", size) as place:
                    target = self.at(whole, self.element(group, place), 8)
                    self.increase(target, self.total(sums, place, size))

    def row(self, whole: str, first: str, start: str, x: str, functions: str) -> str:
        """The row of a matrix for function x, where `start` stands for `first`."""
        number = self.integer("add", first, self.integer("sub", x, start))
        return self.at(whole, self.integer("mul", number, functions), 8)

    def total(self, sums: str, place: str, size: str) -> str:
        """The sum over an eight, in one order for all widths: halves, quarters, the rest.

        With four lanes the second half has a block of its own.
        """
        half = f"<{EIGHT // 2} x double>"
        if self.lanes == EIGHT:
            whole = self.load(self.at(sums, place, self.bytes))
            parts = [self.shuffled(whole, range(k, k + 4)) for k in (0, 4)]
        else:
            second = self.integer("add", place, size)
            parts = [self.load(self.at(sums, each, self.bytes)) for each in (place, second)]
        four = self.line(f"fadd {half} {parts[0]}, {parts[1]}")
        one, two, three, last = (
            self.line(f"extractelement {half} {four}, i64 {k}") for k in range(4)
        )
        return self.real("fadd", self.real("fadd", one, three), self.real("fadd", two, last))


class _Kets(_Fock):
    """The kets of one group: those that are seen, a few at a time."""

    def text(self) -> str:
        group, mine = self.group("%other"), self.group("%group")
        kind, eights = self.class_of(mine), _Eights(self)
        bound = self.word(self.field(mine, GROUP, "bounds"), "%pair", REAL)
        largest = self.larger_of(self.larger_of("%own", "%most"), self.field(group, GROUP, "most"))
        tolerance = self.call("tolerance")
        limit = self.real("fmul", bound, self.smaller_of(largest, "1.0"))
        last = self.integer("sdiv", "%pair", EIGHT)
        last = self.chosen(
            self.test("eq", "%group", "%other"), self.integer("add", last, 1),
            self.field(group, GROUP, "eights"),
        )  # fmt: skip
        falling = self.field(group, GROUP, "falling")
        many, batch = self.part("many"), self.field(kind, CLASS, "batch")
        self.keep("0", many)
        with self.loop_while("0", last) as (eight, go_on):
            bounded = self.real("fmul", limit, self.word(falling, eight, REAL))
            go_on(self.line(f"fcmp ogt double {bounded}, {tolerance}"))
            seen = eights.seen(group, eight, bound, tolerance)
            with self.when(seen):
                self.append(eight, many)
                full = self.test("eq", self.word(many, 0, INTEGER), batch)
                with self.when(full):
                    self.evaluate(many)
        self.evaluate(many)
        return self.function("kets", KETS)

    def append(self, eight: str, many: str) -> None:
        """The vectors of an eight."""
        units, each = self.part("units"), EIGHT // self.lanes
        for place in range(each):
            number = self.word(many, 0, INTEGER)
            unit = self.at(units, number, 16)
            self.keep("%pair", unit)
            vector = self.integer("add", self.integer("mul", eight, each), place)
            self.keep(vector, self.at(unit, 1, 8))
            self.keep(self.integer("add", number, 1), many)

    def evaluate(self, many: str) -> None:
        number = self.word(many, 0, INTEGER)
        self.do(
            "call void @units(ptr %args, ptr %scratch, ptr %k, ptr %j, ptr %counts, i64 %group, "
            f"i64 %pair, i64 %other, i64 {number})"
        )
        self.keep("0", many)


class _Eights(Vectors):
    """Screening, in vectors of eight doubles, in the lines of another text."""

    def __init__(self, text: _Fock) -> None:
        super().__init__(EIGHT)
        self.outer, self.lines, self.fresh = text, text.lines, text.fresh  # type: ignore[method-assign]

    def seen(self, group: str, eight: str, bound: str, tolerance: str) -> str:
        """Whether any ket is, an i1."""
        text, first = self.outer, self.outer.integer("mul", eight, EIGHT)
        where = {
            name: text.at(text.field(group, GROUP, name), first, 4 if name in _SHELLS else 8)
            for name in ("bounds", "largest", *_SHELLS)
        }
        own = self.splat("%own")
        largest = self.larger(own, self.load(where["largest"]))
        row = text.part("largest")
        for name in _SHELLS:
            index = self.line(f"load <{EIGHT} x i32>, ptr {where[name]}, align 4")
            largest = self.larger(largest, self.gather(row, index))
        largest = self.minimum(largest, 1.0)
        product = self.mul(self.splat(bound), self.load(where["bounds"]))
        return self.any(self.compare("ogt", self.mul(product, largest), self.splat(tolerance)))

    def larger(self, a: str, b: str) -> str:
        return self.select(self.compare("ogt", a, b), a, b)


_SHELLS = ("first", "second")


class _Units(_Fock):
    """Evaluates and digests some vectors of kets of one group."""

    def text(self) -> str:
        group, mine = self.group("%other"), self.group("%group")
        kind = self.class_of(mine)
        with self.when(self.test("ne", "%many", 0)):
            self.run(kind)
            behind = self.integer("sub", "%other", "%group")
            number = self.integer("add", self.field(mine, GROUP, "own_class"), behind)
            place = self.at("%counts", number, 8)
            self.keep(self.integer("add", self.word(place, 0, INTEGER), "%many"), place)
            across = self.frame(kind, mine)
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
        size = self.field(kind, CLASS, "unit_bytes")
        values = self.strided(self.part("results"), unit, size)
        ket = self.integer("mul", vector, self.lanes)
        last = self.integer("add", ket, self.lanes - 1)
        same = self.test("eq", "%group", "%other")
        with self.when(self.line(f"and i1 {same}, {self.test('sge', last, '%pair')}")):
            self.halve(values, size, ket)
        start = self.integer("mul", ket, self.field(group, GROUP, "block_functions"))
        start = self.integer("add", start, self.field(group, GROUP, "block"))
        own = self.field(self.group("%group"), GROUP, "block_functions")
        half = self.integer("mul", self.integer("srem", vector, EIGHT // self.lanes), own)
        half = self.integer("mul", half, self.bytes)
        with self.loop("0", self.call("matrix_count")) as number:
            matrix = self.at(self.call("matrices"), number, MATRIX.size)
            sides = self.sides(group, ket, across)
            rows = self.integer("mul", number, self.call("rows_stride"))
            with self.unless(matrix, MATRIX, "kind", COULOMB):
                for (numbers, many), block in zip(sides, ("d_k", "d_l"), strict=True):
                    self.do(
                        f"call void @gather(ptr {self.at(self.part('d_rows'), rows, 1)}, "
                        f"ptr {numbers}, i64 {across}, i64 {many}, ptr {self.part(block)})"
                    )
            self.digest(kind, matrix, number, values, start, half)
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
            self.strided(self.part("dij"), number, self.call("dij_stride")), self.sums(number, half),
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
