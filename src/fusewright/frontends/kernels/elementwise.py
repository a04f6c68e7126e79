"""Operations on whole arrays whose lengths are known only when the kernel runs.

Nothing is computed here: what an operation gives knows how to compute one element, and the loop
that stores or collects it asks for them (`parts`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from fusewright.base.errors import KernelIndexError, ShapeError
from fusewright.base.source import Span
from fusewright.frontends.kernels import complexes, elements, orders, vectors
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.inputs import Fit
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Elementwise,
    Number,
    Order,
    SliceValue,
    Static,
    Value,
    View,
)
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64, DType
from fusewright.ir.expr import Expr, const, op, postorder, typed_op

Places = tuple[Expr, ...]
_ZERO, _ONE = const(0, INT64), const(1, INT64)
_WHOLE = SliceValue(None, None, 1)
_MISFIT = "arrays of {} and {} elements do not fit together"


def is_array(value: Value) -> bool:
    """Whether it is an array that is no small one of the kernel's own."""
    if isinstance(value, ArrayRef):
        return bool(value.shape) and not vectors.is_vector(value)
    return isinstance(value, Elementwise)


def shape_of(value: Value) -> tuple[Expr, ...]:
    """The extents of an array; a number has none."""
    return value.shape if isinstance(value, ArrayRef | Elementwise) else ()


def computed(
    t: Translation, values: Sequence[Value], function: Callable[[list[Number]], Number], span: Span
) -> Elementwise:
    """A function of numbers for each element of arrays, broadcast as NumPy does."""
    kept = [
        value if shape_of(value) else t.fixed(elements.as_number(t, value, span))
        for value in values
    ]
    shape = common_shape(t, [shape_of(value) for value in kept], span)

    def element(places: Places) -> Number:
        return function([element_of(t, value, places, span) for value in kept])

    return Elementwise(shape, element, span, orders.of_result(t, kept))


def element_of(t: Translation, value: Value, places: Places, span: Span) -> Number:
    """An element of an array that may be stretched to more."""
    shape = shape_of(value)
    own = places[len(places) - len(shape) :]
    own = tuple(_ZERO if n is _ONE else k for k, n in zip(own, shape, strict=True))
    if isinstance(value, Elementwise):
        return value.element(own)
    if isinstance(value, ArrayRef) and shape:
        return elements.read(t, elements.at(value, own), span)
    return elements.as_number(t, value, span)


def indexed(
    t: Translation, value: Elementwise, indices: Sequence[Value], span: Span
) -> Elementwise | Number:
    """An element of what is computed, or a part of it."""
    part = _part(t, value, indices, span)
    if not part.shape:
        return value.element(part.indices)
    order = min(orders.of_window(elements.window_of(part), part.extents), value.order)
    return formed(
        t,
        value,
        part.shape,
        lambda places: elements.at(part, places).indices,
        ("window", elements.window_of(part)),
        span,
        order,
    )


def part(t: Translation, value: Value, indices: Sequence[Value], span: Span) -> Value:
    """An element of an array, or a part of it."""
    if has_steps(indices):
        return _stepped(t, value, indices, span)
    if isinstance(value, Elementwise):
        return indexed(t, value, indices, span)
    assert isinstance(value, ArrayRef)
    found = elements.indexed(t, value, indices, span)
    return elements.lasting(t, found, span) if found.shape else elements.read(t, found, span)


def has_steps(indices: Sequence[Value]) -> bool:
    """Whether a slice has a step that is computed."""
    return any(isinstance(each, SliceValue) and each.by is not None for each in indices)


def _stepped(t: Translation, value: Value, indices: Sequence[Value], span: Span) -> Value:
    """A part by slices of computed steps: first all of their dims, then what each keeps of it."""
    if any(isinstance(each, Static) for each in indices):
        raise KernelIndexError(
            "`...` beside a slice whose step is computed", span, help="write `:` for each dim"
        )
    cuts = [each for each in indices if isinstance(each, SliceValue)]
    found = part(t, value, [_WHOLE if has_steps([each]) else each for each in indices], span)
    shape = list(shape_of(found))
    every = [(_ZERO, elements.size(extent), _ONE) for extent in shape]
    for dim, cut in enumerate(cuts):
        if cut.by is not None:
            every[dim] = elements.stepped(t, shape[dim], cut, span)
            shape[dim] = every[dim][1]

    def inside(places: Places) -> Places:
        moves = zip(places, every, strict=True)
        return tuple(linear.plus(first, linear.times(k, step)) for k, (first, _, step) in moves)

    step = tuple(number for numbers in every for number in numbers)
    return formed(t, found, tuple(shape), inside, ("slices", step), span)


def _part(t: Translation, value: Elementwise, indices: Sequence[Value], span: Span) -> ArrayRef:
    name = value.name if isinstance(value, View) else "the computed array"
    whole = ArrayRef(-1, (), value.shape, INT64, name)
    return elements.lasting(t, elements.indexed(t, whole, indices, span), span)


def place(t: Translation, value: View, indices: Sequence[Value], span: Span) -> ArrayRef | View:
    """The element of a view, or the part of it, that an assignment writes."""
    elements.writable(t, value, span)
    part = _part(t, value, indices, span)
    if not part.shape:
        return value.target(part.indices)
    found = indexed(t, value, indices, span)
    assert isinstance(found, View)
    return found


def formed(
    t: Translation,
    value: Value,
    shape: Places,
    inside: Callable[[Places], Places],
    step: tuple[str, tuple[Any, ...]],
    span: Span,
    order: Order = Order.UNKNOWN,
    sure: bool = True,
) -> Elementwise:
    """The elements of an array in another form: `inside` says where the one at a place is, and
    `step` how NumPy gets there.
    """
    if not isinstance(value, ArrayRef | View) or not value.shape:
        origin = value if isinstance(value, Elementwise) else None
        live = origin is not None and origin.live

        def element(places: Places) -> Number:
            return element_of(t, value, inside(places), span)

        return Elementwise(shape, element, span, order, origin, live)

    def target(places: Places) -> ArrayRef:
        return elements.at(value, inside(places))

    before = value.steps if isinstance(value, View) else ()
    return View(
        shape,
        lambda places: elements.read(t, target(places), span),
        span,
        order,
        base=value.base if isinstance(value, View) else value,
        target=target,
        steps=(*before, step),
        sure=sure and (not isinstance(value, View) or value.sure),
    )


def dtype_of(t: Translation, value: Value, span: Span) -> DType:
    """The type of an array's elements."""
    if isinstance(value, ArrayRef | View | Number):
        return value.dtype
    with t.block():  # what it takes to compute one is not kept
        return element_of(t, value, (_ZERO,) * len(shape_of(value)), span).dtype


def common_shape(t: Translation, shapes: Sequence[Places], span: Span) -> Places:
    """The shape that arrays of these are broadcast to."""
    rank = max(map(len, shapes))
    common = [_ONE] * rank
    for shape in shapes:
        for dim, extent in enumerate(shape, rank - len(shape)):
            if common[dim] is _ONE:
                common[dim] = extent
            elif extent is not _ONE:
                fit(t, common[dim], extent, span)
    return tuple(common)


def fit(t: Translation, wanted: Expr, found: Expr, span: Span, message: str = _MISFIT) -> None:
    """Two extents must be one: looked at while translating, when the kernel is called, or where
    neither can tell when the statement runs.
    """
    wanted, found = (_clamped(t.inputs.alike(each)) for each in (wanted, found))
    if linear.distance(wanted, found) == 0:
        return
    sizes = elements.size(wanted), elements.size(found)
    if all(each.name == "const" for each in sizes):
        raise ShapeError(
            message.format(sizes[0].attr, sizes[1].attr),
            span,
            why="an operation on arrays needs as many elements on both sides, or one",
            help="slice the longer one",
        )
    whole = _extents(t, wanted, found)
    if whole is not None and not t.branches:
        t.inputs.must_equal(*whole)
        t.inputs.fits.append(Fit(op("equal", *whole), message, sizes, span))
        return
    condition = op("equal", *sizes)
    for known in t.branches:
        if _is_given(known):
            condition = op("logical_or", op("logical_not", known), condition)
    if _is_given(condition):
        t.inputs.fits.append(Fit(condition, message, sizes, span))
    else:
        t.check(op("equal", *sizes), "shape", message, sizes, span)


def _clamped(extent: Expr) -> Expr:
    """An extent that is kept from being negative, once however often that has been done: a view of
    a new array says it again.
    """
    inner = extent
    while inner.name in ("maximum", "imax") and inner.args[1] is _ZERO:
        inner = inner.args[0]
    return extent if inner is extent else typed_op("imax", INT64, inner, _ZERO)


def _extents(t: Translation, wanted: Expr, found: Expr) -> tuple[Expr, Expr] | None:
    """The two extents of arrays that must be alike, where sizes are those less the same number."""
    gap = linear.terms(linear.minus(wanted, found))
    if sorted(gap.values()) != [-1, 1] or any(term.name != "param" for term in gap):
        return None
    if any(t.inputs.sources[term.attr].what != "extent" for term in gap):
        return None
    first, second = gap
    return first, second


def _is_given(expr: Expr) -> bool:
    """Whether it depends on what the kernel is called with alone."""
    return not any(node.name in ("index", "local", "load") for node in postorder([expr]))


def with_new_dims(t: Translation, ref: Value, indices: Sequence[Value], span: Span) -> Elementwise:
    """`a[:, None]`: dims of one element among those of an array or a number."""
    kept = iter(shape_of(ref))
    used = sum(not is_new(index) and not isinstance(index, Number) for index in indices)
    indices = [*indices, *[Static(...)] * (len(shape_of(ref)) - used)]
    is_kept = [not is_new(k) for k in indices if not isinstance(k, Number)]
    shape = tuple(next(kept) if own else _ONE for own in is_kept)

    def inside(places: Places) -> Places:
        return tuple(k for k, own in zip(places, is_kept, strict=True) if own)

    return formed(t, ref, shape, inside, ("reshape", shape), span, orders.order_of(t, ref))


def component(t: Translation, value: Value, name: str, span: Span) -> Elementwise:
    """`z.real` and `z.imag`: what the memory holds."""
    found = computed(t, [value], lambda each: complexes.part(each[0], name, span), span)
    is_memory = isinstance(value, ArrayRef | View)
    live = is_memory or (isinstance(value, Elementwise) and value.live)
    return replace(found, origin=value if isinstance(value, Elementwise) else None, live=live)


def unpacked(t: Translation, value: Value, count: int, span: Span) -> list[Value]:
    """The items of an array for so many names."""
    shape = shape_of(value)
    fit(t, const(count, INT64), shape[0], span, "{} names for {} items")
    places = [Number(const(k, INT64), "python", span) for k in range(count)]
    if isinstance(value, Elementwise):
        return [indexed(t, value, [place], span) for place in places]
    assert isinstance(value, ArrayRef)
    parts = [elements.indexed(t, value, [place], span) for place in places]
    return [part if part.shape else elements.read(t, part, span) for part in parts]


def is_new(index: Value) -> bool:
    """Whether an index is `None`, a new dim."""
    return isinstance(index, Static) and index.value is None


def transposed(t: Translation, value: Value, axes: Sequence[int], span: Span) -> Elementwise:
    """`a.transpose(axes)`: the dim at each place is that of the array's."""
    own = shape_of(value)
    back = [axes.index(dim) for dim in range(len(own))]
    order = orders.order_of(t, value) if list(axes) == sorted(axes) else Order.UNKNOWN
    return formed(
        t,
        value,
        tuple(own[axis] for axis in axes),
        lambda places: tuple(places[place] for place in back),
        ("transpose", tuple(axes)),
        span,
        order,
    )
