"""Objects that a kernel makes: `p = Point(x, y)` runs the class's `__init__`, whose attributes are
variables.
"""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

from fusewright.base.errors import KernelTypeError
from fusewright.frontends.kernels import types
from fusewright.frontends.kernels.context import Translation
from fusewright.frontends.kernels.joins import Slot
from fusewright.frontends.kernels.values import (
    Bound,
    Number,
    Record,
    Static,
    Value,
    described,
)


def constructor(target: Any) -> FunctionType | None:
    """The `__init__` of a class written in Python; None for anything else."""
    found = vars(target).get("__init__") if isinstance(target, type) else None
    plain = getattr(target, "__new__", None) is object.__new__
    return found if plain and isinstance(found, FunctionType) else None


def create(t: Translation, kind: type) -> Record:
    """A new object; its constructor is run next, one block deeper."""
    return Record(kind, {}, t.depth + 1)


def attribute(t: Translation, record: Record, node: ast.Attribute) -> Value:
    """`record.name`: what it holds, or a method."""
    span = t.span(node)
    held: Slot | Value | None = record.fields.get(node.attr)
    if isinstance(held, Slot):
        return held.read(span)
    if isinstance(held, Number):
        return Number(held.expr, held.origin, span)
    if held is not None:
        return held
    found = getattr(record.kind, node.attr, None)
    plain = getattr(found, "__wrapped__", found)
    if isinstance(plain, FunctionType):
        if isinstance(vars(record.kind).get(node.attr), staticmethod):
            return Static(plain)
        return Bound(plain, record, found)
    raise KernelTypeError(f"a {record.kind.__name__} has no attribute `{node.attr}` here", span)


def assign(t: Translation, record: Record, target: ast.Attribute, value: Value) -> None:
    """`record.name = value`."""
    held, span = record.fields.get(target.attr), t.span(target)
    if held is None:
        _add(t, record, target, value)
    elif isinstance(held, Slot) and isinstance(value, Number):
        if t.settings.dialect is not None and held.held is not None:
            expr = types.converted(value, held.held.dtype, span)
            value = Number(expr, held.held.origin, span)
        held.write(t, value)
    elif held is not value:
        raise KernelTypeError(
            f"`{target.attr}` is given {described(value)} here",
            span,
            why="an attribute that is no number stays what the constructor made it",
        )


def _add(t: Translation, record: Record, target: ast.Attribute, value: Value) -> None:
    span = t.span(target)
    if t.depth > record.depth:
        raise KernelTypeError(
            f"`{target.attr}` is a new attribute here",
            span,
            why="an object has its attributes when it has been made, on every path",
            help="assign it in the class's __init__, outside branches and loops",
        )
    if not isinstance(value, Number):
        record.fields[target.attr] = value
        return
    slot = Slot(target.attr, (*t.frame.instance, target.attr, span))
    slot.write(t, value)
    record.fields[target.attr] = slot
