"""Products of arrays, `np.dot(a, b)` and `a @ b`: each sum from left to right.

NumPy's library adds the products of floats in an order of its own, so the last bits differ.
"""

from __future__ import annotations

import ast

import numpy as np

from fusewright.base.errors import KernelTypeError
from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.frontends.kernels import elementwise, fresh, parts, types
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.intrinsics import Values
from fusewright.frontends.kernels.operators import combine, elements_combined
from fusewright.frontends.kernels.values import Number, Value, describe
from fusewright.ir import dtypes
from fusewright.ir.dtypes import DType
from fusewright.ir.expr import Expr, const, local, op
from fusewright.ir.loops.statements import Let

Places = tuple[Expr, ...]


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
    return fresh.collected(t, shape, element, span) if shape else t.fixed(element(()))
