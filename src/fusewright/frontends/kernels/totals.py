"""NumPy's functions and methods of whole arrays inside kernels: `np.sum(a[i])`, `a.max()`,
copies.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fusewright.base.errors import KernelError
from fusewright.base.source import Span
from fusewright.frontends.kernels import (
    elements,
    elementwise,
    functions,
    pairwise,
    parts,
    types,
    vectors,
)
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.elements import as_number, truth
from fusewright.frontends.kernels.inlining import run_function
from fusewright.frontends.kernels.intrinsics import Row, Values, arguments
from fusewright.frontends.kernels.operators import apply
from fusewright.frontends.kernels.values import Number, Static, Value, describe, described
from fusewright.ir import dtypes
from fusewright.ir.dtypes import BOOL, FLOAT16, FLOAT32, INT64, UINT64, DType
from fusewright.ir.expr import Expr, cast, const, local, op, typed_op
from fusewright.ir.loops.statements import Let

Places = tuple[Expr, ...]
_PAIRWISE: Any = pairwise.pairwise_sum


def method(name: str) -> Row | None:
    """How `a.name()` is translated."""
    return _METHODS.get(name)


def row_of(function: Any) -> Row | None:
    """How a call of one of NumPy's functions is translated."""
    try:
        return ROWS.get(functions.numpy_form(function))
    except TypeError:
        return None


def _whole(t: Translation, node: ast.Call, values: Values, name: str) -> Value:
    """The only argument, an array."""
    if len(values) != 1:
        raise t.refuse(
            node,
            f"np.{name} with more than the array",
            why="a kernel reduces whole arrays and rows to one number",
            help=f"loop over the other dims: out[i] = np.{name}(a[i])",
        )
    if not elementwise.shape_of(values[0]):
        raise KernelError(
            f"np.{name} of {describe(values[0])}", t.span(node), help="use the number itself"
        )
    return values[0]


def _sum(t: Translation, node: ast.Call, values: Values) -> Number:
    value, span = _whole(t, node, values, "sum"), t.span(node)
    dtype = elementwise.dtype_of(t, value, span)
    if dtype.is_integer or dtype is BOOL:
        wide = UINT64 if dtype.kind == "u" else INT64
        start = const(0, wide)
        return _folded(t, value, start, lambda a, x: op("add", a, cast(x.expr, wide)), span)
    shape = elementwise.shape_of(value)
    if dtype.is_complex or len(shape) > 1:
        raise KernelError(
            f"np.sum of {described(value)}",
            span,
            why="NumPy's order of adding floats depends on the layout of more than one dim"
            if len(shape) > 1
            else "kernels have NumPy's order of adding for real numbers only",
            help="write the sum as a loop, or sum(...) of the elements, from left to right",
        )
    wide = FLOAT32 if dtype is FLOAT16 else dtype
    count = Number(elements.size(shape[0]), "python", span)
    env = {"a": value, "count": count, "kind": Static(wide.numpy.type)}
    env["left"] = vectors.filled(t, (pairwise.DEEPEST,), wide, span)
    env["rest"] = vectors.filled(t, (pairwise.DEEPEST,), INT64, span)
    total = as_number(t, run_function(t, node, _PAIRWISE, env), span)
    return Number(types.converted(total, dtype, span), "numpy", span)


def _product(t: Translation, node: ast.Call, values: Values) -> Number:
    value, span = _whole(t, node, values, "prod"), t.span(node)
    dtype = elementwise.dtype_of(t, value, span)
    if not dtype.is_integer:
        raise KernelError(
            f"np.prod of {dtype}", span, help="multiply in a loop, from left to right"
        )
    wide = UINT64 if dtype.kind == "u" else INT64
    step = partial(_times, wide)
    return _folded(t, value, const(1, wide), step, span)


def _times(wide: DType, so_far: Expr, number: Number) -> Expr:
    return op("multiply", so_far, cast(number.expr, wide))


def _place(function: Any) -> Row:
    """`argmin` and `argmax` of one dim."""

    def row(t: Translation, node: ast.Call, values: Values) -> Number:
        value, span = _whole(t, node, values, function.__name__), t.span(node)
        if len(elementwise.shape_of(value)) > 1:
            raise KernelError(
                f"np.{function.__name__} of {described(value)}", span, help="loop over its rows"
            )
        return as_number(t, run_function(t, node, function, {"a": value}), span)

    return row


def _mean(t: Translation, node: ast.Call, values: Values) -> Number:
    value, span = _whole(t, node, values, "mean"), t.span(node)
    dtype = elementwise.dtype_of(t, value, span)
    if not dtype.is_float or dtype is FLOAT16:
        raise KernelError(
            f"np.mean of {dtype}",
            span,
            why="NumPy adds converted numbers, in blocks of its own",
            help="divide the sum: np.sum(a) / len(a)",
        )
    total = _sum(t, node, values)
    count = Number(elements.size(elementwise.shape_of(value)[0]), "python", span)
    return apply(t, "divide", (total, count), span)


def _extreme(name: str) -> Row:
    """`min` and `max`: a NaN wins, of zeros of both signs any."""

    def row(t: Translation, node: ast.Call, values: Values) -> Number:
        value, span = _whole(t, node, values, name[:3]), t.span(node)
        dtype = elementwise.dtype_of(t, value, span)
        if dtype.is_complex:
            raise KernelError(f"the {name} of complex numbers", span, help="compare abs(z)")
        if t.settings.check:
            for extent in elementwise.shape_of(value):
                some = op("less", const(0, INT64), elements.size(extent))
                t.check(some, "assertion", f"the {name} of nothing", (), span)
        return _folded(
            t, value, const(_last(dtype, name), dtype), lambda a, x: op(name, a, x.expr), span
        )

    return row


def _last(dtype: DType, name: str) -> Any:
    """What every number is at least as extreme as."""
    sign = 1 if name == "minimum" else -1
    if dtype.is_float:
        return sign * np.inf
    ends = types.RANGES.get(dtype, range(2))
    return ends[-1] if name == "minimum" else ends[0]


def _quantified(name: str) -> Row:
    """`np.any` and `np.all`."""

    def row(t: Translation, node: ast.Call, values: Values) -> Number:
        value, span = _whole(t, node, values, name), t.span(node)
        combine = {"any": "logical_or", "all": "logical_and"}[name]
        start = const(name == "all", BOOL)
        return _folded(
            t, value, start, lambda a, x: typed_op(combine, BOOL, a, truth(x).expr), span
        )

    return row


def _copied(t: Translation, node: ast.Call, values: Values) -> Value:
    """`a.copy()`: what its elements are now."""
    arguments(t, node, values, 1, 1)
    return elementwise.computed(t, values, lambda each: each[0], t.span(node))


def _converted(t: Translation, node: ast.Call, values: Values) -> Value:
    """`a.astype(dtype)`."""
    arguments(t, node, values, 2, 2)
    array, kind = values
    row = dtypes.from_numpy(kind.value) if isinstance(kind, Static) else None
    if row is None:
        raise KernelError(f"{describe(kind)} is not an element type of kernels", t.span(node))
    return elementwise.computed(
        t,
        [array],
        lambda each: functions.numpy_type(t, node, each, row.numpy.type),
        t.span(node),
    )


def _conjugate(t: Translation, node: ast.Call, values: Values) -> Value:
    """`a.conjugate()`, `a.conj()`."""
    row = functions.row_of(np.conjugate)
    assert row is not None
    return row(t, node, values)


def _rounded(t: Translation, node: ast.Call, values: Values) -> Value:
    """`np.round` to whole numbers; of integers they are themselves."""
    arguments(t, node, values, 1, 1)
    span = t.span(node)
    if elementwise.dtype_of(t, values[0], span).is_integer:
        return _copied(t, node, values)
    return functions.ufunc(t, "rint", values, span)


def _folded(
    t: Translation,
    value: Value,
    start: Expr,
    step: Callable[[Expr, Number], Expr],
    span: Span,
) -> Number:
    """What a loop over all elements makes of a variable."""
    total = t.new_local("total", start.dtype, True)
    t.write(Let(total, start, span))
    so_far = local(total, start.dtype)

    def write(places: Places) -> None:
        found = elementwise.element_of(t, value, places, span)
        t.write(Let(total, step(so_far, found), span))

    parts.over(t, elementwise.shape_of(value), write, span)
    return t.fixed(Number(so_far, "numpy", span))


_METHODS: dict[str, Row] = {
    "sum": _sum,
    "mean": _mean,
    "min": _extreme("minimum"),
    "max": _extreme("maximum"),
    "any": _quantified("any"),
    "all": _quantified("all"),
    "prod": _product,
    "copy": _copied,
    "astype": _converted,
    "conjugate": _conjugate,
    "conj": _conjugate,
    "argmin": _place(pairwise.argmin),
    "argmax": _place(pairwise.argmax),
}
ROWS: dict[Any, Row] = {
    np.sum: _sum,
    np.mean: _mean,
    np.min: _METHODS["min"],
    np.max: _METHODS["max"],
    np.any: _METHODS["any"],
    np.all: _METHODS["all"],
    np.prod: _product,
    np.copy: _copied,
    np.round: _rounded,
    np.around: _rounded,
    np.argmin: _METHODS["argmin"],
    np.argmax: _METHODS["argmax"],
}
