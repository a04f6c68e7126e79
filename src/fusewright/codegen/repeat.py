"""Repeated steps as a loop inside the vector loop: the state stays in registers from turn to turn,
and a vector that has come to a standstill leaves early.

The run-time scalars that differ from turn to turn, and what is computed of them alone, stand in a
table that the kernel fills when it starts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fusewright.codegen.builder import Builder, mask_type
from fusewright.codegen.spell import llvm_type
from fusewright.ir.dtypes import BOOL, FLOAT16, INT64, DType
from fusewright.ir.expr import Expr, const, index, load, op, postorder
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


def repeated(bodies: Sequence[Expr], along: Expr) -> Recurrence | None:
    """The recurrence in these bodies, if it can be written as a loop."""
    found = find(bodies, along)
    if found is None or len(found.values) * max(len(found.varying), 1) > MOST_WORDS:
        return None
    if any(leaf.dtype is FLOAT16 for leaf in (*found.varying, *found.state)):
        return None
    return found if any(along in postorder([e]) for e in (*found.start, *found.step)) else None


@dataclass(frozen=True, slots=True)
class Table:
    """Where the scalars of each turn are: `columns` are expressions of the varying ones.  `steady`
    is the register that tells whether a standstill lasts.
    """

    pointer: str
    columns: tuple[Expr, ...]
    steady: str


@dataclass(frozen=True, slots=True)
class Repeat:
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
        """As many vectors side by side as the registers hold."""
        nodes = [n for n in postorder(self.step) if n.name not in ("const", "index")]
        widest = max(node.dtype.itemsize for node in nodes)
        each = len(self.found.state) + len(self.kept) + WORKING
        most = REGISTERS[vector_bytes] // each
        count = MOST_VECTORS if most >= MOST_VECTORS else 2 if most > 1 else 1
        return count * vector_bytes // widest


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


def write(builder: Builder, repeat: Repeat, table: Table, here: Sequence[Expr]) -> list[str]:
    """All turns for the current lanes; the registers of the roots."""
    width = builder.lanes.width if builder.lanes is not None else 1
    places: dict[Expr, Expr] = {index(dim): variable for dim, variable in enumerate(here)}
    dtypes = [leaf.dtype for leaf in repeat.found.state]
    start = [builder.emit(e) for e in replaced(repeat.start, places)]
    for e in replaced(repeat.kept, places):
        builder.emit(e)
    kinds = [llvm_type(dtype, width) for dtype in dtypes]
    carried = list(zip(kinds, start, strict=True))
    with builder.loop("0", str(repeat.turns), 1, carried) as loop:
        at = (here[-1], loop.variable)
        inside = dict(places)
        for number, leaf in enumerate(repeat.found.state):
            state = load(("now", number), at, leaf.dtype)
            builder.scopes[-1].memo[(state, width)] = loop.current[number]
            inside[leaf] = state
        for number, column in enumerate(table.columns):
            place = _cell(builder, table.pointer, loop.register, len(table.columns), number)
            inside[column] = _leaf(
                builder, "column", number, column.dtype, (loop.variable,), place
            )
        if repeat.condition is not None:
            (condition,) = replaced([repeat.condition], inside)
            _leave_at_rest(builder, repeat, builder.emit(condition), table.steady, loop.end)
        loop.next += [builder.emit(e) for e in replaced(repeat.step, inside)]
    for number, leaf in enumerate(repeat.found.state):
        final = load(("final", number), (here[-1],), leaf.dtype)
        builder.scopes[-1].memo[(final, width)] = loop.current[number]
        places[leaf] = final
    return [builder.emit(e) for e in replaced(repeat.roots, places)]


def _leave_at_rest(
    builder: Builder, repeat: Repeat, condition: str, steady: str, end: str
) -> None:
    """Leave the loop where no lane changes any more."""
    assert repeat.found.rest is not None
    lanes = builder.lanes
    width = lanes.width if lanes is not None else 1
    kind = mask_type(width)
    if repeat.found.rest.value:
        ones = "true" if width == 1 else "splat (i1 true)"
        condition = builder.value(f"xor {kind} {condition}, {ones}")
    if lanes is not None and lanes.mask is not None:
        condition = builder.value(f"and {kind} {condition}, {lanes.mask}")
    if width > 1:
        condition = builder.value(
            f"call i1 @llvm.vector.reduce.or.v{width}i1({kind} {condition})"
        )
    lasting = builder.value(f"xor i1 {steady}, true")
    more = builder.value(f"or i1 {condition}, {lasting}")
    following = builder.label()
    builder.line(f"br i1 {more}, label %{following}, label %{end}")
    builder.line(f"{following}:")
