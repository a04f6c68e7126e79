"""The methods of lists, `insert`, `pop` and the others; what `in` says of one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from fusewright.base.source import Span
from fusewright.frontends.kernels import elements, lists, types
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.values import Growing, Number, Static, Value
from fusewright.ir import linear
from fusewright.ir.dtypes import BOOL, INT64
from fusewright.ir.expr import Expr, const, local, op
from fusewright.ir.loops.statements import If, Let


def _insert(t: Translation, growing: Growing, values: Sequence[Value], span: Span) -> None:
    end = t.let("_", Number(lists.length(growing), "python", span)).expr
    given = elements.whole(values[0], span)
    place = types.converted(given, INT64, span)
    value = t.lasting(values[1])
    form = lists.form_of(t, growing, value, span)
    if given.literal is None or given.literal < 0:
        wrapped = op("maximum", op("add", place, end), lists.ZERO)
        place = op("where", op("less", place, lists.ZERO), wrapped, place)
    place = t.let("_", Number(op("minimum", place, end), "python", span)).expr
    lists.make_room(t, growing, span)

    def shift(step: Expr) -> None:
        target = linear.minus(end, step)
        lists.move(t, form, target, linear.minus(target, 1), span)

    lists.loop(t, lists.ZERO, linear.minus(end, place), shift, span)
    lists.write_item(t, form, place, value, span)
    lists.resize(t, growing, 1, span)


def _pop(t: Translation, growing: Growing, values: Sequence[Value], span: Span) -> Value:
    end = t.let("_", Number(lists.length(growing), "python", span)).expr
    form = lists.known_form(t, growing, span)
    t.check(op("less", lists.ZERO, end), "raised", "IndexError:pop from empty list", (), span)
    place = linear.minus(end, 1)
    given = elements.whole(values[0], span) if values else None
    if given is not None and given.literal != -1:
        place = types.converted(given, INT64, span)
        wrapped = op("where", op("less", place, lists.ZERO), op("add", place, end), place)
        place = t.let("_", Number(wrapped, "python", span)).expr
        inside = op("logical_and", op("less_equal", lists.ZERO, place), op("less", place, end))
        t.check(inside, "raised", "IndexError:pop index out of range", (), span)
    found = t.lasting(lists.read_item(t, form, place, span))
    if given is not None and given.literal != -1:

        def shift(here: Expr) -> None:
            lists.move(t, form, here, linear.plus(here, 1), span)

        lists.loop(t, place, linear.minus(end, 1), shift, span)
    lists.resize(t, growing, -1, span)
    return found


def method(
    t: Translation,
    node: ast.Call,
    growing: Growing,
    name: str,
    values: Sequence[Value],
    walk: lists.Walk,
) -> Value:
    """A call of one of a list's methods."""
    span = t.span(node)
    counts = {"append": (1, 1), "insert": (2, 2), "pop": (0, 1), "extend": (1, 1)}
    least, most = counts.get(name, (0, 0))
    if node.keywords or not least <= len(values) <= most:
        raise t.refuse(node, f"these arguments of `{name}` of a list")
    if name == "pop":
        return _pop(t, growing, values, span)
    if name == "copy":
        return lists.copied(t, growing, span)
    if name == "append":
        lists.append(t, growing, values[0], span)
    elif name == "insert":
        _insert(t, growing, values, span)
    elif name == "extend":
        lists.extend(t, growing, values[0], walk, span)
    elif name == "clear":
        lists.clear(t, growing, span)
    else:
        lists.reverse(t, growing, span)
    return Static(None)


def contains(
    t: Translation, growing: Growing, equal: Callable[[Value], Number], span: Span
) -> Number:
    """`x in l`: whether an item is `equal`."""
    found = t.new_local("_", BOOL, True)
    t.write(Let(found, const(False, BOOL), span))

    def look(here: Expr) -> None:
        with t.block() as block:
            same = elements.truth(equal(lists.item_at(t, growing, here, span)))
        t.out += block
        t.write(If(same.expr, (Let(found, const(True, BOOL), span),), (), span))

    if not lists.is_empty(growing):
        lists.loop(t, lists.ZERO, lists.length(growing), look, span)
    return t.let("_", Number(local(found, BOOL), "python", span))
