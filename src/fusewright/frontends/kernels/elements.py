"""Elements of arrays: positions counted from the end when negative, reads, writes, and numbers."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from fusewright.base.errors import BoundsError, KernelIndexError
from fusewright.base.source import Span
from fusewright.frontends.kernels import types
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.ranges import Ranges, is_natural
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Elementwise,
    Free,
    Number,
    SliceValue,
    Static,
    Struct,
    TupleValue,
    Value,
    View,
    described,
)
from fusewright.ir import linear
from fusewright.ir.dtypes import BOOL, INT64
from fusewright.ir.expr import Expr, cast, const, load, op, typed_op
from fusewright.ir.loops.statements import Store


def number(t: Translation, node: ast.expr) -> Number:
    """An expression that must be a number."""
    return as_number(t, t.expression(node), t.span(node))


def as_number(t: Translation, value: Value, span: Span) -> Number:
    """A value that must be a number; an array without dims is read."""
    if isinstance(value, Number):
        return value
    if isinstance(value, ArrayRef) and not value.shape:
        return read(t, value, span)
    is_array = isinstance(value, ArrayRef | Elementwise)
    raise KernelIndexError(
        f"a number is needed here, not {described(value)}",
        span,
        why="an array is no number" if is_array else "kernels compute with numbers",
        help="index it, as in a[i], or take one number of it: np.sum(a), a.max(), a.any()"
        if is_array
        else "",
    )


def read(t: Translation, ref: ArrayRef, span: Span) -> Number:
    """The element that a fully indexed array stands for."""
    return Number(load(ref.buffer, ref.indices, ref.dtype), "numpy", span)


def store(t: Translation, ref: ArrayRef, value: Number, span: Span, combine: str = "") -> None:
    """Write an element."""
    writable(t, ref, span)
    stored = t.converted(value, ref.dtype)
    t.write(Store(ref.buffer, ref.indices, stored, combine, span))


def writable(t: Translation, ref: ArrayRef | View, span: Span) -> None:
    """Refuse to write to memory that must not be written."""
    if isinstance(ref, View) and not ref.sure:
        raise KernelIndexError(
            f"another form of `{ref.name}` is written to",
            span,
            why="whether NumPy has it share the memory depends on how that is laid out",
            help=f"write into `{ref.name}` itself, or change the form of a copy of it",
        )
    kind = t.inputs.buffer_kinds.get(ref.buffer)
    if kind is not None and not kind.writable:
        from_where = "the array passed is read-only, or several elements share one place"
        raise KernelIndexError(
            f"`{ref.name}` is written to", span, why=from_where, help="pass a copy"
        )


def indexed(t: Translation, ref: ArrayRef, indices: Sequence[Value], span: Span) -> ArrayRef:
    """An array with more of its dims fixed."""
    indices = _spelled_out(ref, indices)
    if len(indices) > len(ref.shape):
        raise KernelIndexError(
            f"{len(indices)} indices into an array of rank {len(ref.shape)}",
            span,
            why=f"`{ref.name}` has {len(ref.extents)} dims"
            + (f", {len(ref.indices)} of them indexed already" if ref.indices else ""),
        )
    if ref.window or any(isinstance(index, SliceValue) for index in indices):
        return _windowed(t, ref, indices, span)
    first = len(ref.indices)
    places = tuple(
        _position(t, ref, first + dim, ref.extents[first + dim], whole(index, span), span)
        for dim, index in enumerate(indices)
    )
    return replace(ref, indices=ref.indices + places)


def position(
    t: Translation, ref: ArrayRef | View, indices: Sequence[Value], span: Span
) -> ArrayRef:
    """The element at an index for each dim."""
    if isinstance(ref, ArrayRef):
        return indexed(t, ref, indices, span)
    whole = ArrayRef(-1, (), ref.shape, INT64, ref.name)
    return ref.target(indexed(t, whole, indices, span).indices)


def _spelled_out(ref: ArrayRef, indices: Sequence[Value]) -> Sequence[Value]:
    """With a slice for each dim that `...` stands for."""
    places = [n for n, k in enumerate(indices) if isinstance(k, Static) and k.value is Ellipsis]
    if len(places) != 1:
        return indices
    whole_dims = [SliceValue(None, None, 1)] * (len(ref.shape) - len(indices) + 1)
    return [*indices[: places[0]], *whole_dims, *indices[places[0] + 1 :]]


def window_of(ref: ArrayRef) -> tuple[Expr | Free, ...]:
    """For each dim of the whole array a position or what is kept of it."""
    kept = (Free(const(0, INT64), extent) for extent in ref.shape)
    return ref.window or (*ref.indices, *kept)


def at(ref: ArrayRef | View, places: Sequence[Expr]) -> ArrayRef:
    """An element of a part, at a place that is known to be inside."""
    if isinstance(ref, View):
        return ref.target(tuple(places))
    given = iter(places)
    return replace(
        ref,
        indices=tuple(
            linear.plus(part.offset, linear.times(next(given), part.stride))
            if isinstance(part, Free)
            else part
            for part in window_of(ref)
        ),
        window=(),
    )


def lasting(t: Translation, part: ArrayRef, span: Span) -> ArrayRef:
    """A row is kept under a name: its position must not move."""

    def fixed(expr: Expr) -> Expr:
        return t.fixed(Number(expr, "python", span)).expr

    window = tuple(
        Free(fixed(each.offset), fixed(each.extent), each.stride)
        if isinstance(each, Free)
        else fixed(each)
        for each in part.window
    )
    return replace(part, indices=tuple(map(fixed, part.indices)), window=window)


def _windowed(t: Translation, ref: ArrayRef, indices: Sequence[Value], span: Span) -> ArrayRef:
    """A part that slices cut out, or a part of one."""
    given = iter(indices)
    window: list[Expr | Free] = list(ref.indices)
    for dim, part in enumerate(window_of(ref)):
        index = next(given, None) if isinstance(part, Free) else None
        if dim >= len(window):
            window.append(part)
        if isinstance(part, Free) and isinstance(index, SliceValue):
            window[dim] = _cut(t, part, index)
        elif isinstance(part, Free) and index is not None:
            place = _position(t, ref, dim, part.extent, whole(index, span), span)
            window[dim] = linear.plus(part.offset, linear.times(place, part.stride))
    places = tuple(part for part in window if not isinstance(part, Free))
    if len(places) == len(window):
        return replace(ref, indices=places, window=())
    return replace(ref, indices=(), window=tuple(window))


def _cut(t: Translation, part: Free, index: SliceValue) -> Free:
    """What a slice keeps of a dim: as in Python, bounds count from the end and are clipped."""
    assert index.by is None
    first, room = (_ahead if index.step > 0 else _back)(t, part.extent, index)
    stride = abs(index.step)
    if stride != 1:
        room = _divided(linear.plus(room, stride - 1), stride)
    offset = linear.plus(part.offset, linear.times(first, part.stride))
    return Free(offset, room, part.stride * index.step)


def stepped(t: Translation, extent: Expr, index: SliceValue, span: Span) -> tuple[Expr, Expr, Expr]:
    """The first position that a slice of a computed step keeps, how many, and the step."""
    assert index.by is not None
    step = cast(index.by.expr, INT64)
    message = "ValueError:slice step cannot be zero"
    t.check(op("not_equal", step, const(0, INT64)), "raised", message, (), span)
    ends = zip(_ahead(t, extent, index), _back(t, extent, index), strict=True)
    forwards = op("less", const(0, INT64), step)
    first, room = (op("where", forwards, ahead, back) for ahead, back in ends)
    length = typed_op("absolute", INT64, step)
    some = op("where", op("equal", length, const(0, INT64)), const(1, INT64), length)
    count = typed_op("floor_divide", INT64, linear.plus(room, linear.minus(some, 1)), some)
    fixed = (t.fixed(Number(each, "python", span)).expr for each in (first, count, step))
    first, count, step = fixed
    return first, size(count), step


def cut(t: Translation, extent: Expr, index: SliceValue) -> tuple[Expr, Expr]:
    """The first position that a slice of step 1 keeps, and how many; below 0 means none."""
    return _ahead(t, extent, index)


def _ahead(t: Translation, extent: Expr, index: SliceValue) -> tuple[Expr, Expr]:
    """The first position, and how many there are to the end: below 0 where it is beyond."""
    low, high = const(0, INT64), extent
    if index.low is not None:
        low = _from_start(t, index.low, extent)
        if not _is_natural(t, low):
            low = _least(_most(low, const(0, INT64)), extent)
    if index.high is not None:
        high = _from_start(t, index.high, extent)
        is_below = index.high.expr.name == "const" and index.high.expr.attr < 0
        if not is_below and not _is_natural(t, high):
            high = _most(high, const(0, INT64))
        if not is_below and not _is_natural(t, linear.minus(extent, high)):
            high = _least(high, extent)
    return low, linear.minus(high, low)


def _back(t: Translation, extent: Expr, index: SliceValue) -> tuple[Expr, Expr]:
    """The same for a negative step: bounds lie one before those of a positive one."""
    last, before = linear.minus(extent, 1), const(-1, INT64)
    low, high = (
        usual if bound is None else _least(_most(_from_start(t, bound, extent), before), last)
        for bound, usual in ((index.low, last), (index.high, before))
    )
    return low, linear.minus(low, high)


def _from_start(t: Translation, bound: Number, extent: Expr) -> Expr:
    """A bound counted from 0; below 0 where it is further from the end than there are elements."""
    expr = cast(bound.expr, INT64)
    if expr.name == "const":
        return expr if expr.attr >= 0 else linear.plus(extent, expr.attr)
    if bound.dtype.kind == "u" or _is_natural(t, expr):
        return expr
    return op("where", op("less", expr, const(0, INT64)), op("add", expr, extent), expr)


def _is_natural(t: Translation, expr: Expr) -> bool:
    return is_position(t, t.ranges, expr)


def is_position(t: Translation, ranges: Ranges, expr: Expr) -> bool:
    """Whether a number is at least 0 wherever loops are."""
    return is_natural(expr, ranges, _naturals(t))


def _least(a: Expr, b: Expr) -> Expr:
    gap = linear.distance(a, b)
    return op("minimum", a, b) if gap is None else a if gap <= 0 else b


def _most(a: Expr, b: Expr) -> Expr:
    gap = linear.distance(a, b)
    return op("maximum", a, b) if gap is None else a if gap >= 0 else b


def _divided(expr: Expr, divisor: int) -> Expr:
    known = linear.constant(expr)
    if known is not None:
        return const(known // divisor, INT64)
    return typed_op("floor_divide", INT64, expr, const(divisor, INT64))


def size(extent: Expr) -> Expr:
    """How many elements an extent means."""
    if extent.name == "param":
        return extent
    return _most(extent, const(0, INT64))


def whole(index: Value, span: Span) -> Number:
    """An index that must be an integer."""
    if isinstance(index, Number) and index.dtype.is_integer:
        return index
    raise KernelIndexError(
        f"an index must be an integer, not {described(index)}",
        span,
        help="loop over it: for k in range(len(i)): a[i[k]] = ...; for a condition, "
        "a[:] = np.where(condition, x, a)"
        if isinstance(index, ArrayRef | Elementwise)
        else "convert it with int(...)",
    )


def _position(
    t: Translation, ref: ArrayRef, dim: int, extent: Expr, index: Number, span: Span
) -> Expr:
    """Where an index points, counted from 0."""
    expr = cast(index.expr, INT64)
    if index.dtype.kind == "u":
        natural = True
    elif expr.name == "const" and expr.attr < 0:
        expr, natural = linear.plus(extent, expr.attr), False
    else:
        natural = _is_natural(t, expr)
        if not natural:
            expr = _wrapped(t, expr, extent, index, ref.name)
    if extent.name == "const" and expr.name == "const" and not 0 <= expr.attr < extent.attr:
        raise BoundsError(
            f"index {index.expr.attr} is out of bounds for `{ref.name}`",
            span,
            why=f"dim {dim} has {extent.attr} elements",
        )
    if t.settings.check:
        _check(t, ref, dim, extent, expr, index, natural, span)
    return expr


def _wrapped(t: Translation, expr: Expr, extent: Expr, index: Number, name: str) -> Expr:
    """A negative position counts from the end."""
    if not t.is_stable(expr):
        expr = t.let("_", Number(expr, index.origin, index.span)).expr
    return op("where", op("less", expr, const(0, INT64)), op("add", expr, extent), expr)


def _check(
    t: Translation,
    ref: ArrayRef,
    dim: int,
    extent: Expr,
    expr: Expr,
    index: Number,
    natural: bool,
    span: Span,
) -> None:
    room = linear.minus(linear.minus(extent, 1), expr)
    natural = natural or _is_natural(t, expr)
    if natural and _is_natural(t, room):
        return
    conditions = [] if natural else [op("less_equal", const(0, INT64), expr)]
    conditions.append(op("less", expr, extent))
    condition = conditions[0]
    if len(conditions) > 1:
        condition = op("logical_and", *conditions)
    message = f"index {{}} is out of bounds for dim {dim} of `{ref.name}`, which has {{}} elements"
    t.check(condition, "bounds", message, (cast(index.expr, INT64), extent), span)


def _naturals(t: Translation) -> frozenset[Expr]:
    return frozenset(extent for buffer in t.inputs.buffers.values() for extent in buffer.extents)


def truth(number_: Number) -> Number:
    """Whether a number is not 0."""
    if number_.dtype is BOOL:
        return number_
    if number_.expr.name == "const":
        return Number(const(bool(number_.expr.attr), BOOL), "python", number_.span)
    zero = const(0, number_.dtype)
    return Number(op("not_equal", number_.expr, zero), "python", number_.span)


def items_of(t: Translation, value: Value, node: ast.AST) -> tuple[Value, ...]:
    """The parts of a tuple, or of a small local array."""
    if isinstance(value, TupleValue):
        return value.items
    if isinstance(value, Struct) and hasattr(value.kind, "_fields"):
        return tuple(t.inputs.attribute(value, name, t.span(node)) for name in value.kind._fields)
    if isinstance(value, ArrayRef) and len(value.shape) >= 1 and value.shape[0].name == "const":
        span = t.span(node)
        count = range(value.shape[0].attr)
        parts = [indexed(t, value, [types.literal(k, span)], span) for k in count]
        return tuple(read(t, part, span) if not part.shape else part for part in parts)
    raise t.refuse(node, f"{described(value)} cannot be unpacked here")
