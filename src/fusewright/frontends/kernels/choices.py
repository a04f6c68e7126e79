"""Comparisons, and/or, and conditional expressions: what is computed only where it is needed."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from fusewright.base.errors import KernelPathError
from fusewright.base.source import Span
from fusewright.frontends.kernels import apart, elements, elementwise, list_methods, lists, types
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.elements import truth
from fusewright.frontends.kernels.joins import SlotTree
from fusewright.frontends.kernels.names import bind
from fusewright.frontends.kernels.operators import apply, operands
from fusewright.frontends.kernels.operators import unary as signed
from fusewright.frontends.kernels.retyping import Restart
from fusewright.frontends.kernels.values import (
    Growing,
    Number,
    Static,
    TupleValue,
    Value,
    describe,
)
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, op, postorder
from fusewright.ir.loops.statements import If

COMPARE: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Lt: ("less", operator.lt),
    ast.LtE: ("less_equal", operator.le),
    ast.Gt: ("greater", operator.gt),
    ast.GtE: ("greater_equal", operator.ge),
    ast.Eq: ("equal", operator.eq),
    ast.NotEq: ("not_equal", operator.ne),
}


def compare(t: Translation, node: ast.Compare) -> Value:
    """`a < b < c`: each operand once, and the second comparison only where the first holds."""
    span = t.span(node)
    if any(isinstance(sign, ast.Is | ast.IsNot | ast.In | ast.NotIn) for sign in node.ops):
        return _static_compare(t, node)
    if len(node.ops) == 1:
        left, right = operands(t, [node.left, node.comparators[0]])
        return _compared(t, node.ops[0], left, right, span)
    first = t.expression(node.left)
    return _chain(t, node, first, 0)


def _chain(t: Translation, node: ast.Compare, left: Value, place: int) -> Value:
    span = t.span(node)
    if isinstance(left, Number):
        left = t.fixed(left)
    right = t.expression(node.comparators[place])
    if isinstance(right, Number):
        right = t.fixed(right)
    here = elements.as_number(t, _compared(t, node.ops[place], left, right, span), span)
    if place == len(node.ops) - 1:
        return here
    return choose(
        t,
        truth(here),
        lambda: elements.as_number(t, _chain(t, node, right, place + 1), span),
        lambda: here,
        node,
        place,
    )


_TUPLES = frozenset({"equal", "not_equal"})


def _tuples_compared(
    t: Translation, sign: ast.cmpop, left: Sequence[Value], right: Sequence[Value], span: Span
) -> Number:
    """`a.shape == b.shape`."""
    name = COMPARE[type(sign)][0]
    if len(left) != len(right):
        return types.literal(name == "not_equal", span)
    found = types.literal(name == "equal", span)
    joined = "logical_and" if name == "equal" else "logical_or"
    for a, b in zip(left, right, strict=True):
        same = truth(elements.as_number(t, _compared(t, sign, a, b, span), span))
        known = found.literal is not None
        found = same if known else Number(op(joined, found.expr, same.expr), "python", span)
    return found


def _compared(t: Translation, sign: ast.cmpop, left: Value, right: Value, span: Span) -> Value:
    name, function = COMPARE[type(sign)]
    if isinstance(left, Static) and isinstance(right, Static):
        return types.literal(bool(function(left.value, right.value)), span)
    if isinstance(left, TupleValue) and isinstance(right, TupleValue) and name in _TUPLES:
        return _tuples_compared(t, sign, left.items, right.items, span)
    if isinstance(left, TupleValue | Static) or isinstance(right, TupleValue | Static):
        known = _never_equal(left, right) if name in _TUPLES else False
        if known:
            return types.literal(name == "not_equal", span)
        raise KernelPathError(f"{describe(left)} and {describe(right)} are not compared here", span)
    if elementwise.is_array(left) or elementwise.is_array(right):
        return elementwise.computed(t, (left, right), lambda each: apply(t, name, each, span), span)
    a, b = elements.as_number(t, left, span), elements.as_number(t, right, span)
    if a.literal is not None and b.literal is not None:
        return types.literal(bool(function(a.literal, b.literal)), span)
    return apply(t, name, (a, b), span)


def _never_equal(left: Value, right: Value) -> bool:
    """Whether it is a number and a text or None."""
    pairs = ((left, right), (right, left))
    return any(
        isinstance(a, Number) and isinstance(b, Static) and isinstance(b.value, str | None)
        for a, b in pairs
    )


def _static_compare(t: Translation, node: ast.Compare) -> Value:
    """`is None`, and `in` a tuple of numbers."""
    left, right = operands(t, [node.left, node.comparators[0]])
    sign, span = node.ops[0], t.span(node)
    if len(node.ops) == 1 and isinstance(sign, ast.Is | ast.IsNot):
        same = _identity(left) is _identity(right)
        if isinstance(left, Static) or isinstance(right, Static):
            return types.literal(same == isinstance(sign, ast.Is), span)
    among = len(node.ops) == 1 and isinstance(sign, ast.In | ast.NotIn)
    if among and isinstance(right, Growing):
        value = t.lasting(left)
        found = list_methods.contains(t, right, lambda item: _same(t, value, item, span), span)
        return found if isinstance(sign, ast.In) else _opposite(found, span)
    if among and isinstance(right, TupleValue):
        found = _among(t, left, right, span)
        return found if isinstance(sign, ast.In) else _opposite(found, span)
    raise t.refuse(
        node,
        "this comparison is not part of a kernel's language",
        help="`is` compares with None, `in` looks into a tuple of numbers",
    )


def _same(t: Translation, left: Value, right: Value, span: Span) -> Number:
    return elements.as_number(t, _compared(t, ast.Eq(), left, right, span), span)


def _among(t: Translation, value: Value, items: TupleValue, span: Span) -> Number:
    """Whether a number is one of a tuple's."""
    equal = [_compared(t, ast.Eq(), value, item, span) for item in items.items]
    tests = [truth(elements.as_number(t, each, span)).expr for each in equal]
    if not tests or any(each.name == "const" and each.attr for each in tests):
        return types.literal(bool(tests), span)
    return Number(reduce(lambda a, b: op("logical_or", a, b), tests), "python", span)


def _opposite(value: Number, span: Span) -> Number:
    if value.expr.name == "const":
        return types.literal(not value.expr.attr, span)
    return Number(op("logical_not", value.expr), "python", span)


def _identity(value: Value) -> Any:
    return value.value if isinstance(value, Static) else value


def test(t: Translation, node: ast.expr) -> Number:
    """Whether an expression holds: of what `and` and `or` join only the truth is needed."""
    if isinstance(node, ast.BoolOp):
        return _boolean(t, node, 0, test)
    return Number(truth(_operand(t, node)).expr, "python", t.span(node))


def _operand(t: Translation, node: ast.expr) -> Number:
    value, span = t.expression(node), t.span(node)
    if isinstance(value, Static):
        return types.literal(bool(value.value), span)
    if isinstance(value, TupleValue):
        return types.literal(bool(value.items), span)
    if isinstance(value, Growing):
        return Number(op("less", const(0, INT64), lists.length(value)), "python", span)
    return elements.as_number(t, value, span)


def unary(t: Translation, node: ast.UnaryOp) -> Value:
    """`not a`, and the signs."""
    if not isinstance(node.op, ast.Not):
        return signed(t, node)
    return _opposite(test(t, node.operand), t.span(node))


def boolean(t: Translation, node: ast.BoolOp) -> Value:
    """`a and b or c`: Python's operand, computed only where it is needed."""
    return _boolean(t, node, 0, _operand)


def _boolean(
    t: Translation, node: ast.BoolOp, place: int, operand: Callable[[Translation, ast.expr], Number]
) -> Number:
    left = operand(t, node.values[place])
    if place == len(node.values) - 1:
        return left
    left = t.fixed(left)

    def other() -> Number:
        return _boolean(t, node, place + 1, operand)

    both = isinstance(node.op, ast.And)
    if both:
        found = choose(t, truth(left), other, lambda: left, node, place)
    else:
        found = choose(t, truth(left), lambda: left, other, node, place)
    return elements.as_number(t, found, t.span(node))


def conditional(t: Translation, node: ast.IfExp) -> Value:
    """`a if c else b`: only one of them is computed."""
    condition = test(t, node.test)
    if condition.expr.name == "const":
        return t.expression(node.body if condition.expr.attr else node.orelse)
    return choose(
        t,
        condition,
        lambda: t.expression(node.body),
        lambda: t.expression(node.orelse),
        node,
    )


def named(t: Translation, node: ast.NamedExpr) -> Value:
    """`(name := value)`."""
    if t.frame.is_comprehension:
        raise t.refuse(node, "`:=` inside a comprehension", help="write the loop")
    if t.conditional:
        raise t.refuse(
            node,
            f"`{node.target.id} :=` where it is not always computed",
            why="after `and` or `or`, or in a branch of `x if c else y`, it may have no value",
            help=f"write `{node.target.id} = ...` in an `if`",
        )
    value = t.lasting(t.expression(node.value))
    bind(t, node.target.id, value, t.span(node))
    return value


def choose(
    t: Translation,
    condition: Number,
    yes: Callable[[], Value],
    no: Callable[[], Value],
    node: ast.expr,
    place: int = 0,
) -> Value:
    """One of two values; a selection where computing both is harmless.  `place` tells apart several
    choices of one expression.
    """
    if condition.expr.name == "const":
        return yes() if condition.expr.attr else no()
    span = t.span(node)
    t.conditional += 1
    with t.block() as first:
        a = yes()
    with t.block() as second:
        b = no()
    t.conditional -= 1
    if isinstance(a, Number) and isinstance(b, Number) and not first and not second:
        wide = types.held(a).takes(b)
        if wide is None:
            refused = _conflict(t, a, b)
            t.paths.meeting = apart.place_of(t, node)
            raise refused
        if _is_harmless(a.expr) and _is_harmless(b.expr):
            x, y = (types.converted(each, wide.dtype, span) for each in (a, b))
            return Number(op("where", condition.expr, x, y), wide.origin, span)
    if isinstance(node, ast.IfExp) and (elementwise.is_array(a) or elementwise.is_array(b)):
        t.paths.meeting = apart.place_of(t, node)
        _same_array(node, a, b, span)
    meeting = apart.place_of(t, node)
    tree = SlotTree("_", (*t.frame.instance, span, "choice", place), place=meeting)
    with t.block() as first_block:
        t.out += first
        tree.write(t, a, span)
    with t.block() as second_block:
        t.out += second
        tree.write(t, b, span)
    t.write(If(condition.expr, tuple(first_block), tuple(second_block), span))
    value = tree.read(span)
    return t.fixed(value) if isinstance(value, Number) else value


def _conflict(t: Translation, a: Number, b: Number) -> Exception:
    """Two types: a variable that holds a literal takes the other's (`m = -1` before
    `m = max(m, a[i])`), and all is translated anew.
    """
    for one, other in ((a, b), (b, a)):
        slot = t.retyping.slots.get(one.expr.attr) if one.expr.name == "local" else None
        if slot is not None and slot.adopts(t, other):
            return Restart()
    return types.conflict("the value", types.held(a), b)


def _same_array(node: ast.IfExp, a: Value, b: Value, span: Span) -> None:
    """Refuse to choose between two arrays."""
    if a == b:
        return
    yes, test, no = (ast.unparse(part) for part in (node.body, node.test, node.orelse))
    raise KernelPathError(
        f"an array chosen by a condition: `{yes}` ({describe(a)}) or `{no}` ({describe(b)})",
        span,
        why="which array a name stands for is decided when the kernel is compiled",
        help=f"to read from it, choose elements: np.where({test}, {yes}, {no}); to write into it, "
        f"write `if {test}:` with a statement for each",
    )


def _is_harmless(expr: Expr) -> bool:
    """Whether computing it on a path that does not need it can be seen: reading outside an array
    can.
    """
    return not any(node.name == "load" for node in postorder([expr]))
