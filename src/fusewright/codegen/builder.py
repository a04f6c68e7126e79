"""LLVM IR text for one function: nested scopes, loops, and scalar expressions at a vector width.

An expression is emitted once, in the outermost scope that knows everything it depends on, so
loop-invariant code motion needs no pass.  Loads are more careful: they never move above the guard
that makes them safe (a loop that may run zero times, a row that may not exist).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field

from fusewright.base.values import dataclass
from fusewright.codegen.spell import literal, llvm_type, spell
from fusewright.ir import expr as ir
from fusewright.ir.dtypes import BOOL, INT64, DType
from fusewright.ir.expr import Expr


@dataclass(slots=True)
class Scope:
    """A straight-line region being written; `guard` says that nothing which may trap leaves it."""

    guard: bool = False
    lines: list[str] = field(default_factory=list)
    memo: dict[object, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lanes:
    """The vector loop being written: its variable, lanes, and the mask of the last vector."""

    variable: int
    width: int
    start: str
    mask: str | None


NO_VARIABLES: frozenset[int] = frozenset()
LoadEmitter = Callable[[Expr, int], str]


class Builder:
    """Writes one function.  `emit_load` is how the owner of the memory layout reads an element."""

    def __init__(self, emit_load: LoadEmitter, avx512: bool) -> None:
        self.avx512 = avx512
        self.scopes: list[Scope] = [Scope(guard=True)]
        self.entry: list[str] = []
        self.lanes: Lanes | None = None
        self._emit_load = emit_load
        self._depths: dict[int, int] = {}
        self._registers: dict[int, str] = {}
        self._depends: dict[Expr, frozenset[int]] = {}
        self._reading: dict[Expr, bool] = {}
        self._count = 0

    # -- text -----------------------------------------------------------------------------------

    def fresh(self) -> str:
        self._count += 1
        return f"%t{self._count}"

    def line(self, text: str) -> None:
        self.scopes[-1].lines.append(text)

    def value(self, text: str) -> str:
        """An instruction with a result."""
        name = self.fresh()
        self.line(f"{name} = {text}")
        return name

    def slot(self, kind: str) -> str:
        """Stack space for a register that two branches set."""
        name = self.fresh()
        self.entry.append(f"{name} = alloca {kind}, align 128")
        return name

    def variable(self, register: str, dtype: DType = INT64) -> Expr:
        """A new variable of the innermost scope, held in a register: a loop's, or a value read
        there.
        """
        self._count += 1
        number = self._count
        self._depths[number] = len(self.scopes) - 1
        self._registers[number] = register
        return ir.index(number, dtype)

    def lane_variable(self, register: str, dtype: DType) -> Expr:
        """The same for a vector that differs from lane to lane."""
        assert self.lanes is not None
        node = self.variable(register, dtype)
        self._depends[node] = frozenset({node.attr, self.lanes.variable})
        self.scopes[-1].memo[(node, self.lanes.width)] = register
        return node

    # -- control --------------------------------------------------------------------------------

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """`if condition:`"""
        label = self.label()
        scope = Scope(guard=True)
        self.scopes.append(scope)
        yield
        self.scopes.pop()
        self.line(f"br i1 {condition}, label %{label}.then, label %{label}.end")
        self.line(f"{label}.then:")
        self.scopes[-1].lines += scope.lines
        self.line(f"br label %{label}.end")
        self.line(f"{label}.end:")

    @contextmanager
    def loop(
        self, low: str, high: str, step: int, carried: Sequence[tuple[str, str]] = ()
    ) -> Iterator[Loop]:
        """`for i in range(low, high, step)`, with (type, initial value) pairs that one iteration
        hands to the next.
        """
        label = self.label()
        register, following = self.fresh(), self.fresh()
        loop = Loop([self.fresh() for _ in carried], [])
        scope = Scope()
        self.scopes.append(scope)
        loop.variable = self.variable(register)
        loop.register = register
        loop.end = f"{label}.end"
        yield loop
        self.scopes.pop()
        phis = [
            f"{name} = phi {kind} [ {start}, %{label}.pre ], [ {final}, %{label}.latch ]"
            for name, (kind, start), final in zip(loop.current, carried, loop.next, strict=True)
        ]
        more = self.fresh()
        self.scopes[-1].lines += [
            f"br label %{label}.pre",
            f"{label}.pre:",
            f"br label %{label}.head",
            f"{label}.head:",
            f"{register} = phi i64 [ {low}, %{label}.pre ], [ {following}, %{label}.latch ]",
            *phis,
            f"{more} = icmp slt i64 {register}, {high}",
            f"br i1 {more}, label %{label}.body, label %{label}.end",
            f"{label}.body:",
            *scope.lines,
            f"br label %{label}.latch",
            f"{label}.latch:",
            f"{following} = add i64 {register}, {step}",
            f"br label %{label}.head",
            f"{label}.end:",
        ]

    def label(self) -> str:
        """A new name for a place to jump to."""
        self._count += 1
        return f"l{self._count}"

    # -- expressions ----------------------------------------------------------------------------

    def scalar(self, node: Expr) -> str:
        """The register of an expression that is the same for all lanes."""
        lanes, self.lanes = self.lanes, None
        try:
            return self.emit(node)
        finally:
            self.lanes = lanes

    def emit(self, root: Expr) -> str:
        """The register (or literal) that holds an expression, at the current width."""
        width = self.lanes.width if self.lanes else 1
        for node in self._pending(root, width):
            self._place(node, width)
        return self._found(root, width) or self._splat(root, width)

    def is_vector(self, node: Expr) -> bool:
        return self.lanes is not None and self.lanes.variable in self.depends(node)

    def depends(self, node: Expr) -> frozenset[int]:
        """The loop variables in an expression."""
        known = self._depends.get(node)
        if known is None:
            for inner in ir.postorder([node], self._depends):
                found = NO_VARIABLES
                if inner.name == "index":
                    found = frozenset((inner.attr,))
                for arg in inner.args:
                    theirs = self._depends[arg]
                    if theirs is not found and theirs:
                        found = found | theirs if found else theirs
                self._depends[inner] = found
            known = self._depends[node]
        return known

    def _pending(self, root: Expr, width: int) -> Iterator[Expr]:
        """What has to be emitted for `root`, operands first."""
        stack: list[tuple[Expr, bool]] = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if self._found(node, width if self.is_vector(node) else 1) is not None:
                continue
            if ready or node.name == "load":
                yield node
            else:
                stack.append((node, True))
                stack.extend((arg, False) for arg in reversed(node.args))

    def _found(self, node: Expr, width: int) -> str | None:
        if node.name == "const":
            return literal(node.attr, node.dtype, width)
        if not self.is_vector(node):
            if width > 1:
                return None
            if node.name == "index":
                return self._registers[node.attr]
        key = (node, width)
        for scope in reversed(self.scopes):
            if key in scope.memo:
                return scope.memo[key]
        return None

    def _place(self, node: Expr, width: int) -> None:
        """Emit one expression whose operands are there, as far out as it may stand."""
        vector = self.is_vector(node)
        own = width if vector else 1
        if self._found(node, own) is not None:
            return
        depth = len(self.scopes) - 1 if vector else self.depth(node)
        if node.name == "load":
            name = self.at(depth, lambda: self._emit_load(node, own))
        elif node.name == "index":
            assert self.lanes is not None
            name = self._ramp(self.lanes)
        else:
            operands = [self._operand(arg, own) for arg in node.args]
            out = self.scopes[depth].lines
            name = spell(node, operands, own, out, self.fresh, self.avx512)
        self.scopes[depth].memo[(node, own)] = name

    def _operand(self, node: Expr, width: int) -> str:
        found = self._found(node, width)
        return found if found is not None else self._splat(node, width)

    def _splat(self, node: Expr, width: int) -> str:
        """A scalar in all lanes, where the scalar stands."""
        scalar = self._found(node, 1)
        if scalar is None:
            scalar = self.scalar(node)
        if width == 1:
            return scalar
        depth = self.depth(node)
        lines, kind = self.scopes[depth].lines, llvm_type(node.dtype, width)
        one, name = self.fresh(), self.fresh()
        element = llvm_type(node.dtype, 1)
        lines.append(f"{one} = insertelement {kind} poison, {element} {scalar}, i64 0")
        lines.append(
            f"{name} = shufflevector {kind} {one}, {kind} poison, <{width} x i32> zeroinitializer"
        )
        self.scopes[depth].memo[(node, width)] = name
        return name

    def _ramp(self, lanes: Lanes) -> str:
        kind = f"<{lanes.width} x i64>"
        one = self.value(f"insertelement {kind} poison, i64 {lanes.start}, i64 0")
        splat = self.value(
            f"shufflevector {kind} {one}, {kind} poison, <{lanes.width} x i32> zeroinitializer"
        )
        steps = ", ".join(f"i64 {lane}" for lane in range(lanes.width))
        return self.value(f"add {kind} {splat}, <{steps}>")

    def at(self, depth: int, write: Callable[[], str]) -> str:
        """Write into an outer scope."""
        inner = self.scopes[depth + 1 :]
        del self.scopes[depth + 1 :]
        try:
            return write()
        finally:
            self.scopes.extend(inner)

    def depth(self, node: Expr) -> int:
        """The outermost scope where a scalar expression may stand."""
        depth = 0
        for variable in self.depends(node):
            depth = max(depth, self._depths[variable])
        return max(depth, self._guard()) if self._loads(node) else depth

    def _loads(self, node: Expr) -> bool:
        """Whether an expression reads memory."""
        known = self._reading.get(node)
        if known is None:
            for inner in ir.postorder([node], self._reading):
                self._reading[inner] = inner.name == "load" or any(
                    self._reading[arg] for arg in inner.args
                )
            known = self._reading[node]
        return known

    def _guard(self) -> int:
        for depth in range(len(self.scopes) - 1, -1, -1):
            if self.scopes[depth].guard:
                return depth
        return 0


@dataclass(slots=True)
class Loop:
    """A loop being written: its carried values now, and (filled in by the body) for the next
    iteration.
    """

    current: list[str]
    next: list[str]
    variable: Expr = field(default_factory=lambda: ir.index(0))
    register: str = ""
    end: str = ""
    """The block that follows; a jump to it leaves the loop with the current carried values."""


def mask_type(width: int) -> str:
    """The register type of a mask."""
    return llvm_type(BOOL, width)


__all__ = ["Builder", "Lanes", "Loop", "Scope", "mask_type"]
