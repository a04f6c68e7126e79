"""The arguments and results of a recorded function as trees: leaves, and a key of the form."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import field
from enum import Enum
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from fusewright.base.values import dataclass
from fusewright.frontends.arrays import core
from fusewright.replay.captured import Unfit

_STATIC = (str, bytes, type(None), type, np.dtype, type(Ellipsis), FunctionType,
           BuiltinFunctionType, np.ufunc, frozenset, Enum, slice, range)  # fmt: skip


@dataclass(slots=True)
class Leaves:
    """The leaves of the arguments in the order met."""

    arrays: list[Any] = field(default_factory=list)
    buffers: list[Any] = field(default_factory=list)
    floats: list[float] = field(default_factory=list)


def describe(value: Any, leaves: Leaves, mutable: bool = False) -> Any:
    """The key of a tree, its leaves collected.  Raises `Unfit` for what cannot be followed.

    In a container the function could change, floats are part of the key: they are not replaced
    there.
    """
    kind = type(value)
    if kind in core.handle_classes:
        leaves.arrays.append(value)
        return "array"
    if kind is float:
        if mutable:
            return ("float", value.hex())
        leaves.floats.append(value)
        return "float"
    if kind is int or kind is bool:
        return (kind, value)
    if kind is np.ndarray:
        if mutable:
            raise Unfit("it takes a NumPy array inside a list, dict or object")
        leaves.buffers.append(value)
        return "buffer"
    if kind is tuple:
        return tuple([describe(item, leaves, mutable) for item in value])
    return _describe_rarer(value, kind, leaves, mutable)


def _describe_rarer(value: Any, kind: type, leaves: Leaves, mutable: bool) -> Any:
    if kind is complex:
        return ("complex", value.real.hex(), value.imag.hex())
    if kind is list:
        return ("list", *[describe(item, leaves, True) for item in value])
    if kind is dict:
        return ("dict", *[(key, describe(item, leaves, True)) for key, item in value.items()])
    if isinstance(value, np.generic):
        return (kind, value.tobytes())
    if isinstance(value, _STATIC):
        return (kind, _hashable(value))
    if isinstance(value, tuple) and hasattr(kind, "_make"):
        return (kind, *[describe(item, leaves, mutable) for item in value])
    if dataclasses.is_dataclass(value):
        names = [each.name for each in dataclasses.fields(value)]
        parts = [(name, describe(getattr(value, name), leaves, True)) for name in names]
        return (kind, *parts)
    raise Unfit(f"it takes an argument of type {kind.__name__}, whose content can change unseen")


def _hashable(value: Any) -> Any:
    return (value.start, value.stop, value.step) if isinstance(value, slice) else value


Convert = Callable[[Any], Any]


def replaced(value: Any, float_of: Convert, buffer_of: Convert) -> Any:
    """The arguments as the recorded function sees them, in the order of `describe`: floats and
    NumPy arrays replaced where nothing mutable holds them.
    """
    kind = type(value)
    if kind is float:
        return float_of(value)
    if kind is np.ndarray:
        return buffer_of(value)
    if isinstance(value, tuple):
        items = [replaced(item, float_of, buffer_of) for item in value]
        return kind._make(items) if hasattr(kind, "_make") else tuple(items)
    return value


Spec = Callable[[Any], Any]
"""From what a replay computed (`recording.Made`) to a result."""


def result_tree(value: Any, leaf: Callable[[Any], Spec]) -> Spec:
    """How to rebuild a result: `leaf` says how an array or a number is made."""
    kind = type(value)
    if kind is tuple or kind is list:
        parts = [result_tree(item, leaf) for item in value]
        return lambda made: kind([part(made) for part in parts])
    if kind is dict:
        pairs = [(key, result_tree(item, leaf)) for key, item in value.items()]
        return lambda made: {key: part(made) for key, part in pairs}
    if isinstance(value, tuple) and hasattr(kind, "_make"):
        parts = [result_tree(item, leaf) for item in value]
        return lambda made: kind._make([part(made) for part in parts])
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        named = [
            (f.name, result_tree(getattr(value, f.name), leaf)) for f in dataclasses.fields(value)
        ]
        return lambda made: _rebuilt(kind, {name: part(made) for name, part in named})
    return leaf(value)


def _rebuilt(kind: type, values: dict[str, Any]) -> Any:
    fresh: Any = object.__new__(kind)
    for name, value in values.items():
        object.__setattr__(fresh, name, value)
    return fresh


def leaves_of(value: Any) -> list[Any]:
    """The leaves of a result tree."""
    found: list[Any] = []

    def keep(leaf: Any) -> Spec:
        found.append(leaf)
        return lambda made: None

    result_tree(value, keep)
    return found
