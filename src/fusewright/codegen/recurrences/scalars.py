"""Lines of LLVM text over single numbers: fields of records, comparisons, loops with an exit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from fusewright.codegen.recurrences.records import INTEGER, REAL, WordRecord
from fusewright.codegen.recurrences.vectors import Vectors


class Scalars(Vectors):
    """The body of one function."""

    # ---- memory

    def field(self, at: str, record: WordRecord, name: str) -> str:
        """A word of a record."""
        return self.word(at, record.place(name), record.kinds[name])

    def strided(self, base: str, number: str, stride: str) -> str:
        """The address `number` * `stride` bytes behind a base."""
        return self.at(base, self.integer("mul", number, stride), 1)

    def put(self, value: str, place: str, kind: str = REAL) -> None:
        self.do(f"store {kind} {value}, ptr {place}, align 8")

    def keep(self, value: str, place: str) -> None:
        self.put(value, place, INTEGER)

    def index(self, base: str, number: str) -> str:
        """The i32 at a place of an array."""
        found = self.line(f"load i32, ptr {self.at(base, number, 4)}, align 4")
        return self.line(f"sext i32 {found} to i64")

    def increase(self, place: str, by: str) -> None:
        self.put(self.real("fadd", self.word(place, 0, REAL), by), place)

    def clear(self, place: str, doubles: str) -> None:
        size = self.integer("mul", doubles, 8)
        self.do(f"call void @llvm.memset.p0.i64(ptr align 8 {place}, i8 0, i64 {size}, i1 false)")

    # ---- arithmetic

    def integer(self, operation: str, a: str, b: str | int) -> str:
        return self.line(f"{operation} i64 {a}, {b}")

    def times_plus(self, a: str, b: str | int, c: str) -> str:
        return self.integer("add", self.integer("mul", a, b), c)

    def real(self, operation: str, a: str, b: str) -> str:
        return self.line(f"{operation} double {a}, {b}")

    def larger_of(self, a: str, b: str) -> str:
        return self.chosen(self.line(f"fcmp ogt double {a}, {b}"), a, b, REAL)

    def smaller_of(self, a: str, b: str) -> str:
        return self.chosen(self.line(f"fcmp olt double {a}, {b}"), a, b, REAL)

    def test(self, predicate: str, a: str, b: str | int) -> str:
        return self.line(f"icmp {predicate} i64 {a}, {b}")

    def chosen(self, condition: str, yes: str, no: str, kind: str = INTEGER) -> str:
        return self.line(f"select i1 {condition}, {kind} {yes}, {kind} {no}")

    def shuffled(self, value: str, lanes: Sequence[int]) -> str:
        """A shorter vector of some lanes."""
        mask = ", ".join(f"i32 {lane}" for lane in lanes)
        return self.line(
            f"shufflevector {self.kind} {value}, {self.kind} poison, <{len(lanes)} x i32> <{mask}>"
        )

    # ---- control

    def unless(
        self, at: str, record: WordRecord, name: str, value: int
    ) -> AbstractContextManager[Any]:
        """A block for records where a word is something else."""
        return self.when(self.test("ne", self.field(at, record, name), value))

    @contextmanager
    def loop_while(self, start: str, end: str) -> Iterator[tuple[str, Callable[[str], None]]]:
        """A loop whose body calls the second to end it where an i1 is false."""
        with self.loop(start, end) as counter:
            tag = counter.removeprefix("%").removesuffix(".i")

            def go_on(condition: str) -> None:
                self.do(f"br i1 {condition}, label %{tag}.on, label %{tag}.end")
                self.do(f"{tag}.on:")

            yield counter, go_on
