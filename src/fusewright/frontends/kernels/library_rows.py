"""NumPy's functions of whole arrays that are loops of their own: products of matrices, sorting,
searching, variances.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from fusewright.frontends.kernels import (
    elements,
    elementwise,
    fresh,
    library,
    matrices,
    storing,
)
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.elements import as_number
from fusewright.frontends.kernels.functions import numpy_form
from fusewright.frontends.kernels.inlining import run_function
from fusewright.frontends.kernels.intrinsics import Row, Values, arguments
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Elementwise,
    Number,
    Static,
    Value,
    described,
)
from fusewright.ir.dtypes import INT64

_FUNCTIONS: Any = library


def row_of(function: Any) -> Row | None:
    """How a call of one of these functions is translated."""
    try:
        return _ROWS.get(numpy_form(function))
    except TypeError:
        return None


def method(name: str) -> Row | None:
    """How `a.name()` is translated."""
    return _METHODS.get(name)


def _one_dim(t: Translation, node: ast.Call, value: Value, name: str) -> Value:
    if len(elementwise.shape_of(value)) != 1:
        raise t.refuse(
            node, f"np.{name} of {described(value)}", why="kernels do that with arrays of one dim"
        )
    return value


def _searchsorted(t: Translation, node: ast.Call, values: Values) -> Number:
    arguments(t, node, values, 2, 3)
    array, span = _one_dim(t, node, values[0], "searchsorted"), t.span(node)
    side = values[2].value if len(values) > 2 and isinstance(values[2], Static) else "left"
    if elementwise.shape_of(values[1]) or side not in ("left", "right"):
        raise t.refuse(node, "np.searchsorted of an array", help="call it for each number")
    function: Any = _FUNCTIONS.search_left if side == "left" else _FUNCTIONS.search_right
    found = run_function(
        t, node, function, {"a": array, "v": t.fixed(as_number(t, values[1], span))}
    )
    return Number(as_number(t, found, span).expr, "numpy", span)


def _sort_in_place(t: Translation, node: ast.Call, values: Values) -> Value:
    """`a.sort()`."""
    arguments(t, node, values, 1, 1)
    array = _one_dim(t, node, values[0], "sort")
    if isinstance(array, Elementwise):
        storing.store(t, array)
    if not isinstance(array, ArrayRef) or array.dtype.is_complex:
        raise t.refuse(node, f"sorting {described(array)}")
    elements.writable(t, array, t.span(node))
    run_function(t, node, _FUNCTIONS.sort, {"a": array})
    return Static(None)


def _sorted(t: Translation, node: ast.Call, values: Values) -> Value:
    """`np.sort(a)`."""
    arguments(t, node, values, 1, 1)
    copy = fresh.copied(t, _one_dim(t, node, values[0], "sort"), None, t.span(node))
    _sort_in_place(t, node, [copy])
    return copy


def _argsort(t: Translation, node: ast.Call, values: Values) -> Value:
    arguments(t, node, values, 1, 1)
    array, span = _one_dim(t, node, values[0], "argsort"), t.span(node)
    shape = elementwise.shape_of(array)
    places, other = (fresh.make(t, shape, INT64, span) for _ in range(2))
    env = {"a": array, "places": places, "other": other}
    run_function(t, node, _FUNCTIONS.argsort, env)
    return places


def _dot(t: Translation, node: ast.Call, values: Values) -> Value:
    arguments(t, node, values, 2, 2)
    return matrices.product(t, values, t.span(node))


_METHODS: dict[str, Row] = {
    "dot": _dot, "sort": _sort_in_place, "argsort": _argsort, "searchsorted": _searchsorted,
}  # fmt: skip
METHODS = frozenset(_METHODS)
_ROWS: dict[Any, Row] = {
    np.dot: _dot,
    np.matmul: _dot,
    np.searchsorted: _searchsorted,
    np.sort: _sorted,
    np.argsort: _argsort,
}
