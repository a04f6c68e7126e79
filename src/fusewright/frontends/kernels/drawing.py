"""`np.random.rand(n)` and its like in kernels: the numbers of NumPy's global generator, in its
order; the call hands over the generator's state and takes it back (`kernels.drawing`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fusewright.base.errors import KernelArrayError
from fusewright.base.source import Span
from fusewright.frontends.kernels import (
    elements,
    elementwise,
    fresh,
    gathering,
    lines,
    storing,
    twister,
    types,
    views,
)
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.elements import as_number
from fusewright.frontends.kernels.inlining import run_function
from fusewright.frontends.kernels.joining import whole_number
from fusewright.frontends.kernels.named import Given, Named, flag, is_absent
from fusewright.frontends.kernels.operators import apply
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Elementwise,
    Number,
    SliceValue,
    Static,
    TupleValue,
    Value,
    View,
    described,
)
from fusewright.ir.dtypes import FLOAT64, INT64
from fusewright.ir.expr import Expr, cast

_TWISTER: Any = twister
Draw = Callable[[Expr | None], Number]


def row_of(function: Any) -> Named | None:
    """How a call of one of NumPy's functions is translated."""
    try:
        return ROWS.get(function)
    except TypeError:
        return None


def method(name: str) -> Named | None:
    """Arrays have no methods of this kind."""
    del name
    return None


def _draw(t: Translation, node: ast.Call, function: Any, **more: Value) -> Number:
    """What one of the functions gives, with the state."""
    words, gauss = t.inputs.random()
    env: dict[str, Value] = {"words": words, **more}
    if "gauss" in function.__code__.co_varnames:
        env["gauss"] = gauss
    return as_number(t, run_function(t, node, function, env), t.span(node))


def _drawn(
    t: Translation, size: Value | None, draw: Callable[[], Number], kind: str, span: Span
) -> Value:
    """A number, or an array of so many: Python's numbers and NumPy's arrays."""
    if size is None or (isinstance(size, Static) and size.value is None):
        return Number(t.fixed(draw()).expr, "python", span)
    extents = [elements.size(each) for each in views.extents(t, size, span)]

    def element(_: Any) -> Number:
        return Number(draw().expr, "numpy", span)

    if not storing.may_have_memory(t, Elementwise(tuple(extents), element, span)):
        raise KernelArrayError(
            f"{kind} in an array of this size", span, help="fill an array in a loop"
        )
    return fresh.collected(t, extents, element, span)


def _real(t: Translation, value: Value | None, usual: float, span: Span) -> Number:
    if value is None:
        return types.literal(usual, span)
    if elementwise.shape_of(value):
        raise KernelArrayError(
            "random numbers with an array of parameters", span, help="write the loop"
        )
    number = as_number(t, value, span)
    return t.fixed(Number(types.converted(number, FLOAT64, span), "python", span))


def _sizes(function: Any) -> Callable[[Translation, ast.Call, Given], Value]:
    """`np.random.rand(d0, d1)` and `randn`: each argument is an extent."""

    def row(t: Translation, node: ast.Call, given: Given) -> Value:
        size = given.get("d")
        return _drawn(t, size, partial(_draw, t, node, function), "numbers", t.span(node))

    return row


def _sized(function: Any) -> Callable[[Translation, ast.Call, Given], Value]:
    """`np.random.random(size)`."""

    def row(t: Translation, node: ast.Call, given: Given) -> Value:
        draw = partial(_draw, t, node, function)
        return _drawn(t, given.get("size"), draw, "numbers", t.span(node))

    return row


def _uniform(t: Translation, node: ast.Call, given: Given) -> Value:
    span = t.span(node)
    low = _real(t, given.get("low"), 0.0, span)
    high = _real(t, given.get("high"), 1.0, span)
    apart = t.fixed(apply(t, "subtract", (high, low), span))
    draw = partial(_draw, t, node, _TWISTER.uniform, low=low, distance=apart)
    return _drawn(t, given.get("size"), draw, "numbers", span)


def _normal(t: Translation, node: ast.Call, given: Given) -> Value:
    span = t.span(node)
    middle = _real(t, given.get("loc"), 0.0, span)
    scale = _real(t, given.get("scale"), 1.0, span)

    def draw() -> Number:
        one = _draw(t, node, _TWISTER.normal)
        return apply(t, "add", (middle, apply(t, "multiply", (scale, one), span)), span)

    return _drawn(t, given.get("size"), draw, "numbers", span)


def _exponential(t: Translation, node: ast.Call, given: Given) -> Value:
    span = t.span(node)
    scale = _real(t, given.get("scale"), 1.0, span)

    def draw() -> Number:
        return apply(t, "multiply", (scale, _draw(t, node, _TWISTER.exponential)), span)

    return _drawn(t, given.get("size"), draw, "numbers", span)


def _integer(t: Translation, node: ast.Call, given: Given) -> Value:
    span = t.span(node)
    first = Number(whole_number(t, given["low"], "a bound", span), "python", span)
    ends = (types.literal(0, span), first)
    if not is_absent(given, "high"):
        ends = (first, Number(whole_number(t, given["high"], "a bound", span), "python", span))
    draw = partial(_draw, t, node, _TWISTER.integer, low=ends[0], high=ends[1])
    return _drawn(t, given.get("size"), draw, "numbers", span)


def _seed(t: Translation, node: ast.Call, given: Given) -> Value:
    span = t.span(node)
    words, _ = t.inputs.random()
    number = Number(whole_number(t, given["seed"], "a seed", span), "python", span)
    run_function(t, node, _TWISTER.seed, {"words": words, "number": number})
    return Static(None)


def _shuffle(t: Translation, node: ast.Call, given: Given) -> Value:
    array, span = given["x"], t.span(node)
    if isinstance(array, Elementwise) and not isinstance(array, View):
        storing.store(t, array)
    if not isinstance(array, ArrayRef | View) or len(array.shape) != 1:
        raise t.refuse(
            node,
            f"np.random.shuffle of {described(array)}",
            why="kernels do that with arrays of one dim",
            help="take rows by an order: a[np.random.permutation(len(a))]",
        )
    elements.writable(t, array, span)
    words, _ = t.inputs.random()
    run_function(t, node, _TWISTER.shuffle, {"words": words, "a": array})
    return Static(None)


def _ordered(t: Translation, node: ast.Call, count: Expr) -> Value:
    """`0 .. count - 1` in any order."""
    words, _ = t.inputs.random()
    out = fresh.make(t, (elements.size(count),), INT64, t.span(node))
    return run_function(t, node, _TWISTER.permutation, {"words": words, "out": out})


def _permutation(t: Translation, node: ast.Call, given: Given) -> Value:
    value, span = given["x"], t.span(node)
    shape = elementwise.shape_of(value)
    if not shape:
        return _ordered(t, node, whole_number(t, value, "a number of places", span))
    if len(shape) == 1:
        copy = fresh.copied(t, value, None, span)
        _shuffle(t, node, {"x": copy})
        return copy
    return gathering.read(t, value, [_ordered(t, node, shape[0])], node)


def _choice(t: Translation, node: ast.Call, given: Given) -> Value:
    span = t.span(node)
    pool = given["a"]
    if isinstance(pool, TupleValue):
        pool = views.array(t, pool, span)
    shape = elementwise.shape_of(pool)
    if len(shape) > 1:
        raise t.refuse(node, f"np.random.choice from {described(pool)}", help="choose its rows")
    count = shape[0] if shape else whole_number(t, pool, "a number of places", span)
    count = t.fixed(Number(elements.size(count), "python", span)).expr
    chosen = _places(t, node, given, count)
    if not shape:
        return chosen
    if isinstance(chosen, Number):
        return elementwise.part(t, pool, [chosen], span)
    return gathering.read(t, pool, [chosen], node)


def _different(t: Translation, node: ast.Call, given: Given, count: Expr) -> Value:
    """Places of which none comes twice: the first of all in any order."""
    span = t.span(node)
    if not is_absent(given, "p"):
        raise t.refuse(node, "np.random.choice with p= of different ones")
    order = _ordered(t, node, count)
    if is_absent(given, "size"):
        first = as_number(t, elementwise.part(t, order, [types.literal(0, span)], span), span)
        return Number(t.fixed(first).expr, "python", span)
    (wanted,) = views.extents(t, given["size"], span)
    ends = {"wanted": wanted, "count": count}
    env = {name: Number(each, "python", span) for name, each in ends.items()}
    run_function(t, node, _TWISTER.refuse_sample, env)
    return elementwise.part(t, order, [SliceValue(None, env["wanted"], 1)], span)


def _by_shares(t: Translation, node: ast.Call, given: Given) -> Value:
    """Places drawn as often as `p` says."""
    span = t.span(node)
    whole = lines.ROWS[np.cumsum].row(t, node, {"a": given["p"]})
    last = as_number(t, elementwise.part(t, whole, [types.literal(-1, span)], span), span)
    parts = elementwise.computed(
        t, [whole, t.fixed(last)], lambda x: apply(t, "divide", x, span), span
    )
    shares = fresh.copied(t, parts, None, span)
    draw = partial(_draw, t, node, _TWISTER.double)
    drawn = _drawn(t, given.get("size"), draw, "numbers", span)
    env = {"a": shares, "v": drawn, "side": Static("right")}
    found = lines.ROWS[np.searchsorted].row(t, node, env)
    return Number(found.expr, "python", span) if isinstance(found, Number) else found


def _places(t: Translation, node: ast.Call, given: Given, count: Expr) -> Value:
    span = t.span(node)
    size = given.get("size")
    if "replace" in given and not flag(given, "replace", span):
        return _different(t, node, given, count)
    if not is_absent(given, "p"):
        return _by_shares(t, node, given)
    high = Number(cast(count, INT64), "python", span)
    draw = partial(_draw, t, node, _TWISTER.integer, low=types.literal(0, span), high=high)
    return _drawn(t, size, draw, "numbers", span)


ROWS: dict[Any, Named] = {
    np.random.rand: Named(("d",), _sizes(_TWISTER.double), 0),
    np.random.randn: Named(("d",), _sizes(_TWISTER.normal), 0),
    np.random.random: Named(("size",), _sized(_TWISTER.double), 0),
    np.random.random_sample: Named(("size",), _sized(_TWISTER.double), 0),
    np.random.sample: Named(("size",), _sized(_TWISTER.double), 0),
    np.random.ranf: Named(("size",), _sized(_TWISTER.double), 0),
    np.random.standard_normal: Named(("size",), _sized(_TWISTER.normal), 0),
    np.random.uniform: Named(("low", "high", "size"), _uniform, 0),
    np.random.normal: Named(("loc", "scale", "size"), _normal, 0),
    np.random.exponential: Named(("scale", "size"), _exponential, 0),
    np.random.standard_exponential: Named(("size",), _sized(_TWISTER.exponential), 0),
    np.random.randint: Named(("low", "high", "size"), _integer),
    np.random.seed: Named(("seed",), _seed),
    np.random.shuffle: Named(("x",), _shuffle),
    np.random.permutation: Named(("x",), _permutation),
    np.random.choice: Named(("a", "size", "replace", "p"), _choice),
}
SPREAD = frozenset({np.random.rand, np.random.randn})
"""Functions that take a shape's extents one by one."""
