"""Lines of LLVM text over vectors of one dtype: arithmetic, memory, and loops with a counter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from fusewright.codegen.spell import spell
from fusewright.codegen.text import literal
from fusewright.ir.dtypes import FLOAT64, DType
from fusewright.ir.expr import Expr, param, postorder
from fusewright.rules.decompose.terms import Term

ATTRIBUTES = 'attributes #0 = { nounwind alignstack=64 "prefer-vector-width"="512" }\n'
"""Spilled vectors need an aligned stack: without `alignstack` three of four straddle two cache
lines, which costs a fifth to a third of the time (measured).
"""


class Vectors:
    """The body of one function over `lanes` floating-point numbers at a time."""

    def __init__(self, lanes: int, dtype: DType = FLOAT64) -> None:
        self.lanes = lanes
        self.dtype = dtype
        self.kind = f"<{lanes} x {dtype.llvm}>"
        self.overload = f"v{lanes}f{dtype.bits}"
        self.bytes = dtype.itemsize * lanes
        self.lines: list[str] = []
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def line(self, text: str) -> str:
        name = self.fresh()
        self.lines.append(f"{name} = {text}")
        return name

    def do(self, text: str) -> None:
        self.lines.append(text)

    # ---- arithmetic

    def number(self, value: float) -> str:
        return literal(value, self.dtype, self.lanes)

    def add(self, a: str, b: str) -> str:
        return self.line(f"fadd {self.kind} {a}, {b}")

    def sub(self, a: str, b: str) -> str:
        return self.line(f"fsub {self.kind} {a}, {b}")

    def mul(self, a: str, b: str) -> str:
        return self.line(f"fmul {self.kind} {a}, {b}")

    def div(self, a: str, b: str) -> str:
        return self.line(f"fdiv {self.kind} {a}, {b}")

    def neg(self, a: str) -> str:
        return self.line(f"fneg {self.kind} {a}")

    def fma(self, a: str, b: str, c: str) -> str:
        return self.intrinsic("fma", a, b, c)

    def sqrt(self, a: str) -> str:
        return self.intrinsic("sqrt", a)

    def intrinsic(self, name: str, *operands: str) -> str:
        inner = ", ".join(f"{self.kind} {operand}" for operand in operands)
        return self.line(f"call {self.kind} @llvm.{name}.{self.overload}({inner})")

    def select(self, mask: str, yes: str, no: str) -> str:
        bits = f"<{self.lanes} x i1>"
        return self.line(f"select {bits} {mask}, {self.kind} {yes}, {self.kind} {no}")

    def compare(self, predicate: str, a: str, b: str) -> str:
        return self.line(f"fcmp {predicate} {self.kind} {a}, {b}")

    def minimum(self, a: str, bound: float) -> str:
        return self.select(self.compare("olt", a, self.number(bound)), a, self.number(bound))

    def maximum(self, a: str, bound: float) -> str:
        return self.select(self.compare("ogt", a, self.number(bound)), a, self.number(bound))

    def any(self, mask: str) -> str:
        """Whether any lane's bit is set, as an i1."""
        whole = self.line(f"bitcast <{self.lanes} x i1> {mask} to i{self.lanes}")
        return self.line(f"icmp ne i{self.lanes} {whole}, 0")

    # ---- one of eight numbers, by a permutation of registers

    def eighth(self, a: str) -> str:
        """The whole part of numbers from 0 up to 8, as `looked_up` takes it."""
        if self.lanes == 8:
            return self.line(f"fptosi {self.kind} {a} to <8 x i64>")
        whole = self.line(f"fptosi {self.kind} {a} to <4 x i32>")
        twice = self.line(f"shl <4 x i32> {whole}, splat (i32 1)")
        pairs = ", ".join(f"i32 {lane // 2}" for lane in range(8))
        both = self.line(f"shufflevector <4 x i32> {twice}, <4 x i32> poison, <8 x i32> <{pairs}>")
        halves = ", ".join(f"i32 {lane % 2}" for lane in range(8))
        return self.line(f"add <8 x i32> {both}, <{halves}>")

    def looked_up(self, values: Sequence[float], eighth: str) -> str:
        """In each lane the value of this number; any of them where it is not below 8."""
        numbers = [literal(value, self.dtype, 1) for value in values]
        if self.lanes == 8:
            whole = ", ".join(f"{self.dtype.llvm} {number}" for number in numbers)
            return self.line(
                f"call {self.kind} @llvm.x86.avx512.permvar.df.512("
                f"{self.kind} <{whole}>, <8 x i64> {eighth})"
            )
        halves = []
        for first in (0, 4):
            half = ", ".join(f"{self.dtype.llvm} {n}" for n in numbers[first : first + 4])
            moved = self.line(
                f"call <8 x float> @llvm.x86.avx2.permps("
                f"<8 x float> bitcast ({self.kind} <{half}> to <8 x float>), <8 x i32> {eighth})"
            )
            halves.append(self.line(f"bitcast <8 x float> {moved} to {self.kind}"))
        even = self.line(
            f"shufflevector <8 x i32> {eighth}, <8 x i32> poison, "
            "<4 x i32> <i32 0, i32 2, i32 4, i32 6>"
        )
        return self.select(self.line(f"icmp sge <4 x i32> {even}, splat (i32 8)"), *halves[::-1])

    def applied(self, function: Callable[..., Term], *operands: str) -> str:
        """A function of `rules.decompose` that consists of primitives."""
        terms = [Term(param(place, self.dtype)) for place in range(len(operands))]
        return self.spelled(function(*terms).expr, operands)

    def spelled(self, root: Expr, operands: Sequence[str]) -> str:
        """An expression whose parameters are these registers."""
        names: dict[Expr, str] = {}
        for node in postorder([root]):
            if node.name == "const":
                names[node] = literal(node.attr, node.dtype, self.lanes)
            elif node.name == "param":
                names[node] = operands[node.attr]
            else:
                inner = [names[arg] for arg in node.args]
                names[node] = spell(node, inner, self.lanes, self.lines, self.fresh)
        return names[root]

    # ---- memory

    def at(self, base: str, index: str | int, unit: int) -> str:
        """The address `unit` * `index` bytes behind a base."""
        if index == 0:
            return base
        if isinstance(index, int):
            return self.line(f"getelementptr i8, ptr {base}, i64 {index * unit}")
        offset = self.line(f"mul i64 {index}, {unit}") if unit != 1 else index
        return self.line(f"getelementptr i8, ptr {base}, i64 {offset}")

    def load(self, base: str, index: int = 0) -> str:
        """The vector number `index` of an aligned block."""
        place = self.at(base, index, self.bytes)
        return self.line(f"load {self.kind}, ptr {place}, align {self.bytes}")

    def store(self, value: str, base: str, index: int = 0) -> None:
        place = self.at(base, index, self.bytes)
        self.do(f"store {self.kind} {value}, ptr {place}, align {self.bytes}")

    def mask(self, left: str) -> str:
        """The lanes below a count."""
        kind = f"<{self.lanes} x i64>"
        first = self.line(f"insertelement {kind} poison, i64 {left}, i64 0")
        zeros = f"<{self.lanes} x i32> zeroinitializer"
        every = self.line(f"shufflevector {kind} {first}, {kind} poison, {zeros}")
        lanes = ", ".join(f"i64 {lane}" for lane in range(self.lanes))
        return self.line(f"icmp slt {kind} <{lanes}>, {every}")

    def load_masked(self, place: str, mask: str, other: str) -> str:
        """A vector anywhere; `other` has the lanes that are not read."""
        size, bits = self.dtype.itemsize, f"<{self.lanes} x i1>"
        return self.line(
            f"call {self.kind} @llvm.masked.load.{self.overload}.p0(ptr {place}, i32 {size}, "
            f"{bits} {mask}, {self.kind} {other})"
        )

    def store_masked(self, value: str, place: str, mask: str) -> None:
        """Store some lanes anywhere."""
        size, bits = self.dtype.itemsize, f"<{self.lanes} x i1>"
        self.do(
            f"call void @llvm.masked.store.{self.overload}.p0({self.kind} {value}, "
            f"ptr {place}, i32 {size}, {bits} {mask})"
        )

    def gather(self, base: str, index: str) -> str:
        """The numbers at these places (a vector of i32) of an array."""
        element = self.dtype.llvm
        places = self.line(f"getelementptr {element}, ptr {base}, <{self.lanes} x i32> {index}")
        return self.line(
            f"call {self.kind} @llvm.masked.gather.{self.overload}.v{self.lanes}p0("
            f"<{self.lanes} x ptr> {places}, i32 {self.dtype.itemsize}, "
            f"<{self.lanes} x i1> splat (i1 true), "
            f"{self.kind} poison)"
        )

    def broadcast(self, base: str, index: int) -> str:
        """The number at place `index` of a block, in every lane."""
        size, element = self.dtype.itemsize, self.dtype.llvm
        place = self.at(base, index, size)
        return self.splat(self.line(f"load {element}, ptr {place}, align {size}"))

    def splat(self, number: str) -> str:
        first = self.line(f"insertelement {self.kind} poison, {self.dtype.llvm} {number}, i64 0")
        zeros = f"<{self.lanes} x i32> zeroinitializer"
        return self.line(f"shufflevector {self.kind} {first}, {self.kind} poison, {zeros}")

    def word(self, base: str, index: str | int, kind: str) -> str:
        """The pointer, integer or double at a place of an array of 8-byte words."""
        return self.line(f"load {kind}, ptr {self.at(base, index, 8)}, align 8")

    # ---- control

    @contextmanager
    def loop(self, start: str, end: str) -> Iterator[str]:
        """A loop over [start, end), whose counter is an i64 on the stack of names."""
        self.count += 1
        tag = f"l{self.count}"
        before = self.label(f"{tag}.before")
        self.do(f"br label %{tag}.head")
        self.do(f"{tag}.head:")
        counter = f"%{tag}.i"
        self.do(f"{counter} = phi i64 [ {start}, %{before} ], [ %{tag}.next, %{tag}.latch ]")
        self.do(f"%{tag}.more = icmp slt i64 {counter}, {end}")
        self.do(f"br i1 %{tag}.more, label %{tag}.body, label %{tag}.end")
        self.do(f"{tag}.body:")
        yield counter
        self.do(f"br label %{tag}.latch")
        self.do(f"{tag}.latch:")
        self.do(f"%{tag}.next = add nsw i64 {counter}, 1")
        self.do(f"br label %{tag}.head")
        self.do(f"{tag}.end:")

    def label(self, name: str) -> str:
        """Open a block of this name, so that it can be referred to."""
        self.do(f"br label %{name}")
        self.do(f"{name}:")
        return name

    @contextmanager
    def when(self, condition: str) -> Iterator[tuple[str, str]]:
        """A block that is skipped where an i1 is false; the names of the block before and of the
        last one inside, for `phi` instructions after it.
        """
        self.count += 1
        tag = f"c{self.count}"
        before = self.label(f"{tag}.before")
        self.do(f"br i1 {condition}, label %{tag}.then, label %{tag}.end")
        self.do(f"{tag}.then:")
        yield before, f"{tag}.last"
        self.label(f"{tag}.last")
        self.do(f"br label %{tag}.end")
        self.do(f"{tag}.end:")

    def function(self, name: str, parameters: str, private: bool = True) -> str:
        """The whole function; LLVM's text begins a block without a label by itself."""
        body = "\n".join(self.lines)
        linkage = "private " if private else ""
        return f"define {linkage}void @{name}({parameters}) #0 {{\n{body}\nret void\n}}\n"
