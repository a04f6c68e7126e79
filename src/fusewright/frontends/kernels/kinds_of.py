"""`type(x)` and `isinstance(x, int)`: decided when the kernel is compiled."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from fusewright.base.errors import KernelPathError
from fusewright.frontends.kernels import types
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Elementwise,
    ListValue,
    Number,
    Record,
    Static,
    Struct,
    TupleValue,
    Value,
    described,
)
from fusewright.ir.dtypes import BOOL, COMPLEX128, FLOAT64, INT64
from fusewright.ir.expr import postorder

_PYTHON: dict[Any, type] = {INT64: int, FLOAT64: float, BOOL: bool, COMPLEX128: complex}


def row(t: Translation, node: ast.Call, target: Any) -> Value | None:
    """The call, if it is one of these two."""
    if node.keywords or len(node.args) != {type: 1, isinstance: 2}.get(target):
        return None
    values = [t.expression(arg) for arg in node.args]
    kind = _type_of(t, node, values[0])
    if target is type:
        return Static(kind)
    wanted = _types(t, node, values[1])
    return types.literal(issubclass(kind, wanted), t.span(node))


def _types(t: Translation, node: ast.Call, value: Value) -> tuple[type, ...]:
    given: Sequence[Value] = value.items if isinstance(value, TupleValue) else (value,)
    values = [each.value if isinstance(each, Static) else None for each in given]
    found = tuple(each for each in values if isinstance(each, type))
    if len(found) < len(values):
        raise t.refuse(node, "isinstance of what is no type", help="write isinstance(x, float)")
    return found


def _type_of(t: Translation, node: ast.Call, value: Value) -> type:
    """What CPython has as the type of a value; a `KernelPathError` where a path decides."""
    if isinstance(value, Number):
        return _type_of_number(t, node, value)
    if isinstance(value, ArrayRef | Elementwise) and value.shape:
        return np.ndarray
    if isinstance(value, ListValue):
        return list
    if isinstance(value, Static):
        return type(value.value)
    if isinstance(value, Struct | Record):
        return value.kind
    if type(value) is TupleValue:
        return tuple
    raise t.refuse(node, f"the type of {described(value)} in a kernel")


def _type_of_number(t: Translation, node: ast.Call, value: Number) -> type:
    joined = any(
        each.name == "local" and t.locals[each.attr].mutable
        for each in postorder([t.written_out(value.expr)])
    )
    if value.origin == "either" or (joined and value.origin == "python"):
        raise KernelPathError(
            "the type of a number that depends on the path taken",
            t.span(node),
            why="it is decided when the kernel is compiled, and paths that meet have given the "
            "variable a number each; a literal among them takes the type of the others",
            help="ask for the type of an argument, or of an element of an array",
        )
    if value.origin == "numpy":
        kind: type = value.dtype.numpy.type
        return kind
    return _PYTHON[value.dtype]
