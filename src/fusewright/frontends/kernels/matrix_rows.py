"""Matrices: `np.dot`, `np.eye`, `np.diag`, `np.tril`, `np.outer`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from fusewright.base.errors import KernelTypeError
from fusewright.frontends.kernels import (
    elements,
    elementwise,
    intrinsics,
    matrices,
    reductions,
    views,
)
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.functions import numpy_form
from fusewright.frontends.kernels.joining import whole_number
from fusewright.frontends.kernels.named import Given, Named, is_absent
from fusewright.frontends.kernels.operators import elements_combined
from fusewright.frontends.kernels.values import (
    Elementwise,
    Number,
    Order,
    Value,
    described,
)
from fusewright.ir import dtypes, linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, op

Places = tuple[Expr, ...]
ZERO = const(0, INT64)


def row_of(function: Any) -> Named | None:
    """How a call of one of NumPy's functions is translated."""
    try:
        return ROWS.get(numpy_form(function))
    except TypeError:
        return None


def method(name: str) -> Named | None:
    """How `a.name(...)` is translated."""
    return METHODS.get(name)


def _above(t: Translation, node: ast.Call, given: Given) -> Expr:
    """Which diagonal is meant."""
    if "k" not in given:
        return ZERO
    return whole_number(t, given["k"], "the number of a diagonal", t.span(node))


def _eye(t: Translation, node: ast.Call, given: Given) -> Value:
    span = t.span(node)
    rows = whole_number(t, given["N"], "a number of rows", span)
    columns = (
        rows if is_absent(given, "M") else whole_number(t, given["M"], "a number of columns", span)
    )
    above = _above(t, node, given)
    dtype = dtypes.FLOAT64
    if not is_absent(given, "dtype"):
        dtype = intrinsics.dtype_of(t, given["dtype"], span)

    def element(places: Places) -> Number:
        here = op("equal", linear.plus(places[0], above), places[1])
        return Number(op("where", here, const(1, dtype), const(0, dtype)), "numpy", span)

    shape = (elements.size(rows), elements.size(columns))
    return Elementwise(shape, element, span, Order.CONTIGUOUS)


def _triangle(keeps: str) -> Callable[[Translation, ast.Call, Given], Value]:
    """`np.tril` and `np.triu`: an element stays where `keeps` holds of column and row."""

    def row(t: Translation, node: ast.Call, given: Given) -> Value:
        value, span = given["a"], t.span(node)
        shape = elementwise.shape_of(value)
        if len(shape) < 2:
            raise KernelTypeError(f"a triangle of {described(value)}", span)
        above = _above(t, node, given)

        def element(places: Places) -> Number:
            found = elementwise.element_of(t, value, places, span)
            here = op(keeps, places[-1], linear.plus(places[-2], above))
            return Number(op("where", here, found.expr, const(0, found.dtype)), "numpy", span)

        return Elementwise(shape, element, span, Order.CONTIGUOUS)

    return row


def _diagonal(t: Translation, node: ast.Call, given: Given) -> Value:
    """`np.diag`: the diagonal of a matrix, or a matrix with a diagonal."""
    value, span = given["a"], t.span(node)
    above = _above(t, node, given)
    shape = [elements.size(extent) for extent in elementwise.shape_of(value)]
    under = elements.size(linear.times(above, -1))
    over = elements.size(above)
    if len(shape) == 1:
        length = linear.plus(shape[0], linear.plus(under, over))

        def element(places: Places) -> Number:
            here = op("equal", linear.plus(places[0], above), places[1])
            place = op("minimum", *places)
            inside = op("where", here, place, ZERO)
            found = elementwise.element_of(t, value, (inside,), span)
            return Number(op("where", here, found.expr, const(0, found.dtype)), "numpy", span)

        return Elementwise((length, length), element, span, Order.CONTIGUOUS)
    if len(shape) != 2:
        raise KernelTypeError(f"np.diag of {described(value)}", span)
    rows, columns = linear.minus(shape[0], under), linear.minus(shape[1], over)
    length = t.fixed(Number(elements.size(op("minimum", rows, columns)), "python", span)).expr

    def inside(places: Places) -> Places:
        return linear.plus(places[0], under), linear.plus(places[0], over)

    step = ("diagonal", (above,))
    return elementwise.formed(t, value, (length,), inside, step, span, sure=False)


def _outer(t: Translation, node: ast.Call, given: Given) -> Value:
    span = t.span(node)
    a, b = (views.array(t, given[name], span) for name in ("a", "b"))
    a, b = (views.flat(t, x, span) if len(elementwise.shape_of(x)) > 1 else x for x in (a, b))
    pair = [views.with_ones(t, a, [1], span), views.with_ones(t, b, [0], span)]
    return elementwise.computed(
        t, pair, lambda x: elements_combined(t, ast.Mult(), x[0], x[1], span), span
    )


def _trace(t: Translation, node: ast.Call, given: Given) -> Value:
    return reductions.METHODS["sum"].row(t, node, {"a": _diagonal(t, node, given)})


def _dot(t: Translation, node: ast.Call, given: Given) -> Value:
    return matrices.product(t, [given["a"], given["b"]], t.span(node))


def _matmul(t: Translation, node: ast.Call, given: Given) -> Value:
    return matrices.multiplied(t, [given["a"], given["b"]], t.span(node))


_DOT = Named(("a", "b"), _dot, 2)
_TRIANGLES = {np.tril: "less_equal", np.triu: "greater_equal"}
ROWS: dict[Any, Named] = {
    np.eye: Named(("N", "M", "k", "dtype"), _eye),
    np.identity: Named(("N",), _eye, only_named=("dtype",)),
    np.diag: Named(("a", "k"), _diagonal),
    np.trace: Named(("a",), _trace),
    np.dot: _DOT,
    np.matmul: Named(("a", "b"), _matmul, 2),
    np.outer: Named(("a", "b"), _outer, 2),
    **{function: Named(("a", "k"), _triangle(keeps)) for function, keeps in _TRIANGLES.items()},
}
METHODS: dict[str, Named] = {"dot": _DOT, "trace": ROWS[np.trace]}
