"""Whether what a kernel captured is as it was: what calls look at, as the core looks there."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

from fusewright.frontends.kernels.inputs import Capture


class Unfit(Exception):
    """A call that stays with Python."""


def guards_of(
    captures: tuple[Capture, ...],
) -> tuple[tuple[tuple[Any, ...], ...], tuple[tuple[Any, ...], ...]]:
    """(dict, name, value), or without a value where the name must be missing; (cell, value)."""
    guards: list[tuple[Any, ...]] = []
    cells: list[tuple[Any, ...]] = []
    for capture in captures:
        for guard in _guards(capture):
            (guards if isinstance(guard[0], dict) else cells).append(guard)
    return tuple(guards), tuple(cells)


def _guards(capture: Capture) -> Iterator[tuple[Any, ...]]:
    name, *attributes = capture.names
    where = lookup_of(capture.function, name)
    if where[0] is vars(builtins):
        yield capture.function.__globals__, name
    owner = where[0].cell_contents if len(where) == 1 else where[0][name]
    yield (*where, owner)
    for attribute in attributes:
        if not isinstance(owner, ModuleType) or attribute not in vars(owner):
            raise Unfit
        yield vars(owner), attribute, (owner := vars(owner)[attribute])


def lookup_of(function: FunctionType, name: str) -> tuple[Any, ...]:
    """Where a free name of a function is looked up: (cell,) or (dict, name)."""
    if name in function.__code__.co_freevars:
        assert function.__closure__ is not None
        return (function.__closure__[function.__code__.co_freevars.index(name)],)
    known = name in function.__globals__
    return (function.__globals__ if known else vars(builtins)), name
