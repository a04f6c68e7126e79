"""What the functions of `cmath` become; they take and give Python's numbers."""

from __future__ import annotations

import ast
import cmath
from collections.abc import Callable
from typing import Any

from fusewright.frontends.kernels import complexes, types
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.elements import as_number
from fusewright.frontends.kernels.intrinsics import Row, Values, arguments
from fusewright.frontends.kernels.values import Number, TupleValue, Value
from fusewright.ir.dtypes import COMPLEX128, FLOAT64
from fusewright.ir.expr import Expr, op, typed_op


def _complex(t: Translation, node: ast.Call, values: Values) -> Number:
    """`complex(x, y)`."""
    arguments(t, node, values, 1, 2)
    span = t.span(node)
    numbers = [as_number(t, value, span) for value in values]
    if len(numbers) == 1:
        return Number(types.converted(numbers[0], COMPLEX128, span), "python", span)
    x, y = (types.converted(number, FLOAT64, span) for number in numbers)
    return Number(complexes.joined(x, y, COMPLEX128), "python", span)


def _of_complex(function: Callable[[Expr], Expr]) -> Row:
    """A function of `cmath` that takes one number."""

    def row(t: Translation, node: ast.Call, values: Values) -> Number:
        arguments(t, node, values, 1, 1)
        return Number(function(_wide(t, node, values[0])), "python", t.span(node))

    return row


def _wide(t: Translation, node: ast.Call, value: Value) -> Expr:
    return types.converted(as_number(t, value, t.span(node)), COMPLEX128, t.span(node))


def _log(t: Translation, node: ast.Call, values: Values) -> Number:
    """`cmath.log(z)`, and to a base."""
    arguments(t, node, values, 1, 2)
    logs = [op("log", _wide(t, node, value)) for value in values]
    expr = logs[0] if len(logs) == 1 else complexes.python_quotient(*logs)
    return Number(expr, "python", t.span(node))


def _polar(t: Translation, node: ast.Call, values: Values) -> Value:
    """`cmath.polar`."""
    arguments(t, node, values, 1, 1)
    z = t.fixed(Number(_wide(t, node, values[0]), "python", t.span(node))).expr
    pair = typed_op("absolute", FLOAT64, z), complexes.angle(z)
    return TupleValue(tuple(Number(each, "python", t.span(node)) for each in pair))


def _rect(t: Translation, node: ast.Call, values: Values) -> Number:
    """`cmath.rect`."""
    arguments(t, node, values, 2, 2)
    span = t.span(node)
    r, turn = (types.converted(as_number(t, value, span), FLOAT64, span) for value in values)
    return Number(complexes.rect(r, turn), "python", span)


ROWS: dict[Any, Row] = {
    complex: _complex,
    cmath.exp: _of_complex(lambda z: op("exp", z)),
    cmath.sqrt: _of_complex(lambda z: op("sqrt", z)),
    cmath.phase: _of_complex(complexes.angle),
    cmath.log: _log,
    cmath.polar: _polar,
    cmath.rect: _rect,
}
