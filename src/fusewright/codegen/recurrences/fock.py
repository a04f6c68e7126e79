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
from fusewright.codegen.recurrences.fock_units import BRA, ROWS, FockText, FockUnits
from fusewright.codegen.recurrences.lanes import gather_and_scatter
from fusewright.codegen.recurrences.records import (
    CLASS,
    COULOMB,
    EIGHT,
    EXCHANGE,
    GROUP,
    INTEGER,
    MATRIX,
    REAL,
)
from fusewright.codegen.recurrences.vectors import ATTRIBUTES, Vectors

KETS = f"{BRA}, i64 %other, double %own, double %most"


def fock(lanes: int) -> str:
    """The module."""
    parts = (_Bins, _Bra, _Kets, FockUnits)
    return "".join([
        *(part(lanes).text() for part in parts), gather_and_scatter(lanes), ATTRIBUTES,
    ])  # fmt: skip


class _Bins(FockText):
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


class _Bra(FockText):
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


class _Kets(FockText):
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

    def __init__(self, text: FockText) -> None:
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
