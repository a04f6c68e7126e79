"""Complex numbers in kernels of loops as pairs of real ones: the first stage of a plan.

A buffer of complex numbers is one of reals with one more dim, of extent 2; a variable is two.
Expressions are taken apart as those of array statements are (`rules.complex`), so nothing after
this stage knows complex numbers.

    b[i] = add(a[i], v0)    ->    v1 = add(a[i, 0], v0)
                                  v2 = add(a[i, 1], v0')
                                  b[i, 0] = v1
                                  b[i, 1] = v2
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import replace

from fusewright.base.source import Span
from fusewright.ir.dtypes import INT64, DType, component
from fusewright.ir.expr import Expr, const, load, local, postorder, typed_op
from fusewright.ir.loops.statements import (
    Check,
    For,
    If,
    Kernel,
    Let,
    Local,
    Print,
    Shown,
    Statement,
    Store,
    While,
    blocks,
    expressions,
    walk,
    with_blocks,
)
from fusewright.ir.nest import Buffer
from fusewright.rules.complex import separate

_BY_PARTS = ("add", "subtract")
"""Updates of a complex element that are updates of its parts."""


def without_complex(kernel: Kernel) -> Kernel:
    """The kernel without complex numbers; itself where there are none."""
    dtypes = [buffer.dtype for buffer in kernel.buffers] + [each.dtype for each in kernel.locals]
    held = any(dtype.is_complex for dtype in dtypes)
    return _Parts(kernel).run() if held or _is_computed(kernel) else kernel


def _is_computed(kernel: Kernel) -> bool:
    """Whether an expression is of complex numbers that nothing holds: of literals, of two reals."""
    roots = [root for statement in walk(kernel.body) for root in expressions(statement)]
    return any(node.dtype.is_complex for node in postorder(roots))


class _Parts:
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.locals: list[Local] = []
        self.imaginary: dict[int, int] = {}
        for number, each in enumerate(kernel.locals):
            self.locals.append(replace(each, dtype=component(each.dtype)))
            if each.dtype.is_complex:
                self.imaginary[number] = -1
        for number in self.imaginary:
            each = self.locals[number]
            self.imaginary[number] = self.new(f"{each.name}.imag", each.dtype, each.mutable)
            self.locals[number] = replace(each, name=f"{each.name}.real")

    def new(self, name: str, dtype: DType, mutable: bool = False) -> int:
        self.locals.append(Local(name, dtype, mutable))
        return len(self.locals) - 1

    def run(self) -> Kernel:
        body = self.block(self.kernel.body)
        buffers = tuple(map(_real, self.kernel.buffers))
        return replace(self.kernel, buffers=buffers, locals=tuple(self.locals), body=body)

    def block(self, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        return tuple(each for statement in body for each in self.statement(statement))

    def statement(self, statement: Statement) -> Iterator[Statement]:
        if isinstance(statement, Let):
            yield from self.let(statement)
        elif isinstance(statement, Store):
            yield from self.store(statement)
        else:
            inner = [self.block(body) for body in blocks(statement)]
            yield with_blocks(self.conditions(statement), inner)

    def parts(self, value: Expr) -> tuple[Expr, Expr]:
        return separate([value], self.imaginary)[value]

    def real(self, value: Expr) -> Expr:
        return self.parts(value)[0]

    def conditions(self, statement: Statement) -> Statement:
        """The statement with its own expressions taken apart; what they give is real."""
        if isinstance(statement, If | While):
            return replace(statement, condition=self.real(statement.condition))
        if isinstance(statement, Check):
            values = tuple(map(self.real, statement.values))
            return replace(statement, condition=self.real(statement.condition), values=values)
        if isinstance(statement, Print):
            pieces = tuple(
                self.shown(piece) if isinstance(piece, Shown) else piece
                for piece in statement.pieces
            )
            return replace(statement, pieces=pieces)
        if isinstance(statement, For):
            dims = tuple(
                replace(dim, low=self.real(dim.low), high=self.real(dim.high))
                for dim in statement.dims
            )
            return replace(statement, dims=dims)
        return statement

    def shown(self, piece: Shown) -> Shown:
        first, second = self.parts(piece.value)
        return replace(
            piece, value=first, imaginary=second if piece.value.dtype.is_complex else None
        )

    def let(self, statement: Let) -> Iterator[Statement]:
        first, second = self.parts(statement.value)
        number, span = statement.local, statement.span
        other = self.imaginary.get(number)
        if other is None:
            yield Let(number, first, span)
            return
        if any(node.name == "local" and node.attr == number for node in postorder([second])):
            first, second = yield from self.computed(first, second, span)
        yield Let(number, first, span)
        yield Let(other, second, span)

    def computed(
        self, first: Expr, second: Expr, span: Span
    ) -> Generator[Statement, None, tuple[Expr, Expr]]:
        """Both parts, before either is written."""
        found = []
        for part in (first, second):
            number = self.new("_", part.dtype)
            yield Let(number, part, span)
            found.append(local(number, part.dtype))
        return found[0], found[1]

    def store(self, statement: Store) -> Iterator[Statement]:
        value, span = statement.value, statement.span
        indices = tuple(map(self.real, statement.indices))
        if not value.dtype.is_complex:
            yield replace(statement, indices=indices, value=self.real(value))
            return
        combine = statement.combine
        if combine and combine not in _BY_PARTS:
            here = load(statement.buffer, statement.indices, value.dtype)
            value, combine = typed_op(combine, value.dtype, here, value), ""
        first, second = self.parts(value)
        if any(node.name == "load" for node in postorder([second])):
            first, second = yield from self.computed(first, second, span)
        for part, each in enumerate((first, second)):
            places = (*indices, const(part, INT64))
            yield Store(statement.buffer, places, each, combine, span)


def _real(buffer: Buffer) -> Buffer:
    if not buffer.dtype.is_complex:
        return buffer
    part = component(buffer.dtype)
    strides = buffer.strides
    if strides is not None:
        strides = (*strides, const(part.itemsize, INT64))
    extents = (*buffer.extents, const(2, INT64))
    return replace(buffer, dtype=part, extents=extents, strides=strides)
