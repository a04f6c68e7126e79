"""Calls: what is called, functions of the tables, methods of arrays, printing."""

from __future__ import annotations

import ast
import inspect
from types import FunctionType
from typing import Any

import numpy as np

from fusewright.base.errors import KernelTypeError
from fusewright.frontends.kernels import (
    access,
    array_rows,
    comprehensions,
    drawing,
    elements,
    elementwise,
    fresh,
    functions,
    joining,
    kinds_of,
    library,
    lines,
    list_methods,
    lists,
    matrix_rows,
    parts,
    records,
    reductions,
    rounding,
    spaces,
    splitting,
    texts,
    totals,
    types,
    vectors,
    views,
)
from fusewright.frontends.kernels import named as named_calls
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.functions import row_of
from fusewright.frontends.kernels.inlining import inline, inline_closure, run_function
from fusewright.frontends.kernels.intrinsics import arguments
from fusewright.frontends.kernels.operators import apply, operands
from fusewright.frontends.kernels.source import plain
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Bound,
    Closure,
    Elementwise,
    Growing,
    Method,
    Number,
    Static,
    Value,
    View,
    described,
)
from fusewright.ir.dtypes import BOOL, COMPLEX128, FLOAT64, INT64
from fusewright.ir.loops.statements import Print, Shown


def call(t: Translation, node: ast.Call) -> Value:
    """`function(arguments)`."""
    function = t.expression(node.func)
    starred = any(isinstance(arg, ast.Starred) for arg in node.args)
    if any(keyword.arg is None for keyword in node.keywords) or (
        starred and not _is_written(function)
    ):
        raise t.refuse(node, "a starred argument", help="write the arguments one by one")
    if isinstance(function, Static):
        return _static_call(t, node, function.value)
    if isinstance(function, Method):
        return _method(t, node, function)
    if isinstance(function, Closure):
        return inline_closure(t, node, function)
    if isinstance(function, Bound):
        same_integers(t, node, function.target)
        return inline(t, node, function.function, function.instance)
    raise t.refuse(node, f"{described(function)} cannot be called")


def _is_written(function: Value) -> bool:
    """Whether a call is inlined: the function is the user's, written in Python."""
    if isinstance(function, Static):
        own, others = plain(function.value), (__package__.split(".")[0], "numpy")
        return isinstance(own, FunctionType) and (own.__module__ or "").split(".")[0] not in others
    return isinstance(function, Closure | Bound)


def _row(target: Any) -> Any:
    """How a function of NumPy's, Python's or our own is called; None for any other."""
    tables = (row_of, array_rows.row_of, totals.row_of)
    return next((row for table in tables if (row := table(target)) is not None), None)


_TABLES = (views, reductions, joining, splitting, matrix_rows, lines, rounding, drawing)


def _named(target: Any) -> named_calls.Named | None:
    """How a function whose arguments may have names is called."""
    tables = _TABLES
    return next((row for table in tables if (row := table.row_of(target)) is not None), None)


def _named_method(name: str) -> named_calls.Named | None:
    tables = _TABLES
    return next((row for table in tables if (row := table.method(name)) is not None), None)


def _as_tuple(node: ast.Call) -> ast.Call:
    """`f(1, 2)` as `f((1, 2))`."""
    if len(node.args) < 2:
        return node
    many = ast.copy_location(ast.Tuple(node.args, ast.Load()), node)
    return ast.copy_location(ast.Call(node.func, [many], node.keywords), node)


def _static_call(t: Translation, node: ast.Call, target: Any) -> Value:
    """A call of something known when the kernel is compiled."""
    if target in (type, isinstance, list):
        known = _of_python(t, node, target)
        if known is not None:
            return known
    if comprehensions.is_one(node, target):
        return comprehensions.collected(t, node, target)
    space = spaces.row_of(target)
    if space is not None:
        return space(t, node, operands(t, node.args))
    if target is print:
        return _print(t, node)
    if target is pow and len(node.args) == 3:
        return _power_modulo(t, node)
    if t.row(target) is None:
        array = fresh.row(t, node, target)
        if array is not None:
            return array
        found = _named(target)
        if found is not None:
            if target in drawing.SPREAD:
                node = _as_tuple(node)
            return named_calls.call(t, node, found, f"np.{target.__name__}")
    row = t.row(target) or _row(target)
    if target is np.where and len(node.args) == 1:
        row = array_rows.row_of(np.nonzero)
    if row is not None:
        values = _with_keywords(t, node, target) if node.keywords else operands(t, node.args)
        if target is not len:
            values = [lists.arrays(t, value, t.span(node)) for value in values]
        return row(t, node, values)
    own = plain(target)
    same_integers(t, node, target)
    if isinstance(own, FunctionType) and not str(own.__module__).startswith("numpy."):
        return inline(t, node, own, None)
    return _created(t, node, target)


def _power_modulo(t: Translation, node: ast.Call) -> Value:
    """`pow(base, exponent, modulus)`."""
    span = t.span(node)
    numbers = [elements.as_number(t, value, span) for value in operands(t, node.args)]
    for each in numbers:
        if not each.dtype.is_integer or each.origin == "numpy":
            raise KernelTypeError(
                f"pow of three arguments, one of which is {described(each)}",
                span,
                why="Python computes it of its own integers only",
                help="convert it: int(x)",
            )
    names = ("base", "exponent", "modulus")
    function: Any = library.power_modulo
    given = {name: t.fixed(each) for name, each in zip(names, numbers, strict=True)}
    return run_function(t, node, function, given)


def _created(t: Translation, node: ast.Call, target: Any) -> Value:
    """A record of a class of the user's."""
    constructor = records.constructor(target)
    if constructor is None:
        raise t.refuse(
            node,
            f"a kernel cannot call {getattr(target, '__name__', target)}",
            why="it is neither one of the functions of kernels nor written in Python",
            help="call it before the kernel and pass on what it gives, or write the loop; the page "
            "about kernels lists the functions, and your own may be any `def`",
        )
    record = records.create(t, target)
    inline(t, node, constructor, record)
    record.depth = -1
    return record


def _of_python(t: Translation, node: ast.Call, target: Any) -> Value | None:
    """`list()`, and what asks for a type; None of other calls."""
    if target is not list:
        return kinds_of.row(t, node, target)
    if node.args or node.keywords:
        return None
    return access.list_(t, ast.copy_location(ast.List([], ast.Load()), node))


def same_integers(t: Translation, node: ast.AST, target: Any) -> None:
    """A kernel that is called is inlined: its integers must divide like the caller's."""
    if getattr(target, "c_integers", t.settings.c_integers) != t.settings.c_integers:
        raise t.refuse(
            node,
            f"{target.__name__} divides integers in another way",
            why="a kernel that another one calls becomes part of it",
            help="give both the same integers=",
        )


def _with_keywords(t: Translation, node: ast.Call, target: Any) -> list[Value]:
    """Arguments by name, in the order of the function's own parameters."""
    try:
        names = list(inspect.signature(target).parameters)
    except (TypeError, ValueError):
        names = []
    ordered: list[ast.expr] = list(node.args)
    for keyword in sorted(node.keywords, key=lambda k: names.index(k.arg) if k.arg in names else 0):
        if keyword.arg not in names or names.index(keyword.arg) != len(ordered):
            raise t.refuse(node, f"argument `{keyword.arg}` of {target.__name__} in a kernel")
        ordered.append(keyword.value)
    return operands(t, ordered)


# -- the rest -----------------------------------------------------------------------------------


def _method(t: Translation, node: ast.Call, method: Method) -> Value:
    if isinstance(method.array, ArrayRef | Elementwise):
        spread = views.SPREAD.get(method.name)
        if spread is not None:
            node = _as_tuple(node)
        named = spread or _named_method(method.name)
        if named is not None:
            return named_calls.call(t, node, named, f"`.{method.name}`", [method.array])
    values = operands(t, node.args)
    span = t.span(node)
    if node.keywords:
        raise t.refuse(
            node,
            f"`.{method.name}` with `{node.keywords[0].arg}=` in a kernel",
            help="without it",
        )
    if isinstance(method.array, Growing) and method.name == "sort" and not values:
        view = lists.view(t, method.array, span)
        return named_calls.call(t, node, lines.METHODS["sort"], "`.sort`", [view])
    if isinstance(method.array, Growing):
        return list_methods.method(t, node, method.array, method.name, values, spaces.walk(t, node))
    if isinstance(method.array, Number):
        if method.name == "conjugate":
            return functions.conjugate(t, node, [method.array, *values])
        arguments(t, node, values, 0, 0)
        count = apply(t, "bitwise_count", (method.array,), span)
        return Number(_python(count), "python", span)
    return _method_of_array(t, node, method.array, method.name, values)


def _method_of_array(
    t: Translation, node: ast.Call, array: Value, name: str, values: list[Value]
) -> Value:
    span = t.span(node)
    row = totals.method(name)
    if row is not None and (name != "copy" or elementwise.is_array(array)):
        return row(t, node, [array, *values])
    if name == "fill" and isinstance(array, ArrayRef | View) and len(values) == 1:
        parts.assign(t, array, elements.as_number(t, values[0], span), span)
        return Static(None)
    assert isinstance(array, ArrayRef | Elementwise)
    if isinstance(array, ArrayRef) and name == "copy" and array.local and not values:
        return vectors.copy(t, array, span)
    if isinstance(array, ArrayRef) and name == "item" and not values and not array.shape:
        found = elements.read(t, array, span)
        return Number(_python(found), "python", span)
    raise t.refuse(node, f"array method `{name}` in a kernel", help="write a loop")


def _python(number: Number) -> Any:
    dtype = number.dtype
    wide = FLOAT64 if dtype.is_float else BOOL if dtype is BOOL else INT64
    wide = COMPLEX128 if dtype.is_complex else wide
    return types.converted(number, wide, number.span)


def _print(t: Translation, node: ast.Call) -> Value:
    words = {"sep": " ", "end": "\n"}
    for keyword in node.keywords:
        value = t.expression(keyword.value)
        text = value.value if isinstance(value, Static) else None
        if keyword.arg not in words or not isinstance(text, str):
            raise t.refuse(node, f"print with {keyword.arg}= in a kernel")
        words[keyword.arg] = text
    pieces: list[str | Shown] = []
    for place, arg in enumerate(node.args):
        pieces += [words["sep"]] if place else []
        pieces += texts.pieces(t, arg)
    pieces.append(words["end"])
    t.write(Print(tuple(pieces), t.span(node)))
    return Static(None)
