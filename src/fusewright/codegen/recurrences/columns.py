"""The loops around lists of statements over columns: what `graph.compile` of a recurrence runs.

A unit is one vector of columns.  Its rows are copied into a block of vectors, the list runs on the
block, its results are copied out; the last vector is masked.  Where a list is summed along an axis,
it runs at each place of the axis and adds to one block, on which the second list runs.

    words: columns, places, pointer and bytes between two places of each row, pointers of results
"""

from __future__ import annotations

from collections.abc import Sequence

from fusewright.codegen.recurrences.body import body
from fusewright.codegen.recurrences.vectors import ATTRIBUTES, Vectors
from fusewright.ir.recurrences.phases import SUM, Phases
from fusewright.ir.recurrences.straight import Straight

KERNEL = "ptr %args, i64 %lo, i64 %hi, ptr %scratch"
HEAD = 2
"""Words before the rows."""


def rows_of(phases: Phases) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What the words name: the rows read at each place of the axis, and those read once."""
    outer = phases.outer
    once = (*outer.scalars, *(name for name in outer.leaves if not name.startswith(SUM)))
    inner = phases.inner
    return ((*inner.scalars, *inner.leaves) if inner is not None else ()), once


def block_sizes(phases: Phases) -> tuple[int, int, int, int]:
    """Vectors of scratch: rows of the inner list, sums, rows of the outer list, results."""
    each, _ = rows_of(phases)
    sums = len(phases.inner.results) if phases.inner is not None else 0
    outer = phases.outer
    return len(each), sums, len(outer.scalars) + len(outer.leaves), len(outer.results)


def columns(phases: Phases, lanes: int) -> str:
    """The module: `kernel` over units [lo, hi)."""
    parts = [body(phases.outer, "outer", lanes)]
    if phases.inner is not None:
        parts.append(body(phases.inner, "inner", lanes, adds=True))
    parts.append(_Columns(phases, lanes).text())
    return "".join(parts) + ATTRIBUTES


class _Columns(Vectors):
    def __init__(self, phases: Phases, lanes: int) -> None:
        super().__init__(lanes)
        self.phases = phases
        self.each, self.once = rows_of(phases)

    def text(self) -> str:
        total = self.word("%args", 0, "i64")
        places = self.word("%args", 1, "i64")
        blocks, start = [], 0
        for size in block_sizes(self.phases):
            blocks.append(self.at("%scratch", start, self.bytes))
            start += size
        with self.loop("%lo", "%hi") as unit:
            column = self.line(f"mul i64 {unit}, {self.lanes}")
            left = self.line(f"sub i64 {total}, {column}")
            mask = self.mask(left)
            self.run(blocks, places, column, mask)
        return self.function("kernel", KERNEL, private=False)

    def run(self, blocks: Sequence[str], places: str, column: str, mask: str) -> None:
        """One unit."""
        each, sums, once, results = blocks
        inner, outer = self.phases.inner, self.phases.outer
        if inner is not None:
            for place in range(len(inner.results)):
                self.store("zeroinitializer", sums, place)
            with self.loop("0", places) as turn:
                for row in range(len(self.each)):
                    self.store(self.row(row, turn, column, mask), each, row)
                self.call("inner", inner, each, sums)
        leaf = len(outer.scalars)
        for number, name in enumerate((*outer.scalars, *outer.leaves)):
            if name.startswith(SUM) and number >= leaf:
                value = self.load(sums, int(name.removeprefix(SUM)))
            else:
                row = len(self.each) + self.once.index(name)
                value = self.row(row, "0", column, mask)
            self.store(value, once, number)
        self.call("outer", outer, once, results)
        first = HEAD + 2 * (len(self.each) + len(self.once))
        for place in range(len(outer.results)):
            target = self.at(self.word("%args", first + place, "ptr"), column, 8)
            value = self.load(results, place)
            self.store_masked(value, target, mask)

    def call(self, name: str, straight: Straight, block: str, out: str) -> None:
        leaves = self.at(block, len(straight.scalars), self.bytes)
        self.do(f"call void @{name}(ptr {block}, ptr {leaves}, ptr {out})")

    def row(self, number: int, place: str, column: str, mask: str) -> str:
        """The columns of a row at a place of the axis; lanes that are not there are 1."""
        base = self.word("%args", HEAD + 2 * number, "ptr")
        step = self.word("%args", HEAD + 2 * number + 1, "i64")
        offset = self.line(f"mul i64 {place}, {step}")
        source = self.at(self.at(base, offset, 1), column, 8)
        return self.load_masked(source, mask, self.number(1.0))
