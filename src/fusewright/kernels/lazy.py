"""Calls with lazy arrays: recorded like any other statement on arrays.

A call whose loops are array statements records those (`raising`); any other is one pending value
(`deferred`).  Calls that somebody outside could watch run at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright.base.options import Options
from fusewright.frontends.arrays import Scalar, sharing, trace
from fusewright.frontends.arrays.core import Handle, wrap
from fusewright.frontends.kernels.returned import Returned
from fusewright.ir.graph import LEAF, SCALAR, Node, scalar
from fusewright.kernels import binding, recorders, requirements, statements
from fusewright.kernels.binding import Binding
from fusewright.kernels.deferred import Kind, defer, kind_of_call
from fusewright.kernels.groups import Execute
from fusewright.kernels.iteration import NotRaised, Part
from fusewright.kernels.recipe import Recipe, Writing
from fusewright.kernels.specialise import Specialised

if TYPE_CHECKING:
    from fusewright.kernels.kernel_data import KernelData

MOST_RECIPES = 256
"""Structures of calls remembered for one set of argument types; all are forgotten then."""


def record(
    kernel: KernelData,
    found: Specialised,
    arguments: Mapping[str, Any],
    options: Options,
    execute: Execute,
) -> tuple[bool, Any]:
    """Record a call; whether that was possible, and what it returned."""
    bound = None
    if not options.check and not found.acts_at_once and found.gives_numbers:
        bound = binding.bind(found, arguments)
    if bound is not None and not requirements.meet_recorded(found, bound):
        bound = None
    if bound is not None:
        with trace.lock:  # a write between what it reads and what it writes would be lost
            if not binding.is_visible(bound):
                return True, _record(kernel, found, bound, arguments, options, execute)
    if trace.is_lazy():
        sharing.settle()  # the call works on the memory itself
    return False, None


def _record(
    kernel: KernelData,
    found: Specialised,
    bound: Binding,
    arguments: Mapping[str, Any],
    options: Options,
    execute: Execute,
) -> Any:
    values = binding.scalars(found, arguments)
    if trace.is_lazy():  # what is remembered is remembered of handles
        arguments = _with_handles(arguments, bound)
    recipe: Recipe | NotRaised = NotRaised("it is not to be fused")
    if kernel.fuse is not False:
        recipe = _recipe(found, bound, values)
    if isinstance(recipe, Recipe):
        found.raised += 1
        _learn(kernel, found, bound, recipe, arguments, options)
        results = _replay(found, recipe, bound, values)
    else:
        found.deferred += 1
        kind = kind_of_call(kernel, found, bound)
        _learn_deferred(kernel, kind, bound, arguments, execute, options)
        results = _deferred(kind, bound.arrays, values, execute)
    found.calls += 1
    return _returned(results, found.translated.result)


def _with_handles(arguments: Mapping[str, Any], bound: Binding) -> Mapping[str, Any]:
    """The arguments with handles in the place of NumPy's arrays, if those are what is bound."""
    found = {
        name: sharing.borrowed(value) if type(value) is np.ndarray else value
        for name, value in arguments.items()
        if type(value) is not np.ndarray or value.dtype.isnative
    }
    known = {id(value) for value in found.values()}
    return found if all(id(array) in known for array in bound.arrays) else arguments


def _deferred(
    kind: Kind, handles: Sequence[Handle], values: Mapping[int, Any], execute: Execute
) -> dict[int, Node]:
    """Record a call and, before it, the statements that it works on."""
    numbers = (value._node for value in values.values() if type(value) is Scalar)
    is_pending = any(node.kind not in (LEAF, SCALAR) for node in numbers)
    statements.join_operands(kind, handles, is_pending, execute)
    return defer(kind, handles, values, execute)


def _learn(
    kernel: KernelData,
    found: Specialised,
    bound: Binding,
    recipe: Recipe,
    arguments: Mapping[str, Any],
    options: Options,
) -> None:
    """Let the native core record the next call like this one."""
    if kernel.is_simple:
        recorder = recorders.learn(found, bound, recipe, arguments, options)
        kernel.recorders, calls = _with(recorder, kernel.recorders)
        kernel.replayed += calls
        kernel.known = kernel.recorders + kernel.deferrals


def _learn_deferred(
    kernel: KernelData,
    kind: Kind,
    bound: Binding,
    arguments: Mapping[str, Any],
    execute: Execute,
    options: Options,
) -> None:
    """Let the native core defer the next call like this one."""
    if kernel.is_simple:
        recorder = recorders.learn_deferred(kernel, kind, bound, arguments, execute, options)
        kernel.deferrals, calls = _with(recorder, kernel.deferrals)
        kernel.redeferred += calls
        kernel.known = kernel.recorders + kernel.deferrals


def _with(recorder: Any, known: tuple[Any, ...]) -> tuple[tuple[Any, ...], int]:
    """The newest recorders, and how many calls those that had to go have seen."""
    every = known if recorder is None else (recorder, *known)
    gone = every[recorders.MOST :]
    return every[: recorders.MOST], sum(each.calls for each in gone)


def _replay(
    found: Specialised, recipe: Recipe, bound: Binding, values: Mapping[int, Any]
) -> dict[int, Node]:
    numbers = binding.number_nodes(found, values)
    buffers = found.kernel.buffers
    results = _results(found, bound)
    blank = [scalar(0, buffers[number].dtype) for number in results]
    fresh: dict[int, Node] = {}
    for array, node in recipe.record(bound.nodes + blank, numbers):
        if array < len(bound.arrays):
            bound.arrays[array]._write(node)
        else:
            fresh[results[array - len(bound.arrays)]] = node
    return fresh


def _results(found: Specialised, bound: Binding) -> list[int]:
    return [number for number in found.kernel.given if number not in bound.places]


def _returned(nodes: Mapping[int, Node], shape: Any) -> Any:
    """What a call returns: a number for each result, in the tuples it returns them in."""
    if shape is None:
        return None
    if not isinstance(shape, Returned):
        return tuple(_returned(nodes, each) for each in shape)
    assert shape.origin is not None
    return _number(nodes[shape.buffer], shape.origin)


def _number(node: Node, origin: str) -> Any:
    """A result: lazy as a NumPy number, at once as a Python number."""
    if origin == "python":
        return sharing.content_of(node).item()
    return wrap(node)


def _recipe(found: Specialised, bound: Binding, values: Mapping[int, Any]) -> Recipe | NotRaised:
    """What a call records, or why it is no array statement."""
    known, complete = binding.known_integers(found, bound, values)
    if not complete:
        return NotRaised("a number that steers its loops is not known yet")
    steering = tuple(known[number] for number in sorted(found.steering) if number in known)
    key = (bound.structure(), steering)
    recipe = found.recipes.get(key)
    if recipe is None:
        if len(found.recipes) >= MOST_RECIPES:
            found.recipes.clear()
        recipe = found.recipes[key] = _raised(found, bound, known)
    return recipe


def _raised(found: Specialised, bound: Binding, known: Mapping[int, int]) -> Recipe | NotRaised:
    parts: dict[int, Part] = {}
    types = [(array._dtype, array._shape) for array in bound.arrays]
    for number, place in bound.places.items():
        part = place.part(bound.arrays[place.array]._shape)
        if part is None:
            return NotRaised("an array is a reshaped view")
        parts[number] = part
    for number in _results(found, bound):
        parts[number] = Part(len(types), (), ())
        types.append((found.kernel.buffers[number].dtype, ()))
    shapes = [shape for _, shape in types]
    # Imported here: calls with NumPy arrays, and calls like earlier ones, need none of it.
    from fusewright.kernels import raising

    try:
        return raising.raise_kernel(found.kernel, parts, Writing(types), known, shapes)
    except NotRaised as why:
        return why.with_traceback(None)  # it is remembered: its frames hold the arrays
