"""New arrays of any size: `np.zeros(n)`, `np.empty_like(a)`, `a.copy()`, and what a kernel returns.

The caller allocates them before anything runs, so their sizes follow from the sizes and numbers of
the arguments.  Where one is made in a loop, it is the same memory each time.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusewright.base.errors import KernelArrayError
from fusewright.base.source import Span
from fusewright.frontends.kernels import (
    elements,
    elementwise,
    functions,
    intrinsics,
    lists,
    parts,
    storing,
    types,
    vectors,
)
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.elements import as_number
from fusewright.frontends.kernels.joins import NEW_ARRAY
from fusewright.frontends.kernels.kept import kept as kept_unstored
from fusewright.frontends.kernels.operators import operands
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Elementwise,
    Free,
    Growing,
    Number,
    Order,
    SliceValue,
    Static,
    TupleValue,
    Value,
    View,
    describe,
    described,
)
from fusewright.ir import dtypes
from fusewright.ir.dtypes import FLOAT64, INT64, DType
from fusewright.ir.expr import Expr, cast, const, op

_ORDERS = ("C", "K", "A", None)


def row(t: Translation, node: ast.Call, target: Any) -> Value | None:
    """The array that a call of one of NumPy's functions makes; None for any other function."""
    names = _NAMES.get(functions.numpy_form(target)) if callable(target) else None
    if names is None:
        return None
    given = _given(t, node, target, names)
    span = t.span(node)
    order = given.pop("order", None)
    if order is not None and not (isinstance(order, Static) and order.value in _ORDERS):
        raise t.refuse(node, "an array in another order than C's", help="leave out order=")
    return _made(t, functions.numpy_form(target), given, span)


def _given(t: Translation, node: ast.Call, target: Any, names: Sequence[str]) -> dict[str, Value]:
    """The arguments by name."""
    keywords = [str(keyword.arg) for keyword in node.keywords]
    every = [*names[: len(node.args)], *keywords]
    if len(node.args) > len(names) or not set(keywords) <= set(names):
        raise t.refuse(node, f"these arguments of np.{target.__name__} in a kernel")
    values = operands(t, [*node.args, *(keyword.value for keyword in node.keywords)])
    return dict(zip(every, values, strict=True))


def _made(t: Translation, function: Any, given: dict[str, Value], span: Span) -> Value:
    dtype = given.get("dtype")
    given_none = dtype is None or (isinstance(dtype, Static) and dtype.value is None)
    known = None if dtype is None or given_none else intrinsics.dtype_of(t, dtype, span)
    if isinstance(given.get("a"), Growing):
        given["a"] = _of_list(t, given["a"], known, span)
        if function in _COPIES:
            return given["a"]
    if function is np.asarray and known is None and elementwise.shape_of(given["a"]):
        return given["a"]
    if function in _COPIES and known is None and elementwise.is_array(given["a"]):
        return elementwise.computed(t, [given["a"]], lambda each: each[0], span)
    if function in _COPIES:
        return copied(t, given["a"], known, span)
    if function in _LIKE:
        array = given["a"]
        known = known or elementwise.dtype_of(t, array, span)
        shape = tuple(map(elements.size, elementwise.shape_of(array)))
        if any(storing.known_size(t, extent) is None for extent in shape):
            return _filled_part(t, as_large(t, array, known, span), given, function, span)
    else:
        shape = _shape(t, given["shape"], span)
    content = given.get("fill_value", _CONTENT.get(function))
    if content is None:
        return _filled(t, shape, known or FLOAT64, None, span)
    if isinstance(content, int):
        return _filled(t, shape, known or FLOAT64, types.literal(content, span), span)
    number = as_number(t, content, span)
    return _filled(t, shape, known or number.dtype, number, span)


def _of_list(t: Translation, items: Value, dtype: DType | None, span: Span) -> ArrayRef:
    """A list as an array of its own; of tuples of numbers, a row for each."""
    assert isinstance(items, Growing)
    columns = lists.columns(t, items, span)
    wide = dtype or dtypes.from_numpy(np.result_type(*(each.dtype.numpy for each in columns)))
    assert wide is not None
    room, count = t.inputs.room(), t.fixed(Number(lists.length(items), "python", span))
    is_flat = not isinstance(items.form, tuple)
    whole = make(t, (room,) if is_flat else (room, const(len(columns), INT64)), wide, span)
    ends = SliceValue(None, count, 1)
    for place, column in enumerate(columns):
        indices: list[Value] = [ends] if is_flat else [ends, types.literal(place, span)]
        parts.assign(t, elements.indexed(t, whole, indices, span), column, span)
    return elements.lasting(t, elements.indexed(t, whole, [ends], span), span)


def _filled_part(
    t: Translation, part: ArrayRef, given: dict[str, Value], function: Any, span: Span
) -> ArrayRef:
    content = given.get("fill_value", _CONTENT.get(function))
    if content is not None:
        value = types.literal(content, span) if isinstance(content, int) else content
        parts.assign(t, part, value, span)
    return part


def _shape(t: Translation, value: Value, span: Span) -> tuple[Expr, ...]:
    items = value.items if isinstance(value, TupleValue) else (value,)
    numbers = [as_number(t, item, span) for item in items]
    for number in numbers:
        if not number.dtype.is_integer:
            raise KernelArrayError(
                f"{described(number)} as the size of an array", span, help="convert it with int()"
            )
    return tuple(cast(number.expr, INT64) for number in numbers)


def _filled(
    t: Translation, shape: tuple[Expr, ...], dtype: DType, content: Number | None, span: Span
) -> ArrayRef:
    literal = tuple(extent.attr for extent in shape if extent.name == "const")
    if len(literal) == len(shape) and vectors.fits(t, literal, dtype):
        return vectors.filled(t, literal, dtype, span, content)
    ref = make(t, shape, dtype, span)
    if content is not None:
        parts.assign(t, ref, content, span)
    return ref


def copied(t: Translation, value: Value, dtype: DType | None, span: Span) -> ArrayRef:
    """An array of its own with what another one holds now."""
    if isinstance(value, TupleValue):
        return vectors.from_items(t, value.items, span, dtype)
    if vectors.is_vector(value) and dtype is None:
        assert isinstance(value, ArrayRef)
        return vectors.copy(t, value, span)
    shape = elementwise.shape_of(value)
    if not shape:
        raise KernelArrayError(f"an array of {describe(value)}", span, help="use np.full")
    ref = as_large(t, value, dtype or elementwise.dtype_of(t, value, span), span)
    parts.assign(t, ref, value, span)
    return ref


def as_large(t: Translation, value: Value, dtype: DType, span: Span) -> ArrayRef:
    """A new array with the shape of another one; if that is a part whose size is found on the way,
    a part of one that has room for all.
    """
    shape = tuple(map(elements.size, elementwise.shape_of(value)))
    room = None
    if any(storing.known_size(t, extent) is None for extent in shape):
        room = _room(t, value)
    if room is None:
        return make(t, shape, dtype, span)
    counts = [Number(extent, "python", span) for extent in shape]
    slices = [SliceValue(None, t.fixed(count), 1) for count in counts]
    part = elements.indexed(t, make(t, room, dtype, span), slices, span)
    return elements.lasting(t, part, span)


def _room(t: Translation, value: Value) -> list[Expr] | None:
    """The extents of the array that a value is a part of; None of a computed one."""
    if not isinstance(value, ArrayRef) or value.buffer not in t.inputs.buffers:
        return None
    whole = t.inputs.buffers[value.buffer].extents
    dims = zip(elements.window_of(value), whole, strict=True)
    return [extent for part, extent in dims if isinstance(part, Free)]


def whole_copy(t: Translation, value: ArrayRef, span: Span) -> ArrayRef:
    """The same elements in an array that the caller can be given."""
    ref = as_large(t, value, value.dtype, span)
    parts.assign(t, ref, value, span)
    return ref


def make(t: Translation, shape: Sequence[Expr], dtype: DType, span: Span) -> ArrayRef:
    """A new array, its content undefined; a part of one with room for more, where its size is only
    found on the way: a call that has too little room runs again.
    """
    sizes = [storing.known_size(t, extent) for extent in shape]
    known = tuple(each for each in sizes if each is not None)
    if len(known) == len(shape):
        return ArrayRef(t.inputs.make(dtype, known), (), known, dtype, NEW_ARRAY)
    if len(known) + 1 < len(shape):
        raise KernelArrayError(
            "the sizes of two dims of a new array depend on what the kernel computes",
            span,
            why="new arrays are allocated before the kernel runs, with room along one dim",
            help="take sizes that follow from the arguments' sizes and numbers, the most they can "
            "be, and return a part: return out[:rows, :columns]",
        )
    extents = tuple(t.inputs.room() if each is None else each for each in sizes)
    size = t.fixed(
        Number(
            next(n for n, each in zip(shape, sizes, strict=True) if each is None), "python", span
        )
    )
    t.check(op("less_equal", size.expr, t.inputs.room()), "room", "{}", (size.expr,), span)
    whole = ArrayRef(t.inputs.make(dtype, extents), (), extents, dtype, NEW_ARRAY)
    slices = [SliceValue(None, size if each is None else None, 1) for each in sizes]
    return elements.lasting(t, elements.indexed(t, whole, slices, span), span)


def collected(
    t: Translation, shape: Sequence[Expr], element: Callable[[tuple[Expr, ...]], Number], span: Span
) -> Value:
    """A new array of what takes statements to compute: each element once."""
    if not shape:
        number = t.fixed(element(()))
        return Elementwise((), lambda _: number, span, Order.CONTIGUOUS)
    lazy = Elementwise(tuple(shape), element, span, Order.CONTIGUOUS)
    if not storing.may_have_memory(t, lazy):
        return lazy
    sizes = tuple(map(elements.size, shape))
    out = make(t, sizes, elementwise.dtype_of(t, lazy, span), span)

    def write(places: tuple[Expr, ...]) -> None:
        elements.store(t, elements.at(out, places), element(places), span)

    parts.over(t, sizes, write, span)
    return out


def stored(t: Translation, value: Elementwise, span: Span) -> ArrayRef | None:
    """A computed array with memory of its own; None where the sizes of several dims are only found
    on the way.
    """
    if not storing.may_have_memory(t, value):
        return None
    return copied(t, value, None, span)


def kept(t: Translation, value: Elementwise) -> Value:
    """A computed array under a name: computed again where it is used, or stored; another form of an
    array is that array.
    """
    if value.live or (isinstance(value, View) and value.sure):
        return value
    array = stored(t, value, value.span) if storing.is_stored(t, value) else None
    return kept_unstored(t, value) if array is None else array


_SHAPED = ("shape", "dtype", "order")
_NAMES: dict[Any, tuple[str, ...]] = {
    np.zeros: _SHAPED,
    np.empty: _SHAPED,
    np.ones: _SHAPED,
    np.full: ("shape", "fill_value", "dtype", "order"),
    np.zeros_like: ("a", "dtype", "order"),
    np.empty_like: ("a", "dtype", "order"),
    np.ones_like: ("a", "dtype", "order"),
    np.full_like: ("a", "fill_value", "dtype", "order"),
    np.copy: ("a", "order"),
    np.array: ("a", "dtype"),
    np.asarray: ("a", "dtype"),
    np.ascontiguousarray: ("a", "dtype"),
}
"""The parameters of the functions that make arrays."""
_LIKE = frozenset({np.zeros_like, np.empty_like, np.ones_like, np.full_like})
_COPIES = frozenset({np.copy, np.array, np.asarray, np.ascontiguousarray})
_CONTENT: dict[Any, int] = {
    np.zeros: 0, np.zeros_like: 0, np.ones: 1, np.ones_like: 1,
}  # fmt: skip
"""What they hold."""
