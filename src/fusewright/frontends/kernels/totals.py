"""What a loop over arrays collects into one number: `np.sum(a[i])`, `a.max()`; and copies."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fusewright.base.errors import KernelReductionError
from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.frontends.kernels import (
    elements,
    elementwise,
    functions,
    orders,
    pairwise,
    parts,
    types,
    vectors,
    views,
)
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.elements import as_number, truth
from fusewright.frontends.kernels.inlining import run_function
from fusewright.frontends.kernels.intrinsics import Row, Values, arguments
from fusewright.frontends.kernels.operators import apply
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Number,
    Order,
    Static,
    Value,
    describe,
    described,
)
from fusewright.ir import dtypes, linear
from fusewright.ir.dtypes import BOOL, FLOAT16, FLOAT32, FLOAT64, INT64, UINT64, DType
from fusewright.ir.expr import Expr, cast, const, local, op, typed_op
from fusewright.ir.loops.statements import Let

Places = tuple[Expr, ...]
ONE = const(1, INT64)
_PAIRWISE: Any = pairwise.pairwise_sum
_SIDE_BY_SIDE: Any = pairwise.side_by_side
_ROWS_SUM: Any = pairwise.sum_of_rows


def method(name: str) -> Row | None:
    """How `a.name()` is translated."""
    return _METHODS.get(name)


def row_of(function: Any) -> Row | None:
    """How a call of one of NumPy's functions is translated."""
    try:
        return ROWS.get(functions.numpy_form(function))
    except TypeError:
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """What is reduced to one number: the elements of an array of any rank, in C order.

    `inner` is how many numbers are collected side by side, where other dims lie closer together.
    """

    value: Value
    inner: Expr = ONE


Cell = Callable[[Translation, ast.Call, Line], Number]
"""What a function makes of a line."""


def total(t: Translation, node: ast.Call, line: Line) -> Number:
    """`np.sum`: floats in NumPy's order, whole numbers in any."""
    value, span = line.value, t.span(node)
    dtype = elementwise.dtype_of(t, value, span)
    if dtype.is_integer or dtype is BOOL:
        wide = UINT64 if dtype.kind == "u" else INT64
        start = const(0, wide)
        return _folded(t, value, start, lambda a, x: op("add", a, cast(x.expr, wide)), span)
    if dtype.is_complex:
        raise KernelReductionError(
            f"np.sum of {described(value)}",
            span,
            why="kernels have NumPy's order of adding for real numbers only",
            help="add the parts: np.sum(z.real), np.sum(z.imag)",
        )
    in_known_order(t, value, "the sum", span)
    wide = FLOAT32 if dtype is FLOAT16 else dtype
    found = _added(t, node, line, wide, dtype)
    return Number(types.converted(found, dtype, span), "numpy", span)


def in_known_order(t: Translation, value: Value, what: str, span: Span) -> None:
    """Refuse sums of floats whose order NumPy takes from a layout that is not known."""
    if orders.order_of(t, value) is Order.UNKNOWN:
        raise KernelReductionError(
            f"{what} of {described(value)} that may not lie in C order",
            span,
            why="NumPy's order of adding floats follows the memory's layout",
            help="take it of a copy in C order: np.ascontiguousarray(a), or write the loop",
        )


def _added(t: Translation, node: ast.Call, line: Line, wide: DType, own: DType) -> Number:
    """The sum of floats, added as numbers of the type `wide` where they follow one another."""
    value, span = line.value, t.span(node)
    env: dict[str, Value] = {"kind": Static(wide.numpy.type)}
    env["left"] = vectors.filled(t, (pairwise.DEEPEST,), wide, span)
    env["rest"] = vectors.filled(t, (pairwise.DEEPEST,), INT64, span)
    together = _together(t, value, span)
    if together is not None:
        rows, columns = (Number(elements.size(n), "python", span) for n in value_shape(value))
        env.update(count=columns, rows=rows, together=together)
        env["flat"] = views.flat(t, value, span)
        return as_number(t, run_function(t, node, _ROWS_SUM, env), span)
    flat = value if len(value_shape(value)) == 1 else views.flat(t, value, span)
    env.update(a=flat, count=Number(elements.size(value_shape(flat)[0]), "python", span))
    if line.inner is not ONE:
        env["inner"] = Number(line.inner, "python", span)
        env["own"] = Static(own.numpy.type)
        return as_number(t, run_function(t, node, _SIDE_BY_SIDE, env), span)
    return as_number(t, run_function(t, node, _PAIRWISE, env), span)


def value_shape(value: Value) -> Places:
    """The extents of an array."""
    return elementwise.shape_of(value)


def _together(t: Translation, value: Value, span: Span) -> Number | None:
    """Of rows that may lie apart: whether they follow one another; None of other arrays."""
    if len(value_shape(value)) < 2 or orders.order_of(t, value) is Order.CONTIGUOUS:
        return None
    if not isinstance(value, ArrayRef) or len(value.shape) > 2:
        raise KernelReductionError(
            f"the sum of {described(value)} whose rows lie apart",
            span,
            why="NumPy's order of adding floats follows the memory's layout",
            help="take it of a copy: a[...].copy().sum()",
        )
    strides = orders.strides(value)
    inner = value.shape[1]
    apart = op("equal", linear.times(strides[1], inner), strides[0])
    for extent in value.shape:
        apart = op("logical_or", apart, op("equal", extent, ONE))
    return t.fixed(Number(apart, "python", span))


def product(t: Translation, node: ast.Call, line: Line) -> Number:
    """`np.prod`: from left to right."""
    value, span = line.value, t.span(node)
    dtype = elementwise.dtype_of(t, value, span)
    if dtype.is_complex or dtype is FLOAT16:
        raise KernelReductionError(f"np.prod of {dtype}", span, help="multiply in a loop")
    if dtype.is_float:
        in_known_order(t, value, "the product", span)
    wide = dtype
    if not dtype.is_float:
        wide = UINT64 if dtype.kind == "u" else INT64
    step = partial(_times, wide)
    return _folded(t, value, const(1, wide), step, span)


def _times(wide: DType, so_far: Expr, number: Number) -> Expr:
    return op("multiply", so_far, cast(number.expr, wide))


def place(function: Any) -> Cell:
    """`argmin` and `argmax`."""

    def cell(t: Translation, node: ast.Call, line: Line) -> Number:
        value, span = line.value, t.span(node)
        flat = value if len(value_shape(value)) == 1 else views.flat(t, value, span)
        return as_number(t, run_function(t, node, function, {"a": flat}), span)

    return cell


def mean(t: Translation, node: ast.Call, line: Line) -> Number:
    """`np.mean`; of whole numbers, whose sum is that of floats."""
    value, span = line.value, t.span(node)
    dtype = elementwise.dtype_of(t, value, span)
    if dtype.is_complex or dtype is FLOAT16:
        raise KernelReductionError(
            f"np.mean of {dtype}",
            span,
            why="NumPy adds converted numbers, in blocks of its own",
            help="divide the sum: np.sum(a) / len(a)",
        )
    count = Number(size_of(value), "python", span)
    return apply(
        t, "divide", (total(t, node, Line(as_floats(t, value, span), line.inner)), count), span
    )


def size_of(value: Value) -> Expr:
    """How many elements an array has."""
    return views.product([elements.size(extent) for extent in value_shape(value)])


def as_floats(t: Translation, value: Value, span: Span) -> Value:
    """Whole numbers as float64, in which their means and variances are computed."""
    if elementwise.dtype_of(t, value, span).is_float:
        return value
    return elementwise.computed(
        t, [value], lambda x: Number(cast(x[0].expr, FLOAT64), "numpy", span), span
    )


def extreme(name: str) -> Cell:
    """`min` and `max`: a NaN wins (or, as `fmin` and `fmax`, loses); of zeros of both signs any."""

    def cell(t: Translation, node: ast.Call, line: Line) -> Number:
        value, span = line.value, t.span(node)
        dtype = elementwise.dtype_of(t, value, span)
        if dtype.is_complex:
            raise KernelReductionError(
                f"the {name} of complex numbers", span, help="compare abs(z)"
            )
        if t.settings.check:
            for extent in value_shape(value):
                some = op("less", const(0, INT64), elements.size(extent))
                t.check(some, "assertion", f"the {name} of nothing", (), span)
        start = const(_last(dtype, name), dtype)
        return _folded(t, value, start, lambda a, x: op(name, a, x.expr), span)

    return cell


def _last(dtype: DType, name: str) -> Any:
    """What every number is at least as extreme as."""
    if dtype.is_float and name in ("fmin", "fmax"):
        return np.nan
    least = name in ("minimum", "fmin")
    if dtype.is_float:
        return np.inf if least else -np.inf
    ends = types.RANGES.get(dtype, range(2))
    return ends[-1] if least else ends[0]


def quantified(name: str) -> Cell:
    """`np.any` and `np.all`."""

    def cell(t: Translation, node: ast.Call, line: Line) -> Number:
        combine = {"any": "logical_or", "all": "logical_and"}[name]
        start = const(name == "all", BOOL)
        span = t.span(node)
        return _folded(
            t, line.value, start, lambda a, x: typed_op(combine, BOOL, a, truth(x).expr), span
        )

    return cell


def counted(t: Translation, node: ast.Call, line: Line) -> Number:
    """`np.count_nonzero`."""
    start = const(0, INT64)
    span = t.span(node)
    return _folded(
        t, line.value, start, lambda a, x: op("add", a, cast(truth(x).expr, INT64)), span
    )


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
        raise KernelReductionError(
            f"{describe(kind)} is not an element type of kernels", t.span(node)
        )
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


def _folded(
    t: Translation,
    value: Value,
    start: Expr,
    step: Callable[[Expr, Number], Expr],
    span: Span,
) -> Number:
    """What a loop over all elements makes of a variable."""
    number = t.new_local("total", start.dtype, True)
    t.write(Let(number, start, span))
    so_far = local(number, start.dtype)

    def write(places: Places) -> None:
        found = elementwise.element_of(t, value, places, span)
        t.write(Let(number, step(so_far, found), span))

    parts.over(t, elementwise.shape_of(value), write, span)
    return t.fixed(Number(so_far, "numpy", span))


_METHODS: dict[str, Row] = {
    "copy": _copied,
    "astype": _converted,
    "conjugate": _conjugate,
    "conj": _conjugate,
}
ROWS: dict[Any, Row] = {
    np.copy: _copied,
}
