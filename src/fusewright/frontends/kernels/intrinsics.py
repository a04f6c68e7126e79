"""The functions that only kernels have: local arrays, atomic updates, random numbers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusewright.base.errors import KernelCallError
from fusewright.base.source import Span
from fusewright.frontends.kernels import elements, language, types, vectors
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.elements import as_number
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Number,
    Static,
    TupleValue,
    Value,
    describe,
    described,
)
from fusewright.ir import dtypes
from fusewright.ir.dtypes import FLOAT64, INT64, UINT64, DType
from fusewright.ir.expr import Expr, cast, const, op
from fusewright.ir.loops.statements import Fence, Unique

Values = Sequence[Value]
Row = Callable[[Translation, ast.Call, Values], Value]


def arguments(t: Translation, node: ast.AST, values: Values, low: int, high: int) -> None:
    """Refuse a wrong number of arguments."""
    if not low <= len(values) <= high:
        wanted = str(low) if low == high else f"{low} to {high}"
        raise KernelCallError(f"{len(values)} arguments where {wanted} are taken", t.span(node))


def _local(t: Translation, node: ast.Call, values: Values) -> Value:
    arguments(t, node, values, 1, 2)
    span = t.span(node)
    dtype = FLOAT64 if len(values) == 1 else dtype_of(t, values[1], span)
    return vectors.filled(t, _shape_of(values[0], span), dtype, span)


def _ones(t: Translation, node: ast.Call, values: Values) -> Value:
    arguments(t, node, values, 1, 2)
    return _full(t, node, [values[0], types.literal(1.0, t.span(node)), *values[1:]])


def _full(t: Translation, node: ast.Call, values: Values) -> Value:
    arguments(t, node, values, 2, 3)
    span = t.span(node)
    number = as_number(t, values[1], span)
    dtype = number.dtype if len(values) == 2 else dtype_of(t, values[2], span)
    return vectors.filled(t, _shape_of(values[0], span), dtype, span, number)


def _array(t: Translation, node: ast.Call, values: Values) -> Value:
    arguments(t, node, values, 1, 2)
    span = t.span(node)
    if isinstance(values[0], ArrayRef) and values[0].local and len(values) == 1:
        return vectors.copy(t, values[0], span)
    if not isinstance(values[0], TupleValue):
        raise KernelCallError(f"np.array of {describe(values[0])} in a kernel", span)
    dtype = None if len(values) == 1 else dtype_of(t, values[1], span)
    return vectors.from_items(t, values[0].items, span, dtype)


def _shape_of(value: Value, span: Span) -> tuple[int, ...]:
    """The extents of a local array."""
    shape = value.items if isinstance(value, TupleValue) else (value,)
    extents = [item.literal if isinstance(item, Number) else None for item in shape]
    if not all(isinstance(extent, int) for extent in extents):
        raise KernelCallError(
            "the shape of a local array must be known when the kernel is compiled",
            span,
            why="local arrays live on the stack",
            help="use literals, closed-over numbers, or fw.static(n) of an argument n",
        )
    return tuple(int(extent or 0) for extent in extents)


def dtype_of(t: Translation, value: Value, span: Span) -> DType:
    """The type of elements that an argument names."""
    spec = value.value if isinstance(value, Static) else None
    try:
        row = None if spec is None else dtypes.from_numpy(spec)
    except TypeError:
        row = None
    if row is None:
        raise KernelCallError(f"{describe(value)} is not an element type of kernels", span)
    return row


def _vector(t: Translation, node: ast.Call, values: Values) -> Value:
    return vectors.from_items(t, values, t.span(node))


def _atomic(combine: str) -> Row:
    def row(t: Translation, node: ast.Call, values: Values) -> Value:
        arguments(t, node, values, 3, 3)
        span = t.span(node)
        ref, index, value = values
        if not isinstance(ref, ArrayRef):
            raise KernelCallError(
                f"an atomic update of {describe(ref)}",
                span,
                help="pass the array, the index, and the value: fw.atomic_add(a, i, x)",
            )
        indices = index.items if isinstance(index, TupleValue) else (index,)
        part = elements.indexed(t, ref, indices, span)
        if part.shape:
            raise KernelCallError("an atomic update needs an index for each dim", span)
        if combine.startswith("bitwise") and ref.dtype.is_float:
            raise KernelCallError(f"{combine} of {ref.dtype}", span, why="it is for integers")
        if ref.dtype.is_complex and combine not in ("add", "subtract"):
            raise KernelCallError(f"{combine} of {ref.dtype}", span, why="it is for real numbers")
        number = as_number(t, value, span)
        amount = Number(types.converted(number, ref.dtype, span), "numpy", number.span)
        amount = t.fixed(amount)
        old = t.let("old", elements.read(t, part, span))
        elements.store(t, part, amount, span, combine)
        return old

    return row


def _random(t: Translation, node: ast.Call, values: Values) -> Value:
    """The same steps as `language.random`, in uint64."""
    if not values:
        raise KernelCallError("fw.random needs a seed", t.span(node))
    span = t.span(node)
    word = const(0, UINT64)
    for place, value in enumerate(values):
        number = as_number(t, value, span)
        if not number.dtype.is_integer:
            raise KernelCallError(
                f"fw.random keyed by {described(number)}", span, help="use int(x)"
            )
        counter = cast(types.converted(number, INT64, span), UINT64)
        if number.dtype is UINT64:
            counter = number.expr
        start = counter if place == 0 else op("bitwise_xor", word, counter)
        word = t.let("word", Number(_mixed(start), "numpy", span)).expr
    top = cast(op("right_shift", word, const(11, UINT64)), FLOAT64)
    return Number(op("multiply", top, const(2.0**-53, FLOAT64)), "python", span)


def _mixed(word: Expr) -> Expr:
    word = op("add", word, const(language.GOLDEN, UINT64))
    for shift, factor in ((30, language.FIRST), (27, language.SECOND)):
        word = op("bitwise_xor", word, op("right_shift", word, const(shift, UINT64)))
        word = op("multiply", word, const(factor, UINT64))
    return op("bitwise_xor", word, op("right_shift", word, const(31, UINT64)))


def _nofuse(t: Translation, node: ast.Call, values: Values) -> Value:
    arguments(t, node, values, 0, 0)
    t.write(Fence(t.span(node)))
    return Static(None)


def _assume_unique(t: Translation, node: ast.Call, values: Values) -> Value:
    arguments(t, node, values, 1, 1)
    table, span = values[0], t.span(node)
    if not isinstance(table, ArrayRef) or not table.dtype.is_integer:
        raise KernelCallError(
            f"fw.assume_unique of {describe(table)}", span, help="pass an array of integers"
        )
    t.write(Unique(table.buffer, span))
    return Static(None)


ROWS: dict[Any, Row] = {
    language.local: _local,
    np.zeros: _local,
    np.empty: _local,
    np.ones: _ones,
    np.full: _full,
    np.array: _array,
    language.vector: _vector,
    language.random: _random,
    language.nofuse: _nofuse,
    language.assume_unique: _assume_unique,
    **{function: _atomic(name) for function, name in language.ATOMICS.items()},
}
