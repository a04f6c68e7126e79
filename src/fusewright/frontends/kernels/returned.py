"""What a kernel returns: numbers, new arrays and parts of them, its arguments, tuples of these."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from fusewright.base.errors import KernelReturnError
from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.frontends.kernels import elements, fresh, kept, lists, parts, storing
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Elementwise,
    Free,
    Growing,
    Items,
    ListValue,
    Number,
    Origin,
    Path,
    Static,
    TupleValue,
    Value,
    View,
    described,
)
from fusewright.ir.dtypes import INT64, DType
from fusewright.ir.expr import Expr, const
from fusewright.ir.loops.statements import Store
from fusewright.ir.nest import Buffer


@dataclass(frozen=True, slots=True)
class Returned:
    """A result: the number in a buffer (its origin says whose), the array that a buffer is, or an
    argument; of an array with a `window` the part that starts, for each dim, at the number in a
    buffer, and has as many elements as the number in another one says (none: a single position),
    this many apart.
    """

    buffer: int
    origin: Origin | None = None
    path: Path | None = None
    window: tuple[tuple[int, int | None, int], ...] = ()
    forms: tuple[tuple[str, tuple[Any, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class ReturnedList:
    """A list: how many items there are, and the arrays they come from (of tuples, a tuple)."""

    count: Returned
    items: Any


def value(t: Translation, found: Value, node: ast.Return, is_last: bool) -> Value:
    """What `return` gives back, arrays with memory of their own."""
    if isinstance(found, ListValue):
        what = KernelReturnError("a list of this kind is returned", t.span(node.value or node))
        raise storing.needs_memory(t, found.span, what)
    if isinstance(found, TupleValue):
        items = tuple(value(t, item, node, is_last) for item in found.items)
        return replace(found, items=items)
    span = t.span(node.value or node)
    if isinstance(found, View) and not found.local:
        if is_last:
            kept.reads(t, found)  # refused, if what it may have copied has been written since
            return found
        if found.buffer not in t.inputs.made:
            raise _in_the_midst("another form", found, span)
    if isinstance(found, Elementwise):
        array = fresh.stored(t, found, span)
        if array is None:
            raise _unknown(found, span)
        return _same(t, array, span)
    if not isinstance(found, ArrayRef):
        return found
    if not found.shape:
        return t.fixed(elements.read(t, found, span))
    whole = not found.indices and not found.window
    mine = found.buffer in t.inputs.made
    if whole and (mine or not found.local):
        return _same(t, found, span)
    if is_last and not found.local:
        return elements.lasting(t, found, span)
    if not mine and not found.local:
        raise _in_the_midst("a part", found, span)
    return _same(t, fresh.whole_copy(t, found, span), span)


def _in_the_midst(what: str, found: ArrayRef | View, span: Span) -> KernelReturnError:
    return KernelReturnError(
        f"{what} of `{found.name}` is returned in the midst of the kernel",
        span,
        why="it is a view, and where it lies would be decided by which return is reached",
        help="return a copy of it, or return it in the last statement",
    )


def _same(t: Translation, array: ArrayRef, span: Span) -> ArrayRef:
    """Several statements return one new array: what the others make is copied into it."""
    before = t.frame.returned.form
    if (
        not isinstance(before, ArrayRef)
        or (array.buffer not in t.inputs.made and not array.local)
        or before == array
        or before.buffer not in t.inputs.made
        or before.window
        or before.indices
        or before.dtype is not array.dtype
        or before.shape != array.shape
    ):
        return array
    parts.assign(t, before, array, span)
    return before


def inner(t: Translation, found: Value, span: Span) -> Value:
    """What a called function returns; a computed array with memory, if there are other returns."""
    if not isinstance(found, Elementwise) or not _is_new(t, found):
        return found
    returns = [n for n in ast.walk(t.frame.source.tree) if isinstance(n, ast.Return)]
    array = fresh.stored(t, found, span) if len(returns) > 1 else None
    return found if array is None else array


def is_joined(t: Translation, found: Value, span: Span) -> bool:
    """Whether a new array that a called function returns has been copied into the one that another
    of its statements returns: where sizes are known at the call only, they must be equal there.
    """
    before = t.frame.returned.form
    if not isinstance(before, ArrayRef) or not _is_new(t, before) or found == before:
        return False
    if not isinstance(found, ArrayRef | Elementwise) or not _is_new(t, found):
        return False
    if len(found.shape) != len(before.shape) or _type(t, found) is not before.dtype:
        return False
    pairs = zip(before.shape, found.shape, strict=True)
    if any(a is not b and a.name == b.name == "const" for a, b in pairs):
        return False
    parts.assign(t, before, found, span)
    return True


def _is_new(t: Translation, found: ArrayRef | Elementwise) -> bool:
    """Whether nothing but the call knows the memory."""
    if isinstance(found, Elementwise):
        return not isinstance(found, View) and not found.live
    whole = not found.indices and not found.window
    mine = found.buffer in t.inputs.made and found.buffer >= t.frame.first_buffer
    return whole and (mine or found.local)


def _type(t: Translation, found: ArrayRef | Elementwise) -> DType:
    if isinstance(found, ArrayRef):
        return found.dtype
    with t.block():
        return found.element((const(0, INT64),) * len(found.shape)).dtype


def _unknown(found: Value, span: Span) -> KernelReturnError:
    return KernelReturnError(
        f"a kernel cannot return {described(found)} of this size",
        span,
        why="what it returns is allocated before it runs",
        help="write into an array that is an argument, or return a part of a larger one",
    )


def results(t: Translation, found: Value, buffers: dict[int, Buffer], span: Span) -> Any:
    """Where the caller finds what the function returns: a `Returned`, None, or a tuple of these."""
    if isinstance(found, Static) and found.value is None:
        return None
    if isinstance(found, TupleValue):
        return tuple(results(t, item, buffers, span) for item in found.items)
    if isinstance(found, Number):
        return _number(t, found, buffers)
    if isinstance(found, Growing):
        count = Number(lists.length(found), "python", span)
        items = _items(found.form) if found.form is not None else Returned(-1, "python")
        return ReturnedList(_number(t, count, buffers), items)
    if isinstance(found, ArrayRef | View):
        path = t.inputs.buffer_paths.get(found.buffer)
        if found.buffer in t.inputs.made or path is not None:
            base, steps = (found.base, found.steps) if isinstance(found, View) else (found, ())
            window: tuple[tuple[int, int | None, int], ...] = ()
            if base.indices or base.window:
                window = tuple(_window(t, elements.window_of(base), buffers))
            forms = tuple((name, _form(t, name, step, buffers)) for name, step in steps)
            return Returned(found.buffer, None, path, window, forms)
    raise KernelReturnError(
        f"a kernel cannot return {described(found)}",
        span,
        why="it returns numbers, arrays and tuples of them",
        help="write into an array that is an argument",
    )


def _items(form: Any) -> Any:
    if isinstance(form, Items):
        return Returned(form.buffer, form.held.origin)
    return tuple(map(_items, form))


def _number(t: Translation, found: Number, buffers: dict[int, Buffer]) -> Returned:
    number = t.inputs.next_buffer()
    buffers[number] = Buffer(number, found.dtype, ())
    t.write(Store(number, (), found.expr, "", found.span))
    return Returned(number, found.origin)


def _form(
    t: Translation, name: str, step: tuple[Any, ...], buffers: dict[int, Buffer]
) -> tuple[Any, ...]:
    if name == "transpose":
        return step
    if name == "window":
        return tuple(_window(t, step, buffers))
    if name in ("diagonal", "slices"):
        return tuple(_kept(t, number, buffers) for number in step)
    return tuple(_kept(t, elements.size(extent), buffers) for extent in step)


def _kept(t: Translation, expr: Expr, buffers: dict[int, Buffer]) -> int:
    return _number(t, Number(expr, "python", ("", 0, 0, 0)), buffers).buffer


def _window(
    t: Translation, window: Sequence[Expr | Free], buffers: dict[int, Buffer]
) -> Iterator[tuple[int, int | None, int]]:
    for each in window:
        if isinstance(each, Free):
            yield _kept(t, each.offset, buffers), _kept(t, each.extent, buffers), each.stride
        else:
            yield _kept(t, each, buffers), None, 1
