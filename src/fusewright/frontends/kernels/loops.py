"""Loops: nests stay nests, static ones are written out, and what an iteration hands to the next
lives in variables.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from fusewright.frontends.kernels import types
from fusewright.frontends.kernels.calls import unrolled_items
from fusewright.frontends.kernels.context import LoopFrame, Translation
from fusewright.frontends.kernels.elements import as_number, truth
from fusewright.frontends.kernels.liveness import Names, assigned
from fusewright.frontends.kernels.statements import close_slots, is_open, open_slots
from fusewright.frontends.kernels.values import (
    Number,
    Space,
    Static,
    TupleValue,
    Value,
)
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, index, op, typed_op
from fusewright.ir.loops.statements import Block, Dim, For, Statement, While

Tail = frozenset[int]


def for_(t: Translation, node: ast.For, after: Names, tail: Tail) -> None:
    """`for target in space:`"""
    if node.orelse:
        raise t.refuse(node.orelse[0], "`else` after a loop", help="use a flag")
    value = t.expression(node.iter)
    items = unrolled_items(t, value, node.iter)
    if items is not None:
        _unrolled(t, node, [t.lasting(item) for item in items], after)
    else:
        assert isinstance(value, Space)
        _nest(t, node, value, after)


def _carried(t: Translation, node: ast.For | ast.While, names: Sequence[str], after: Names) -> (
    list[str]
):  # fmt: skip
    around = t.frame.liveness.around(node, after)
    return [name for name in names if name in around or name in after or is_open(t, name)]


def _enter(t: Translation, node: ast.For | ast.While, after: Names) -> LoopFrame:
    around = t.frame.liveness.around(node, after)
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


def _finish(t: Translation, statement: Statement, loop: LoopFrame, node: ast.AST) -> None:
    t.frame.loops.pop()
    if loop.breaks:
        statement = Block(loop.break_label, (statement,), t.span(node))
    t.write(statement)


def _nest(t: Translation, node: ast.For, space: Space, after: Names) -> None:
    span = t.span(node)
    dims, values = _dims(t, space, node.target)
    names = assigned([node])
    carried = _carried(t, node, names, after)
    slots = open_slots(t, carried, node)
    sure, env = [tree.assigned for tree in t.active], dict(t.frame.env)
    loop = _enter(t, node, after)
    outer, outer_names = dict(t.ranges), list(t.loop_names)
    for dim in dims:
        t.ranges[dim.index] = (dim.low, dim.high)
    with t.block() as start:
        _bind_target(t, node.target, _position(space, values, t, node))
        t.loop_names = [*outer_names, *_shown_names(node.target, values)]
        body = _body(t, node, loop)
    t.ranges, t.loop_names = outer, outer_names
    t.frame.env = env
    _restore(t, sure)
    _finish(t, For(tuple(dims), (*start, *body), span, space.declared), loop, node)
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
            count = _count(low.expr, high.expr, step)
            dims.append(Dim(number, const(0, INT64), count, names[axis]))
            places[axis] = linear.plus(low.expr, _scaled(here, step))
    return dims, [places[axis] for axis in range(len(bounds))]


def _scaled(here: Expr, step: Number) -> Expr:
    return linear.times(here, step.expr) if step.literal is not None else op(
        "multiply", here, step.expr
    )  # fmt: skip


def _count(low: Expr, high: Expr, step: Number) -> Expr:
    """How often `range(low, high, step)` runs; negative or 0 means never."""
    if step.literal is not None:
        stride = abs(step.literal)
        room = linear.minus(high, low) if step.literal > 0 else linear.minus(low, high)
        if stride == 1:
            return room
        raised = linear.plus(room, stride - 1)
        known = linear.constant(raised)
        if known is not None:
            return const(known // stride, INT64)
        return typed_op("floor_divide", INT64, raised, const(stride, INT64))
    zero, one = const(0, INT64), const(1, INT64)
    up = op("less", zero, step.expr)
    room = op("where", up, op("subtract", high, low), op("subtract", low, high))
    stride_expr = op("absolute", step.expr)
    raised = op("subtract", op("add", room, stride_expr), one)
    return typed_op("floor_divide", INT64, raised, stride_expr)


def _position(space: Space, values: Sequence[Expr], t: Translation, node: ast.For) -> Value:
    span = t.span(node.target)
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


def _bind_target(t: Translation, target: ast.expr, value: Value) -> None:
    span = t.span(target)
    if isinstance(target, ast.Name):
        t.bind(target.id, value, span)
        return
    items = value.items if isinstance(value, TupleValue) else ()
    if not isinstance(target, ast.Tuple | ast.List) or len(items) != len(target.elts):
        raise t.refuse(target, f"{len(items) or 1} loop indices do not fit these names")
    for inner, item in zip(target.elts, items, strict=True):
        _bind_target(t, inner, item)


def _unrolled(t: Translation, node: ast.For, items: Sequence[Value], after: Names) -> None:
    """The loop's body once for each item."""
    span = t.span(node)
    jumps = any(isinstance(inner, ast.Break | ast.Continue) for inner in ast.walk(node))
    slots = open_slots(t, _carried(t, node, assigned([node]), after), node) if jumps else {}
    breaks, sure = False, [tree.assigned for tree in t.active]
    instance = t.frame.instance
    with t.block() as written:
        label = t.label()
        for count, item in enumerate(items):
            t.frame.instance = (*instance, span[1], span[2], count)
            before = [tree.assigned for tree in t.active]
            loop = _enter(t, node, after)
            loop.break_label = label
            _bind_target(t, node.target, item)
            t.out += _body(t, node, loop)
            breaks = breaks or loop.breaks
            if loop.continues:
                _restore(t, before)
            t.frame.loops.pop()
    t.frame.instance = instance
    if breaks:
        t.write(Block(label, tuple(written), span))
        _restore(t, sure)
    else:
        t.out += written
    close_slots(t, slots, span)


def _restore(t: Translation, sure: Sequence[bool]) -> None:
    """Some path went past assignments: which names surely have a value is as it was."""
    for tree, before in zip(t.active, sure, strict=True):
        tree.assigned = before


def while_(t: Translation, node: ast.While, after: Names, tail: Tail) -> None:
    """`while condition:`"""
    if node.orelse:
        raise t.refuse(node.orelse[0], "`else` after a loop", help="use a flag")
    span = t.span(node)
    carried = _carried(t, node, assigned(node.body), after)
    slots = open_slots(t, carried, node)
    sure, env = [tree.assigned for tree in t.active], dict(t.frame.env)
    loop = _enter(t, node, after)
    with t.block() as head:
        test = t.expression(node.test)
        if isinstance(test, Static):
            test = types.literal(bool(test.value), span)
        condition = truth(as_number(t, test, t.span(node.test)))
    t.frame.env = dict(env)
    body = _body(t, node, loop)
    t.frame.env = env
    _restore(t, sure)
    _finish(t, While(tuple(head), condition.expr, body, span), loop, node)
    close_slots(t, slots, span)
