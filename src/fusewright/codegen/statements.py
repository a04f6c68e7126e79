"""A kernel of loops as LLVM text: its statements in program order, one function.

Loads and variables are read where a statement stands, and what is computed from them may move out
of loops it does not change in.  The innermost loop runs in vectors where `plan.loops` says that its
iterations are independent; the bits are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fusewright.codegen.builder import Lanes, Scope, mask_type
from fusewright.codegen.prelude import prelude
from fusewright.codegen.reading import LoopWord, Reading
from fusewright.codegen.spell import llvm_type
from fusewright.ir.dtypes import BOOL, INT64
from fusewright.ir.expr import Expr, load, op, postorder, typed_op
from fusewright.ir.loops.statements import (
    Block,
    Check,
    For,
    If,
    Kernel,
    Leave,
    Let,
    Print,
    Shown,
    Statement,
    Store,
    While,
    expressions,
    walk,
)
from fusewright.plan.loops import Verdict, independent

ATTRIBUTES = 'attributes #0 = { nounwind "prefer-vector-width"="512" }\n!0 = !{i32 1}'


@dataclass(frozen=True, slots=True)
class LoopModule:
    """The text, what a caller must hand over, and what numbers in reports and prints mean."""

    text: str
    words: tuple[LoopWord, ...]
    checks: tuple[Check, ...]
    prints: tuple[Print, ...]
    verdicts: tuple[tuple[For, Verdict], ...]


def lower(kernel: Kernel, vector_bytes: int) -> LoopModule:
    """The kernel's module for machine vectors of this many bytes."""
    return _Emission(kernel, vector_bytes).run()


class _Emission(Reading):
    def __init__(self, kernel: Kernel, vector_bytes: int) -> None:
        super().__init__(kernel, vector_bytes)
        self.checks: list[Check] = []
        self.prints: list[Print] = []
        self.verdicts: list[tuple[For, Verdict]] = []
        self.ends: dict[int, str] = {}

    def run(self) -> LoopModule:
        self.arguments()
        self.block(self.kernel.body)
        text = self.text("kernel")
        full = f"{text}\n{prelude(text)}\n{ATTRIBUTES}\n"
        return LoopModule(
            full, tuple(self.words), tuple(self.checks), tuple(self.prints), tuple(self.verdicts)
        )

    # -- statements -----------------------------------------------------------------------------

    def block(self, body: Sequence[Statement]) -> None:
        for statement in body:
            _EMIT[type(statement)](self, statement)

    def let(self, statement: Let) -> None:
        value = self.settled(statement.value)
        if not self.kernel.locals[statement.local].mutable:
            self.values[statement.local] = value
            return
        register = self.builder.scalar(value)
        kind = llvm_type(value.dtype, 1)
        self.builder.line(f"store {kind} {register}, ptr {self.cell(statement.local)}")

    def store(self, statement: Store) -> None:
        value, dtype = statement.value, statement.value.dtype
        if statement.combine:
            here = load(statement.buffer, statement.indices, dtype)
            value = typed_op(statement.combine, dtype, here, value)
        indices = [self.settled(place) for place in statement.indices]
        register = self.builder.emit(self.settled(value))
        self.memory.store(statement.buffer, indices, register, dtype)
        self.forget({statement.buffer})

    def if_(self, statement: If) -> None:
        builder = self.builder
        condition = self.settled(statement.condition)
        if builder.lanes is not None:
            self._masked_if(statement, condition)
            return
        register = builder.scalar(condition)
        leave = self.inside(statement.body, statement.orelse, again=False)
        name = builder.label()
        regions = []
        for body in (statement.body, statement.orelse):
            regions.append(self._region(body))
            leave()
        # Only now: writing the regions may have put invariant values in front of them.
        builder.line(f"br i1 {register}, label %{name}.then, label %{name}.else")
        for lines, part in zip(regions, ("then", "else"), strict=True):
            builder.line(f"{name}.{part}:")
            builder.scopes[-1].lines += [*lines, f"br label %{name}.end"]
        builder.line(f"{name}.end:")

    def _region(self, body: Sequence[Statement]) -> list[str]:
        """The lines of a block of its own."""
        scope = Scope(guard=True)
        self.builder.scopes.append(scope)
        self.block(body)
        self.builder.scopes.pop()
        return scope.lines

    def labelled(self, statement: Block) -> None:
        builder = self.builder
        leave = self.inside(statement.body, again=False)
        self.ends[statement.label] = f"{builder.label()}.end"
        lines = self._region(statement.body)
        leave()
        end = self.ends[statement.label]
        builder.scopes[-1].lines += [*lines, f"br label %{end}", f"{end}:"]

    def leave(self, statement: Leave) -> None:
        self._jump(f"br label %{self.ends[statement.label]}")

    def _jump(self, text: str) -> None:
        """An instruction that nothing follows; what is written next is never reached."""
        self.builder.line(text)
        self.builder.line(f"{self.builder.label()}.dead:")

    def while_(self, statement: While) -> None:
        builder = self.builder
        leave = self.inside(statement.head, statement.body, again=True)
        name = builder.label()
        scope = Scope(guard=True)
        builder.scopes.append(scope)
        self.block(statement.head)
        condition = self.scalar(statement.condition)
        builder.line(f"br i1 {condition}, label %{name}.body, label %{name}.end")
        builder.line(f"{name}.body:")
        self.block(statement.body)
        builder.scopes.pop()
        leave()
        builder.scopes[-1].lines += [
            f"br label %{name}.head", f"{name}.head:", *scope.lines,
            f"br label %{name}.head", f"{name}.end:",
        ]  # fmt: skip

    def for_(self, statement: For) -> None:
        bounds = [(self.scalar(dim.low), self.scalar(dim.high)) for dim in statement.dims]
        leave = self.inside(statement.body, again=True)
        inner = any(isinstance(each, For | While) for each in walk(statement.body))
        verdict = Verdict(False, "it contains loops") if inner else (
            independent(self.kernel, statement)
        )  # fmt: skip
        self.verdicts.append((statement, verdict))
        width = self._width(statement) if verdict.parallel else 1
        self._nest(statement, bounds, 0, width)
        leave()

    def _nest(self, statement: For, bounds: list[tuple[str, str]], depth: int, width: int) -> None:
        builder = self.builder
        dim, (low, high) = statement.dims[depth], bounds[depth]
        if depth == len(bounds) - 1 and width > 1:
            self._in_vectors(statement, low, high, width)
            return
        with builder.loop(low, high, 1) as loop:
            builder.scopes[-1].guard = True
            self.variables[dim.index] = loop.variable
            if depth == len(bounds) - 1:
                self.block(statement.body)
            else:
                self._nest(statement, bounds, depth + 1, width)

    # -- vectors --------------------------------------------------------------------------------

    def _width(self, loop: For) -> int:
        """Lanes: a machine vector of the widest type in the loop."""
        sizes = [
            node.dtype.itemsize
            for statement in walk(loop.body)
            for node in postorder(expressions(statement))
            if node.name == "load"
        ]
        stores = (s.value.dtype.itemsize for s in walk(loop.body) if isinstance(s, Store))
        return self.vector_bytes // max([1, *sizes, *stores])

    def _in_vectors(self, loop: For, low: str, high: str, width: int) -> None:
        before = dict(self.values)

        def statement(variable: Expr) -> None:
            self.variables[loop.dims[-1].index] = variable
            known = self.available
            self.available = {}
            self.block_in_lanes(loop.body)
            self.available = known
            self.values = dict(before)

        begin, end = (self.builder.variable(bound) for bound in (low, high))
        self.vector_loop(begin, end, width, statement)

    def block_in_lanes(self, body: Sequence[Statement]) -> None:
        """Statements of a vector loop: variables are registers, and branches are masks."""
        for statement in body:
            if isinstance(statement, Let):
                self._let_in_lanes(statement)
            else:
                _EMIT[type(statement)](self, statement)

    def _let_in_lanes(self, statement: Let) -> None:
        value = self.settled(statement.value)
        old = self.values.get(statement.local)
        mask = self.chosen
        if mask is not None and old is not None:
            value = op("where", mask, value, old)
        self.values[statement.local] = value

    def _masked_if(self, statement: If, condition: Expr) -> None:
        builder = self.builder
        lanes, outer = builder.lanes, self.chosen
        assert lanes is not None
        for body, holds in (
            (statement.body, condition), (statement.orelse, op("invert", condition)),
        ):  # fmt: skip
            if body:
                known = dict(self.available)
                self.chosen = holds if outer is None else op("bitwise_and", outer, holds)
                builder.lanes = self._with_mask(lanes, holds)
                self.block_in_lanes(body)
                builder.lanes, self.chosen = lanes, outer
                written = {s.buffer for s in walk(tuple(body)) if isinstance(s, Store)}
                self.available = known
                self.forget(written)

    def _with_mask(self, lanes: Lanes, holds: Expr) -> Lanes:
        register = self.builder.emit(holds)
        if lanes.mask is not None:
            kind = mask_type(lanes.width)
            register = self.builder.value(f"and {kind} {lanes.mask}, {register}")
        return replace(lanes, mask=register)

    # -- effects --------------------------------------------------------------------------------

    def print(self, statement: Print) -> None:
        pieces = [piece for piece in statement.pieces if isinstance(piece, Shown)]
        cells = self.builder.slot(f"[{max(len(pieces), 1)} x i64]")
        for place, piece in enumerate(pieces):
            self._put(cells, place, piece.value)
        site = len(self.prints)
        self.prints.append(statement)
        self.builder.line(f"call void {self.show}(i64 {site}, ptr {cells})")

    def _put(self, base: str, place: int, root: Expr) -> None:
        """A number into a word of 8 bytes."""
        register = self.scalar(root)
        kind = llvm_type(root.dtype, 1)
        if root.dtype is BOOL:
            register, kind = self.builder.value(f"zext i1 {register} to i8"), "i8"
        pointer = self.builder.value(f"getelementptr i64, ptr {base}, i64 {place}")
        self.builder.line(f"store {kind} {register}, ptr {pointer}, align 8")

    def check(self, statement: Check) -> None:
        builder = self.builder
        condition = self.scalar(statement.condition)
        name = builder.label()
        leave = self.inside(again=False)
        builder.scopes.append(Scope(guard=True))
        self.checks.append(statement)
        builder.line(f"store i64 {len(self.checks)}, ptr {self.report}")
        values = (*statement.values, *(value for _, value in statement.loops))
        for place, value in enumerate(values):
            assert value.dtype is INT64
            self._put(self.report, place + 1, value)
        lines = builder.scopes.pop().lines
        leave()
        builder.line(f"br i1 {condition}, label %{name}.right, label %{name}.wrong")
        builder.line(f"{name}.wrong:")
        builder.scopes[-1].lines += [*lines, "ret void", f"{name}.right:"]


_EMIT: dict[type, Callable[..., None]] = {
    Let: _Emission.let,
    Store: _Emission.store,
    For: _Emission.for_,
    While: _Emission.while_,
    If: _Emission.if_,
    Block: _Emission.labelled,
    Leave: _Emission.leave,
    Print: _Emission.print,
    Check: _Emission.check,
}
