"""Functions of each element that take more arguments: `np.clip(a, low, high)`, `round(x, 2)`,
`np.isclose(a, b)`, `np.nan_to_num(a)`.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from fusewright.base.errors import KernelTypeError
from fusewright.base.source import Span
from fusewright.frontends.kernels import (
    decimals,
    elements,
    elementwise,
    functions,
    reductions,
    types,
)
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.functions import numpy_form
from fusewright.frontends.kernels.named import Given, Named, is_absent
from fusewright.frontends.kernels.operators import apply, folded
from fusewright.frontends.kernels.values import Number, Value, described
from fusewright.ir.dtypes import FLOAT64
from fusewright.ir.expr import const, op


def row_of(function: Any) -> Named | None:
    """How a call of one of NumPy's functions is translated."""
    try:
        return ROWS.get(numpy_form(function))
    except TypeError:
        return None


def method(name: str) -> Named | None:
    """How `a.name(...)` is translated."""
    return METHODS.get(name)


def mapped(
    t: Translation, values: list[Value], function: Callable[[list[Number]], Number], span: Span
) -> Value:
    """A function of numbers, of each element where there are arrays."""
    if any(elementwise.shape_of(value) for value in values):
        return elementwise.computed(t, values, function, span)
    numbers = [elements.as_number(t, value, span) for value in values]
    return Number(function(numbers).expr, "numpy", span)


def _clip(t: Translation, node: ast.Call, given: Given) -> Value:
    span = t.span(node)
    value = given["a"]
    for name, limit in (("maximum", "a_min"), ("minimum", "a_max")):
        if not is_absent(given, limit):
            value = functions.ufunc(t, name, [value, given[limit]], span)
    return value


def _numpy_round(t: Translation, node: ast.Call, given: Given) -> Value:
    """`np.round`: multiplied, rounded to a whole number, divided, as NumPy does."""
    span = t.span(node)
    value = given["a"]
    digits = types.literal(0, span)
    if not is_absent(given, "decimals"):
        digits = decimals.number_of_digits(t, given["decimals"], span)
    dtype = elementwise.dtype_of(t, value, span) if elementwise.shape_of(value) else (
        elements.as_number(t, value, span).dtype
    )  # fmt: skip
    if dtype.is_integer:
        if digits.literal is None or digits.literal < 0:
            raise KernelTypeError(
                "np.round of integers to tens", span, help="divide them: a // 10 * 10"
            )
        return mapped(t, [value], lambda x: x[0], span)
    if dtype.is_complex:
        raise KernelTypeError("np.round of complex numbers", span, help="round the parts")
    return mapped(t, [value], lambda x: decimals.scaled(t, x[0], digits, span), span)


def _python_round(t: Translation, node: ast.Call, given: Given) -> Value:
    """`round(x)` is an int; `round(x, digits)` has the type of x."""
    span = t.span(node)
    x = elements.as_number(t, given["number"], span)
    if is_absent(given, "ndigits"):
        if x.literal is not None:
            return folded(lambda a, _: round(a), x.literal, None, span)
        return functions.whole("rint", x, span)
    digits = decimals.number_of_digits(t, given["ndigits"], span)
    if x.origin == "numpy":
        return _numpy_round(t, node, {"a": x, "decimals": digits})
    if x.literal is not None and digits.literal is not None:
        return folded(round, x.literal, digits.literal, span)
    if x.origin == "either" or x.dtype.is_complex:
        raise KernelTypeError(
            f"round of {described(x)} to digits", span, help="convert it, as in float(x)"
        )
    return decimals.exact(t, t.fixed(x), digits, span)


def _number_instead(t: Translation, node: ast.Call, given: Given) -> Value:
    """`np.nan_to_num`: 0 for what is no number, the greatest numbers for infinities."""
    span = t.span(node)

    def known(each: list[Number]) -> Number:
        x = each[0]
        if not x.dtype.is_float:
            return Number(x.expr, "numpy", span)
        most = const(float(np.finfo(x.dtype.numpy).max), x.dtype)
        found = op("where", op("equal", x.expr, x.expr), x.expr, const(0.0, x.dtype))
        found = op("minimum", op("maximum", found, op("negative", most)), most)
        return Number(found, "numpy", span)

    return mapped(t, [given["a"]], known, span)


def _tolerance(given: Given, name: str, usual: float, span: Span) -> Number:
    value = given.get(name)
    if value is None:
        return types.literal(usual, span)
    if not isinstance(value, Number):
        raise KernelTypeError(f"`{name}` that is no number", span)
    return value


def _is_close(t: Translation, node: ast.Call, given: Given) -> Value:
    """`np.isclose`: |a - b| <= atol + rtol * |b|, or both one infinity."""
    span = t.span(node)
    rtol, atol = (
        t.fixed(_tolerance(given, name, usual, span))
        for name, usual in (("rtol", 1e-5), ("atol", 1e-8))
    )
    limits = [types.converted(each, FLOAT64, span) for each in (rtol, atol)]

    def close(each: list[Number]) -> Number:
        x, y = (types.converted(number, FLOAT64, span) for number in each)
        room = op("add", limits[1], op("multiply", limits[0], op("absolute", y)))
        near = op("less_equal", op("absolute", op("subtract", x, y)), room)
        finite = op("less", op("absolute", y), const(np.inf, FLOAT64))
        found = op("logical_or", op("logical_and", near, finite), op("equal", x, y))
        return Number(found, "numpy", span)

    return mapped(t, [given["a"], given["b"]], close, span)


def _all_close(t: Translation, node: ast.Call, given: Given) -> Value:
    found = _is_close(t, node, given)
    if not isinstance(found, Number):
        found = reductions.METHODS["all"].row(t, node, {"a": found})
    assert isinstance(found, Number)
    return Number(found.expr, "python", t.span(node))


def _all_equal(t: Translation, node: ast.Call, given: Given) -> Value:
    """`np.array_equal` of arrays of one shape, which is looked at."""
    span = t.span(node)
    shapes = [elementwise.shape_of(given[name]) for name in ("a", "b")]
    if len(shapes[0]) != len(shapes[1]):
        return types.literal(False, span)
    for one, other in zip(*shapes, strict=True):
        elementwise.fit(t, one, other, span)
    same = mapped(t, [given["a"], given["b"]], lambda x: apply(t, "equal", x, span), span)
    if not isinstance(same, Number):
        same = reductions.METHODS["all"].row(t, node, {"a": same})
    assert isinstance(same, Number)
    return Number(same.expr, "python", span)


_CLOSE = ("a", "b", "rtol", "atol")
_CLIP = Named(("a", "a_min", "a_max"), _clip, 2)
_ROUND = Named(("a", "decimals"), _numpy_round)
ROWS: dict[Any, Named] = {
    builtins.round: Named(("number", "ndigits"), _python_round),
    np.clip: _CLIP,
    np.round: _ROUND,
    np.around: _ROUND,
    np.nan_to_num: Named(("a",), _number_instead),
    np.isclose: Named(_CLOSE, _is_close, 2),
    np.allclose: Named(_CLOSE, _all_close, 2),
    np.array_equal: Named(("a", "b"), _all_equal, 2),
}
METHODS: dict[str, Named] = {"clip": _CLIP, "round": _ROUND}
