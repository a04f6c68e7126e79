"""Repeated steps as a loop inside the vector loop: the state stays in registers from turn to turn,
and a vector that has come to a standstill leaves early.

The run-time scalars that differ from turn to turn, and what is computed of them alone, stand in a
table that the kernel fills when it starts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from fusewright.codegen.builder import Builder, Lanes, Loop, mask_type
from fusewright.codegen.spell import llvm_type
from fusewright.ir.dtypes import BOOL, DType
from fusewright.ir.expr import Expr, index, load, postorder
from fusewright.rules.decompose import decompose_all
from fusewright.rules.recurrence import Recurrence, find, replaced

REGISTERS = {64: 32, 32: 16}
"""Vector registers, by their bytes."""
WORKING = 3
"""Registers an operation needs besides what is kept."""
MOST_VECTORS = 4
"""Vectors that take turns together, to hide the latency of one."""
MOST_WORDS = 4096
"""Words of a table on the stack."""


def repeated(bodies: Sequence[Expr], along: Expr, memo: dict[Expr, Expr]) -> Repeat | None:
    """The recurrence in these bodies, if it can be written as a loop; `memo` is that of
    `decompose_all`.
    """
    found = find(bodies, along)
    if found is None or any(leaf.dtype.is_stored_only for leaf in (*found.varying, *found.state)):
        return None
    repeat = in_primitives(found, memo)
    small = repeat.turns * max(len(found.varying), len(repeat.columns)) <= MOST_WORDS
    vector = any(along in postorder([e]) for e in (*repeat.start, *repeat.kept))
    return repeat if small and vector else None


class Table(NamedTuple):
    """Where the scalars of each turn are: `columns` are expressions of the varying ones.  `steady`
    is the register that tells whether a standstill lasts.
    """

    pointer: str
    columns: tuple[Expr, ...]
    steady: str


class Repeat(NamedTuple):
    """A recurrence in primitives."""

    found: Recurrence
    start: tuple[Expr, ...]
    step: tuple[Expr, ...]
    roots: tuple[Expr, ...]
    condition: Expr | None
    kept: tuple[Expr, ...]
    """Values of a vector that no turn changes."""
    columns: tuple[Expr, ...]

    @property
    def turns(self) -> int:
        return len(self.found.values)

    def lanes(self, vector_bytes: int) -> int:
        """Lanes of one machine vector."""
        nodes = [n for n in postorder(self.step) if n.name not in ("const", "index")]
        return vector_bytes // max((node.dtype.itemsize for node in nodes), default=8)

    def vectors(self, vector_bytes: int) -> int:
        """How many vectors take turns together: as many as the registers hold."""
        each = len(self.found.state) + len(self.kept) + WORKING
        most = REGISTERS[vector_bytes] // each
        return MOST_VECTORS if most >= MOST_VECTORS else 2 if most > 1 else 1


def in_primitives(found: Recurrence, memo: dict[Expr, Expr]) -> Repeat:
    """The recurrence as it will be written."""
    conditions = [found.rest.condition] if found.rest is not None else []
    start = decompose_all(found.start, memo)
    step = decompose_all([*found.step, *conditions], memo)
    changing = _depending(step, {*found.state, *found.varying})
    vectors = _depending(step, {n for n in postorder(step) if n.name in ("load", "index")})
    used = dict.fromkeys(arg for n in changing if n in vectors for arg in _operands(n))
    used.update(dict.fromkeys(step))
    kept = (n for n in used if n in vectors and n not in changing)
    columns = (n for n in used if n not in vectors and n in changing)
    own = tuple(step[: len(found.step)])
    condition = step[-1] if conditions else None
    roots = tuple(decompose_all(found.roots, memo))
    return Repeat(found, tuple(start), own, roots, condition, tuple(kept), tuple(columns))


def _operands(node: Expr) -> tuple[Expr, ...]:
    return () if node.name == "load" else node.args


def _depending(roots: Sequence[Expr], leaves: set[Expr]) -> dict[Expr, None]:
    """The nodes that depend on one of the leaves, in order."""
    found: dict[Expr, None] = {}
    for node in postorder(roots):
        if node in leaves or any(arg in found for arg in node.args):
            found[node] = None
    return found


def fill_table(builder: Builder, repeat: Repeat, words: int) -> Table:
    """Compute the columns from the argument words that start at this number."""
    found, count = repeat.found, len(repeat.columns)
    pointer = builder.slot(f"[{max(repeat.turns * count, 1)} x i64]")
    varying = len(found.varying)
    steady = found.rest.steady if found.rest is not None else ()
    first = {v: builder.value(f"load i64, ptr {_word(builder, str(words + v))}") for v in steady}
    with builder.loop("0", str(repeat.turns), 1, [("i1", "true")]) as loop:
        base = builder.value(f"mul i64 {loop.register}, {varying}")
        base = builder.value(f"add i64 {base}, {words}")
        given, same = {}, loop.current[0]
        for number, leaf in enumerate(found.varying):
            place = _word(builder, builder.value(f"add i64 {base}, {number}"))
            given[leaf] = _leaf(builder, "given", number, leaf.dtype, (loop.variable,), place)
            if number in first:
                word = builder.value(f"load i64, ptr {place}")
                equal = builder.value(f"icmp eq i64 {word}, {first[number]}")
                same = builder.value(f"and i1 {same}, {equal}")
        loop.next.append(same)
        for number, column in enumerate(replaced(repeat.columns, given)):
            value = builder.scalar(column)
            place = _cell(builder, pointer, loop.register, count, number)
            if column.dtype is BOOL:
                value = builder.value(f"zext i1 {value} to i8")
            kind = "i8" if column.dtype is BOOL else column.dtype.llvm
            builder.line(f"store {kind} {value}, ptr {place}, align 8")
    return Table(pointer, repeat.columns, loop.current[0])


def _word(builder: Builder, number: str) -> str:
    return builder.value(f"getelementptr i64, ptr %args, i64 {number}")


def _cell(builder: Builder, pointer: str, turn: str, columns: int, number: int) -> str:
    row = builder.value(f"mul i64 {turn}, {columns}")
    cell = builder.value(f"add i64 {row}, {number}")
    return builder.value(f"getelementptr i64, ptr {pointer}, i64 {cell}")


def _leaf(
    builder: Builder, name: str, number: int, dtype: DType, at: tuple[Expr, ...], place: str
) -> Expr:
    """A scalar read here, as an expression that stays in this loop."""
    leaf = load((name, number), at, dtype)
    if dtype is BOOL:
        byte = builder.value(f"load i8, ptr {place}, align 8")
        register = builder.value(f"icmp ne i8 {byte}, 0")
    else:
        register = builder.value(f"load {dtype.llvm}, ptr {place}, align 8")
    builder.scopes[-1].memo[(leaf, 1)] = register
    return leaf


class Part(NamedTuple):
    """One machine vector of several that take turns together, and what indices stand for in it;
    `variable` is that of the vector loop.
    """

    lanes: Lanes
    variable: Expr
    here: Mapping[int, Expr]


def parts(builder: Builder, here: Mapping[int, Expr], along: int, width: int) -> list[Part]:
    """The current lanes, those of index `along`, in vectors of `width`."""
    whole = builder.lanes
    assert whole is not None, "turns are taken by vectors"
    made = []
    for first in range(0, whole.width, width):
        start = builder.value(f"add i64 {whole.start}, {first}")
        mask = whole.mask
        if mask is not None and width < whole.width:
            order = ", ".join(f"i32 {lane}" for lane in range(first, first + width))
            kind = mask_type(whole.width)
            mask = builder.value(
                f"shufflevector {kind} {mask}, {kind} poison, <{width} x i32> <{order}>"
            )
        variable = builder.variable(start)
        made.append(
            Part(Lanes(variable.attr, width, start, mask), variable, {**here, along: variable})
        )
    return made


class Turns:
    """The turns being written for some vectors at once."""

    def __init__(
        self, builder: Builder, repeat: Repeat, table: Table, vectors: Sequence[Part]
    ) -> None:
        self.builder = builder
        self.repeat = repeat
        self.table = table
        self.vectors = vectors

    def write(self) -> Iterator[tuple[Part, list[str]]]:
        """Each vector, while it is the builder's, with the registers of the roots."""
        builder, state = self.builder, self.repeat.found.state
        carried = [value for vector in self.vectors for value in self._start(vector)]
        with builder.loop("0", str(self.repeat.turns), 1, carried) as loop:
            columns = self._columns(loop)
            inside = [
                {**_places(vector), **columns, **self._known("now", vector, current, loop.variable)}
                for vector, current in zip(self.vectors, self._split(loop.current), strict=True)
            ]
            if self.repeat.condition is not None:
                self._leave_at_rest(inside, loop.end)
            for vector, places in zip(self.vectors, inside, strict=True):
                loop.next += self._emitted(vector, replaced(self.repeat.step, places))
        for vector, final in zip(self.vectors, self._split(loop.current), strict=True):
            places = {**_places(vector), **self._known("final", vector, final)}
            yield vector, self._emitted(vector, replaced(self.repeat.roots, places))
        assert len(state) * len(self.vectors) == len(loop.next)

    def _start(self, vector: Part) -> list[tuple[str, str]]:
        """The first state, by type; what no turn changes is computed here, too."""
        start = self._emitted(vector, replaced(self.repeat.start, _places(vector)))
        self._emitted(vector, replaced(self.repeat.kept, _places(vector)))
        kinds = (llvm_type(leaf.dtype, vector.lanes.width) for leaf in self.repeat.found.state)
        return list(zip(kinds, start, strict=True))

    def _split(self, registers: Sequence[str]) -> Iterator[Sequence[str]]:
        each = len(self.repeat.found.state)
        return (registers[n : n + each] for n in range(0, len(registers), each))

    def _emitted(self, vector: Part, expressions: Sequence[Expr]) -> list[str]:
        before, self.builder.lanes = self.builder.lanes, vector.lanes
        try:
            return [self.builder.emit(e) for e in expressions]
        finally:
            self.builder.lanes = before

    def _known(
        self, name: str, vector: Part, registers: Sequence[str], *turn: Expr
    ) -> dict[Expr, Expr]:
        """The state's leaves as expressions whose registers are known here."""
        known = {}
        for number, leaf in enumerate(self.repeat.found.state):
            known[leaf] = load((name, number), (vector.variable, *turn), leaf.dtype)
            key = (known[leaf], vector.lanes.width)
            self.builder.scopes[-1].memo[key] = registers[number]
        return known

    def _columns(self, loop: Loop) -> dict[Expr, Expr]:
        """The row of the table that belongs to the turn."""
        builder, columns = self.builder, self.table.columns
        row = {}
        for number, column in enumerate(columns):
            place = _cell(builder, self.table.pointer, loop.register, len(columns), number)
            at = (loop.variable,)
            row[column] = _leaf(builder, "column", number, column.dtype, at, place)
        return row

    def _leave_at_rest(self, inside: Sequence[Mapping[Expr, Expr]], end: str) -> None:
        """Leave the loop where no lane of any vector changes any more."""
        builder = self.builder
        assert self.repeat.found.rest is not None and self.repeat.condition is not None
        kind = mask_type(self.vectors[0].lanes.width)
        some = ""
        for vector, places in zip(self.vectors, inside, strict=True):
            (moving,) = self._emitted(vector, replaced([self.repeat.condition], places))
            if self.repeat.found.rest.value:
                moving = builder.value(f"xor {kind} {moving}, splat (i1 true)")
            if vector.lanes.mask is not None:
                moving = builder.value(f"and {kind} {moving}, {vector.lanes.mask}")
            some = builder.value(f"or {kind} {some}, {moving}") if some else moving
        width = self.vectors[0].lanes.width
        some = builder.value(f"call i1 @llvm.vector.reduce.or.v{width}i1({kind} {some})")
        lasting = builder.value(f"xor i1 {self.table.steady}, true")
        more = builder.value(f"or i1 {some}, {lasting}")
        following = builder.label()
        builder.line(f"br i1 {more}, label %{following}, label %{end}")
        builder.line(f"{following}:")


def _places(vector: Part) -> dict[Expr, Expr]:
    return {index(dim): variable for dim, variable in vector.here.items()}
