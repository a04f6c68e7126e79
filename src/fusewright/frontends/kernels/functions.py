"""What each function a kernel can call becomes: a table of Python's, `math`'s, NumPy's and our own.

A row takes the translation, the call's node and its arguments' values.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusewright.base.errors import KernelTypeError
from fusewright.base.source import Span
from fusewright.frontends.kernels import (
    cmath_rows,
    complexes,
    elements,
    elementwise,
    lists,
    types,
    vectors,
)
from fusewright.frontends.kernels.choices import choose
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.elements import as_number
from fusewright.frontends.kernels.intrinsics import ROWS, Row, Values, arguments
from fusewright.frontends.kernels.operators import apply, combine_numbers, folded, power
from fusewright.frontends.kernels.values import (
    Growing,
    Number,
    Origin,
    TupleValue,
    Value,
    describe,
)
from fusewright.ir import dtypes, ops
from fusewright.ir.dtypes import BOOL, FLOAT64, INT64, DType
from fusewright.ir.expr import cast, const, op, typed_op

MATH: dict[Callable[..., Any], str] = {
    getattr(math, name): row
    for name, row in {
        "sqrt": "sqrt", "cbrt": "cbrt", "exp": "exp", "exp2": "exp2", "expm1": "expm1",
        "log2": "log2", "log10": "log10", "log1p": "log1p", "sin": "sin", "cos": "cos",
        "tan": "tan", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2",
        "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "arcsinh", "acosh": "arccosh",
        "atanh": "arctanh", "hypot": "hypot", "fabs": "fabs", "copysign": "copysign",
        "fmod": "fmod", "pow": "power", "isnan": "isnan", "isinf": "isinf",
        "isfinite": "isfinite", "erf": "erf", "erfc": "erfc", "nextafter": "nextafter",
        "gamma": "gamma", "lgamma": "lgamma",
    }.items()
    if hasattr(math, name)
}  # fmt: skip
"""`math`'s functions take and give Python's floats."""
UFUNCS: dict[Any, str] = {
    row.meaning: row.name for row in ops.MAP.values() if isinstance(row.meaning, np.ufunc)
}
_WHOLE = {math.floor: "floor", math.ceil: "ceil", math.trunc: "trunc"}


def row_of(function: Any) -> Row | None:
    """How a call of a function is translated; None for one that is not in the tables."""
    try:
        found = _ROWS.get(function)
    except TypeError:
        return None
    if found is not None:
        return found
    if isinstance(function, type) and issubclass(function, np.generic):
        return lambda t, node, values: numpy_type(t, node, values, function)
    if isinstance(function, np.dtype):
        return lambda t, node, values: numpy_type(t, node, values, function.type)
    plain = numpy_form(function)
    if plain in _ROWS:
        return _ROWS[plain]
    name = UFUNCS.get(plain)
    if name is not None:
        return lambda t, node, values: ufunc(t, name, values, t.span(node))
    special = ops.PUBLIC_SPECIAL.get(getattr(function, "__name__", ""))
    if special is not None and _is_ours(function):
        return lambda t, node, values: math_function(t, node, values, special, "numpy")
    return None


def numpy_form(function: Any) -> Any:
    """NumPy's function of the same name, for one of `fusewright.numpy`."""
    name = getattr(function, "__name__", "")
    return getattr(np, name, None) if _is_ours(function) else function


def _is_ours(function: Any) -> bool:
    return str(getattr(function, "__module__", "")).startswith("fusewright.")


def ufunc(t: Translation, name: str, values: Values, span: Span) -> Value:
    """A NumPy function: the result is a NumPy scalar whatever comes in."""
    if len(values) != ops.MAP[name].arity:
        raise KernelTypeError(f"np.{name} takes {ops.MAP[name].arity} arguments", span)
    if any(map(elementwise.is_array, values)):
        return elementwise.computed(t, values, lambda each: _ufunc(t, name, each, span, True), span)
    if len(values) == 1 and vectors.is_vector(values[0]):
        return vectors.unary(t, name, values[0], span, lambda n: _ufunc(t, name, [n], span))
    return _ufunc(t, name, [as_number(t, value, span) for value in values], span)


def _ufunc(
    t: Translation, name: str, numbers: list[Number], span: Span, of_arrays: bool = False
) -> Number:
    is_complex = any(number.dtype.is_complex for number in numbers)
    if name in ("multiply", "divide", "square", "power") and is_complex and not of_arrays:
        raise KernelTypeError(
            f"np.{name} of complex numbers",
            span,
            why="NumPy's arrays round it in another way than its scalars do",
            help="write it with an operator",
        )
    if all(number.origin == "python" for number in numbers):
        numbers = [Number(number.expr, "numpy", number.span) for number in numbers]
    return apply(t, name, numbers, span)


def math_function(
    t: Translation, node: ast.Call, values: Values, name: str, origin: Origin = "python"
) -> Number:
    """A function of `math`, or a special one (of NumPy's origin): of a float64, and gives one."""
    span = t.span(node)
    arity = ops.MAP[name].arity
    arguments(t, node, values, arity, arity)
    args = [as_number(t, value, span) for value in values]
    exprs = [types.converted(arg, FLOAT64, span) for arg in args]
    dtype = BOOL if name in ("isnan", "isinf", "isfinite") else FLOAT64
    return Number(typed_op(name, dtype, *exprs), origin, span)


def _log(t: Translation, node: ast.Call, values: Values) -> Number:
    arguments(t, node, values, 1, 2)
    span = t.span(node)
    logs = [
        typed_op("log", FLOAT64, types.converted(as_number(t, value, span), FLOAT64, span))
        for value in values
    ]
    expr = logs[0] if len(logs) == 1 else typed_op("divide", FLOAT64, *logs)
    return Number(expr, "python", span)


def _angle(factor: float) -> Row:
    def row(t: Translation, node: ast.Call, values: Values) -> Number:
        arguments(t, node, values, 1, 1)
        x = types.converted(as_number(t, values[0], t.span(node)), FLOAT64, t.span(node))
        return Number(op("multiply", x, const(factor, FLOAT64)), "python", t.span(node))

    return row


def _numpy_angle(degrees: bool) -> Row:
    """`np.degrees` or `np.radians`: a product with the factor in the result's own type."""

    def angle(number: Number, span: Span) -> Number:
        kind = float if number.origin == "python" else number.dtype.numpy
        row = dtypes.from_numpy(np.result_type(kind, np.float16))
        if number.dtype.is_complex or row is None or row.numpy.itemsize < 4:
            raise KernelTypeError(f"np.degrees or np.radians of {describe(number)}", span)
        of = row.numpy.type
        factor = const(of(180) / of(np.pi) if degrees else of(np.pi) / of(180), row)
        return Number(op("multiply", types.converted(number, row, span), factor), "numpy", span)

    return _each_of(angle)


def _whole(name: str) -> Row:
    """To an int: `math.floor` and its like."""

    def row(t: Translation, node: ast.Call, values: Values) -> Number:
        arguments(t, node, values, 1, 1)
        return whole(name, as_number(t, values[0], t.span(node)), t.span(node))

    return row


def whole(name: str, x: Number, span: Span) -> Number:
    """A number made an int of Python's by `floor`, `ceil`, `trunc` or `rint`."""
    if not x.dtype.is_float:
        return Number(types.converted(x, INT64, span), "python", span)
    return Number(cast(typed_op(name, x.dtype, x.expr), INT64), "python", span)


def _python_type(dtype: DType, function: type) -> Row:
    """`int(x)`, `float(x)`, `bool(x)`."""

    def row(t: Translation, node: ast.Call, values: Values) -> Number:
        arguments(t, node, values, 0, 1)
        span = t.span(node)
        if not values:
            return types.literal(function(), span)
        x = as_number(t, values[0], span)
        if x.literal is not None:
            return folded(lambda a, _: function(a), x.literal, None, span)
        if dtype is BOOL:
            return Number(elements.truth(x).expr, "python", span)
        return Number(types.converted(x, dtype, span), "python", span)

    return row


def numpy_type(t: Translation, node: ast.Call, values: Values, kind: type) -> Number:
    """`np.float32(x)` and its like."""
    span = t.span(node)
    arguments(t, node, values, 1, 1)
    row = dtypes.from_numpy(kind)
    if row is None:
        raise KernelTypeError(f"a number of type {kind.__name__} in a kernel", span)
    x = as_number(t, values[0], span)
    if row is BOOL:
        return Number(elements.truth(x).expr, "numpy", span)
    return Number(types.converted(x, row, span), "numpy", span)


def _absolute(t: Translation, node: ast.Call, values: Values) -> Value:
    arguments(t, node, values, 1, 1)
    span = t.span(node)
    if vectors.is_vector(values[0]) or elementwise.is_array(values[0]):
        return ufunc(t, "absolute", values, span)
    x = as_number(t, values[0], span)
    if x.literal is not None:
        return types.literal(abs(x.literal), span)
    if x.dtype is BOOL and x.origin != "numpy":
        return Number(types.converted(x, INT64, span), "python", span)
    return Number(apply(t, "absolute", (x,), span).expr, x.origin, span)


def conjugate(t: Translation, node: ast.Call, values: Values) -> Number:
    """`z.conjugate()`; a real number is its own."""
    arguments(t, node, values, 1, 1)
    span = t.span(node)
    return complexes.conjugate(as_number(t, values[0], span), span)


def _each_of(function: Callable[[Number, Span], Number]) -> Row:
    """A function of NumPy's that takes one number, or an array."""

    def numpys(number: Number, span: Span) -> Number:
        return Number(function(number, span).expr, "numpy", span)

    def row(t: Translation, node: ast.Call, values: Values) -> Value:
        arguments(t, node, values, 1, 1)
        span = t.span(node)
        if elementwise.is_array(values[0]):
            return elementwise.computed(t, values, lambda each: numpys(each[0], span), span)
        return numpys(as_number(t, values[0], span), span)

    return row


def _component(name: str) -> Row:
    """`np.real` and `np.imag`: of an array its memory, of a number its attribute, so that a Python
    number's part is a Python number.
    """

    def row(t: Translation, node: ast.Call, values: Values) -> Value:
        arguments(t, node, values, 1, 1)
        span = t.span(node)
        if elementwise.is_array(values[0]):
            return elementwise.component(t, values[0], name, span)
        return complexes.part(as_number(t, values[0], span), name, span)

    return row


def _extreme(name: str, function: Callable[..., Any]) -> Row:
    """`min` and `max`: the first of the extreme ones, as Python has it."""

    def row(t: Translation, node: ast.Call, values: Values) -> Value:
        span = t.span(node)
        if len(values) == 1:
            values = elements.items_of(t, values[0], node)
        if not values:
            raise KernelTypeError("min and max need a number", span)
        best = as_number(t, values[0], span)
        for place, value in enumerate(values[1:]):
            best = _better(t, node, best, as_number(t, value, span), name, function, place)
        return best

    return row


def _better(
    t: Translation,
    node: ast.Call,
    best: Number,
    other: Number,
    name: str,
    function: Callable[..., Any],
    place: int,
) -> Number:
    span = t.span(node)
    if best.literal is not None and other.literal is not None:
        return folded(function, best.literal, other.literal, span)
    best, other = (t.fixed(each) if each.expr.args else each for each in (best, other))
    better = apply(t, name, (other, best), span)
    return as_number(t, choose(t, better, lambda: other, lambda: best, node, place), span)


def _where(t: Translation, node: ast.Call, values: Values) -> Value:
    arguments(t, node, values, 3, 3)
    span = t.span(node)
    if any(map(elementwise.is_array, values)):
        return elementwise.computed(t, values, lambda each: _chosen(each, span), span)
    return _chosen([as_number(t, value, span) for value in values], span)


def _chosen(numbers: Sequence[Number], span: Span) -> Number:
    condition, a, b = numbers
    kinds = [
        {INT64: 0, FLOAT64: 0.0}.get(each.dtype, False)
        if each.origin == "python"
        else each.dtype.numpy
        for each in (a, b)
    ]
    row = dtypes.from_numpy(np.result_type(*kinds))
    assert row is not None
    x, y = (types.converted(each, row, span) for each in (a, b))
    return Number(op("where", elements.truth(condition).expr, x, y), "numpy", span)


def _length(t: Translation, node: ast.Call, values: Values) -> Value:
    arguments(t, node, values, 1, 1)
    value = values[0]
    if isinstance(value, TupleValue):
        return types.literal(len(value.items), t.span(node))
    if isinstance(value, Growing):
        return t.fixed(Number(lists.length(value), "python", t.span(node)))
    if elementwise.shape_of(value):
        return Number(elements.size(elementwise.shape_of(value)[0]), "python", t.span(node))
    raise KernelTypeError(f"len of {describe(value)}", t.span(node))


def _divmod(t: Translation, node: ast.Call, values: Values) -> Value:
    arguments(t, node, values, 2, 2)
    span = t.span(node)
    a, b = (as_number(t, value, span) for value in values)
    if a.literal is not None and b.literal is not None:
        quotient, rest = divmod(a.literal, b.literal) if b.literal else (None, None)
        if quotient is not None:
            return TupleValue((types.literal(quotient, span), types.literal(rest, span)))
    parts = (combine_numbers(t, name, a, b, span) for name in ("floor_divide", "remainder"))
    return TupleValue(tuple(parts))


def _pow(t: Translation, node: ast.Call, values: Values) -> Value:
    arguments(t, node, values, 2, 2)
    span = t.span(node)
    a, b = (as_number(t, value, span) for value in values)
    if a.literal is not None and b.literal is not None:
        return folded(pow, a.literal, b.literal, span)
    return power(t, a, b, span)


def _tuple(t: Translation, node: ast.Call, values: Values) -> Value:
    arguments(t, node, values, 1, 1)
    return TupleValue(elements.items_of(t, values[0], node))


def _math_row(name: str) -> Row:
    return lambda t, node, values: math_function(t, node, values, name)


_ROWS: dict[Any, Row] = {
    **{function: _math_row(name) for function, name in MATH.items()},
    **{function: _whole(name) for function, name in _WHOLE.items()},
    math.log: _log,
    math.degrees: _angle(180.0 / math.pi),
    math.radians: _angle(math.pi / 180.0),
    int: _python_type(INT64, int),
    float: _python_type(FLOAT64, float),
    bool: _python_type(BOOL, bool),
    **dict.fromkeys((np.radians, np.deg2rad), _numpy_angle(False)),
    **dict.fromkeys((np.degrees, np.rad2deg), _numpy_angle(True)),
    np.angle: _each_of(complexes.numpy_angle),
    np.conjugate: _each_of(complexes.conjugate),
    np.iscomplex: _each_of(complexes.has_imaginary(True)),
    np.isreal: _each_of(complexes.has_imaginary(False)),
    np.real: _component("real"),
    np.imag: _component("imag"),
    abs: _absolute,
    min: _extreme("less", min),
    max: _extreme("greater", max),
    len: _length,
    divmod: _divmod,
    pow: _pow,
    tuple: _tuple,
    np.where: _where,
    np.bool_: lambda t, node, values: numpy_type(t, node, values, np.bool_),
    **ROWS,
    **cmath_rows.ROWS,
}
