"""Arrays reduced along some of their dims: `np.sum(a, axis=0)`, `a.max(axis=1, keepdims=True)`.

For each place of the dims that are kept, a line of the others is collected (`totals`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusewright.base.errors import KernelReductionError
from fusewright.base.source import Span
from fusewright.frontends.kernels import (
    elements,
    elementwise,
    fresh,
    matrices,
    orders,
    pairwise,
    totals,
    types,
    views,
)
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.elements import as_number
from fusewright.frontends.kernels.functions import numpy_form
from fusewright.frontends.kernels.named import Given, Named, axes, flag, is_absent
from fusewright.frontends.kernels.operators import apply, elements_combined
from fusewright.frontends.kernels.totals import Cell, Line
from fusewright.frontends.kernels.values import Elementwise, Number, Order, Value, View, describe
from fusewright.ir import linear
from fusewright.ir.dtypes import FLOAT16, INT64
from fusewright.ir.expr import Expr, const, op, typed_op

Places = tuple[Expr, ...]
ZERO, ONE = const(0, INT64), const(1, INT64)
_NAMES = ("a", "axis")
_KEPT = ("keepdims",)


def row_of(function: Any) -> Named | None:
    """How a call of one of NumPy's functions is translated."""
    try:
        return ROWS.get(numpy_form(function))
    except TypeError:
        return None


def method(name: str) -> Named | None:
    """How `a.name(...)` is translated."""
    return METHODS.get(name)


def reduced(
    t: Translation,
    node: ast.Call,
    value: Value,
    gone: Sequence[int],
    keepdims: bool,
    cell: Cell,
    in_order: bool,
) -> Value:
    """What `cell` makes of each line of the dims that are `gone`; `in_order` where it matters in
    which order.
    """
    span, shape = t.span(node), elementwise.shape_of(value)
    if in_order and len(shape) > 1:
        turned = _turned(t, value)
        if turned is not None:
            return _of_turned(t, node, turned, gone, keepdims, cell)
        totals.in_known_order(t, value, "the sum", span)
        _refuse_apart(gone, span)
    if len(gone) == len(shape) and not keepdims:
        return cell(t, node, Line(value))
    gone = sorted(gone)
    kept = [dim for dim in range(len(shape)) if dim not in gone]
    behind = [elements.size(shape[dim]) for dim in kept if gone and dim > gone[0]]
    order = orders.order_of(t, value)

    def element(places: Places) -> Number:
        own = dict(zip(kept, places, strict=True))

        def along(inner: Places) -> Number:
            both = {**own, **dict(zip(gone, inner, strict=True))}
            place = tuple(both[dim] for dim in range(len(shape)))
            return elementwise.element_of(t, value, place, span)

        lines = Elementwise(tuple(shape[dim] for dim in gone), along, span, order)
        return cell(t, node, Line(lines, views.product(behind)))

    found = fresh.collected(t, tuple(shape[dim] for dim in kept), element, span)
    return views.with_ones(t, found, gone, span) if keepdims else found


def _refuse_apart(gone: Sequence[int], span: Span) -> None:
    if gone and max(gone) - min(gone) >= len(gone):
        raise KernelReductionError(
            "a sum of floats along dims that do not follow one another",
            span,
            why="in which order NumPy adds follows from the sizes of all dims",
            help="add along one after the other: np.sum(np.sum(a, axis=2), axis=0)",
        )


def _of_turned(
    t: Translation,
    node: ast.Call,
    turned: tuple[Value, Sequence[int]],
    gone: Sequence[int],
    keepdims: bool,
    cell: Cell,
) -> Value:
    """Of a transposed array: that of the array itself, transposed."""
    base, dims = turned
    own = [dims[dim] for dim in gone]
    found = reduced(t, node, base, own, keepdims, cell, True)
    left = [dim for dim in dims if keepdims or dim not in own]
    if len(left) < 2:
        return found
    places = [sorted(left).index(dim) for dim in left]
    return elementwise.transposed(t, found, places, t.span(node))


def _turned(t: Translation, value: Value) -> tuple[Value, Sequence[int]] | None:
    """Of a transposed array the one in C order, and which of its dims each dim is."""
    if not isinstance(value, View) or len(value.steps) != 1 or value.steps[0][0] != "transpose":
        return None
    known = orders.order_of(t, value.base) is not Order.UNKNOWN
    return (value.base, value.steps[0][1]) if known else None


# -- rows -----------------------------------------------------------------------------------------


def _row(cell: Cell, in_order: bool = False) -> Callable[[Translation, ast.Call, Given], Value]:
    def row(t: Translation, node: ast.Call, given: Given) -> Value:
        span = t.span(node)
        value = views.array(t, given["a"], span)
        gone = axes(given, "axis", len(elementwise.shape_of(value)), span)
        is_float = elementwise.dtype_of(t, value, span).is_float
        keepdims = flag(given, "keepdims", span)
        return reduced(t, node, value, gone, keepdims, cell, in_order and is_float)

    return row


def _place(function: Any) -> Callable[[Translation, ast.Call, Given], Value]:
    """`np.argmin` and its like, along one dim or in all."""

    def row(t: Translation, node: ast.Call, given: Given) -> Value:
        value = views.array(t, given["a"], t.span(node))
        gone = axes(given, "axis", len(elementwise.shape_of(value)), t.span(node))
        return reduced(t, node, value, gone, False, totals.place(function), False)

    return row


def _variance(t: Translation, node: ast.Call, given: Given) -> Value:
    """`np.var(a)`: NumPy's steps, so its bits."""
    span = t.span(node)
    value = views.array(t, given["a"], span)
    dtype = elementwise.dtype_of(t, value, span)
    if dtype.is_complex or dtype is FLOAT16:
        raise KernelReductionError(
            f"np.var of {dtype}", span, help="convert it: a.astype(np.float64)"
        )
    gone = axes(given, "axis", len(elementwise.shape_of(value)), span)
    value = totals.as_floats(t, value, span)
    is_all = len(gone) == len(elementwise.shape_of(value))
    mean = reduced(t, node, value, gone, not is_all, totals.mean, True)
    mean = t.fixed(mean) if isinstance(mean, Number) else mean
    apart = _combined(t, ast.Sub(), value, mean, span)
    squares = _combined(t, ast.Mult(), apart, apart, span)
    keepdims = flag(given, "keepdims", span)
    whole = reduced(t, node, squares, gone, keepdims, totals.total, True)
    left = _freedom(t, value, gone, given, span)
    if isinstance(whole, Number):
        return apply(t, "divide", (whole, left), span)
    return _combined(t, ast.Div(), whole, left, span)


def _combined(t: Translation, sign: ast.operator, a: Value, b: Value, span: Span) -> Value:
    return elementwise.computed(
        t, [a, b], lambda p: elements_combined(t, sign, p[0], p[1], span), span
    )


def _freedom(t: Translation, value: Value, gone: Sequence[int], given: Given, span: Span) -> Number:
    """By what the sum of squares is divided."""
    shape = elementwise.shape_of(value)
    count = views.product([elements.size(shape[dim]) for dim in gone])
    ddof = given.get("ddof")
    if ddof is None:
        return Number(count, "python", span)
    number = as_number(t, ddof, span)
    if not number.dtype.is_integer:
        raise KernelReductionError(
            f"`ddof` is {describe(number)}", span, help="convert it with int()"
        )
    left = linear.minus(count, types.converted(number, INT64, span))
    return t.fixed(Number(typed_op("imax", INT64, left, ZERO), "python", span))


def _deviation(t: Translation, node: ast.Call, given: Given) -> Value:
    """`np.std(a)`."""
    span = t.span(node)
    found = _variance(t, node, given)
    if isinstance(found, Number):
        return Number(apply(t, "sqrt", (found,), span).expr, "numpy", span)
    return elementwise.computed(t, [found], lambda x: apply(t, "sqrt", x, span), span)


def _peak(t: Translation, node: ast.Call, given: Given) -> Value:
    """`np.ptp(a)`."""
    high, low = (_row(totals.extreme(name))(t, node, given) for name in ("maximum", "minimum"))
    if isinstance(high, Number) and isinstance(low, Number):
        return apply(t, "subtract", (high, low), t.span(node))
    return _combined(t, ast.Sub(), high, low, t.span(node))


def _without_nan(content: int, cell: Cell) -> Callable[[Translation, ast.Call, Given], Value]:
    """A function of what is a number: `content` stands for the others."""

    def row(t: Translation, node: ast.Call, given: Given) -> Value:
        span = t.span(node)
        value = views.array(t, given["a"], span)

        def known(each: list[Number]) -> Number:
            number = each[0]
            if not number.dtype.is_float:
                return number
            is_none = op("not_equal", number.expr, number.expr)
            return Number(
                op("where", is_none, const(content, number.dtype), number.expr), "numpy", span
            )

        held = elementwise.computed(t, [value], known, span)
        return _row(cell, True)(t, node, {**given, "a": held})

    return row


def _mean_without_nan(t: Translation, node: ast.Call, given: Given) -> Value:
    """`np.nanmean(a)`."""
    span = t.span(node)
    value = views.array(t, given["a"], span)

    def known(each: list[Number]) -> Number:
        return Number(op("equal", each[0].expr, each[0].expr), "numpy", span)

    count = _row(totals.counted)(
        t, node, {**given, "a": elementwise.computed(t, [value], known, span)}
    )
    whole = _without_nan(0, totals.total)(t, node, {**given, "a": value})
    if isinstance(whole, Number) and isinstance(count, Number):
        return apply(t, "divide", (whole, count), span)
    return _combined(t, ast.Div(), whole, count, span)


def _norm(t: Translation, node: ast.Call, given: Given) -> Value:
    """`np.linalg.norm(a)`: of all elements, where no axis is named, by `np.dot`, which adds from
    left to right; along one by a sum of squares.
    """
    span = t.span(node)
    value = views.array(t, given["a"], span)
    if not is_absent(given, "ord"):
        raise t.refuse(node, "np.linalg.norm of another order", help="write it: np.sum(np.abs(a))")
    if elementwise.dtype_of(t, value, span).is_complex:
        raise KernelReductionError(
            "np.linalg.norm of complex numbers", span, help="take np.abs first"
        )
    value = totals.as_floats(t, value, span)
    gone = axes(given, "axis", len(elementwise.shape_of(value)), span)
    if is_absent(given, "axis"):
        flat = views.flat(t, value, span)
        found: Value = matrices.product(t, [flat, flat], span)
        if flag(given, "keepdims", span):
            found = views.with_ones(t, views.array(t, found, span), gone[1:], span)
    elif len(gone) > 1:
        raise KernelReductionError("the norm along two dims", span, help="reshape them to one")
    else:
        squares = _combined(t, ast.Mult(), value, value, span)
        found = reduced(t, node, squares, gone, flag(given, "keepdims", span), totals.total, True)
    if isinstance(found, Number):
        return apply(t, "sqrt", (found,), span)
    return elementwise.computed(t, [found], lambda x: apply(t, "sqrt", x, span), span)


_SUM = Named(_NAMES, _row(totals.total, True), only_named=_KEPT)
_MEAN = Named(_NAMES, _row(totals.mean, True), only_named=_KEPT)
_PRODUCT = Named(_NAMES, _row(totals.product, True), only_named=_KEPT)
_LEAST = Named(_NAMES, _row(totals.extreme("minimum")), only_named=_KEPT)
_GREATEST = Named(_NAMES, _row(totals.extreme("maximum")), only_named=_KEPT)
_ANY = Named(_NAMES, _row(totals.quantified("any")), only_named=_KEPT)
_ALL = Named(_NAMES, _row(totals.quantified("all")), only_named=_KEPT)
_ARGMIN = Named(("a", "axis"), _place(pairwise.argmin))
_ARGMAX = Named(("a", "axis"), _place(pairwise.argmax))
_VAR = Named(_NAMES, _variance, only_named=("ddof", "keepdims"))
_STD = Named(_NAMES, _deviation, only_named=("ddof", "keepdims"))
METHODS: dict[str, Named] = {
    "sum": _SUM,
    "mean": _MEAN,
    "prod": _PRODUCT,
    "min": _LEAST,
    "max": _GREATEST,
    "any": _ANY,
    "all": _ALL,
    "argmin": _ARGMIN,
    "argmax": _ARGMAX,
    "var": _VAR,
    "std": _STD,
}
ROWS: dict[Any, Named] = {
    **{getattr(np, name): named for name, named in METHODS.items()},
    np.amin: _LEAST,
    np.amax: _GREATEST,
    np.linalg.norm: Named(("a", "ord", "axis"), _norm, only_named=_KEPT),
    np.count_nonzero: Named(_NAMES, _row(totals.counted), only_named=_KEPT),
    np.ptp: Named(_NAMES, _peak, only_named=_KEPT),
    np.nansum: Named(_NAMES, _without_nan(0, totals.total), only_named=_KEPT),
    np.nanprod: Named(_NAMES, _without_nan(1, totals.product), only_named=_KEPT),
    np.nanmean: Named(_NAMES, _mean_without_nan, only_named=_KEPT),
    np.nanmin: Named(_NAMES, _row(totals.extreme("fmin")), only_named=_KEPT),
    np.nanmax: Named(_NAMES, _row(totals.extreme("fmax")), only_named=_KEPT),
}
