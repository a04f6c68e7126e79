"""Loops: nests stay nests, static ones are written out, and what an iteration hands to the next
lives in variables.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from fusewright.frontends.kernels import elementwise, lists, spaces, types
from fusewright.frontends.kernels.choices import test
from fusewright.frontends.kernels.context import LoopFrame, Translation
from fusewright.frontends.kernels.liveness import NONE, Names, assigned, leaves
from fusewright.frontends.kernels.names import bind
from fusewright.frontends.kernels.statements import close_slots, is_open, open_slots
from fusewright.frontends.kernels.values import (
    Growing,
    Number,
    Space,
    TupleValue,
    Value,
)
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, index
from fusewright.ir.loops.statements import Block, Dim, For, Statement, While

Tail = frozenset[int]
POSITION = "position"
"""What messages call the index of a loop over an array."""


def for_(t: Translation, node: ast.For, after: Names, tail: Tail) -> None:
    """`for target in space:`"""
    value = t.expression(node.iter)
    items = spaces.unrolled_items(value)
    if items is not None:
        _unrolled(t, node, [t.lasting(item) for item in items], after)
    elif isinstance(value, Space):
        _nest(t, node, value, after)
    else:
        if isinstance(value, Growing) and lists.is_empty(value):
            t.sequence(node.orelse, after, tail)
            return
        before = lists.changes(value)
        zero, one = (types.literal(k, t.span(node.iter)) for k in (0, 1))
        end = Number(spaces.length(t, value, node.iter), "python", t.span(node.iter))
        _nest(t, node, Space(((zero, end, one),), (0,), "range"), after, t.lasting(value))
        lists.refuse_changed(before, t.span(node.iter))


def _carried(t: Translation, node: ast.For | ast.While, names: Sequence[str], after: Names) -> (
    list[str]
):  # fmt: skip
    around = _around(t, node, after)
    return [name for name in names if name in around or name in after or is_open(t, name)]


def _around(t: Translation, node: ast.For | ast.While, after: Names) -> Names:
    """What is live where an iteration begins; the loop is not yet entered."""
    return t.frame.liveness.around(node, after, *t.jumps(after))


def _enter(t: Translation, node: ast.For | ast.While, after: Names) -> LoopFrame:
    around = _around(t, node, after)
    loop = LoopFrame(t.label(), t.label(), after, around)
    t.frame.loops.append(loop)
    return loop


def _body(t: Translation, node: ast.For | ast.While, loop: LoopFrame) -> tuple[Statement, ...]:
    """The loop's block; `continue` leaves the block around it."""
    with t.block() as written:
        t.sequence(node.body, loop.on_continue, frozenset({loop.continue_label}))
    if loop.continues:
        return (Block(loop.continue_label, tuple(written), t.span(node)),)
    return tuple(written)


def _finish(
    t: Translation,
    written: Sequence[Statement],
    loop: LoopFrame,
    node: ast.For | ast.While,
    after: Names,
    endless: bool = False,
) -> None:
    """What follows the last iteration, unless a `break` goes past it: the loop's `else`.  Only a
    `break` ends an `endless` loop.
    """
    with t.block() as rest:
        t.sequence(node.orelse, after, frozenset())
    if not loop.breaks:
        t.out += [*written, *rest]
        return
    t.write(Block(loop.break_label, (*written, *rest), t.span(node)))
    ends = (
        loop.sure
        if endless or leaves(node.orelse)
        else [*loop.sure, [x.assigned for x in t.active]]
    )
    _restore(t, [all(end[place] for end in ends) for place in range(len(t.active))])


def _nest(
    t: Translation, node: ast.For, space: Space, after: Names, walked: Value | None = None
) -> None:
    """A nest of loops; the target is an item of what is `walked`, where that is no range."""
    span = t.span(node)
    dims, values = _dims(t, space, node.target if walked is None else ast.Name(POSITION))
    names = assigned([node])
    carried = _carried(t, node, names, after)
    slots = open_slots(t, carried, node)
    sure, env = [tree.assigned for tree in t.active], dict(t.frame.env)
    loop = _enter(t, node, after)
    outer, outer_names = dict(t.ranges), list(t.loop_names)
    for dim in dims:
        t.ranges[dim.index] = (dim.low, dim.high)
    with t.block() as start:
        bind_target(t, node.target, _bound(t, space, values, node, walked))
        shown = _shown_names(node.target, values) if walked is None else [(POSITION, values[0])]
        t.loop_names = [*outer_names, *shown]
        body = _body(t, node, loop)
    t.ranges, t.loop_names = outer, outer_names
    t.frame.env = env
    _restore(t, sure)
    t.frame.loops.pop()
    _finish(t, [For(tuple(dims), (*start, *body), span, space.declared)], loop, node, after)
    close_slots(t, slots, span)


def _dims(t: Translation, space: Space, target: ast.expr) -> tuple[list[Dim], list[Expr]]:
    """The loops, outermost first, and the value of each of the space's dims."""
    elements = _elements(target)
    names = [each.id if isinstance(each, ast.Name) else "" for each in elements]
    names = names if len(names) == len(space.dims) else [""] * len(space.dims)
    places: dict[int, Expr] = {}
    dims = []
    bounds = [tuple(t.fixed(bound, "bound") for bound in triple) for triple in space.dims]
    for axis in space.order:
        low, high, step = bounds[axis]
        number = t.index()
        here = index(number)
        if step.literal == 1:
            dims.append(Dim(number, low.expr, high.expr, names[axis]))
            places[axis] = here
        else:
            count = spaces.count(low, high, step)
            dims.append(Dim(number, const(0, INT64), count, names[axis]))
            places[axis] = linear.plus(low.expr, spaces.scaled(here, step))
    return dims, [places[axis] for axis in range(len(bounds))]


def _bound(
    t: Translation, space: Space, values: Sequence[Expr], node: ast.For, walked: Value | None
) -> Value:
    """What an iteration binds the loop's target to."""
    span = t.span(node.target)
    if walked is not None:
        return spaces.item(t, walked, values[0], span, node.iter)
    numbers = tuple(Number(value, "python", span) for value in values)
    return numbers[0] if space.form == "range" else TupleValue(numbers)


def _shown_names(target: ast.expr, values: Sequence[Expr]) -> list[tuple[str, Expr]]:
    """The loop's indices, for messages."""
    if isinstance(target, ast.Name):
        return [(target.id, values[0])] if len(values) == 1 else [
            (f"{target.id}[{n}]", value) for n, value in enumerate(values)
        ]  # fmt: skip
    names = [each.id if isinstance(each, ast.Name) else "_" for each in _elements(target)]
    return list(zip(names, values, strict=False))


def _elements(target: ast.expr) -> Sequence[ast.expr]:
    return target.elts if isinstance(target, ast.Tuple | ast.List) else [target]


def bind_target(t: Translation, target: ast.expr, value: Value) -> None:
    """Give a loop's target, a name or a tuple of them, an item."""
    span = t.span(target)
    if isinstance(target, ast.Name):
        bind(t, target.id, value, span)
        return
    if isinstance(target, ast.Tuple | ast.List) and elementwise.is_array(value):
        value = TupleValue(tuple(elementwise.unpacked(t, value, len(target.elts), span)))
    items = value.items if isinstance(value, TupleValue) else ()
    if not isinstance(target, ast.Tuple | ast.List) or len(items) != len(target.elts):
        raise t.refuse(target, f"{len(items) or 1} loop indices do not fit these names")
    for inner, item in zip(target.elts, items, strict=True):
        bind_target(t, inner, item)


def _unrolled(t: Translation, node: ast.For, items: Sequence[Value], after: Names) -> None:
    """The loop's body once for each item."""
    span = t.span(node)
    jumps = any(isinstance(inner, ast.Break | ast.Continue) for inner in ast.walk(node))
    slots = open_slots(t, _carried(t, node, assigned([node]), after), node) if jumps else {}
    whole = LoopFrame(t.label(), 0, after, NONE)
    instance = t.frame.instance
    with t.block() as written:
        for count, item in enumerate(items):
            t.frame.instance = (*instance, span[1], span[2], count)
            before = [tree.assigned for tree in t.active]
            loop = _enter(t, node, after)
            loop.break_label, loop.sure = whole.break_label, whole.sure
            bind_target(t, node.target, item)
            t.out += _body(t, node, loop)
            whole.breaks = whole.breaks or loop.breaks
            if loop.continues:
                _restore(t, before)
            t.frame.loops.pop()
    t.frame.instance = instance
    _finish(t, written, whole, node, after)
    close_slots(t, slots, span)


def _restore(t: Translation, sure: Sequence[bool]) -> None:
    """Some path went past assignments: which names surely have a value is as it was."""
    for tree, before in zip(t.active, sure, strict=True):
        tree.assigned = before


def while_(t: Translation, node: ast.While, after: Names, tail: Tail) -> None:
    """`while condition:`"""
    span = t.span(node)
    names = assigned([node.test, *node.body, *node.orelse])
    carried = _carried(t, node, names, after)
    slots = open_slots(t, carried, node)
    sure, env = [tree.assigned for tree in t.active], dict(t.frame.env)
    loop = _enter(t, node, after)
    with t.block() as head:
        condition = test(t, node.test)
    sure = [tree.assigned for tree in t.active]  # the condition is computed once at least
    t.frame.env = dict(env)
    body = _body(t, node, loop)
    t.frame.env = env
    _restore(t, sure)
    t.frame.loops.pop()
    endless = condition.expr.name == "const" and bool(condition.expr.attr)
    _finish(t, [While(tuple(head), condition.expr, body, span)], loop, node, after, endless)
    close_slots(t, slots, span)
