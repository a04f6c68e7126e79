"""Vector loops and positions: what the writers of kernels and of their final combination share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from fusewright.codegen.builder import Lanes
from fusewright.codegen.memory import Memory
from fusewright.codegen.spell import llvm_type
from fusewright.ir.dtypes import BOOL, DType
from fusewright.ir.expr import Expr, op, postorder, rebuild

Statement = Callable[[Expr], None]


class Loops:
    """A function being written, with the loops every kernel is made of."""

    def __init__(self, avx512: bool) -> None:
        self.memory = Memory(avx512)
        self.builder = self.memory.builder

    def position(self, node: Expr) -> str:
        """The register of an integer expression (`imin`, `imax` included)."""
        return self.builder.scalar(spelled(node))

    def argument(self, number: int, dtype: DType | None) -> str:
        """The register of an argument word; a pointer where there is no dtype."""
        place = self.builder.value(f"getelementptr i64, ptr %args, i64 {number}")
        if dtype is None:
            return self.builder.value(f"load ptr, ptr {place}, align 8")
        if dtype is BOOL:
            byte = self.builder.value(f"load i8, ptr {place}, align 8")
            return self.builder.value(f"icmp ne i8 {byte}, 0")
        return self.builder.value(f"load {llvm_type(dtype, 1)}, ptr {place}, align 8")

    def vector_loop(
        self, low: Expr, high: Expr, width: int, statement: Statement, aligned: bool = False
    ) -> None:
        """`for i in [low, high)` in vectors; the last, partial vector is masked.

        `aligned` loops start at a multiple of the width, with a masked first vector: rows in
        scratch are laid out so that their vectors then lie in one cache line each.
        """
        builder = self.builder
        begin, end = self.position(low), self.position(high)
        with builder.when(builder.value(f"icmp slt i64 {begin}, {end}")):
            if aligned and width > 1:
                begin = self._first_vector(begin, end, width, statement)
            count = builder.value(f"sub i64 {end}, {begin}")
            whole = builder.value(f"and i64 {count}, {-width}")
            middle = builder.value(f"add i64 {begin}, {whole}")
            with (
                builder.loop(begin, middle, width) as loop,
                self.lanes(loop.variable, width, loop.register, None),
            ):
                statement(loop.variable)
            if width == 1:
                return
            with builder.when(builder.value(f"icmp slt i64 {middle}, {end}")):
                self._masked(middle, self.mask(middle, end, width), width, statement)

    def _first_vector(self, begin: str, end: str, width: int, statement: Statement) -> str:
        """Do what lies before the first multiple of the width; where the rest begins."""
        builder = self.builder
        base = builder.value(f"and i64 {begin}, {-width}")
        inside = builder.value(f"icmp ne i64 {base}, {begin}")
        with builder.when(inside):
            kind = llvm_type(BOOL, width)
            before = self.mask(base, begin, width)
            upto = self.mask(base, end, width)
            after = builder.value(f"xor {kind} {before}, splat (i1 true)")
            self._masked(base, builder.value(f"and {kind} {after}, {upto}"), width, statement)
        following = builder.value(f"add i64 {base}, {width}")
        following = builder.value(f"select i1 {inside}, i64 {following}, i64 {begin}")
        past = builder.value(f"icmp slt i64 {following}, {end}")
        return builder.value(f"select i1 {past}, i64 {following}, i64 {end}")

    def _masked(self, start: str, mask: str, width: int, statement: Statement) -> None:
        variable = self.builder.variable(start)
        with self.lanes(variable, width, start, mask):
            statement(variable)

    def mask(self, begin: str, end: str, width: int) -> str:
        """Which lanes from `begin` on lie before `end`."""
        builder = self.builder
        left = builder.value(f"sub i64 {end}, {begin}")
        kind = f"<{width} x i64>"
        one = builder.value(f"insertelement {kind} poison, i64 {left}, i64 0")
        splat = builder.value(
            f"shufflevector {kind} {one}, {kind} poison, <{width} x i32> zeroinitializer"
        )
        steps = ", ".join(f"i64 {lane}" for lane in range(width))
        return builder.value(f"icmp slt {kind} <{steps}>, {splat}")

    @contextmanager
    def lanes(self, variable: Expr, width: int, start: str, mask: str | None) -> Iterator[None]:
        """Inside, expressions that depend on the variable are vectors."""
        before = self.builder.lanes
        self.builder.lanes = Lanes(variable.attr, width, start, mask) if width > 1 else None
        try:
            yield
        finally:
            self.builder.lanes = before

    def text(self, name: str, first: str = "%args") -> str:
        """The function."""
        lines = [*self.builder.entry, *self.builder.scopes[0].lines]
        body = "\n".join(f"  {line}" for line in lines)
        return (
            f"define void @{name}(ptr {first}, i64 %lo, i64 %hi, ptr %scratch) #0 {{\n"
            f"entry:\n{body}\n  ret void\n}}\n"
        )


def at(body: Expr, here: Sequence[Expr]) -> Expr:
    """A body with its loop dims bound to loop variables."""
    memo: dict[Expr, Expr] = {}
    for node in postorder([body]):
        if node.name == "index":
            memo[node] = here[node.attr]
        elif node.args:
            memo[node] = rebuild(node, tuple(memo[arg] for arg in node.args))
        else:
            memo[node] = node
    return memo[body]


def smaller(a: Expr, b: Expr) -> Expr:
    """min(a, b) in primitives."""
    return op("where", op("less", a, b), a, b)


def larger(a: Expr, b: Expr) -> Expr:
    """max(a, b) in primitives."""
    return op("where", op("less", a, b), b, a)


def spelled(root: Expr) -> Expr:
    """Positions in primitives: `imin` and `imax` become selections."""
    memo: dict[Expr, Expr] = {}
    for node in postorder([root]):
        args = tuple(memo[arg] for arg in node.args)
        if node.name in ("imin", "imax"):
            memo[node] = smaller(*args) if node.name == "imin" else larger(*args)
        else:
            memo[node] = rebuild(node, args)
    return memo[root]
