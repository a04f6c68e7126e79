"""NumPy's functions that make arrays of one dim: `np.arange`, `cumsum`, `unique`, `a[mask]`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from fusewright.base.source import Span
from fusewright.frontends.kernels import elements, elementwise, fresh, library_arrays, parts, views
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.elements import as_number
from fusewright.frontends.kernels.functions import numpy_form
from fusewright.frontends.kernels.inlining import run_function
from fusewright.frontends.kernels.intrinsics import Row, Values, arguments
from fusewright.frontends.kernels.values import (
    Elementwise,
    Number,
    Order,
    SliceValue,
    TupleValue,
    Value,
)
from fusewright.ir import linear
from fusewright.ir.dtypes import FLOAT64, INT64
from fusewright.ir.expr import Expr, cast, const, op, typed_op

_FUNCTIONS: Any = library_arrays


def row_of(function: Any) -> Row | None:
    """How a call of one of these functions is translated."""
    try:
        return _ROWS.get(numpy_form(function))
    except TypeError:
        return None


def selected(t: Translation, array: Value, mask: Value, node: ast.AST) -> Value:
    """`a[mask]` of one dim: a part of a new array."""
    span = t.span(node)
    (wanted,), (found,) = elementwise.shape_of(array), elementwise.shape_of(mask)
    elementwise.fit(t, wanted, found, span)
    return run_function(t, node, _FUNCTIONS.selected, {"a": array, "mask": mask})


def places_of(t: Translation, mask: Value, node: ast.AST) -> list[Value]:
    """Where an array is not 0: for each dim an array of places."""
    span = t.span(node)
    shape = tuple(map(elements.size, elementwise.shape_of(mask)))
    flat = mask if len(shape) == 1 else views.flat(t, mask, span)
    found = run_function(t, node, _FUNCTIONS.places_of, {"a": flat})
    return _unravelled(t, found, shape, span)


def _unravelled(t: Translation, places: Value, shape: Sequence[Expr], span: Span) -> list[Value]:
    """For each dim the place of an element that is counted in C order."""
    if len(shape) == 1:
        return [places]

    def at(dim: int) -> Value:
        behind = views.product(shape[dim + 1 :])

        def place(each: list[Number]) -> Number:
            here = typed_op("floor_divide", INT64, each[0].expr, behind)
            if dim:
                here = typed_op("remainder", INT64, here, shape[dim])
            return Number(here, "numpy", span)

        return elementwise.computed(t, [places], place, span)

    return [at(dim) for dim in range(len(shape))]


def _arange(t: Translation, node: ast.Call, values: Values) -> Value:
    """`start + i * step`."""
    arguments(t, node, values, 1, 3)
    numbers = [t.fixed(as_number(t, value, t.span(node))) for value in values]
    if any(number.dtype.is_complex for number in numbers):
        raise t.refuse(node, "np.arange of complex numbers")
    if not all(number.dtype.is_integer for number in numbers):
        return _real_steps(t, _bounds(numbers, t.span(node)), node)
    first, last, step = (cast(n.expr, INT64) for n in _bounds(numbers, t.span(node)))
    return _steps(t, (first, last, step), node)


def _real_steps(t: Translation, numbers: list[Number], node: ast.Call) -> Elementwise:
    """In NumPy's steps: the second number says how far they are apart."""
    span = t.span(node)
    first, last, step = (cast(number.expr, FLOAT64) for number in numbers)
    count = op("divide", op("subtract", last, first), step)
    size = typed_op("imax", INT64, cast(typed_op("ceil", FLOAT64, count), INT64), const(0, INT64))
    second = t.fixed(Number(op("add", first, step), "numpy", span)).expr
    apart = t.fixed(Number(op("subtract", second, first), "numpy", span)).expr

    def element(places: Any) -> Number:
        moved = op("add", first, op("multiply", cast(places[0], FLOAT64), apart))
        here = op("where", op("equal", places[0], const(1, INT64)), second, moved)
        return Number(here, "numpy", span)

    extent = t.fixed(Number(size, "python", span)).expr
    return Elementwise((extent,), element, span, Order.CONTIGUOUS)


def _bounds(numbers: list[Number], span: Any) -> list[Number]:
    zero, one = (Number(const(k, INT64), "python", span) for k in (0, 1))
    if len(numbers) == 1:
        return [zero, numbers[0], one]
    return [*numbers, one][:3]


def _steps(t: Translation, bounds: tuple[Any, Any, Any], node: ast.Call) -> Elementwise:
    first, last, step = bounds
    span = t.span(node)
    apart = op("subtract", last, first)
    up = op("add", apart, op("subtract", step, const(1, INT64)))
    down = op("add", apart, op("add", step, const(1, INT64)))
    distance = op("where", op("less", const(0, INT64), step), up, down)
    count = op("floor_divide", distance, step)
    if step.name == "const":
        rest = step.attr - (1 if step.attr > 0 else -1)
        whole = linear.plus(linear.minus(last, first), rest)
        count = whole if step.attr == 1 else op("floor_divide", whole, step)
    count = typed_op("imax", INT64, count, const(0, INT64))

    def element(places: Any) -> Number:
        return Number(op("add", first, op("multiply", places[0], step)), "numpy", span)

    extent = t.fixed(Number(count, "python", span)).expr
    return Elementwise((extent,), element, span, Order.CONTIGUOUS)


def _linspace(t: Translation, node: ast.Call, values: Values) -> Value:
    """Of real numbers: a new array of float64."""
    arguments(t, node, values, 2, 3)
    span = t.span(node)
    numbers = [as_number(t, value, span) for value in values]
    ends = [Number(cast(n.expr, FLOAT64), "python", span) for n in numbers[:2]]
    if any(n.dtype.is_complex for n in numbers[:2]):
        raise t.refuse(node, "np.linspace of complex numbers", help="take the parts apart")
    num = numbers[2] if len(numbers) > 2 else Number(const(50, INT64), "python", span)
    env = dict(zip(("start", "stop", "num"), [*map(t.fixed, ends), num], strict=True))
    return run_function(t, node, _FUNCTIONS.linspace, env)


def _nonzero(t: Translation, node: ast.Call, values: Values) -> Value:
    arguments(t, node, values, 1, 1)
    return TupleValue(tuple(places_of(t, values[0], node)))


def _argwhere(t: Translation, node: ast.Call, values: Values) -> Value:
    """A row of places for each element that is not 0."""
    arguments(t, node, values, 1, 1)
    span = t.span(node)
    columns = places_of(t, values[0], node)
    count = elements.size(elementwise.shape_of(columns[0])[0])
    out = fresh.make(t, (count, const(len(columns), INT64)), INT64, span)
    for dim, column in enumerate(columns):
        whole: Value = SliceValue(None, None, 1)
        indices = [whole, Number(const(dim, INT64), "python", span)]
        parts.assign(t, elements.indexed(t, out, indices, span), column, span)
    return out


def _flat_nonzero(t: Translation, node: ast.Call, values: Values) -> Value:
    arguments(t, node, values, 1, 1)
    flat = views.flat(t, values[0], t.span(node))
    return run_function(t, node, _FUNCTIONS.places_of, {"a": flat})


def _shape(t: Translation, node: ast.Call, values: Values) -> Value:
    arguments(t, node, values, 1, 1)
    extents = elementwise.shape_of(values[0])
    return TupleValue(tuple(Number(each, "python", t.span(node)) for each in extents))


_ROWS: dict[Any, Row] = {
    np.argwhere: _argwhere,
    np.arange: _arange,
    np.flatnonzero: _flat_nonzero,
    np.linspace: _linspace,
    np.nonzero: _nonzero,
    np.shape: _shape,
}
