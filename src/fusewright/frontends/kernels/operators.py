"""Arithmetic: literals are computed here, everything else by the types' rule."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from fusewright.base.errors import KernelTypeError
from fusewright.base.source import Span
from fusewright.frontends.kernels import (
    complexes,
    elements,
    elementwise,
    kept,
    lists,
    powers,
    storing,
    types,
    vectors,
)
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.values import (
    Elementwise,
    ListValue,
    Number,
    TupleValue,
    Value,
    View,
    Zipped,
)
from fusewright.ir import linear
from fusewright.ir.dtypes import BOOL, FLOAT64, INT64
from fusewright.ir.expr import COMPARISONS, Expr, compared, const, op, typed_op
from fusewright.ir.loops.statements import Statement, Store, walk

BINARY: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("subtract", operator.sub),
    ast.Mult: ("multiply", operator.mul),
    ast.Div: ("divide", operator.truediv),
    ast.FloorDiv: ("floor_divide", operator.floordiv),
    ast.Mod: ("remainder", operator.mod),
    ast.Pow: ("power", operator.pow),
    ast.LShift: ("left_shift", operator.lshift),
    ast.RShift: ("right_shift", operator.rshift),
    ast.BitAnd: ("bitwise_and", operator.and_),
    ast.BitOr: ("bitwise_or", operator.or_),
    ast.BitXor: ("bitwise_xor", operator.xor),
    ast.MatMult: ("matmul", operator.matmul),
}
MOST_BITS = 4096
"""A literal of more bits is not computed while translating."""


def apply(t: Translation, name: str, operands: Sequence[Number], span: Span) -> Number:
    """An operation of `ir.ops` on numbers, by the types' rule."""
    rule = t.rule(name, tuple(operands), span)
    if any(dtype.is_complex for dtype in rule.loop):
        return _complex(name, rule, operands, span)
    args = [types.converted(o, d, o.span) for o, d in zip(operands, rule.loop, strict=True)]
    if name in COMPARISONS:
        return Number(compared(name, *args), rule.origin, span)
    if name in _LINEAR and rule.result is INT64:
        return Number(_LINEAR[name](*args), rule.origin, span)
    return Number(typed_op(name, rule.result, *args), rule.origin, span)


def _complex(name: str, rule: types.Rule, operands: Sequence[Number], span: Span) -> Number:
    """An operation on complex numbers."""
    if name not in complexes.OPERATIONS:
        raise KernelTypeError(
            f"{name} of complex numbers",
            span,
            why="kernels do + - * /, == and !=, abs, parts, conjugates, exp, log and sqrt of them",
            help="compute with .real and .imag",
        )
    args = [types.converted(o, d, o.span) for o, d in zip(operands, rule.loop, strict=True)]
    if name == "multiply":
        return Number(complexes.product(*args), rule.origin, span)
    if name == "divide":
        return Number(complexes.quotient(rule.origin, span)(*args), rule.origin, span)
    return Number(typed_op(name, rule.result, *args), rule.origin, span)


def _elements(t: Translation, name: str, a: Number, b: Number, span: Span) -> Number:
    """What an operator makes of two elements of whole local arrays: products of complex numbers
    are those of NumPy's arrays.
    """
    if name == "power" and a.dtype.is_float and b.literal in _EASY_POWERS:
        return apply(t, *_EASY_POWERS[b.literal](a, span), span)
    if not (a.dtype.is_complex or b.dtype.is_complex) or name not in ("multiply", "power"):
        return combine_numbers(t, name, a, b, span)
    if name == "power":
        raise KernelTypeError(
            "power of whole arrays of complex numbers", span, help="write products"
        )
    rule = t.rule(name, (a, b), span)
    args = [types.converted(o, d, o.span) for o, d in zip((a, b), rule.loop, strict=True)]
    return Number(typed_op(name, rule.result, *args), rule.origin, span)


_EASY_POWERS: dict[Any, Callable[[Number, Span], tuple[str, list[Number]]]] = {
    -1: lambda a, span: ("divide", [types.literal(1, span), a]),
    0.5: lambda a, span: ("sqrt", [a]),
    1: lambda a, span: ("positive", [a]),
}
"""Powers that NumPy computes in another way for arrays of floats."""


def _product(a: Expr, b: Expr) -> Expr:
    either = linear.constant(a) is not None or linear.constant(b) is not None
    return linear.times(a, b) if either else op("multiply", a, b)


_LINEAR: dict[str, Callable[[Expr, Expr], Expr]] = {
    "add": linear.plus,
    "subtract": linear.minus,
    "multiply": _product,
}


def binary(t: Translation, node: ast.BinOp) -> Value:
    """`a + b` and its like; a sum of many terms is one chain."""
    chain = [node]
    while isinstance(chain[-1].left, ast.BinOp):
        chain.append(chain[-1].left)
    value = t.expression(chain[-1].left)
    for each in reversed(chain):
        left, right = _following(t, [value], each.right)
        value = combine(t, each.op, left, right, t.span(each))
    return value


def combine(t: Translation, sign: ast.operator, left: Value, right: Value, span: Span) -> Value:
    """What an operator makes of two values."""
    name, function = BINARY[type(sign)]
    if isinstance(left, TupleValue) and type(left) is type(right) and name == "add":
        return replace(left, items=left.items + right.items)
    if name == "multiply" and (isinstance(left, ListValue) or isinstance(right, ListValue)):
        row, times = (left, right) if isinstance(left, ListValue) else (right, left)
        assert isinstance(row, ListValue)
        return lists.repeated(t, row.items, elements.as_number(t, times, span), span)
    if name == "matmul":
        return t.product(t, (left, right), span)
    if elementwise.is_array(left) or elementwise.is_array(right):
        return _whole_arrays(t, sign, left, right, span)
    if vectors.is_vector(left) or vectors.is_vector(right):
        return vectors.binary(t, name, left, right, span, _elements)
    a = elements.as_number(t, left, span)
    b = elements.as_number(t, right, span)
    if t.settings.dialect is not None:
        return t.settings.dialect.combine(t, name, a, b, span)
    if a.literal is not None and b.literal is not None:
        return folded(function, a.literal, b.literal, span)
    return combine_numbers(t, name, a, b, span)


def _whole_arrays(
    t: Translation, sign: ast.operator, left: Value, right: Value, span: Span
) -> Value:
    return elementwise.computed(
        t, (left, right), lambda pair: elements_combined(t, sign, pair[0], pair[1], span), span
    )


def elements_combined(
    t: Translation, sign: ast.operator, a: Number, b: Number, span: Span
) -> Number:
    """What an operator makes of two elements of whole arrays."""
    name = BINARY[type(sign)][0]
    if t.settings.dialect is not None:
        return t.settings.dialect.combine(t, name, a, b, span)
    return _elements(t, name, a, b, span)


def folded(function: Callable[..., Any], a: Any, b: Any, span: Span) -> Number:
    """Two literals: Python itself computes."""
    if isinstance(b, int) and function in (operator.lshift, operator.pow) and abs(b) > MOST_BITS:
        raise KernelTypeError(f"the constant {a} and {b} give a number that is too large", span)
    try:
        value = function(a, b)
    except (ArithmeticError, ValueError, TypeError) as error:
        raise KernelTypeError(str(error), span, why=f"{type(error).__name__} in Python") from None
    return types.literal(value, span)


def combine_numbers(t: Translation, name: str, a: Number, b: Number, span: Span) -> Number:
    """An arithmetic operator on two numbers."""
    if name in ("floor_divide", "remainder", "divide"):
        _check_divisor(t, name, a, b, span)
        if t.settings.c_integers and a.dtype.is_integer and b.dtype.is_integer and name != "divide":
            return _c_division(t, name, a, b, span)
    if name == "power":
        return power(t, a, b, span)
    return apply(t, name, (a, b), span)


def _check_divisor(t: Translation, name: str, a: Number, b: Number, span: Span) -> None:
    python = a.origin != "numpy" and b.origin != "numpy"
    if b.expr.name == "const":
        if b.expr.attr == 0 and python:
            raise KernelTypeError(
                "division by zero", span, why="Python raises ZeroDivisionError here"
            )
    elif t.settings.check and python:
        condition = op("not_equal", b.expr, const(0, b.dtype))
        t.check(condition, "division", "division by zero", (), span)


def _c_division(t: Translation, name: str, a: Number, b: Number, span: Span) -> Number:
    """Towards zero, with a remainder of the dividend's sign."""
    rule = t.rule(name, (a, b), span)
    x, y = (types.converted(o, d, o.span) for o, d in zip((a, b), rule.loop, strict=True))
    rest = typed_op("fmod", rule.result, x, y)
    if name == "remainder":
        return Number(rest, rule.origin, span)
    whole = typed_op("floor_divide", rule.result, op("subtract", x, rest), y)
    return Number(whole, rule.origin, span)


def power(t: Translation, a: Number, b: Number, span: Span) -> Number:
    """`a ** b`; a literal exponent of an integer is multiplied out."""
    exponent = b.literal
    if a.dtype.is_complex or b.dtype.is_complex:
        wide = t.rule("power", (a, b), span).loop[0]
        base = types.converted(a, wide, span)
        return Number(complexes.power(base, exponent, a.origin, span), a.origin, span)
    integers = a.dtype.is_integer or a.dtype is BOOL
    if integers and isinstance(exponent, int):
        if exponent >= 0:
            start = a if a.dtype is not BOOL else apply(t, "add", (a, types.literal(0, span)), span)
            return _repeated(t, start, exponent, span)
        if a.origin == "python":
            return apply(t, "power", (python_float(a, span), python_float(b, span)), span)
    if a.dtype is b.dtype is INT64 and elements.is_position(t, t.ranges, b.expr):
        both = [types.converted(each, INT64, span) for each in (a, b)]
        return Number(typed_op("power", INT64, *both), a.origin, span)  # an int in Python, too
    if integers and (b.dtype.is_integer or b.dtype is BOOL):
        _check_exponent(t, a, b, span)
    if exponent == 2 and a.dtype.is_float:
        return apply(t, "multiply", (a, a), span)
    rule = t.rule("power", (a, b), span)
    if rule.loop[0].is_float and a.dtype.is_float and powers.is_easy(exponent):
        fixed = t.fixed(Number(types.converted(a, rule.loop[0], span), a.origin, span))
        return Number(powers.power(fixed.expr, exponent, rule.loop[0]), rule.origin, span)
    return apply(t, "power", (a, b), span)


def _check_exponent(t: Translation, a: Number, b: Number, span: Span) -> None:
    """An integer to a negative integer power is an error of NumPy's.  Among Python's numbers it is
    a float, which has another type than the other powers: the kernel ends with an error, always.
    """
    plain = a.origin != "numpy" and b.origin != "numpy"
    if b.dtype.kind == "i" and (plain or t.settings.check):
        natural = op("less_equal", const(0, b.dtype), b.expr)
        text = "an integer to a negative integer power"
        if plain:
            text += ", which is a float in Python: write float(a) ** b"
        t.check(natural, "power", text, (), span)


def _repeated(t: Translation, a: Number, exponent: int, span: Span) -> Number:
    result: Number | None = None
    square = a
    while exponent:
        if exponent & 1:
            result = square if result is None else apply(t, "multiply", (result, square), span)
        exponent >>= 1
        if exponent:
            square = apply(t, "multiply", (square, square), span)
    if result is None:
        return Number(const(1, a.dtype), a.origin, span)
    return result


def python_float(a: Number, span: Span) -> Number:
    """`float(a)`."""
    return Number(types.converted(a, FLOAT64, span), "python", span)


def unary(t: Translation, node: ast.UnaryOp) -> Value:
    """`-a`, `+a`, `~a`."""
    span = t.span(node)
    operand = t.expression(node.operand)
    name, function = _UNARY[type(node.op)]
    if elementwise.is_array(operand):
        return elementwise.computed(
            t, [operand], lambda a: _signed(t, name, function, a[0], span), span
        )
    if vectors.is_vector(operand):
        return vectors.unary(t, name, operand, span, lambda a: _signed(t, name, function, a, span))
    return _signed(t, name, function, elements.as_number(t, operand, span), span)


_UNARY: dict[type, tuple[str, Callable[[Any], Any]]] = {
    ast.USub: ("negative", operator.neg),
    ast.UAdd: ("positive", operator.pos),
    ast.Invert: ("invert", operator.inv),
}


def _signed(
    t: Translation, name: str, function: Callable[[Any], Any], a: Number, span: Span
) -> Number:
    if a.literal is not None:
        return types.literal(function(a.literal), span)
    if a.dtype is BOOL and a.origin != "numpy":
        a = apply(t, "add", (a, types.literal(0, span)), span)
    found = apply(t, name, (a,), span)
    if name == "negative" and found.dtype is INT64:
        return Number(linear.times(found.expr.args[0], -1), a.origin, span)
    return Number(found.expr, a.origin, span)


def operands(t: Translation, nodes: Sequence[ast.expr]) -> list[Value]:
    """Several expressions, left to right: what a later one may change is read before it."""
    found: list[Value] = []
    for node in nodes:
        found = _following(t, found, node)
    return found


def _following(t: Translation, found: list[Value], node: ast.expr) -> list[Value]:
    """The values found so far, and one more."""
    with t.block() as written:
        value = t.expression(node)
    if any(_acts(statement) for statement in written):
        stored = {s.buffer for s in walk(tuple(written)) if isinstance(s, Store)}
        found = [_before(t, v, stored) for v in found]
    t.out += written
    return [*found, value]


def _before(t: Translation, value: Value, stored: set[int]) -> Value:
    """A value as it is before a call that writes into arrays: a computed one of what is written is
    stored.
    """
    if isinstance(value, Number):
        return t.fixed(value)
    if isinstance(value, Zipped):
        return replace(value, parts=tuple(_before(t, part, stored) for part in value.parts))
    if not isinstance(value, Elementwise) or (isinstance(value, View) and value.sure):
        return value
    own = t.scratch.keys() | t.inputs.made
    if not stored or not stored - (own - kept.reads(t, value)):
        return value
    if isinstance(value, View) or not storing.may_have_memory(t, value):
        raise KernelTypeError(
            "a computed array beside a call that writes to arrays",
            value.span,
            why="its elements are computed where they are stored, after the call",
            help="call the function in a statement of its own",
        )
    storing.note(t, value)
    return t.lasting(value)


def _acts(statement: Statement) -> bool:
    """Whether a statement changes something an expression could read."""
    from_let = type(statement).__name__ == "Let"
    return not from_let
