"""Indices that are arrays: `a[table]`, `a[mask]`, `a[rows, 1:]`, read and written.

A mask stands for the places where it holds.  What is read is computed where it is used; what is
written goes element by element in the order of the places, so that the last of several wins.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from fusewright.base.errors import KernelIndexError
from fusewright.base.source import Span
from fusewright.frontends.kernels import (
    array_rows,
    elements,
    elementwise,
    fresh,
    kept,
    orders,
    parts,
    vectors,
    views,
)
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.operators import combine
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Elementwise,
    ListValue,
    Number,
    Order,
    SliceValue,
    Static,
    TupleValue,
    Value,
    View,
    described,
)
from fusewright.ir import linear
from fusewright.ir.dtypes import BOOL
from fusewright.ir.expr import Expr

Places = tuple[Expr, ...]
_WHOLE = SliceValue(None, None, 1)
_COUNTS = "{} elements are selected, and {} values given"


def indices_of(index: Value) -> tuple[Value, ...]:
    """The indices of a subscript: a list is one of them."""
    if isinstance(index, TupleValue) and not isinstance(index, ListValue):
        return index.items
    return (index,)


def is_array(index: Value) -> bool:
    """Whether an index is an array, or a list of numbers."""
    return bool(elementwise.shape_of(index)) or isinstance(index, ListValue)


def read(t: Translation, value: Value, indices: Sequence[Value], node: ast.AST) -> Value:
    """`value[indices]`, some of which are arrays."""
    span = t.span(node)
    indices = _arrays(t, indices, span)
    if len(indices) == 1 and _is_mask(t, indices[0], span):
        shapes = [elementwise.shape_of(each) for each in (value, indices[0])]
        if len(shapes[0]) == len(shapes[1]):
            return array_rows.selected(t, _flat(t, value, span), _flat(t, indices[0], span), node)
    tables = _tables(t, value, indices, node)
    return _gathered(t, value, tables, span)


def _flat(t: Translation, value: Value, span: Span) -> Value:
    return value if len(elementwise.shape_of(value)) == 1 else views.flat(t, value, span)


def _arrays(t: Translation, indices: Sequence[Value], span: Span) -> list[Value]:
    """With lists as arrays."""
    return [
        vectors.from_items(t, each.items, span) if isinstance(each, ListValue) else each
        for each in indices
    ]


def _is_mask(t: Translation, index: Value, span: Span) -> bool:
    return bool(elementwise.shape_of(index)) and elementwise.dtype_of(t, index, span) is BOOL


def _tables(t: Translation, value: Value, indices: Sequence[Value], node: ast.AST) -> list[Value]:
    """An index for each dim, masks as the places where they hold."""
    span = t.span(node)
    shape = elementwise.shape_of(value)
    found: list[Value] = []
    for index in _spelled_out(t, len(shape), indices, span):
        if not _is_mask(t, index, span):
            found.append(_checked(t, index, span))
            continue
        extents = elementwise.shape_of(index)
        for place, extent in enumerate(extents, len(found)):
            if place < len(shape):
                elementwise.fit(t, shape[place], extent, span)
        found += array_rows.places_of(t, index, node)
    if len(found) > len(shape):
        raise KernelIndexError(f"{len(found)} indices into an array of rank {len(shape)}", span)
    return [*found, *[_WHOLE] * (len(shape) - len(found))]


def _spelled_out(t: Translation, rank: int, indices: Sequence[Value], span: Span) -> list[Value]:
    """With a slice for each dim that `...` stands for."""
    used = sum(
        len(elementwise.shape_of(k)) if _is_mask(t, k, span) else 1
        for k in indices
        if not _is_dots(k)
    )
    found: list[Value] = []
    for index in indices:
        found += [_WHOLE] * (rank - used) if _is_dots(index) else [index]
    return found


def _is_dots(index: Value) -> bool:
    return isinstance(index, Static) and index.value is Ellipsis


def _checked(t: Translation, index: Value, span: Span) -> Value:
    if isinstance(index, SliceValue):
        return index
    if not elementwise.shape_of(index):
        return t.fixed(elements.whole(index, span))
    dtype = elementwise.dtype_of(t, index, span)
    if not dtype.is_integer:
        raise KernelIndexError(
            f"an array of {dtype} as an index", span, help="convert it: k.astype(np.int64)"
        )
    return index


def _gathered(t: Translation, value: Value, tables: Sequence[Value], span: Span) -> Elementwise:
    """The element for each place of the tables, which are broadcast, and of the slices."""
    shape, inside, order = _form(t, value, tables, span)

    def element(places: Places) -> Number:
        found = elementwise.part(t, _sliced(t, value, tables, span), inside(places), span)
        return elements.as_number(t, found, span)

    return Elementwise(shape, element, span, order)


def _sliced(t: Translation, value: Value, tables: Sequence[Value], span: Span) -> Value:
    """What is left by the slices."""
    slices = [each if isinstance(each, SliceValue) else _WHOLE for each in tables]
    if all(each is _WHOLE for each in slices):
        return value
    return elementwise.part(t, value, slices, span)


def _form(t: Translation, value: Value, tables: Sequence[Value], span: Span) -> Any:
    """The shape of what is indexed; for a place in it the index of each dim; and its order."""
    dims = [n for n, each in enumerate(tables) if not isinstance(each, SliceValue)]
    arrays = [tables[n] for n in dims if elementwise.shape_of(tables[n])]
    common = elementwise.common_shape(t, [elementwise.shape_of(each) for each in arrays], span)
    left = elementwise.shape_of(_sliced(t, value, tables, span))
    sliced = [n for n in range(len(tables)) if n not in dims]
    together = dims == [*range(dims[0], dims[-1] + 1)]
    first = dims[0] if together else 0
    kept = [left[n] for n in sliced]
    shape = (*kept[:first], *common, *kept[first:])

    def inside(places: Places) -> list[Value]:
        own = places[first : first + len(common)]
        others = iter((*places[:first], *places[first + len(common) :]))
        return [
            Number(next(others), "python", span)
            if isinstance(each, SliceValue)
            else t.fixed(elementwise.element_of(t, each, own, span))
            for each in tables
        ]

    known = orders.of_result(t, [value, *arrays])
    return shape, inside, known if first == 0 and together else Order.UNKNOWN


# -- written --------------------------------------------------------------------------------------


def assign(
    t: Translation, array: Value, indices: Sequence[Value], value: Value, node: ast.AST
) -> None:
    """`array[indices] = value`."""
    span = t.span(node)
    if not isinstance(array, ArrayRef | View):
        raise KernelIndexError(f"{described(array)} is written by an array of indices", span)
    elements.writable(t, array, span)
    if isinstance(value, TupleValue):
        value = vectors.from_items(t, value.items, span)
    indices = _arrays(t, indices, span)
    masks = [_is_mask(t, index, span) for index in indices]
    if len(indices) == 1 and masks[0] and _is_spread(array, indices[0], value):
        _assign_where(t, array, indices[0], value, span)
        return
    value = _apart(t, array, value, span)
    indices = [_apart(t, array, each, span) for each in indices]
    tables = _tables(t, array, indices, node)
    shape, inside, _ = _form(t, array, tables, span)
    value = _fitting(t, shape, value, span)
    target = _sliced(t, array, tables, span)
    assert isinstance(target, ArrayRef | View)

    def write(places: Places) -> None:
        part = elements.position(t, target, inside(places), span)
        elements.store(t, part, elementwise.element_of(t, value, places, span), span)

    parts.over(t, shape, write, span)


def _is_spread(array: Value, mask: Value, value: Value) -> bool:
    """Whether what is selected all gets one number, or one row."""
    shape = elementwise.shape_of(value)
    return len(shape) <= len(elementwise.shape_of(array)) - len(elementwise.shape_of(mask))


def _assign_where(
    t: Translation, array: ArrayRef | View, mask: Value, value: Value, span: Span
) -> None:
    rank = len(elementwise.shape_of(mask))
    for wanted, found in zip(array.shape, elementwise.shape_of(mask), strict=False):
        elementwise.fit(t, wanted, found, span)

    def condition(places: Places) -> Number:
        return elements.truth(elementwise.element_of(t, mask, places[:rank], span))

    try:
        parts.assign(t, array, value, span, condition)
    except parts.Overlap:
        stored = [_stored(t, each, span) for each in (mask, value)]
        if stored == [mask, value]:
            raise
        _assign_where(t, array, stored[0], stored[1], span)


def _stored(t: Translation, value: Value, span: Span) -> Value:
    if not isinstance(value, Elementwise):
        return value
    return fresh.stored(t, value, span) or value


def _apart(t: Translation, array: ArrayRef | View, value: Value, span: Span) -> Value:
    """What is read while the array is written: copied before, where it may be the same memory."""
    if not elementwise.shape_of(value):
        return value if isinstance(value, SliceValue | Static) else t.lasting(value)
    if isinstance(value, ArrayRef) and value.local and not array.local:
        return value
    read = kept.reads(t, value) if isinstance(value, Elementwise) else {_buffer(value)}
    own = t.scratch.keys() | t.inputs.made
    if array.buffer in read:
        return fresh.copied(t, value, None, span)
    for other in read - own if array.buffer not in own else ():
        t.inputs.keep_apart(array.buffer, other, False, span)
    return value


def _buffer(value: Value) -> int:
    assert isinstance(value, ArrayRef)
    return value.buffer


def _fitting(t: Translation, shape: Places, value: Value, span: Span) -> Value:
    """What is written, its extents those of the places or 1."""
    own = elementwise.shape_of(value)
    if not own:
        return t.fixed(elements.as_number(t, value, span))
    if len(own) > len(shape):
        raise KernelIndexError(f"{described(value)} where {len(shape)} dims are written", span)
    for wanted, found in zip(shape[len(shape) - len(own) :], own, strict=True):
        if linear.constant(found) != 1:
            elementwise.fit(t, wanted, found, span, _COUNTS)
    return value


def update(
    t: Translation,
    array: Value,
    indices: Sequence[Value],
    sign: ast.operator,
    value: Value,
    node: ast.AST,
) -> None:
    """`array[indices] += value`: all is computed before anything is stored, as NumPy does, so that
    of an element that is named twice one update counts.
    """
    span = t.span(node)
    indices = _arrays(t, indices, span)
    if isinstance(array, ArrayRef | View):
        indices = [_apart(t, array, each, span) for each in indices]
    before = read(t, array, indices, node)
    result = combine(t, sign, before, value, span)
    if not isinstance(result, Elementwise):
        raise KernelIndexError(f"an update of {described(array)} by an array of indices", span)
    dtype = elementwise.dtype_of(t, array, span)
    parts.refuse_cast(t, elementwise.dtype_of(t, result, span), dtype, span)
    assign(t, array, indices, fresh.copied(t, result, None, span), node)
