"""Arrays in another form: `a.reshape(n, -1)`, `a.ravel()`, `a.flat`, `a.transpose(...)`,
`np.expand_dims(a, 0)`.

The elements stay where they are: a place of the new form is counted through and taken apart again.

    a.reshape(-1)[k]   ->   a[k // m, k % m]
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from fusewright.base.errors import KernelIndexError
from fusewright.base.source import Span
from fusewright.frontends.kernels import elements, elementwise, orders, vectors
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.elements import as_number
from fusewright.frontends.kernels.functions import numpy_form
from fusewright.frontends.kernels.named import Given, Named, axes, axis, is_absent
from fusewright.frontends.kernels.values import (
    Elementwise,
    Number,
    Order,
    SliceValue,
    Static,
    TupleValue,
    Value,
    describe,
)
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, cast, const, typed_op

Places = tuple[Expr, ...]
ZERO, ONE = const(0, INT64), const(1, INT64)
_MISFIT = "an array of {} elements cannot have a shape of {}"


def row_of(function: Any) -> Named | None:
    """How a call of one of NumPy's functions is translated."""
    try:
        return ROWS.get(numpy_form(function))
    except TypeError:
        return None


def method(name: str) -> Named | None:
    """How `a.name(...)` is translated."""
    return METHODS.get(name)


# -- shapes ---------------------------------------------------------------------------------------


def reshaped(t: Translation, value: Value, shape: Sequence[Expr], span: Span) -> Elementwise:
    """The elements in C order under another shape; -1 for what follows from the others."""
    own = tuple(map(elements.size, elementwise.shape_of(value)))
    shape = _completed(t, own, shape, span)
    elementwise.fit(t, product(own), product(shape), span, _MISFIT)
    alike = [linear.distance(a, b) == 0 for a, b in zip(_long(own), _long(shape), strict=False)]
    same = all(alike) and len(_long(own)) == len(_long(shape))
    order = orders.order_of(t, value)
    return elementwise.formed(
        t,
        value,
        tuple(shape),
        partial(_moved, tuple(own), tuple(shape)),
        ("reshape", tuple(shape)),
        span,
        order if same else Order.CONTIGUOUS,
        sure=same or order is Order.CONTIGUOUS or len(_long(own)) < 2,
    )


def product(extents: Sequence[Expr]) -> Expr:
    """How many elements a shape has."""
    return reduce(linear.times, extents, ONE)


def _long(shape: Sequence[Expr]) -> list[Expr]:
    """The dims that may have more than one element."""
    return [extent for extent in shape if linear.constant(extent) != 1]


def _completed(
    t: Translation, own: Sequence[Expr], shape: Sequence[Expr], span: Span
) -> tuple[Expr, ...]:
    """With the extent that -1 stands for."""
    open_ = [place for place, extent in enumerate(shape) if linear.constant(extent) == -1]
    if len(open_) > 1:
        raise KernelIndexError("a shape with more than one -1", span)
    if not open_:
        return tuple(elements.size(extent) for extent in shape)
    left, others = list(own), []
    for extent in (extent for n, extent in enumerate(shape) if n not in open_):
        match = next((each for each in left if linear.distance(each, extent) == 0), None)
        if match is None:
            others.append(extent)
        else:
            left.remove(match)
    rest, room = product(left), product(others)
    literal = [linear.constant(each) for each in (rest, room)]
    if literal[1] == 1:
        missing = rest
    elif None not in literal and literal[1]:
        missing = const((literal[0] or 0) // literal[1], INT64)
    else:
        quotient = typed_op("floor_divide", INT64, rest, elements.size(room))
        missing = t.fixed(Number(quotient, "python", span)).expr
    return tuple(missing if n in open_ else extent for n, extent in enumerate(shape))


def _moved(own: Places, shape: Places, places: Places) -> Places:
    """Where the element at a place of the new shape is in the old one."""
    new = [(k, n) for k, n in zip(places, shape, strict=True) if linear.constant(n) != 1]
    old = _long(own)
    first: list[Expr] = []
    while new and old and linear.distance(new[0][1], old[0]) == 0:
        first.append(new.pop(0)[0])
        old = old[1:]
    last: list[Expr] = []
    while new and old and linear.distance(new[-1][1], old[-1]) == 0:
        last.insert(0, new.pop()[0])
        old = old[:-1]
    count = reduce(
        lambda so_far, each: linear.plus(linear.times(so_far, each[1]), each[0]), new, ZERO
    )
    found = iter([*first, *_apart(count, old), *last])
    return tuple(ZERO if linear.constant(n) == 1 else next(found) for n in own)


def _apart(count: Expr, extents: Sequence[Expr]) -> list[Expr]:
    """The place of the element that is counted so."""
    found: list[Expr] = []
    for extent in reversed(extents[1:]):
        found.insert(0, typed_op("remainder", INT64, count, extent))
        count = typed_op("floor_divide", INT64, count, extent)
    return [count, *found] if extents else []


def flat(t: Translation, value: Value, span: Span) -> Elementwise:
    """`a.flat`: the elements in C order, wherever they are."""
    own = tuple(map(elements.size, elementwise.shape_of(value)))
    shape = (product(own),)
    order = Order.CONTIGUOUS if orders.order_of(t, value) is Order.CONTIGUOUS else Order.UNKNOWN
    step = ("reshape", shape)
    return elementwise.formed(t, value, shape, partial(_moved, own, shape), step, span, order)


def copied(t: Translation, value: Value, span: Span) -> Elementwise:
    """What its elements are now."""
    return elementwise.computed(t, [value], lambda each: each[0], span)


# -- rows -----------------------------------------------------------------------------------------


def extents(t: Translation, value: Value, span: Span) -> list[Expr]:
    """A shape that is given as a number or a tuple."""
    items = value.items if isinstance(value, TupleValue) else (value,)
    numbers = [as_number(t, item, span) for item in items]
    for number in numbers:
        if not number.dtype.is_integer:
            raise KernelIndexError(
                f"{describe(number)} as the size of a dim", span, help="convert it with int()"
            )
    return [t.fixed(Number(cast(n.expr, INT64), "python", span)).expr for n in numbers]


def array(t: Translation, value: Value, span: Span) -> Value:
    """The array, or the number as an array of one element; a tuple of numbers as an array."""
    if isinstance(value, TupleValue):
        return vectors.from_items(t, value.items, span)
    if elementwise.shape_of(value):
        return value
    number = t.fixed(as_number(t, value, span))
    number = Number(number.expr, "numpy", span)
    return Elementwise((ONE,), lambda _: number, span, Order.CONTIGUOUS)


def _in_c_order(t: Translation, node: ast.Call, given: Given) -> None:
    order = given.get("order")
    if order is not None and not (isinstance(order, Static) and order.value == "C"):
        raise t.refuse(node, "another order of elements than C's", help="leave out order=")


def _reshape(t: Translation, node: ast.Call, given: Given) -> Value:
    _in_c_order(t, node, given)
    span = t.span(node)
    return reshaped(t, array(t, given["a"], span), extents(t, given["shape"], span), span)


def _ravel(t: Translation, node: ast.Call, given: Given) -> Value:
    _in_c_order(t, node, given)
    span = t.span(node)
    return reshaped(t, array(t, given["a"], span), [const(-1, INT64)], span)


def _flatten(t: Translation, node: ast.Call, given: Given) -> Value:
    return copied(t, _ravel(t, node, given), t.span(node))


def _transpose(t: Translation, node: ast.Call, given: Given) -> Value:
    value, span = given["a"], t.span(node)
    rank = len(elementwise.shape_of(value))
    turned = tuple(range(rank))[::-1]
    if not is_absent(given, "axes"):
        turned = axes(given, "axes", rank, span)
    if len(turned) != rank:
        raise KernelIndexError(f"{len(turned)} axes for an array of {rank} dims", span)
    return elementwise.transposed(t, value, turned, span) if rank > 1 else value


def _swapaxes(t: Translation, node: ast.Call, given: Given) -> Value:
    value, span = given["a"], t.span(node)
    turned = list(range(len(elementwise.shape_of(value))))
    first, second = (axis(given[name], len(turned), span) for name in ("axis1", "axis2"))
    turned[first], turned[second] = second, first
    return elementwise.transposed(t, value, turned, span)


def _moveaxis(t: Translation, node: ast.Call, given: Given) -> Value:
    value, span = given["a"], t.span(node)
    turned = list(range(len(elementwise.shape_of(value))))
    source, target = (axis(given[name], len(turned), span) for name in ("source", "destination"))
    turned.remove(source)
    turned.insert(target, source)
    return elementwise.transposed(t, value, turned, span)


def with_ones(t: Translation, value: Value, at: Sequence[int], span: Span) -> Elementwise:
    """Dims of one element more, at these places of the result."""
    rank = len(elementwise.shape_of(value)) + len(at)
    indices = [Static(None) if n in at else SliceValue(None, None, 1) for n in range(rank)]
    return elementwise.with_new_dims(t, value, indices, span)


def _expand_dims(t: Translation, node: ast.Call, given: Given) -> Value:
    value, span = given["a"], t.span(node)
    added = given["axis"].items if isinstance(given["axis"], TupleValue) else (given["axis"],)
    rank = len(elementwise.shape_of(value)) + len(added)
    return with_ones(t, value, axes(given, "axis", rank, span), span)


def _squeeze(t: Translation, node: ast.Call, given: Given) -> Value:
    value, span = given["a"], t.span(node)
    shape = elementwise.shape_of(value)
    literal = [linear.constant(extent) for extent in shape]
    gone: Sequence[int] = [n for n, extent in enumerate(literal) if extent == 1]
    if not is_absent(given, "axis"):
        gone = axes(given, "axis", len(shape), span)
    elif None in literal:
        raise t.refuse(
            node,
            "np.squeeze without an axis",
            why="which dims have one element is only known at the call, and how many dims the "
            "result has is decided when the kernel is compiled",
            help="name it: np.squeeze(a, axis=0)",
        )
    for each in gone:
        elementwise.fit(t, ONE, shape[each], span, "a dim of {1} elements is taken for one of {0}")
    kept = tuple(extent for n, extent in enumerate(shape) if n not in gone)
    if not kept:
        return elementwise.element_of(t, value, (ZERO,) * len(shape), span)

    def inside(places: Places) -> Places:
        found = iter(places)
        return tuple(ZERO if n in gone else next(found) for n in range(len(shape)))

    order = orders.order_of(t, value)
    return elementwise.formed(t, value, kept, inside, ("reshape", kept), span, order)


def _at_least(rank: int) -> Callable[[Translation, ast.Call, Given], Value]:
    """`np.atleast_1d` and its like."""

    def row(t: Translation, node: ast.Call, given: Given) -> Value:
        value, span = array(t, given["a"], t.span(node)), t.span(node)
        own = len(elementwise.shape_of(value))
        if own >= rank:
            return value
        if rank == 3:
            return with_ones(t, value, (0, 2) if own == 1 else (2,), span)
        return with_ones(t, value, tuple(range(rank - own)), span)

    return row


def _turned(*dims: int) -> Callable[[Translation, ast.Call, Given], Value]:
    """`np.flip` and its like: `a[::-1]`."""

    def row(t: Translation, node: ast.Call, given: Given) -> Value:
        value, span = given["a"], t.span(node)
        rank = len(elementwise.shape_of(value))
        if any(dim >= rank for dim in dims):
            raise KernelIndexError(f"an array of {rank} dims where more are needed", span)
        turned = dims or axes(given, "axis", rank, span)
        indices = [SliceValue(None, None, -1 if n in turned else 1) for n in range(rank)]
        return elementwise.part(t, value, indices, span)

    return row


_RESHAPE = Named(("a", "shape", "order"), _reshape, 2)
_RAVEL = Named(("a", "order"), _ravel)
_FLIP = Named(("a", "axis"), _turned())
ROWS: dict[Any, Named] = {
    np.reshape: _RESHAPE,
    np.ravel: _RAVEL,
    np.transpose: Named(("a", "axes"), _transpose),
    np.swapaxes: Named(("a", "axis1", "axis2"), _swapaxes, 3),
    np.moveaxis: Named(("a", "source", "destination"), _moveaxis, 3),
    np.expand_dims: Named(("a", "axis"), _expand_dims, 2),
    np.squeeze: Named(("a", "axis"), _squeeze),
    np.atleast_1d: Named(("a",), _at_least(1)),
    np.atleast_2d: Named(("a",), _at_least(2)),
    np.atleast_3d: Named(("a",), _at_least(3)),
    np.flip: _FLIP,
    np.flipud: Named(("a",), _turned(0)),
    np.fliplr: Named(("a",), _turned(1)),
}
METHODS: dict[str, Named] = {
    "ravel": _RAVEL,
    "flatten": Named(("a", "order"), _flatten),
    "swapaxes": ROWS[np.swapaxes],
    "squeeze": ROWS[np.squeeze],
}
SPREAD: dict[str, Named] = {"reshape": _RESHAPE, "transpose": ROWS[np.transpose]}
"""Methods that take a tuple, or its items one by one."""
