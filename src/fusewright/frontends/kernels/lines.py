"""NumPy's functions that go along one dim, and keep it: `np.cumsum(a, axis=0)`, `np.sort(a)`,
`np.searchsorted(a, v)`, `np.interp(x, xp, fp)`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusewright.base.errors import KernelReductionError
from fusewright.base.source import Span
from fusewright.frontends.kernels import (
    array_rows,
    elements,
    elementwise,
    fresh,
    library,
    library_arrays,
    parts,
    storing,
    types,
    views,
)
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.elements import as_number
from fusewright.frontends.kernels.functions import numpy_form
from fusewright.frontends.kernels.inlining import run_function
from fusewright.frontends.kernels.named import Given, Named, axis, flag, is_absent
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Elementwise,
    Number,
    Static,
    TupleValue,
    Value,
    View,
    described,
)
from fusewright.ir import dtypes
from fusewright.ir.dtypes import FLOAT64, INT64, DType
from fusewright.ir.expr import Expr, cast, const

Places = tuple[Expr, ...]
NamedRow = Callable[[Translation, ast.Call, Given], Value]
_FUNCTIONS: Any = library
_ARRAYS: Any = library_arrays
_KINDS = ("quicksort", "stable", "mergesort", "heapsort", None)


def row_of(function: Any) -> Named | None:
    """How a call of one of NumPy's functions is translated."""
    try:
        return ROWS.get(numpy_form(function))
    except TypeError:
        return None


def method(name: str) -> Named | None:
    """How `a.name(...)` is translated."""
    return METHODS.get(name)


def each_line(
    t: Translation,
    arrays: Sequence[Value],
    dim: int,
    function: Callable[[list[Value]], None],
    span: Span,
) -> None:
    """Do something with each line along a dim, of several arrays of one shape."""
    rank = len(elementwise.shape_of(arrays[0]))
    if rank == 1:
        function(list(arrays))
        return
    turned = [*(d for d in range(rank) if d != dim), dim]
    moved = [elementwise.transposed(t, each, turned, span) for each in arrays]

    def at(places: Places) -> None:
        indices = [Number(place, "python", span) for place in places]
        function([elementwise.part(t, each, indices, span) for each in moved])

    parts.over(t, tuple(map(elements.size, moved[0].shape[:-1])), at, span)


def _array(t: Translation, given: Given, what: str, span: Span) -> Value:
    value = views.array(t, given["a"], span)
    if elementwise.dtype_of(t, value, span).is_complex:
        raise KernelReductionError(f"{what} of complex numbers", span)
    return value


def _along(
    t: Translation, given: Given, value: Value, usual: int | None, span: Span
) -> tuple[Value, int]:
    """The array and the dim; the array as one of one dim, where no axis is named."""
    rank = len(elementwise.shape_of(value))
    if "axis" not in given and usual is not None:
        return value, usual % rank
    if is_absent(given, "axis"):
        return (views.flat(t, value, span) if rank > 1 else value), 0
    return value, axis(given["axis"], rank, span)


def _cumulative(function: Any) -> NamedRow:
    """`np.cumsum` and `np.cumprod`."""

    def row(t: Translation, node: ast.Call, given: Given) -> Value:
        span = t.span(node)
        value = _array(t, given, f"np.{function.__name__}", span)
        value, dim = _along(t, given, value, None, span)
        dtype = sum_dtype(elementwise.dtype_of(t, value, span))
        out = fresh.make(t, tuple(map(elements.size, elementwise.shape_of(value))), dtype, span)

        def run(lines: list[Value]) -> None:
            run_function(t, node, function, {"a": lines[0], "out": lines[1]})

        each_line(t, [value, out], dim, run, span)
        return out

    return row


def sum_dtype(dtype: DType) -> DType:
    """NumPy adds narrow integers as wide ones."""
    kind = dtype.numpy.kind
    if kind not in ("b", "i", "u"):
        return dtype
    return dtypes.from_numpy(np.dtype(np.uint64 if kind == "u" else np.int64)) or dtype


# -- sorting --------------------------------------------------------------------------------------


def _refuse_kind(t: Translation, node: ast.Call, given: Given) -> None:
    kind = given.get("kind")
    if kind is not None and not (isinstance(kind, Static) and kind.value in _KINDS):
        raise t.refuse(node, "a way of sorting that is not known", help="leave out kind=")


def _sort_in_place(t: Translation, node: ast.Call, given: Given) -> Value:
    """`a.sort()`."""
    _refuse_kind(t, node, given)
    value, span = given["a"], t.span(node)
    if isinstance(value, Elementwise) and not isinstance(value, View):
        storing.store(t, value)
    if not isinstance(value, ArrayRef | View) or value.dtype.is_complex or not value.shape:
        raise t.refuse(node, f"sorting {described(value)}")
    elements.writable(t, value, span)
    _, dim = _along(t, given, value, -1, span)

    def run(lines: list[Value]) -> None:
        run_function(t, node, _FUNCTIONS.sort, {"a": lines[0]})

    each_line(t, [value], dim, run, span)
    return Static(None)


def _sorted(t: Translation, node: ast.Call, given: Given) -> Value:
    """`np.sort(a)`."""
    span = t.span(node)
    value = _array(t, given, "np.sort", span)
    if "axis" in given and is_absent(given, "axis"):
        value = views.flat(t, value, span)
        given = {key: each for key, each in given.items() if key != "axis"}
    copy = fresh.copied(t, value, None, span)
    _sort_in_place(t, node, {**given, "a": copy})
    return copy


def _argsort(t: Translation, node: ast.Call, given: Given) -> Value:
    _refuse_kind(t, node, given)
    span = t.span(node)
    value, dim = _along(t, given, _array(t, given, "np.argsort", span), -1, span)
    shape = tuple(map(elements.size, elementwise.shape_of(value)))
    places, other = (fresh.make(t, shape, INT64, span) for _ in range(2))

    def run(lines: list[Value]) -> None:
        names = ("a", "places", "other")
        run_function(t, node, _FUNCTIONS.argsort, dict(zip(names, lines, strict=True)))

    each_line(t, [value, places, other], dim, run, span)
    return places


def _flat_row(function: Any) -> NamedRow:
    """A function of all elements as one line."""

    def row(t: Translation, node: ast.Call, given: Given) -> Value:
        span = t.span(node)
        value = _array(t, given, f"np.{function.__name__}", span)
        flat = views.flat(t, value, span) if len(elementwise.shape_of(value)) > 1 else value
        return run_function(t, node, function, {"a": flat})

    return row


# -- looking up -----------------------------------------------------------------------------------


def _searchsorted(t: Translation, node: ast.Call, given: Given) -> Value:
    side = given.get("side")
    name = side.value if isinstance(side, Static) else "left" if side is None else None
    if name not in ("left", "right"):
        raise t.refuse(node, "a side that is neither 'left' nor 'right'")
    return _looked_up(t, node, given["a"], given["v"], name == "right", _FUNCTIONS.search_each)


def _looked_up(
    t: Translation, node: ast.Call, array: Value, wanted: Value, right: bool, function: Any
) -> Value:
    """For each number the place that a search gives."""
    span = t.span(node)
    if len(elementwise.shape_of(array)) != 1:
        raise t.refuse(
            node, f"a search in {described(array)}", why="it goes through one dim that is sorted"
        )
    side = types.literal(right, span)

    def search(v: Value, out: Value) -> None:
        env = {"a": array, "v": v, "out": out, "right": side}
        run_function(t, node, function, env)

    return _mapped(t, wanted, INT64, search, span)


def _mapped(
    t: Translation,
    value: Value,
    dtype: DType,
    function: Callable[[Value, Value], None],
    span: Span,
) -> Value:
    """A new array, or number, that a function fills from an array of one dim, or one number."""
    shape = tuple(map(elements.size, elementwise.shape_of(value)))
    values = views.array(t, value, span)
    flat = views.flat(t, values, span) if len(shape) > 1 else values
    out = fresh.make(t, shape or (const(1, INT64),), dtype, span)
    function(flat, views.flat(t, out, span) if len(shape) > 1 else out)
    return out if shape else elementwise.part(t, out, [types.literal(0, span)], span)


def _digitize(t: Translation, node: ast.Call, given: Given) -> Value:
    right = flag(given, "right", t.span(node))
    return _looked_up(t, node, given["bins"], given["a"], not right, _FUNCTIONS.binned)


def _interp(t: Translation, node: ast.Call, given: Given) -> Value:
    span = t.span(node)
    xp, fp = (_floats(t, given[name], span) for name in ("xp", "fp"))
    shapes = [elementwise.shape_of(each) for each in (xp, fp)]
    if any(len(shape) != 1 for shape in shapes):
        raise t.refuse(node, "np.interp of points that are no arrays of one dim")
    elementwise.fit(t, shapes[0][0], shapes[1][0], span)
    zero, last = (Number(const(k, INT64), "python", span) for k in (0, -1))
    ends = []
    for name, place in (("left", zero), ("right", last)):
        end = elementwise.part(t, fp, [place], span) if is_absent(given, name) else given[name]
        ends.append(t.fixed(_float(as_number(t, end, span))))

    def find(x: Value, out: Value) -> None:
        env = {"x": x, "xp": xp, "fp": fp, "left": ends[0], "right": ends[1], "out": out}
        run_function(t, node, _ARRAYS.interpolated, env)

    return _mapped(t, given["x"], FLOAT64, find, span)


def _float(number: Number) -> Number:
    return Number(types.converted(number, FLOAT64, number.span), "numpy", number.span)


def _floats(t: Translation, value: Value, span: Span) -> Value:
    """An array as one of float64."""
    value = views.array(t, value, span)
    if elementwise.dtype_of(t, value, span) is FLOAT64:
        return value
    return elementwise.computed(t, [value], lambda x: _float(x[0]), span)


def _share(whole: float) -> NamedRow:
    """`np.percentile` and `np.quantile` of all elements."""

    def row(t: Translation, node: ast.Call, given: Given) -> Value:
        span = t.span(node)
        value = _array(t, given, "a percentile", span)
        dtype = elementwise.dtype_of(t, value, span)
        if dtype.is_float and dtype is not FLOAT64:
            raise t.refuse(node, f"a percentile of {dtype}", help="convert it: a.astype(float)")
        flat = views.flat(t, value, span) if len(elementwise.shape_of(value)) > 1 else value
        ordered = _sorted(t, node, {"a": _floats(t, flat, span)})
        wanted = given["q"]
        if elementwise.shape_of(wanted) or isinstance(wanted, TupleValue):
            wanted = _floats(t, wanted, span)
        else:
            wanted = t.fixed(_float(as_number(t, wanted, span)))

        def find(q: Value, out: Value) -> None:
            env = {"a": ordered, "q": q, "whole": types.literal(whole, span), "out": out}
            run_function(t, node, _ARRAYS.shares, env)

        return _mapped(t, wanted, FLOAT64, find, span)

    return row


def _bincount(t: Translation, node: ast.Call, given: Given) -> Value:
    span = t.span(node)
    value = _array(t, given, "np.bincount", span)
    if not elementwise.dtype_of(t, value, span).is_integer:
        raise t.refuse(node, "np.bincount of what are no integers")
    least: Value = Number(const(0, INT64), "python", span)
    if "minlength" in given:
        least = t.fixed(elements.whole(given["minlength"], span))
    size = as_number(t, run_function(t, node, _ARRAYS.greatest, {"a": value, "least": least}), span)
    dtype, weights = INT64, None
    if not is_absent(given, "weights"):
        dtype, weights = FLOAT64, _floats(t, given["weights"], span)
        extents = [elementwise.shape_of(each)[0] for each in (value, weights)]
        elementwise.fit(t, extents[0], extents[1], span)
    one = Number(const(1, dtype), "numpy", span)
    if weights is None:
        weights = Elementwise(elementwise.shape_of(value), lambda _: one, span)
    out = fresh.make(t, (t.fixed(size).expr,), dtype, span)
    parts.assign(t, out, Number(const(0, dtype), "numpy", span), span)
    run_function(t, node, _ARRAYS.occurrences, {"a": value, "out": out, "weights": weights})
    return out


def _arange(t: Translation, node: ast.Call, given: Given) -> Value:
    """`np.arange(start, stop, step, dtype)`; whole numbers may be of any type of integers."""
    zero: Value = Number(const(0, INT64), "python", t.span(node))
    if is_absent(given, "stop") and not is_absent(given, "step"):
        given = {**given, "start": zero, "stop": given["start"]}
    row = array_rows.row_of(np.arange)
    assert row is not None
    names = [name for name in ("start", "stop", "step") if not is_absent(given, name)]
    found = row(t, node, [given[name] for name in names])
    if is_absent(given, "dtype"):
        return found
    kind = given["dtype"]
    wanted = dtypes.from_numpy(kind.value) if isinstance(kind, Static) else None
    dtype = elementwise.dtype_of(t, found, t.span(node))
    if wanted is None or not (wanted is dtype or (wanted.is_integer and dtype.is_integer)):
        what = f"np.arange of {described(kind)}"
        raise t.refuse(node, what, help="convert the array: np.arange(n).astype(dtype)")

    def converted(each: list[Number]) -> Number:
        return Number(cast(each[0].expr, wanted), "numpy", t.span(node))

    return elementwise.computed(t, [found], converted, t.span(node))


_SORT = Named(("a", "axis", "kind"), _sort_in_place)
_ARGSORT = Named(("a", "axis", "kind"), _argsort)
_SEARCH = Named(("a", "v", "side"), _searchsorted, 2)
_CUMSUM = Named(("a", "axis"), _cumulative(_ARRAYS.cumulative_sum))
_CUMPROD = Named(("a", "axis"), _cumulative(_ARRAYS.cumulative_product))
ROWS: dict[Any, Named] = {
    np.arange: Named(("start", "stop", "step", "dtype"), _arange),
    np.cumsum: _CUMSUM,
    np.cumprod: _CUMPROD,
    np.sort: Named(("a", "axis", "kind"), _sorted),
    np.argsort: _ARGSORT,
    np.median: Named(("a",), _flat_row(_ARRAYS.median)),
    np.nanmedian: Named(("a",), _flat_row(_ARRAYS.nanmedian)),
    np.percentile: Named(("a", "q"), _share(100.0), 2),
    np.quantile: Named(("a", "q"), _share(1.0), 2),
    np.unique: Named(("a",), _flat_row(_ARRAYS.unique)),
    np.searchsorted: _SEARCH,
    np.digitize: Named(("a", "bins", "right"), _digitize, 2),
    np.interp: Named(("x", "xp", "fp", "left", "right"), _interp, 3),
    np.bincount: Named(("a", "weights", "minlength"), _bincount),
}
METHODS: dict[str, Named] = {
    "cumsum": _CUMSUM,
    "cumprod": _CUMPROD,
    "sort": _SORT,
    "argsort": _ARGSORT,
    "searchsorted": _SEARCH,
}
