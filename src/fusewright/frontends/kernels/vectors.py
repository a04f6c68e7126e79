"""Small arrays of a kernel's own: `fw.local`, `fw.vector`, and arithmetic on whole ones.

Their shapes are literal, so an operation on one is written out element by element.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from fusewright.base.errors import KernelArrayError
from fusewright.base.source import Span
from fusewright.base.words import memory
from fusewright.frontends.kernels import elements, types
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Number,
    TupleValue,
    Value,
    describe,
)
from fusewright.ir import dtypes
from fusewright.ir.dtypes import INT64, DType
from fusewright.ir.expr import const, index
from fusewright.ir.loops.statements import Dim, For, Store

MOST_BYTES = 64 << 10
"""Local arrays live on the stack of the thread that runs the kernel."""
WRITTEN_OUT = 64
"""Elements that arithmetic on whole local arrays is written out for."""

Combine = Callable[[Translation, str, Number, Number, Span], Number]


def is_vector(value: Value) -> bool:
    """Whether it is a whole local array."""
    return isinstance(value, ArrayRef) and value.local and bool(value.shape) and not value.window


def make(t: Translation, shape: tuple[int, ...], dtype: DType, name: str, span: Span) -> ArrayRef:
    """A new local array, its content undefined."""
    extents = tuple(const(extent, INT64) for extent in shape)
    if any(extent < 0 for extent in shape):
        raise KernelArrayError("a local array has a negative extent", span)
    if not fits(t, shape, dtype):
        raise KernelArrayError(
            f"local arrays of more than {memory(MOST_BYTES)}",
            span,
            why="they live in the cache next to the processor, on the stack of a thread",
            help="pass a larger work array as an argument",
        )
    return ArrayRef(t.scratch_buffer(dtype, extents), (), extents, dtype, name, True)


def fits(t: Translation, shape: tuple[int, ...], dtype: DType) -> bool:
    """Whether there is room for one more such array."""
    used = sum(
        int(np.prod([extent.attr for extent in b.extents])) * b.dtype.itemsize
        for b in t.scratch.values()
    )
    return used + int(np.prod(shape)) * dtype.itemsize <= MOST_BYTES


def filled(
    t: Translation, shape: tuple[int, ...], dtype: DType, span: Span, value: Number | None = None
) -> ArrayRef:
    """`fw.local(shape, dtype)`, `np.full(shape, value, dtype)`."""
    ref = make(t, shape, dtype, "local", span)
    content = const(0, dtype)
    if value is not None:
        content = t.fixed(Number(t.converted(value, dtype), "numpy", span)).expr
    if int(np.prod(shape)) <= WRITTEN_OUT:
        for place in places(shape):
            t.write(Store(ref.buffer, _at(ref, place).indices, content, "", span))
        return ref
    dims = tuple(Dim(t.index(), const(0, INT64), const(extent, INT64)) for extent in shape)
    inside = tuple(index(dim.index) for dim in dims)
    fill = Store(ref.buffer, inside, content, "", span)
    t.write(For(dims, (fill,), span))
    return ref


def from_items(
    t: Translation, items: Sequence[Value], span: Span, dtype: DType | None = None
) -> ArrayRef:
    """`fw.vector(...)`, `np.array((...), dtype)`."""
    rows = [item.items if isinstance(item, TupleValue) else None for item in items]
    if any(row is not None for row in rows):
        width = {None if row is None else len(row) for row in rows}
        if len(width) != 1 or None in width:
            raise KernelArrayError("the rows of a matrix differ in length", span)
        flat: list[Value] = [item for row in rows for item in row or ()]
        shape: tuple[int, ...] = (len(items), len(rows[0] or ()))
    else:
        flat, shape = list(items), (len(items),)
    numbers = [t.fixed(elements.as_number(t, item, span)) for item in flat]
    if not numbers:
        raise KernelArrayError("a vector without elements", span)
    dtype = dtype or dtypes.from_numpy(np.result_type(*(n.dtype.numpy for n in numbers)))
    assert dtype is not None
    ref = make(t, shape, dtype, "vector", span)
    for place, number in zip(places(shape), numbers, strict=True):
        elements.store(t, _at(ref, place), number, span)
    return ref


def places(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every index of a shape, in order."""
    return itertools.product(*map(range, shape))


def _at(ref: ArrayRef, place: tuple[int, ...]) -> ArrayRef:
    indices = (*ref.indices, *(const(k, INT64) for k in place))
    return ArrayRef(ref.buffer, indices, ref.extents, ref.dtype, ref.name, ref.local)


def shape_of(ref: ArrayRef) -> tuple[int, ...]:
    """The literal shape of a local array."""
    return tuple(extent.attr for extent in ref.shape)


def _element(t: Translation, value: Value, place: tuple[int, ...], span: Span) -> Number:
    """An element of an operand, broadcast as NumPy does."""
    if isinstance(value, ArrayRef) and value.shape:
        shape = shape_of(value)
        own = place[len(place) - len(shape) :]
        chosen = tuple(0 if n == 1 else k for k, n in zip(own, shape, strict=True))
        return elements.read(t, _at(value, chosen), span)
    return elements.as_number(t, value, span)


def _common_shape(values: Sequence[Value], span: Span) -> tuple[int, ...]:
    shapes = [shape_of(v) for v in values if isinstance(v, ArrayRef) and v.shape]
    try:
        shape: tuple[int, ...] = np.broadcast_shapes(*shapes)
    except ValueError:
        raise KernelArrayError(
            f"local arrays of shapes {' and '.join(map(str, shapes))} do not fit together", span
        ) from None
    if int(np.prod(shape)) > WRITTEN_OUT:
        raise KernelArrayError(
            f"arithmetic on a whole local array of {int(np.prod(shape))} elements",
            span,
            why=f"it is written out, up to {WRITTEN_OUT} elements",
            help="write a loop over its elements",
        )
    return shape


def binary(
    t: Translation, name: str, left: Value, right: Value, span: Span, combine: Combine
) -> ArrayRef:
    """An operator on local arrays, element by element."""
    for value in (left, right):
        if isinstance(value, ArrayRef) and value.shape and not value.local:
            raise KernelArrayError(f"{name} of a whole {describe(value)}", span, help="use a loop")
    shape = _common_shape((left, right), span)
    return elementwise(
        t,
        shape,
        lambda place: combine(
            t, name, _element(t, left, place, span), _element(t, right, place, span), span
        ),
        span,
    )


def unary(
    t: Translation, name: str, value: Value, span: Span, function: Callable[[Number], Number]
) -> ArrayRef:
    """A function of each element."""
    del name
    shape = _common_shape((value,), span)
    return elementwise(t, shape, lambda place: function(_element(t, value, place, span)), span)


def elementwise(
    t: Translation,
    shape: tuple[int, ...],
    compute: Callable[[tuple[int, ...]], Number],
    span: Span,
) -> ArrayRef:
    """A new local array of what is computed for each index."""
    numbers = [t.fixed(compute(place)) for place in places(shape)]
    ref = make(t, shape, numbers[0].dtype, "vector", span)
    for place, number in zip(places(shape), numbers, strict=True):
        elements.store(t, _at(ref, place), number, span)
    return ref


def copy(t: Translation, source: ArrayRef, span: Span, target: ArrayRef | None = None) -> ArrayRef:
    """A local array of its own with the same elements, or its elements put into another one."""
    shape = shape_of(source)
    target = target or make(t, shape, source.dtype, source.name, span)
    if int(np.prod(shape)) <= WRITTEN_OUT:
        numbers = [t.fixed(elements.read(t, _at(source, place), span)) for place in places(shape)]
        for place, number in zip(places(shape), numbers, strict=True):
            elements.store(t, _at(target, place), number, span)
        return target
    dims = tuple(Dim(t.index(), const(0, INT64), const(extent, INT64)) for extent in shape)
    inside = tuple(index(dim.index) for dim in dims)
    moving = ArrayRef(
        source.buffer, (*source.indices, *inside), source.extents, source.dtype, source.name, True
    )
    value = types.converted(elements.read(t, moving, span), target.dtype, span)
    t.write(For(dims, (Store(target.buffer, inside, value, "", span),), span))
    return target
