"""Calls with lazy arrays like an earlier one, recorded by the native core: its form of a recipe.

Without the core each call looks its recipe up.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping
from typing import Any

from fusewright._core import native
from fusewright.base.options import Options
from fusewright.frontends.arrays import Array, Scalar
from fusewright.frontends.kernels.inputs import Capture
from fusewright.ir.dtypes import FLOAT64, INT64
from fusewright.kernels.binding import Binding
from fusewright.kernels.recipe import Recipe
from fusewright.kernels.specialise import Specialised

MOST = 8
"""Kinds of calls the core looks for, the newest first."""
ARRAY, FLOAT, INTEGER, FIXED, LAZY = range(5)


class _Unfit(Exception):
    """A call that stays with Python."""


def learn(
    found: Specialised,
    bound: Binding,
    recipe: Recipe,
    arguments: Mapping[str, Any],
    options: Options,
) -> Any:
    """What the core needs to record calls like this one; None where it cannot."""
    translated = found.translated
    paths = [path for path in translated.paths if path is not None] + list(translated.scalars)
    if native is None or found.attributes or translated.result is not None:
        return None
    if any(len(path) > 1 for path in paths) or any(p.links for p in bound.places.values()):
        return None
    numbers = {
        translated.scalars[source.slot][0]: number
        for number, source in enumerate(found.kernel.arguments)
        if source.what == "scalar"
    }
    try:
        guards, cells = _guards(translated.captures)
        given = tuple(
            _argument(name, value, found, bound, recipe, numbers)
            for name, value in arguments.items()
        )
        steps = tuple((s.kind, s.op, s.args, s.dtype, s.shape, s.attr) for s in recipe.steps)
        handles = list(arguments.values())
        writes = tuple(
            (next(n for n, value in enumerate(handles) if value is bound.arrays[array]), number)
            for array, number in recipe.writes
        )
        inputs = recipe.arrays + len(recipe.numbers)
        return native.Recorder(
            options, guards, cells, given, inputs, recipe.constants, steps, writes
        )
    except (_Unfit, ValueError):  # too many of something: the core has fixed tables
        return None


def _argument(
    name: str,
    value: Any,
    found: Specialised,
    bound: Binding,
    recipe: Recipe,
    numbers: Mapping[Any, int],
) -> tuple[Any, ...]:
    kind = type(value)
    if kind is Array:
        slot = next(n for n, array in enumerate(bound.arrays) if array is value)
        return (ARRAY, slot, value._dtype, value._flags, value._shape)
    param = numbers.get(name)
    slot = -1
    if param in recipe.numbers:
        slot = recipe.arrays + recipe.numbers.index(param)
    if kind is Scalar:
        return (LAZY, slot, value._dtype, 0, ())
    if kind is float:
        return (FLOAT, slot, FLOAT64, 0, ())
    if kind is int:
        if param in found.steering:
            return (FIXED, slot, INT64, 0, value)
        return (INTEGER, slot, INT64, 0, ())
    raise _Unfit


def _guards(captures: tuple[Capture, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Where what was captured is looked up, as the core looks there."""
    guards: list[Any] = []
    cells: list[Any] = []
    for capture in captures:
        if len(capture.names) > 1:
            raise _Unfit
        for guard in _lookups(capture):
            (guards if isinstance(guard[0], dict) else cells).append(guard)
    return tuple(guards), tuple(cells)


def _lookups(capture: Capture) -> Iterator[tuple[Any, ...]]:
    function, (name,) = capture.function, capture.names
    if name in function.__code__.co_freevars:
        assert function.__closure__ is not None
        yield function.__closure__[function.__code__.co_freevars.index(name)], capture.value
    elif name in function.__globals__:
        yield function.__globals__, name, function.__globals__[name]
    else:
        yield function.__globals__, name
        yield vars(builtins), name, capture.value
