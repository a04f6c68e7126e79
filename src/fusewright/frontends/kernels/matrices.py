"""Products of arrays, `np.dot(a, b)` and `a @ b`.

Matrices of one type of floats are multiplied as the products of arrays are, to the bit
(`ir.products`): fused multiply-adds, in chunks of what is added up.  Other products are sums from
left to right.  NumPy's library adds in an order of its own, so the last bits of floats differ.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

import numpy as np

from fusewright.base.errors import KernelTypeError
from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.frontends.kernels import elements, elementwise, fresh, parts, storing, types
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.intrinsics import Values
from fusewright.frontends.kernels.operators import combine, elements_combined
from fusewright.frontends.kernels.values import ArrayRef, Number, Value, describe
from fusewright.ir import dtypes, linear
from fusewright.ir.dtypes import FLOAT32, FLOAT64, INT64, DType
from fusewright.ir.expr import Expr, const, local, op, typed_op
from fusewright.ir.loops.statements import Let
from fusewright.ir.products import CHUNK

Places = tuple[Expr, ...]
PRODUCTS = (FLOAT32, FLOAT64)


@dataclass(frozen=True, slots=True)
class _Product:
    t: Translation
    a: Value
    b: Value
    dtype: DType
    count: Expr
    span: Span

    def cell(self, left: Places, batch: Places, right: Places) -> Number:
        """A row of the one times a column of the other."""
        t, span = self.t, self.span
        total = t.new_local("total", self.dtype, True)
        t.write(Let(total, const(0, self.dtype), span))

        def add(places: Places) -> None:
            x = elementwise.element_of(t, self.a, (*left, *places), span)
            y = elementwise.element_of(t, self.b, (*batch, *places, *right), span)
            one = elements_combined(t, ast.Mult(), x, y, span)
            term = types.converted(one, self.dtype, span)
            t.write(Let(total, op("add", local(total, self.dtype), term), span))

        parts.over(t, (self.count,), add, span)
        return t.fixed(Number(local(total, self.dtype), "numpy", span))


@dataclass(frozen=True, slots=True)
class _Matrices:
    """Two of them, and the array that their product goes into."""

    made: _Product
    out: ArrayRef

    def write(self) -> None:
        """The first chunk is added up in the result, others beside it."""
        made, out, t, span = self.made, self.out, self.made.t, self.made.span
        first = linear.at_most(made.count, const(CHUNK, INT64))
        self._cleared(out)
        self._added(out, first, const(0, INT64))
        more = linear.constant(made.count)
        if more is not None and more <= CHUNK:
            return
        deep = op("less", const(CHUNK, INT64), made.count)
        sizes = [op("where", deep, size, const(0, INT64)) for size in out.shape]
        beside = fresh.make(t, sizes, made.dtype, span)
        rest = linear.plus(linear.minus(made.count, first), CHUNK - 1)
        chunks = typed_op("floor_divide", INT64, rest, const(CHUNK, INT64))

        def chunk(places: Places) -> None:
            begin = linear.times(linear.plus(places[0], 1), CHUNK)
            left = linear.minus(made.count, begin)
            self._cleared(beside)
            self._added(beside, linear.at_most(left, const(CHUNK, INT64)), begin)
            parts.over(t, out.shape, self._joined(beside), span)

        parts.over(t, (chunks,), chunk, span)

    def _cleared(self, array: ArrayRef) -> None:
        t, span, dtype = self.made.t, self.made.span, self.made.dtype

        def write(places: Places) -> None:
            zero = Number(const(0, dtype), "numpy", span)
            elements.store(t, elements.at(array, places), zero, span)

        parts.over(t, self.out.shape, write, span)

    def _added(self, array: ArrayRef, count: Expr, begin: Expr) -> None:
        """So many products are added to each element, rounded once each."""
        made, t, span = self.made, self.made.t, self.made.span

        def write(places: Places) -> None:
            *batch, row, column, turn = places
            inner = linear.plus(begin, turn)
            x = elementwise.element_of(t, made.a, (*batch, row, inner), span)
            y = elementwise.element_of(t, made.b, (*batch, inner, column), span)
            element = elements.at(array, places[:-1])
            so_far = elements.read(t, element, span).expr
            total = typed_op("fma", made.dtype, x.expr, y.expr, so_far)
            elements.store(t, element, Number(total, "numpy", span), span)

        parts.over(t, (*self.out.shape, count), write, span)

    def _joined(self, beside: ArrayRef) -> Callable[[Places], None]:
        t, span = self.made.t, self.made.span

        def write(places: Places) -> None:
            element = elements.at(self.out, places)
            before = elements.read(t, element, span)
            other = elements.read(t, elements.at(beside, places), span)
            total = op("add", before.expr, other.expr)
            elements.store(t, element, Number(total, "numpy", span), span)

        return write


def product(t: Translation, values: Values, span: Span) -> Value:
    """`np.dot(a, b)`."""
    if not all(elementwise.shape_of(value) for value in values):
        return combine(t, ast.Mult(), values[0], values[1], span)
    if any(len(elementwise.shape_of(value)) > 2 for value in values):
        raise KernelTypeError(
            f"a product of {describe(values[0])} and {describe(values[1])}",
            span,
            why="np.dot in a kernel multiplies numbers and arrays of one and two dims",
            help="a @ b multiplies the matrices of the last two dims",
        )
    return multiplied(t, values, span)


def multiplied(t: Translation, values: Values, span: Span) -> Value:
    """`a @ b`."""
    shapes = [elementwise.shape_of(value) for value in values]
    if not all(shapes):
        raise KernelTypeError(
            f"a product @ of {describe(values[0])} and {describe(values[1])}",
            span,
            why="NumPy multiplies arrays by @, not numbers",
            help="write a * b",
        )
    inner = shapes[1][-2] if len(shapes[1]) > 1 else shapes[1][0]
    elementwise.fit(t, shapes[0][-1], inner, span)
    kinds = [elementwise.dtype_of(t, value, span).numpy for value in values]
    dtype = dtypes.from_numpy(np.result_type(*kinds))
    if dtype is None or dtype.name == "bool":
        raise KernelTypeError("a product of truth values", span, help="use np.any of a & b")
    many = elementwise.common_shape(t, [shape[:-2] for shape in shapes], span)
    rows, columns = shapes[0][:-1][-1:], shapes[1][-1:] if len(shapes[1]) > 1 else ()
    made = _Product(t, values[0], values[1], dtype, shapes[0][-1], span)

    def element(places: Places) -> Number:
        batch, own = places[: len(many)], places[len(many) :]
        return made.cell((*batch, *own[: len(rows)]), batch, own[len(rows) :])

    shape = (*many, *rows, *columns)
    if _is_fused(t, made, shape):
        sizes = tuple(map(elements.size, shape))
        out = fresh.make(t, sizes, dtype, span)
        _Matrices(made, out).write()
        return out
    return fresh.collected(t, shape, element, span) if shape else t.fixed(element(()))


def _is_fused(t: Translation, made: _Product, shape: Places) -> bool:
    """Whether it is one of matrices of one type of floats, all of known sizes."""
    kinds = {elementwise.dtype_of(t, value, made.span) for value in (made.a, made.b)}
    ranks = [len(elementwise.shape_of(value)) for value in (made.a, made.b)]
    known = [storing.known_size(t, extent) is not None for extent in (*shape, made.count)]
    return min(ranks) > 1 and kinds == {made.dtype} and made.dtype in PRODUCTS and all(known)
