"""Array statements: `a[i, 1:-1] = b[i, 2:] * 0.5`, `a[i] *= f`, `a.fill(x)` become loops.

NumPy computes the right side wholly before it stores; the loops run in an order in which that makes
no difference (`overlap`).  Whether different arrays share memory is looked at in each call.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from fusewright.base.errors import KernelAliasError, KernelIndexError
from fusewright.base.source import Span
from fusewright.frontends.kernels import elements, elementwise, overlap, vectors
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.elements import as_number
from fusewright.frontends.kernels.operators import elements_combined
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Number,
    TupleValue,
    Value,
    View,
    described,
)
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64, DType
from fusewright.ir.expr import Expr, const, index
from fusewright.ir.loops.statements import Dim, For, If, Statement, Store, walk

Places = tuple[Expr, ...]
Stored = Callable[[ArrayRef, Places], Number]
"""What is stored in an element at these places."""
Condition = Callable[[Places], Number]
"""Whether an element at these places is written."""


class Overlap(KernelAliasError):
    """What is read is written before, in any order of the elements."""


def assign(
    t: Translation,
    part: ArrayRef | View,
    value: Value,
    span: Span,
    condition: Condition | None = None,
) -> None:
    """Every element, where the condition holds, becomes a number, or the element of an array or
    tuple.
    """
    if isinstance(value, TupleValue):
        _assign_items(t, part, value.items, span)
        return
    value = _fitting(t, part, value, span)

    def stored(element: ArrayRef, places: Places) -> Number:
        return elementwise.element_of(t, value, places, span)

    _each(t, part, stored, span, condition)


def _assign_items(
    t: Translation, part: ArrayRef | View, items: Sequence[Value], span: Span
) -> None:
    """`a[i] = x, y, z`."""
    if len(part.shape) > 1:
        raise KernelIndexError(
            "a tuple where an array of more than one dim is written",
            span,
            help="write it row by row, or np.array(...) of tuples",
        )
    numbers = [t.fixed(as_number(t, item, span)) for item in items]
    elementwise.fit(t, part.shape[0], const(len(numbers), INT64), span)
    for place, number in enumerate(numbers):
        elements.store(t, elements.at(part, (const(place, INT64),)), number, span)


def update(
    t: Translation, part: ArrayRef | View, sign: ast.operator, value: Value, span: Span
) -> None:
    """Every element is combined with a number, or with the element of an array."""
    value = _fitting(t, part, value, span)

    def stored(element: ArrayRef, places: Places) -> Number:
        before = elements.read(t, element, span)
        other = elementwise.element_of(t, value, places, span)
        result = elements_combined(t, sign, before, other, span)
        refuse_cast(t, result.dtype, part.dtype, span)
        return result

    _each(t, part, stored, span)


def refuse_cast(t: Translation, found: DType, own: DType, span: Span) -> None:
    """What an update gives must fit the array's type."""
    if not np.can_cast(found.numpy, own.numpy, "same_kind"):
        number = Number(const(0, found), "numpy", span)
        raise KernelIndexError(
            f"{described(number)} into elements of {own}",
            span,
            why="NumPy refuses to cast it back into the array",
            help="convert the number first",
        )


def _fitting(t: Translation, part: ArrayRef | View, value: Value, span: Span) -> Value:
    """What is written, its extents those of the part or 1."""
    shape = elementwise.shape_of(value)
    if not shape:
        return t.fixed(as_number(t, value, span))
    if len(shape) > len(part.shape):
        raise KernelIndexError(
            f"{described(value)} where an array of rank {len(part.shape)} is written",
            span,
            help="index its first dims",
        )
    for wanted, found in zip(part.shape[len(part.shape) - len(shape) :], shape, strict=True):
        if found.name != "const" or found.attr != 1:
            elementwise.fit(t, wanted, found, span)
    return value


def over(t: Translation, shape: Places, write: Callable[[Places], None], span: Span) -> None:
    """A nest over all elements of a shape."""
    dims = _dims(t, shape, span)
    t.write(For(tuple(dims), tuple(_body(t, write, dims, [False] * len(dims))), span))


def _dims(t: Translation, shape: Places, span: Span) -> list[Dim]:
    ends = [t.fixed(Number(t.inputs.alike(each), "python", span)).expr for each in shape]
    return [Dim(t.index(), const(0, INT64), end) for end in ends]


def _each(
    t: Translation,
    part: ArrayRef | View,
    stored: Stored,
    span: Span,
    condition: Condition | None = None,
) -> None:
    """A nest over the elements of a part; of a small array of the kernel's own all are computed
    before any is stored.
    """
    elements.writable(t, part, span)
    if condition is None and _written_out(t, part, stored, span):
        return
    dims = _dims(t, part.shape, span)

    def run(places: Places) -> None:
        element = elements.at(part, places)
        if condition is None:
            elements.store(t, element, stored(element, places), span)
            return
        holds = condition(places)
        with t.block() as block:
            elements.store(t, element, stored(element, places), span)
        t.write(If(holds.expr, tuple(block), (), span))

    body = _body(t, run, dims, [False] * len(dims))
    turned = _order(t, body, part, dims, span)
    if any(turned):
        body = _body(t, run, dims, turned)
    t.write(For(tuple(dims), tuple(body), span))


def _written_out(t: Translation, part: ArrayRef | View, stored: Stored, span: Span) -> bool:
    """Whether it is a small array of the kernel's own: its elements are stored one by one."""
    extents = [linear.constant(extent) for extent in part.shape]
    if not part.local or any(n is None or n > vectors.WRITTEN_OUT for n in extents):
        return False
    everywhere = [
        tuple(const(k, INT64) for k in place) for place in vectors.places([n or 0 for n in extents])
    ]
    if len(everywhere) > vectors.WRITTEN_OUT:
        return False
    kept = [elements.at(part, places) for places in everywhere]
    pairs = zip(kept, everywhere, strict=True)
    numbers = [t.fixed(stored(element, places)) for element, places in pairs]
    for element, number in zip(kept, numbers, strict=True):
        elements.store(t, element, number, span)
    return True


def _body(
    t: Translation, run: Callable[[Places], None], dims: list[Dim], turned: list[bool]
) -> list[Statement]:
    """What an iteration does, some loops running from the end."""
    places = tuple(
        linear.minus(linear.minus(dim.high, 1), index(dim.index)) if back else index(dim.index)
        for dim, back in zip(dims, turned, strict=True)
    )
    outer = dict(t.ranges)
    t.ranges.update({dim.index: (dim.low, dim.high) for dim in dims})
    with t.block() as body:
        run(places)
    t.ranges = outer
    return body


def _order(
    t: Translation, body: list[Statement], part: ArrayRef | View, dims: list[Dim], span: Span
) -> list[bool]:
    """Which loops run from the end; notes which other arrays must not share the part's memory."""
    store = next(s for s in walk(tuple(body)) if isinstance(s, Store) and s.buffer == part.buffer)
    loads, loops = overlap.loads_of(body), [dim.index for dim in dims]
    ranges = {**t.ranges, **{dim.index: (dim.low, dim.high) for dim in dims}}
    natural = partial(elements.is_position, t, ranges)
    for other in {load.attr for load in loads} - {part.buffer, *t.scratch}:
        same = overlap.is_same_place([x for x in loads if x.attr == other], store, loops, natural)
        if not part.local:
            t.inputs.keep_apart(part.buffer, other, same, span)
    try:
        return overlap.backwards([x for x in loads if x.attr == part.buffer], store, loops, natural)
    except overlap.Unordered:
        raise Overlap(
            f"`{part.name}` is read at other elements than are written",
            span,
            why="NumPy computes all of it before it stores any, and no order of a loop does the "
            "same without a copy",
            help=f"read from a copy of `{part.name}` made before, or write the loop in the order "
            "you mean",
        ) from None
