"""Vector loops and positions: what the writers of kernels and of their final combination share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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

    def argument(self, number: int, dtype: DType | None, words: str = "%args") -> str:
        """The register of an argument word; a pointer where there is no dtype."""
        place = self.builder.value(f"getelementptr i64, ptr {words}, i64 {number}")
        if dtype is None:
            return self.builder.value(f"load ptr, ptr {place}, align 8")
        if dtype is BOOL:
            byte = self.builder.value(f"load i8, ptr {place}, align 8")
            return self.builder.value(f"icmp ne i8 {byte}, 0")
        return self.builder.value(f"load {llvm_type(dtype, 1)}, ptr {place}, align 8")

    def vector_loop(
        self, begin: str, end: str, width: int, statement: Statement, origin: str | None = None
    ) -> None:
        """`for i in [begin, end)` in vectors; the last, partial vector is masked.

        With an `origin`, whole vectors are only where `origin + i` is a multiple of the width: rows
        in scratch are laid out so that those then lie in one cache line each, and rows in memory
        can be written past the caches.
        """
        builder = self.builder
        with builder.when(builder.value(f"icmp slt i64 {begin}, {end}")):
            origin = origin if width > 1 else None
            first = begin if origin is None else self._first_multiple(begin, end, width, origin)
            count = builder.value(f"sub i64 {end}, {first}")
            whole = builder.value(f"and i64 {count}, {-width}")
            middle = builder.value(f"add i64 {first}, {whole}")
            with (
                builder.loop(first, middle, width) as loop,
                self.lanes(loop.variable, width, loop.register, None),
            ):
                before, self.memory.aligned = (
                    self.memory.aligned,
                    self.memory.aligned or bool(origin),
                )
                statement(loop.variable)
                self.memory.aligned = before
            if origin is not None:
                self._edges((begin, first), (middle, end), width, origin, statement)
            elif width > 1:
                with builder.when(builder.value(f"icmp slt i64 {middle}, {end}")):
                    self._masked(middle, self.mask(middle, end, width), width, statement)

    def ordered_loop(
        self, begin: str, end: str, width: int, statement: Statement, origin: str
    ) -> None:
        """The same with an origin, in the order of the elements: the partial vector before the
        whole ones, those, and the partial vector behind them.
        """
        builder = self.builder
        with builder.when(builder.value(f"icmp slt i64 {begin}, {end}")):
            first = self._first_multiple(begin, end, width, origin)
            count = builder.value(f"sub i64 {end}, {first}")
            middle = builder.value(
                f"add i64 {first}, {builder.value(f'and i64 {count}, {-width}')}"
            )

            def whole(is_head: str) -> None:
                start = builder.value(f"select i1 {is_head}, i64 {middle}, i64 {first}")
                with (
                    builder.loop(start, middle, width) as loop,
                    self.lanes(loop.variable, width, loop.register, None),
                ):
                    statement(loop.variable)

            self._edges((begin, first), (middle, end), width, origin, statement, whole)

    def _over(self, place: str, width: int, origin: str) -> str:
        """How far a place lies behind a multiple of the width."""
        from_origin = self.builder.value(f"add i64 {origin}, {place}")
        return self.builder.value(f"and i64 {from_origin}, {width - 1}")

    def _first_multiple(self, begin: str, end: str, width: int, origin: str) -> str:
        """Where whole vectors may begin."""
        builder = self.builder
        last = builder.value(f"add i64 {begin}, {width - 1}")
        up = builder.value(f"sub i64 {last}, {self._over(last, width, origin)}")
        past = builder.value(f"icmp slt i64 {up}, {end}")
        return builder.value(f"select i1 {past}, i64 {up}, i64 {end}")

    def _edges(
        self,
        head: tuple[str, str],
        tail: tuple[str, str],
        width: int,
        origin: str,
        statement: Statement,
        between: Callable[[str], None] | None = None,
    ) -> None:
        """The partial vectors on both sides, as turns of one loop: the statement is written once
        for both.  What comes between them is done, or not, as it is told whether it is the first.
        """
        builder, kind = self.builder, llvm_type(BOOL, width)
        with builder.loop("0", "2", 1) as loop:
            is_head = builder.value(f"icmp eq i64 {loop.register}, 0")
            if between is not None:
                between(is_head)
            low, high = (
                builder.value(f"select i1 {is_head}, i64 {one}, i64 {other}")
                for one, other in zip(head, tail, strict=True)
            )
            with builder.when(builder.value(f"icmp slt i64 {low}, {high}")):
                base = builder.value(f"sub i64 {low}, {self._over(low, width, origin)}")
                before, upto = self.mask(base, low, width), self.mask(base, high, width)
                after = builder.value(f"xor {kind} {before}, splat (i1 true)")
                inside = builder.value(f"and {kind} {after}, {upto}")
                self._masked(base, inside, width, statement)

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


def at(body: Expr, here: Mapping[int, Expr]) -> Expr:
    """A body with its loop dims bound to loop variables."""
    if not body.args:
        return here[body.attr] if body.name == "index" else body
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
