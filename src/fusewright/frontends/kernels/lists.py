"""Lists that statements change: `append`, `insert`, `pop`, `l[i] = x`, `[0.0] * n`.

A list is an array with room for more, and a variable that holds how many items there are; of a list
of tuples, an array for each place of a tuple.  How much room it needs is not known before: a kernel
that has too little stops, and is run again with more (`kernels.growing`).

    l = []            let count = 0
    l.append(x)       check count < room
                      items[count] = x
                      let count = count + 1
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from fusewright.base.errors import KernelListError
from fusewright.base.source import Span
from fusewright.frontends.kernels import elements, types
from fusewright.frontends.kernels.retyping import Restart
from fusewright.frontends.kernels.storing import is_known, needs_memory
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Free,
    Growing,
    Items,
    ListValue,
    Number,
    TupleValue,
    Value,
    described,
)
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, index, local, op
from fusewright.ir.loops.statements import Dim, For, Let, Store

if TYPE_CHECKING:
    from fusewright.frontends.kernels.context import Translation

Form = Items | tuple[Any, ...]
ZERO, ONE = const(0, INT64), const(1, INT64)
METHODS = frozenset({"append", "insert", "pop", "reverse", "clear", "extend", "copy", "sort"})


# -- made -----------------------------------------------------------------------------------------


def make(t: Translation, items: Sequence[Value], span: Span) -> Growing:
    """A new list of these items."""
    number = t.new_local("length", INT64, True)
    t.write(Let(number, ZERO, span))
    made = Growing((*t.frame.instance, span, "items"), span, t.nesting, number)
    known = t.guesses.get((made.key, "form"))
    if known is not None:
        made.form = _new(t, made.key, known, span)
    for item in items:
        append(t, made, item, span)
    return made


def repeated(t: Translation, items: Sequence[Value], count: Number, span: Span) -> Value:
    """`[x] * n`: written out where nothing changes it and its length is known."""
    literal = count.literal
    if isinstance(literal, int) and not is_known(t, span) and len(items) * literal <= MOST_ITEMS:
        return ListValue(tuple(items) * literal, span)
    if not is_known(t, span):
        raise needs_memory(t, span, KernelListError("a list of this length", span))
    made = make(t, (), span)
    fixed = [t.lasting(item) for item in items]
    end = t.fixed(Number(types.converted(elements.whole(count, span), INT64, span), "python", span))

    def once(_: Expr) -> None:
        for item in fixed:
            append(t, made, item, span)

    loop(t, ZERO, end.expr, once, span)
    return made


MOST_ITEMS = 64
"""Items of a list that is written out."""


def part(t: Translation, growing: Growing, low: Expr, high: Expr, span: Span) -> Growing:
    """`l[low:high]`, the ends inside."""
    made = make(t, (), span)
    if not is_empty(growing):
        loop(t, low, high, lambda k: append(t, made, item_at(t, growing, k, span), span), span)
    return made


def copied(t: Translation, growing: Growing, span: Span) -> Growing:
    """`l.copy()`."""
    return part(t, growing, ZERO, length(growing), span)


# -- its parts ------------------------------------------------------------------------------------


def length(value: Growing) -> Expr:
    """How many items there are now."""
    return local(value.length, INT64)


def form_of(t: Translation, growing: Growing, item: Value, span: Span) -> Form:
    """The memory of the items, which the first one decides."""
    if growing.form is None:
        growing.form = _new(t, growing.key, item, span)
        if growing.asked:  # it has been taken for empty, in a loop that comes back to that
            t.guesses[growing.key, "form"] = _sample(growing.form, span)
            raise Restart
    form: Form = growing.form
    return form


def _sample(form: Form, span: Span) -> Value:
    """An item of the kind that a list holds."""
    if isinstance(form, Items):
        return Number(const(0, form.held.dtype), form.held.origin, span)
    return TupleValue(tuple(_sample(part, span) for part in form))


def is_empty(growing: Growing) -> bool:
    """Whether the text has given a list no item so far."""
    growing.asked = growing.asked or growing.form is None
    return growing.form is None


def _new(t: Translation, key: tuple[Any, ...], item: Value, span: Span) -> Form:
    if isinstance(item, ArrayRef) and not item.shape:
        item = elements.read(t, item, span)
    if type(item) is TupleValue and item.items:
        return tuple(_new(t, (*key, n), part, span) for n, part in enumerate(item.items))
    if not isinstance(item, Number) or item.dtype.is_complex:
        raise KernelListError(
            f"{described(item)} as an item of a list that is changed",
            span,
            why="a list is kept as arrays of numbers, one for each place of its tuples",
            help="lists hold real numbers, or tuples of them; for lists in a list take an array "
            "of two dims and one of lengths",
        )
    held = t.guesses.get(key) or types.held(item)
    return Items(key, t.inputs.make(held.dtype, (t.inputs.room(),)), held)


def _leaves(form: Form) -> Iterator[Items]:
    if isinstance(form, Items):
        yield form
    else:
        for part in form:
            yield from _leaves(part)


def known_form(t: Translation, growing: Growing, span: Span) -> Form:
    """The memory of the items.  Where the text has not given it any yet (a loop comes back to
    that: `while l and l[-1] > x: l.pop()`, then `l.append(x)`), they are taken for ints until it
    does, and the translation starts again.
    """
    if growing.form is not None:
        form: Form = growing.form
        return form
    growing.asked = True
    t.retyping.unfilled.append((growing, span))
    return _new(t, growing.key, Number(ZERO, "python", span), span)


def refuse_unfilled(t: Translation) -> None:
    """Refuse items of lists that the text never gives any."""
    for growing, span in t.retyping.unfilled:
        if growing.form is None:
            raise KernelListError(
                "an item of a list that has been given none yet",
                span,
                why="the first item tells what the list holds",
                help="append before this, as the text is written, or begin the list with an item",
            )


def view(t: Translation, growing: Growing, span: Span) -> ArrayRef:
    """The items of a list of numbers as an array."""
    if not isinstance(known_form(t, growing, span), Items):
        raise KernelListError("a list of tuples where an array is needed", span, help="np.array(l)")
    return columns(t, growing, span)[0]


def columns(t: Translation, growing: Growing, span: Span) -> list[ArrayRef]:
    """The items of a list as an array, or those at each place of its tuples."""
    room, window = t.inputs.room(), (Free(ZERO, length(growing)),)
    return [
        ArrayRef(each.buffer, (), (room,), each.held.dtype, "list", False, window)
        for each in _leaves(known_form(t, growing, span))
    ]


def read_item(t: Translation, form: Form, place: Expr, span: Span) -> Value:
    """The item at a place, read where it is used."""
    if not isinstance(form, Items):
        return TupleValue(tuple(read_item(t, part, place, span) for part in form))
    ref = ArrayRef(form.buffer, (place,), (t.inputs.room(),), form.held.dtype, "list")
    return Number(elements.read(t, ref, span).expr, form.held.origin, span)


def write_item(t: Translation, form: Form, place: Expr, value: Value, span: Span) -> None:
    """Store an item, whose type may turn out to be another one than was thought."""
    if isinstance(value, ArrayRef) and not value.shape:
        value = elements.read(t, value, span)
    if isinstance(form, Items) and isinstance(value, Number):
        wide = form.held.takes(value)
        if wide is None or value.dtype is not form.held.dtype:
            raise _conflict(form, value, span)
        if (wide.dtype, wide.origin) != (form.held.dtype, form.held.origin):
            t.guesses[form.key] = wide
            raise Restart
        form.held = wide
        stored = types.converted(value, wide.dtype, span)
        t.write(Store(form.buffer, (place,), stored, "", span))
        return
    items = value.items if type(value) is TupleValue else ()
    if isinstance(form, Items) or len(items) != len(form):
        what = "numbers" if isinstance(form, Items) else f"tuples of {len(form)}"
        raise KernelListError(
            f"{described(value)} in a list of {what}",
            span,
            why="all items of a list are of one kind",
            help="make two lists",
        )
    for part, item in zip(form, items, strict=True):
        write_item(t, part, place, item, span)


def _conflict(form: Items, value: Number, span: Span) -> KernelListError:
    before = Number(const(0, form.held.dtype), form.held.origin, form.held.span)
    literal = value.literal if value.literal is not None else "x"
    return KernelListError(
        f"{described(value)} in a list of {described(before)} each",
        span,
        why="all numbers of a list are of one type, also literals: they may be returned",
        help=f"write {literal}.0 or float(x)" if form.held.dtype.is_float else "convert it",
    )


def _place(t: Translation, growing: Growing, index_: Value, what: str, span: Span) -> Expr:
    """Where an index points, which is looked at, always: a list is as long as it has grown."""
    (place,) = elements.indexed(t, columns(t, growing, span)[0], [index_], span).indices
    place = t.fixed(Number(place, "python", span)).expr
    inside = op("logical_and", op("less_equal", ZERO, place), op("less", place, length(growing)))
    t.check(inside, "raised", f"IndexError:{what} index out of range", (), span)
    return place


def item(t: Translation, growing: Growing, index_: Value, span: Span) -> Value:
    """`l[i]`."""
    place = _place(t, growing, index_, "list", span)
    return t.lasting(read_item(t, known_form(t, growing, span), place, span))


def item_at(t: Translation, growing: Growing, place: Expr, span: Span) -> Value:
    """The item at a place that is known to be inside."""
    return t.lasting(read_item(t, known_form(t, growing, span), place, span))


def set_item(t: Translation, growing: Growing, index_: Value, value: Value, span: Span) -> None:
    """`l[i] = value`."""
    value = t.lasting(value)
    place = _place(t, growing, index_, "list assignment", span)
    write_item(t, known_form(t, growing, span), place, value, span)


# -- its methods ----------------------------------------------------------------------------------


def append(t: Translation, growing: Growing, value: Value, span: Span) -> None:
    """`l.append(value)`."""
    value = t.lasting(value)
    form = form_of(t, growing, value, span)
    make_room(t, growing, span)
    write_item(t, form, length(growing), value, span)
    resize(t, growing, 1, span)


def make_room(t: Translation, growing: Growing, span: Span) -> None:
    """Stop the kernel where there is none for one more item."""
    more = linear.plus(length(growing), 1)
    fits = op("less_equal", more, t.inputs.room())
    t.check(fits, "room", "{}", (more,), span)


def resize(t: Translation, growing: Growing, change: int, span: Span) -> None:
    """Count more or fewer items."""
    t.write(Let(growing.length, linear.plus(length(growing), change), span))
    growing.version += 1


def loop(t: Translation, low: Expr, high: Expr, body: Callable[[Expr], None], span: Span) -> None:
    """A loop that the user has not written: `body` writes what is done at a place."""
    low, high = (t.fixed(Number(each, "python", span)).expr for each in (low, high))
    number = t.index()
    outer = dict(t.ranges)
    t.ranges[number] = (low, high)
    with t.block() as written:
        body(index(number))
    t.ranges = outer
    t.write(For((Dim(number, low, high, ""),), tuple(written), span))


def move(t: Translation, form: Form, target: Expr, source: Expr, span: Span) -> None:
    """Copy an item to another place."""
    for leaf in _leaves(form):
        found = read_item(t, leaf, source, span)
        assert isinstance(found, Number)
        t.write(Store(leaf.buffer, (target,), found.expr, "", span))


def reverse(t: Translation, growing: Growing, span: Span) -> None:
    """`l.reverse()`."""
    end = t.let("_", Number(length(growing), "python", span)).expr
    if is_empty(growing):
        return
    form: Form = growing.form
    half = op("floor_divide", end, const(2, INT64))

    def swap(here: Expr) -> None:
        there = linear.minus(linear.minus(end, 1), here)
        for leaf in _leaves(form):
            a, b = (t.lasting(read_item(t, leaf, place, span)) for place in (here, there))
            assert isinstance(a, Number)
            assert isinstance(b, Number)
            t.write(Store(leaf.buffer, (here,), b.expr, "", span))
            t.write(Store(leaf.buffer, (there,), a.expr, "", span))

    loop(t, ZERO, half, swap, span)
    growing.version += 1


def clear(t: Translation, growing: Growing, span: Span) -> None:
    """`l.clear()`."""
    t.write(Let(growing.length, ZERO, span))
    growing.version += 1


def walked(t: Translation, span: Span) -> Walk:
    """How a list is walked through."""

    def walk(value: Value) -> tuple[Expr, Callable[[Expr], Value]]:
        assert isinstance(value, Growing)
        return length(value), lambda place: item_at(t, value, place, span)

    return walk


Walk = Callable[[Value], tuple[Expr, Callable[[Expr], Value]]]
"""How many items something to loop over has, and the one at a place."""


def extend(t: Translation, growing: Growing, value: Value, walk: Walk, span: Span) -> None:
    """`l.extend(value)`, of what a loop could run over."""
    if isinstance(value, TupleValue):
        for each in value.items:
            append(t, growing, each, span)
    elif not isinstance(value, Growing) or not is_empty(value):
        count, item_of = walk(t.lasting(value))
        loop(t, ZERO, count, lambda here: append(t, growing, item_of(here), span), span)


def arrays(t: Translation, value: Value, span: Span) -> Value:
    """What NumPy's functions take a list as."""
    if isinstance(value, Growing):
        return view(t, value, span)
    return value


def changes(value: Value) -> list[tuple[Growing, int]]:
    """The lists that a loop runs over, and how often they have been changed so far."""
    parts = getattr(value, "parts", (value,))
    return [(part, part.version) for part in parts if isinstance(part, Growing)]


def refuse_changed(before: list[tuple[Growing, int]], span: Span) -> None:
    """Refuse a loop over a list that its body changes."""
    if any(growing.version != version for growing, version in before):
        raise KernelListError(
            "a loop over a list that it makes longer or shorter",
            span,
            why="how often it runs is decided before it begins",
            help="loop over a copy, l.copy(), or write `while i < len(l):`",
        )
