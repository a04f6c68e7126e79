"""What a loop runs over: ranges and nests of them, arrays, and several things side by side."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fusewright.base.errors import KernelCallError
from fusewright.base.source import Span
from fusewright.frontends.kernels import access, elements, language, lists, types
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.intrinsics import Row, Values, arguments
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Elementwise,
    Free,
    Growing,
    Number,
    Space,
    Static,
    TupleValue,
    Unrolled,
    Value,
    Zipped,
    describe,
    described,
)
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, op, typed_op

MOST_UNROLLED = 4096
"""Iterations a static loop is written out for."""


def row_of(target: Any) -> Row | None:
    """How a call that makes something to loop over is translated; None for another one."""
    try:
        return _ROWS.get(range if is_of_numba(target, "prange") else target)
    except TypeError:
        return None


def is_of_numba(target: Any, name: str) -> bool:
    """Whether something is Numba's function of that name, which is not imported for that."""
    module = str(getattr(target, "__module__", "")).split(".")[0]
    return module == "numba" and getattr(target, "__name__", "") == name


def _plain(function: Row) -> Row:
    """A function that takes no keywords."""

    def row(t: Translation, node: ast.Call, values: Values) -> Value:
        if node.keywords:
            raise t.refuse(node, f"{ast.unparse(node.func)} takes no keywords in a kernel")
        return function(t, node, values)

    return row


# -- ranges -------------------------------------------------------------------------------------


def _a_range(t: Translation, node: ast.Call, values: Values) -> Value:
    arguments(t, node, values, 1, 3)
    return Space((_range(t, node, values),), (0,), "range")


def _ndrange(t: Translation, node: ast.Call, values: Values) -> Value:
    pairs = [value.items if isinstance(value, TupleValue) else (value,) for value in values]
    if not pairs or any(len(pair) > 2 for pair in pairs):
        raise t.refuse(node, "fw.ndrange takes lengths and pairs (low, high)")
    dims = tuple(_range(t, node, pair) for pair in pairs)
    return Space(dims, _axes(t, node, len(dims)), "ndrange")


def _grouped(t: Translation, node: ast.Call, values: Values) -> Value:
    arguments(t, node, values, 1, 1)
    if isinstance(values[0], Space) and values[0].form == "ndrange":
        return Space(values[0].dims, values[0].order, "grouped")
    raise t.refuse(node, "fw.grouped of something that is no fw.ndrange")


def _ndindex(t: Translation, node: ast.Call, values: Values) -> Value:
    """`np.ndindex(shape)`: tuples."""
    if len(values) == 1 and isinstance(values[0], TupleValue):
        values = values[0].items
    if not values:
        raise t.refuse(node, "np.ndindex of no dims")
    dims = tuple(_range(t, node, [value]) for value in values)
    return Space(dims, tuple(range(len(dims))), "grouped")


def _axes(t: Translation, node: ast.Call, rank: int) -> tuple[int, ...]:
    if not node.keywords:
        return tuple(range(rank))
    if len(node.keywords) > 1 or node.keywords[0].arg != "axes":
        raise t.refuse(node, "fw.ndrange takes lengths, pairs, and axes=")
    value = t.expression(node.keywords[0].value)
    items = value.items if isinstance(value, TupleValue) else ()
    axes = tuple(item.literal if isinstance(item, Number) else None for item in items)
    if sorted(axis for axis in axes if axis is not None) != list(range(rank)):
        raise KernelCallError(f"axes must name each of the {rank} dims once", t.span(node))
    return tuple(int(axis or 0) for axis in axes)


def _range(t: Translation, node: ast.Call, values: Values) -> tuple[Number, Number, Number]:
    span = t.span(node)
    numbers = [elements.as_number(t, value, span) for value in values]
    for number in numbers:
        if not number.dtype.is_integer:
            raise KernelCallError(f"a range over {described(number)}", span, help="use int(x)")
    numbers = [Number(types.converted(n, INT64, span), n.origin, n.span) for n in numbers]
    zero, one = types.literal(0, span), types.literal(1, span)
    if len(numbers) == 1:
        return zero, numbers[0], one
    step = numbers[2] if len(numbers) > 2 else one
    if step.literal == 0:
        raise KernelCallError("range() with a step of 0", span)
    return numbers[0], numbers[1], step


# -- written out ----------------------------------------------------------------------------------


def _static(t: Translation, node: ast.Call, values: Values) -> Value:
    arguments(t, node, values, 1, 1)
    value = values[0]
    if isinstance(value, TupleValue):
        return Unrolled(value.items)
    if isinstance(value, Static) or (isinstance(value, Number) and value.expr.name == "const"):
        return value
    known = known_items(t, node, value)
    if known is not None:
        return Unrolled(known)
    raise KernelCallError(
        f"fw.static of {described(value)} that is not known when the kernel is compiled",
        t.span(node),
        why="the extents and elements of arrays are not part of the key",
        help="use a literal, a closed-over number, or an argument by itself: fw.static(n)",
    )


def known_items(t: Translation, node: ast.AST, value: Value) -> tuple[Value, ...] | None:
    """The items of something whose length is known when the kernel is compiled."""
    if isinstance(value, TupleValue | Unrolled):
        return value.items
    if isinstance(value, Space):
        bounds = [[n.literal for n in dim] for dim in value.dims]
        if all(bound is not None for dim in bounds for bound in dim):
            return tuple(_positions(t, node, value, bounds))
    if isinstance(value, ArrayRef) and value.local and value.shape[0].name == "const":
        return elements.items_of(t, value, node)
    return None


def _positions(t: Translation, node: ast.AST, space: Space, bounds: list[list[Any]]) -> list[Value]:
    span = t.span(node)
    if space.form == "range":
        positions: list[Any] = list(range(*bounds[0])[: MOST_UNROLLED + 1])
    else:
        pairs = [(low, high) for low, high, _ in bounds]
        positions = list(language.ndrange(*pairs, axes=space.order))
    if len(positions) > MOST_UNROLLED:
        raise KernelCallError(f"a static loop of more than {MOST_UNROLLED} iterations", span)
    return [
        TupleValue(tuple(types.literal(k, span) for k in place))
        if isinstance(place, tuple)
        else types.literal(place, span)
        for place in positions
    ]


# -- several things side by side ------------------------------------------------------------------


def _zip(t: Translation, node: ast.Call, values: Values) -> Value:
    strict = [t.expression(keyword.value) for keyword in node.keywords if keyword.arg == "strict"]
    if len(strict) < len(node.keywords):
        raise t.refuse(node, "zip takes things to loop over, and strict=")
    if t.settings.check and any(isinstance(s, Number) and s.literal is True for s in strict):
        first, *others = (length(t, value, node) for value in values)
        for other in others:
            message = "zip(strict=True) of things of {} and {} items"
            t.check(op("equal", first, other), "bounds", message, (first, other), t.span(node))
    return side_by_side(t, node, values)


def _enumerate(t: Translation, node: ast.Call, values: Values) -> Value:
    keywords = [keyword.value for keyword in node.keywords if keyword.arg == "start"]
    if len(keywords) < len(node.keywords):
        raise t.refuse(node, "enumerate takes something to loop over, and start=")
    values = [*values, *(t.expression(keyword) for keyword in keywords)]
    arguments(t, node, values, 1, 2)
    span = t.span(node)
    start = elements.whole(values[1], span) if len(values) > 1 else types.literal(0, span)
    low = Number(types.converted(start, INT64, span), "python", span)
    extent = length(t, values[0], node)
    high = Number(linear.plus(low.expr, extent), "python", span)
    counted = Space(((low, high, types.literal(1, span)),), (0,), "range")
    return side_by_side(t, node, (counted, values[0]))


def _reversed(t: Translation, node: ast.Call, values: Values) -> Value:
    arguments(t, node, values, 1, 1)
    value, span = values[0], t.span(node)
    if isinstance(value, TupleValue | Unrolled):
        return replace(value, items=value.items[::-1])
    if isinstance(value, Space) and value.form == "range":
        low, _, step = value.dims[0]
        last = linear.plus(low.expr, scaled(linear.minus(count(*value.dims[0]), 1), step))
        end = linear.minus(low.expr, step.expr)
        back = types.literal(-step.literal, span) if step.literal is not None else (
            Number(op("negative", step.expr), "python", span)
        )  # fmt: skip
        dim = (Number(last, "python", span), Number(end, "python", span), back)
        return replace(value, dims=(dim,))
    if isinstance(value, ArrayRef) and value.shape and not value.local:
        kept = elements.window_of(value)
        place, part = next((k, part) for k, part in enumerate(kept) if isinstance(part, Free))
        last = linear.times(linear.minus(part.extent, 1), part.stride)
        turned = Free(linear.plus(part.offset, last), part.extent, -part.stride)
        window = (*kept[:place], turned, *kept[place + 1 :])
        return replace(value, indices=(), window=window)
    if isinstance(value, Growing):
        turned_copy = lists.copied(t, value, span)
        lists.reverse(t, turned_copy, span)
        return turned_copy
    raise t.refuse(node, f"reversed of {described(value)}", help="loop over a range downwards")


def side_by_side(t: Translation, node: ast.Call, values: Values) -> Value:
    """`zip`: written out where all are, or where a tuple meets what has a known length."""
    if not values:
        return Unrolled(())
    if not any(isinstance(value, TupleValue | Unrolled) for value in values):
        kept = (v if isinstance(v, Elementwise) else t.lasting(v) for v in values)
        return Zipped(tuple(kept))
    counts = [linear.constant(length(t, value, node)) for value in values]
    known = [n for n in counts if n is not None]
    if len(known) < len(counts) or min(known) > MOST_UNROLLED:
        raise t.refuse(
            node,
            "a tuple beside something whose length is not known when the kernel is compiled",
            why="a loop over a tuple is written out",
            help="use fw.vector(...) for the tuple, or loop over a range",
        )
    places = [const(k, INT64) for k in range(max(0, min(known)))]
    span = t.span(node)
    return Unrolled(tuple(item_of_all(t, values, place, span, node) for place in places))


def length(t: Translation, value: Value, node: ast.AST) -> Expr:
    """How many items something has; below 0 means none."""
    if isinstance(value, TupleValue | Unrolled):
        return const(len(value.items), INT64)
    if isinstance(value, Space) and value.form == "range":
        return count(*value.dims[0])
    if isinstance(value, ArrayRef | Elementwise) and value.shape:
        return value.shape[0]
    if isinstance(value, Growing):
        return t.fixed(Number(lists.length(value), "python", t.span(node))).expr
    if isinstance(value, Zipped):
        shortest, *others = dict.fromkeys(length(t, part, node) for part in value.parts)
        for other in others:
            shortest = op("minimum", shortest, other)
        return shortest
    raise t.refuse(
        node,
        f"a loop over {describe(value)}",
        why="a kernel's loops run over ranges, arrays, tuples, and these side by side",
        help="write `for i in range(n):`",
    )


def item(t: Translation, value: Value, place: Expr, span: Span, node: ast.AST) -> Value:
    """The item at a place, counted from 0."""
    if isinstance(value, TupleValue | Unrolled):
        known: Value = value.items[place.attr]
        return known
    if isinstance(value, Zipped):
        return item_of_all(t, value.parts, place, span, node)
    if isinstance(value, Space):
        low, _, step = value.dims[0]
        return Number(linear.plus(low.expr, scaled(place, step)), "python", span)
    if isinstance(value, Growing):
        return lists.item_at(t, value, place, span)
    return access.element_of(t, value, Number(place, "python", span), span, node)


def walk(t: Translation, node: ast.AST) -> lists.Walk:
    """How something is walked through, in the order of its items."""
    span = t.span(node)

    def walked(value: Value) -> tuple[Expr, Callable[[Expr], Value]]:
        return length(t, value, node), lambda place: item(t, value, place, span, node)

    return walked


def item_of_all(
    t: Translation, values: Values, place: Expr, span: Span, node: ast.AST
) -> TupleValue:
    """The items at a place of several things."""
    return TupleValue(tuple(item(t, value, place, span, node) for value in values))


def unrolled_items(value: Value) -> tuple[Value, ...] | None:
    """The items of something a loop is written out for; None for what a loop runs over."""
    return value.items if isinstance(value, Unrolled | TupleValue) else None


# -- counting -----------------------------------------------------------------------------------


def scaled(here: Expr, step: Number) -> Expr:
    """So many steps."""
    return linear.times(here, step.expr) if step.literal is not None else op(
        "multiply", here, step.expr
    )  # fmt: skip


def are_bounds_named(t: Translation, iterable: ast.expr, mark: int) -> bool:
    """Fix what a range goes over, under the hidden names `·count`, `·low` and `·step` with a mark;
    False where it is no range.
    """
    space = t.expression(iterable)
    if not isinstance(space, Space) or space.form != "range":
        return False
    low, high, step = (t.fixed(bound, "bound") for bound in space.dims[0])
    turns = typed_op("imax", INT64, count(low, high, step), const(0, INT64))
    known = t.fixed(Number(turns, "python", t.span(iterable)))
    for name, value in (("count", known), ("low", low), ("step", step)):
        t.frame.env[f"·{name}{mark}"] = value
    return True


def count(low: Number, high: Number, step: Number) -> Expr:
    """How often `range(low, high, step)` runs; negative or 0 means never."""
    first, end = low.expr, high.expr
    if step.literal is not None:
        stride = abs(step.literal)
        room = linear.minus(end, first) if step.literal > 0 else linear.minus(first, end)
        if stride == 1:
            return room
        raised = linear.plus(room, stride - 1)
        known = linear.constant(raised)
        if known is not None:
            return const(known // stride, INT64)
        return typed_op("floor_divide", INT64, raised, const(stride, INT64))
    zero, one = const(0, INT64), const(1, INT64)
    up = op("less", zero, step.expr)
    room = op("where", up, op("subtract", end, first), op("subtract", first, end))
    stride_expr = op("absolute", step.expr)
    raised = op("subtract", op("add", room, stride_expr), one)
    return typed_op("floor_divide", INT64, raised, stride_expr)


_ROWS: dict[Any, Row] = {
    range: _plain(_a_range),
    language.ndrange: _ndrange,
    language.grouped: _plain(_grouped),
    np.ndindex: _plain(_ndindex),
    language.static: _plain(_static),
    zip: _zip,
    enumerate: _enumerate,
    reversed: _plain(_reversed),
}
