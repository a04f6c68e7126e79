"""Arrays made of other arrays: `np.concatenate`, `np.stack`, `np.roll`, `np.repeat`, `np.diff`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fusewright.base.errors import KernelArrayError
from fusewright.base.source import Span
from fusewright.frontends.kernels import (
    elements,
    elementwise,
    fresh,
    gathering,
    parts,
    vectors,
    views,
)
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.elements import as_number
from fusewright.frontends.kernels.functions import numpy_form
from fusewright.frontends.kernels.named import Given, Named, axis, is_absent
from fusewright.frontends.kernels.operators import elements_combined
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Elementwise,
    Free,
    Number,
    Order,
    SliceValue,
    Static,
    TupleValue,
    Value,
    View,
    described,
)
from fusewright.ir import dtypes, linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, cast, const, op, typed_op

Places = tuple[Expr, ...]
ZERO, ONE = const(0, INT64), const(1, INT64)
_MISFIT = "dims of {} and {} elements side by side"


def row_of(function: Any) -> Named | None:
    """How a call of one of NumPy's functions is translated."""
    try:
        return ROWS.get(numpy_form(function))
    except TypeError:
        return None


def method(name: str) -> Named | None:
    """How `a.name(...)` is translated."""
    return METHODS.get(name)


# -- one behind the other -------------------------------------------------------------------------


def items(t: Translation, node: ast.AST, value: Value) -> list[Value]:
    """The arrays of a tuple, or the rows of an array."""
    if isinstance(value, TupleValue):
        return [
            vectors.from_items(t, each.items, t.span(node))
            if isinstance(each, TupleValue)
            else each
            for each in value.items
        ]
    raise t.refuse(
        node, f"{described(value)} where arrays are joined", help="write them as a tuple: (a, b)"
    )


def joined(t: Translation, arrays: Sequence[Value], dim: int, span: Span) -> ArrayRef:
    """Arrays behind one another along a dim, in a new one."""
    shapes = [elementwise.shape_of(each) for each in arrays]
    if not arrays or {len(shape) for shape in shapes} != {len(shapes[0])} or not shapes[0]:
        ranks = " and ".join(str(len(shape)) for shape in shapes)
        raise KernelArrayError(f"arrays of {ranks or 'no'} dims side by side", span)
    for shape in shapes[1:]:
        for n, (wanted, found) in enumerate(zip(shapes[0], shape, strict=True)):
            if n != dim:
                elementwise.fit(t, wanted, found, span, _MISFIT)
    kind = np.result_type(*(elementwise.dtype_of(t, each, span).numpy for each in arrays))
    dtype = dtypes.from_numpy(kind)
    if dtype is None:
        raise KernelArrayError(f"an array of {kind}", span)
    starts: list[Expr] = [ZERO]
    for shape in shapes:
        starts.append(linear.plus(starts[-1], elements.size(shape[dim])))
    extents = [elements.size(extent) for extent in shapes[0]]
    extents[dim] = starts[-1]
    out = fresh.make(t, extents, dtype, span)
    for start, shape, array in zip(starts, shapes, arrays, strict=False):
        window = list(elements.window_of(out))
        window[dim] = Free(start, elements.size(shape[dim]))
        parts.assign(t, replace(out, indices=(), window=tuple(window)), array, span)
    return out


def _concatenate(t: Translation, node: ast.Call, given: Given) -> Value:
    span = t.span(node)
    arrays = items(t, node, given["a"])
    if "axis" in given and is_absent(given, "axis"):
        return joined(t, [views.flat(t, each, span) for each in arrays], 0, span)
    rank = len(elementwise.shape_of(arrays[0])) if arrays else 0
    dim = axis(given["axis"], rank, span) if "axis" in given else 0
    return joined(t, arrays, dim, span)


def stacked(t: Translation, arrays: Sequence[Value], dim: int, span: Span) -> ArrayRef:
    """Arrays as the parts of one with a dim more."""
    return joined(t, [views.with_ones(t, each, [dim], span) for each in arrays], dim, span)


def _stack(t: Translation, node: ast.Call, given: Given) -> Value:
    arrays, span = items(t, node, given["a"]), t.span(node)
    rank = len(elementwise.shape_of(arrays[0])) + 1 if arrays else 1
    return stacked(t, arrays, axis(given["axis"], rank, span) if "axis" in given else 0, span)


def _side_by_side(t: Translation, node: ast.Call, given: Given) -> Value:
    """`np.hstack`."""
    span = t.span(node)
    arrays = [views.array(t, each, span) for each in items(t, node, given["a"])]
    flat = bool(arrays) and len(elementwise.shape_of(arrays[0])) == 1
    return joined(t, arrays, 0 if flat else 1, span)


def _above(t: Translation, node: ast.Call, given: Given) -> Value:
    """`np.vstack`."""
    span = t.span(node)
    arrays = [views.array(t, each, span) for each in items(t, node, given["a"])]
    rows = [
        views.with_ones(t, each, [0], span) if len(elementwise.shape_of(each)) == 1 else each
        for each in arrays
    ]
    return joined(t, rows, 0, span)


def _columns(t: Translation, node: ast.Call, given: Given) -> Value:
    """`np.column_stack`."""
    span = t.span(node)
    arrays = [views.array(t, each, span) for each in items(t, node, given["a"])]
    columns = [
        views.with_ones(t, each, [1], span) if len(elementwise.shape_of(each)) == 1 else each
        for each in arrays
    ]
    return joined(t, columns, 1, span)


def _append(t: Translation, node: ast.Call, given: Given) -> Value:
    span = t.span(node)
    arrays = [views.array(t, given[name], span) for name in ("a", "values")]
    if not is_absent(given, "axis"):
        dim = axis(given["axis"], len(elementwise.shape_of(arrays[0])), span)
        return joined(t, arrays, dim, span)
    return joined(t, [views.flat(t, each, span) for each in arrays], 0, span)


# -- elements elsewhere ---------------------------------------------------------------------------


def _moved(
    t: Translation,
    value: Value,
    shape: Sequence[Expr],
    inside: Callable[[Places], Places],
    span: Span,
) -> Elementwise:
    """A new array with the elements of another one in other places."""

    def element(places: Places) -> Number:
        return elementwise.element_of(t, value, inside(places), span)

    return Elementwise(tuple(shape), element, span, Order.CONTIGUOUS)


def whole_number(t: Translation, value: Value, what: str, span: Span) -> Expr:
    """A number that must be an integer."""
    number = as_number(t, value, span)
    if not number.dtype.is_integer:
        raise KernelArrayError(
            f"{what} that is {described(number)}", span, help="convert it with int()"
        )
    return t.fixed(Number(cast(number.expr, INT64), "python", span)).expr


def _roll(t: Translation, node: ast.Call, given: Given) -> Value:
    value, span = given["a"], t.span(node)
    if not elementwise.shape_of(value):
        return Number(as_number(t, value, span).expr, "numpy", span)
    if isinstance(given["shift"], TupleValue):
        raise t.refuse(node, "np.roll by several numbers", help="roll along one dim, then another")
    shift = whole_number(t, given["shift"], "a shift", span)
    whole, dim = value, 0
    if is_absent(given, "axis"):
        value = views.flat(t, value, span) if len(elementwise.shape_of(value)) > 1 else value
    else:
        dim = axis(given["axis"], len(elementwise.shape_of(value)), span)
    shape = tuple(map(elements.size, elementwise.shape_of(value)))

    def inside(places: Places) -> Places:
        back = op("subtract", places[dim], shift)
        return (*places[:dim], typed_op("remainder", INT64, back, shape[dim]), *places[dim + 1 :])

    rolled = _moved(t, value, shape, inside, span)
    extents = elementwise.shape_of(whole)
    if len(extents) == len(shape):
        return rolled
    return views.reshaped(t, rolled, [elements.size(extent) for extent in extents], span)


def _repeat(t: Translation, node: ast.Call, given: Given) -> Value:
    span = t.span(node)
    value = views.array(t, given["a"], span)
    if elementwise.shape_of(given["repeats"]):
        raise t.refuse(node, "np.repeat by an array", help="write the loop")
    count = whole_number(t, given["repeats"], "a number of repeats", span)
    dim = 0
    if is_absent(given, "axis"):
        value = views.flat(t, value, span) if len(elementwise.shape_of(value)) > 1 else value
    else:
        dim = axis(given["axis"], len(elementwise.shape_of(value)), span)
    shape = list(map(elements.size, elementwise.shape_of(value)))
    shape[dim] = elements.size(op("multiply", shape[dim], count))

    def inside(places: Places) -> Places:
        here = typed_op("floor_divide", INT64, places[dim], count)
        return (*places[:dim], here, *places[dim + 1 :])

    return _moved(t, value, shape, inside, span)


def _tile(t: Translation, node: ast.Call, given: Given) -> Value:
    span = t.span(node)
    value = views.array(t, given["a"], span)
    reps = given["reps"].items if isinstance(given["reps"], TupleValue) else (given["reps"],)
    counts = [whole_number(t, each, "a number of repeats", span) for each in reps]
    more = len(counts) - len(elementwise.shape_of(value))
    if more > 0:
        value = views.with_ones(t, value, range(more), span)
    own = [elements.size(extent) for extent in elementwise.shape_of(value)]
    counts = [ONE] * -min(more, 0) + counts
    shape = [elements.size(linear.times(a, b)) for a, b in zip(own, counts, strict=True)]

    def inside(places: Places) -> Places:
        pairs = zip(places, own, strict=True)
        return tuple(k if n is ONE else typed_op("remainder", INT64, k, n) for k, n in pairs)

    def spread(places: Places) -> Places:
        found = inside(places)
        return tuple(ZERO if n is ONE else k for k, n in zip(found, own, strict=True))

    return _moved(t, value, shape, spread, span)


def _diff(t: Translation, node: ast.Call, given: Given) -> Value:
    value, span = given["a"], t.span(node)
    rank = len(elementwise.shape_of(value))
    if not rank:
        raise KernelArrayError(f"np.diff of {described(value)}", span)
    times = given["n"].literal if "n" in given and isinstance(given["n"], Number) else 1
    if not isinstance(times, int) or times < 0:
        raise t.refuse(node, "np.diff so many times", help="write a literal")
    dim = axis(given["axis"], rank, span) if "axis" in given else rank - 1
    for _ in range(times):
        value = _apart(t, value, dim, span)
    return value


def _apart(t: Translation, value: Value, dim: int, span: Span) -> Value:
    one, end = (Number(const(k, INT64), "python", span) for k in (1, -1))
    whole = SliceValue(None, None, 1)
    rank = len(elementwise.shape_of(value))
    ends = (SliceValue(one, None, 1), SliceValue(None, end, 1))
    indices = ([each if n == dim else whole for n in range(rank)] for each in ends)
    later, before = (elementwise.part(t, value, index, span) for index in indices)
    is_truth = elementwise.dtype_of(t, value, span) is dtypes.BOOL
    if is_truth:
        raise KernelArrayError(
            "np.diff of truth values", span, help="compare them: a[1:] != a[:-1]"
        )
    return elementwise.computed(
        t, [later, before], lambda x: elements_combined(t, ast.Sub(), x[0], x[1], span), span
    )


def _take(t: Translation, node: ast.Call, given: Given) -> Value:
    value, span = views.array(t, given["a"], t.span(node)), t.span(node)
    dim = 0
    if is_absent(given, "axis"):
        value = views.flat(t, value, span) if len(elementwise.shape_of(value)) > 1 else value
    else:
        dim = axis(given["axis"], len(elementwise.shape_of(value)), span)
    indices: list[Value] = [SliceValue(None, None, 1)] * dim + [given["indices"]]
    if gathering.is_array(given["indices"]):
        return gathering.read(t, value, indices, node)
    return elementwise.part(t, value, indices, span)


def _copyto(t: Translation, node: ast.Call, given: Given) -> Value:
    target, span = given["dst"], t.span(node)
    if not isinstance(target, ArrayRef | View) or not target.shape:
        raise t.refuse(node, f"np.copyto into {described(target)}")
    value = given["src"]
    if elementwise.shape_of(value):
        dtype = elementwise.dtype_of(t, value, span)
        parts.refuse_cast(t, dtype, elementwise.dtype_of(t, target, span), span)
    parts.assign(t, target, value, span)
    return Static(None)


ROWS: dict[Any, Named] = {
    np.concatenate: Named(("a", "axis"), _concatenate),
    np.stack: Named(("a", "axis"), _stack),
    np.hstack: Named(("a",), _side_by_side),
    np.vstack: Named(("a",), _above),
    np.column_stack: Named(("a",), _columns),
    np.append: Named(("a", "values", "axis"), _append, 2),
    np.roll: Named(("a", "shift", "axis"), _roll, 2),
    np.repeat: Named(("a", "repeats", "axis"), _repeat, 2),
    np.tile: Named(("a", "reps"), _tile, 2),
    np.diff: Named(("a", "n", "axis"), _diff),
    np.take: Named(("a", "indices", "axis"), _take, 2),
    np.copyto: Named(("dst", "src"), _copyto, 2),
}
METHODS: dict[str, Named] = {"repeat": ROWS[np.repeat], "take": ROWS[np.take]}
