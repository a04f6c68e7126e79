"""Names, literals, attributes, indexing and tuples."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import reduce
from types import FunctionType

from fusewright.base.errors import KernelIndexError, UnsupportedError
from fusewright.base.source import Span
from fusewright.frontends.kernels import (
    complexes,
    elements,
    elementwise,
    gathering,
    lists,
    records,
    storing,
    types,
    vectors,
    views,
)
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.names import look_up
from fusewright.frontends.kernels.operators import apply, operands
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Bound,
    Elementwise,
    Growing,
    ListValue,
    Method,
    NamedItems,
    Number,
    Record,
    SliceValue,
    Static,
    Struct,
    TupleValue,
    Value,
    described,
)
from fusewright.ir import linear

METHODS = frozenset(
    {"copy", "item", "fill", "astype", "sum", "mean", "prod", "min", "max", "argmin", "argmax"}
    | {"any", "all", "dot", "sort", "argsort", "searchsorted", "var", "std", "conjugate", "conj"}
    | {"ravel", "flatten", "swapaxes", "squeeze", "repeat", "take", "ptp", "nonzero", "cumsum"}
    | {"cumprod", "round", "clip"}
)


def name(t: Translation, node: ast.Name) -> Value:
    """A name."""
    return look_up(t, node)


def constant(t: Translation, node: ast.Constant) -> Value:
    """A literal."""
    if isinstance(node.value, bool | int | float | complex):
        return types.literal(node.value, t.span(node))
    if isinstance(node.value, str) or node.value in (None, ...) or callable(node.value):
        return Static(node.value)  # A dialect's trees hold functions.
    raise t.refuse(
        node, f"a kernel cannot contain a literal {type(node.value).__name__}", help="use numbers"
    )


def attribute(t: Translation, node: ast.Attribute) -> Value:
    """`value.name`."""
    value = t.expression(node.value)
    span = t.span(node)
    if isinstance(value, Static):
        return t.inputs.module_attribute(t.frame.function, value, node.attr, span)
    if isinstance(value, NamedItems) and node.attr in value.names:
        return value.items[value.names.index(node.attr)]
    if isinstance(value, Record):
        return records.attribute(t, value, node)
    if isinstance(value, Struct):
        return _of_struct(t, value, node.attr, span)
    if isinstance(value, ArrayRef | Elementwise):
        return _of_array(t, value, node, span)
    if isinstance(value, Number):
        return _of_number(value, node, span, t)
    if isinstance(value, ListValue | Growing):
        return _of_list(t, value, node)
    raise t.refuse(node, f"{described(value)} has no attribute `{node.attr}` in a kernel")


def _of_struct(t: Translation, struct: Struct, attr: str, span: Span) -> Value:
    found = getattr(struct.kind, attr, None)
    plain = getattr(found, "__wrapped__", found)
    if isinstance(plain, FunctionType):
        if isinstance(vars(struct.kind).get(attr), staticmethod):
            return Static(plain)
        return Bound(plain, struct, found)
    return t.inputs.attribute(struct, attr, span)


def _of_list(t: Translation, value: ListValue | Growing, node: ast.Attribute) -> Value:
    refused = UnsupportedError(
        f"`{node.attr}` of a list",
        t.span(node),
        why="it is none of the methods that lists have in kernels",
        help="they have " + ", ".join(sorted(lists.METHODS)),
    )
    if node.attr not in lists.METHODS:
        raise refused
    if isinstance(value, ListValue):
        raise storing.needs_memory(t, value.span, refused)
    return Method(value, node.attr)


def _of_number(value: Number, node: ast.Attribute, span: Span, t: Translation) -> Value:
    if node.attr in ("real", "imag"):
        return complexes.part(value, node.attr, span)
    if node.attr == "conjugate" or (node.attr == "conj" and value.origin == "numpy"):
        return Method(value, "conjugate")
    if value.dtype.is_integer and node.attr == "bit_count":
        return Method(value, node.attr)
    raise t.refuse(node, f"{described(value)} has no attribute `{node.attr}` in a kernel")


def _of_array(
    t: Translation, ref: ArrayRef | Elementwise, node: ast.Attribute, span: Span
) -> Value:
    if node.attr == "shape":
        return TupleValue(tuple(_sizes(ref, span)))
    if node.attr == "ndim":
        return types.literal(len(ref.shape), span)
    if node.attr == "size":
        one = types.literal(1, span)
        return reduce(
            lambda a, b: apply(t, "multiply", (a, b), span),
            _sizes(ref, span),
            one,
        )
    if node.attr == "T" and len(ref.shape) < 2:
        return ref
    if node.attr == "T":
        return elementwise.transposed(t, ref, range(len(ref.shape))[::-1], span)
    if node.attr in ("real", "imag"):
        return elementwise.component(t, ref, node.attr, span)
    if node.attr == "dtype":
        return Static(elementwise.dtype_of(t, ref, span).numpy)
    if node.attr == "flat":
        return views.flat(t, ref, span)
    if node.attr in METHODS or node.attr in views.SPREAD:
        return Method(ref, node.attr)
    raise t.refuse(
        node,
        f"an array has no attribute `{node.attr}` in a kernel",
        help="use shape, ndim, size, dtype, and elements a[i, j]",
    )


def _sizes(ref: ArrayRef | Elementwise, span: Span) -> list[Number]:
    return [Number(elements.size(extent), "python", span) for extent in ref.shape]


def subscript(t: Translation, node: ast.Subscript) -> Value:
    """`value[index]`."""
    value, *index = operands(t, [node.value, node.slice])
    return element_of(t, value, index[0], t.span(node), node)


def _picked(t: Translation, items: Sequence[Value], index: Number, span: Span) -> Number:
    """An item of a tuple of numbers by an index that is computed."""
    kinds = {(x.dtype, x.origin) if isinstance(x, Number) else None for x in items}
    if len(kinds) != 1 or None in kinds:
        raise KernelIndexError(
            "a tuple is indexed with a literal in a kernel",
            span,
            why="its items are of different types, or arrays",
            help="write the numbers alike (1.0 beside 2.5), or fw.static(range(n)) for the loop",
        )
    first = items[0]
    assert isinstance(first, Number)
    table = vectors.from_items(t, items, span)
    found = elements.read(t, elements.indexed(t, table, [index], span), span)
    return t.fixed(Number(found.expr, first.origin, span))


def _literal_slice(index: SliceValue, span: Span) -> slice:
    """A slice of a tuple, whose length is known when the kernel is compiled."""
    ends: list[int | None] = []
    for end in (index.low, index.high, index.by):
        literal = None if end is None else end.literal
        if end is not None and not isinstance(literal, int):
            raise KernelIndexError(
                "a tuple is sliced with literals in a kernel",
                span,
                why="how many items the slice has is decided when the kernel is compiled",
                help="write the ends as numbers: a.shape[:2]",
            )
        ends.append(None if literal is None else int(literal.real))
    return slice(ends[0], ends[1], index.step)


def element_of(t: Translation, value: Value, index: Value, span: Span, node: ast.AST) -> Value:
    """A part of an array or tuple."""
    if isinstance(value, Struct) and hasattr(value.kind, "_fields"):
        value = TupleValue(elements.items_of(t, value, node))
    if isinstance(value, TupleValue):
        if isinstance(index, SliceValue):
            return TupleValue(value.items[_literal_slice(index, span)])
        literal = index.literal if isinstance(index, Number) else None
        if not isinstance(literal, int):
            if isinstance(value, ListValue) and not all(isinstance(x, Number) for x in value.items):
                what = "an item of a list by an index that is computed"
                raise storing.needs_memory(t, value.span, KernelIndexError(what, span))
            return _picked(t, value.items, elements.whole(index, span), span)
        if not -len(value.items) <= literal < len(value.items):
            raise KernelIndexError(f"index {literal} in a tuple of {len(value.items)}", span)
        return value.items[literal]
    if isinstance(value, Growing):
        return _of_items(t, value, index, span)
    if not isinstance(value, ArrayRef | Elementwise):
        raise t.refuse(node, f"{described(value)} cannot be indexed")
    indices = gathering.indices_of(index)
    if any(map(elementwise.is_new, indices)):
        kept = tuple(each for each in indices if not elementwise.is_new(each))
        ref = element_of(t, value, TupleValue(kept), span, node)
        return elementwise.with_new_dims(t, ref, indices, span)
    if any(map(gathering.is_array, indices)):
        return gathering.read(t, value, indices, node)
    return elementwise.part(t, value, indices, span)


def _of_items(t: Translation, value: Growing, index: Value, span: Span) -> Value:
    if not isinstance(index, SliceValue):
        return lists.item(t, value, index, span)
    if index.step == -1 and index.low is None and index.high is None:
        turned = lists.copied(t, value, span)
        lists.reverse(t, turned, span)
        return turned
    if index.step != 1 or index.by is not None:
        raise KernelIndexError("a slice of a list with a step", span, help="write the loop")
    if lists.is_empty(value):
        return lists.make(t, (), span)
    low, count = elements.cut(t, lists.length(value), index)
    return lists.part(t, value, low, linear.plus(low, count), span)


def slice_(t: Translation, node: ast.Slice) -> SliceValue:
    """`low:high:step` as an index."""
    low, high = (
        None if bound is None else elements.whole(t.expression(bound), t.span(bound))
        for bound in (node.lower, node.upper)
    )
    step = types.literal(1, t.span(node)) if node.step is None else elements.number(t, node.step)
    low, high = low and t.fixed(low), high and t.fixed(high)
    if step.literal is None and step.dtype.is_integer:
        return SliceValue(low, high, 1, t.fixed(step))
    if not isinstance(step.literal, int) or not step.literal:
        raise t.refuse(node, "a slice with this step", help="use an integer other than 0")
    return SliceValue(low, high, step.literal)


def list_(t: Translation, node: ast.List) -> Value:
    """`[a, b]`; an array and a count, where something changes it."""
    items, span = operands(t, node.elts), t.span(node)
    if storing.is_known(t, span):
        return lists.make(t, items, span)
    return ListValue(tuple(items), span)


def tuple_(t: Translation, node: ast.Tuple) -> Value:
    """`a, b`."""
    return TupleValue(tuple(operands(t, node.elts)))
