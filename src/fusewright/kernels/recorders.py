"""Calls with lazy arrays like an earlier one, recorded by the native core: its form of a recipe.

Without the core each call looks its recipe up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fusewright._core import native
from fusewright.base.options import Options
from fusewright.frontends.arrays import Array, Scalar
from fusewright.frontends.kernels.returned import Returned
from fusewright.ir.dtypes import FLOAT64, INT64
from fusewright.kernels.binding import Binding
from fusewright.kernels.deferred import Kind
from fusewright.kernels.guards import Unfit, guards_of
from fusewright.kernels.recipe import Recipe
from fusewright.kernels.specialise import Specialised

if TYPE_CHECKING:
    from fusewright.kernels.kernel_data import KernelData

MOST = 32
"""Kinds of calls the core looks for, the newest first."""
MOST_FORMS = 256
"""Forms of deferred calls remembered for a kernel; all are forgotten when there are more."""
ARRAY, FLOAT, INTEGER, FIXED, LAZY = range(5)


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
        guards, cells = guards_of(translated.captures)
        given = tuple(
            _argument(name, value, found, bound, recipe, numbers)
            for name, value in arguments.items()
        )
        steps = tuple((s.kind, s.op, s.args, s.dtype, s.shape, s.attr) for s in recipe.steps)
        handles = list(arguments.values())
        writes = tuple(
            (_position(handles, bound.arrays[array]), number) for array, number in recipe.writes
        )
        inputs = recipe.arrays + len(recipe.numbers)
        return native.Recorder(
            options, guards, cells, given, inputs, recipe.constants, steps, writes
        )
    except (Unfit, ValueError):  # too many of something: the core has fixed tables
        return None


def learn_deferred(
    kernel: KernelData,
    kind: Kind,
    bound: Binding,
    arguments: Mapping[str, Any],
    execute: Any,
    options: Options,
) -> Any:
    """What the core needs to defer calls like this one; None where it cannot, or has it already and
    left the call to Python for another reason.
    """
    found, translated = kind.found, kind.found.translated
    paths = [path for path in translated.paths if path is not None] + list(translated.scalars)
    if native is None or found.attributes or options.spans or any(len(path) > 1 for path in paths):
        return None
    returns = _returns(translated.result)
    if returns is UNKNOWN or any(place.links for place in bound.places.values()):
        return None
    numbers = _places_of_numbers(found, arguments)
    by_name = {list(arguments)[place]: number for number, place in numbers.items()}
    every = list(arguments.values())
    try:
        arrays = tuple(_position(every, array) for array in bound.arrays)
        guards, cells = guards_of(translated.captures)
        given = tuple(
            _argument(name, value, found, bound, None, by_name) for name, value in arguments.items()
        )
        form = (id(options), id(kind), arrays, given)
        if any(kernel.forms.get(form) is each for each in kernel.deferrals):
            return None
        deferral = native.Deferral(
            kind, execute, f"kernel {found.kernel.name}", kind.fuses, arrays,
            tuple(numbers[number] for number in sorted(numbers)), kind.written,
            tuple(sorted(kind.overwritten)), returns,
        )  # fmt: skip
        inputs = len(arrays)
        made = native.Recorder(options, guards, cells, given, inputs, (), (), (), deferral)
    except (Unfit, ValueError):  # as above
        return None
    if len(kernel.forms) > MOST_FORMS:
        kernel.forms.clear()
    kernel.forms[form] = made
    return made


def _places_of_numbers(found: Specialised, arguments: Mapping[str, Any]) -> dict[int, int]:
    """For each parameter that is a number the argument it is."""
    places = {name: place for place, name in enumerate(arguments)}
    return {
        number: places[str(found.translated.scalars[source.slot][0])]
        for number, source in enumerate(found.kernel.arguments)
        if source.what == "scalar"
    }


UNKNOWN = object()


def _returns(shape: Any) -> Any:
    """The results' buffers: one, or a tuple; `UNKNOWN` where a result is computed at once."""
    if shape is None:
        return None
    if isinstance(shape, Returned):
        return shape.buffer if shape.origin != "python" else UNKNOWN
    several = tuple(_returns(each) for each in shape)
    return several if all(type(each) is int for each in several) else UNKNOWN


def _argument(
    name: str,
    value: Any,
    found: Specialised,
    bound: Binding,
    recipe: Recipe | None,
    numbers: Mapping[Any, int],
) -> tuple[Any, ...]:
    kind = type(value)
    if kind is Array:
        slot = _position(bound.arrays, value)
        return (ARRAY, slot, value._dtype, value._flags, value._shape)
    param = numbers.get(name)
    slot = -1
    if recipe is not None and param in recipe.numbers:
        slot = recipe.arrays + recipe.numbers.index(param)
    if kind is Scalar and not value._dtype.is_complex:
        return (LAZY, slot, value._dtype, 0, ())
    if kind is float:
        return (FLOAT, slot, FLOAT64, 0, ())
    if kind is int:
        if param in found.steering:
            return (FIXED, slot, INT64, 0, value)
        return (INTEGER, slot, INT64, 0, ())
    raise Unfit


def _position(values: Sequence[Any], wanted: Any) -> int:
    """Where an array stands; in a `lazy()` block it may be another handle than the one bound."""
    for number, value in enumerate(values):
        if value is wanted:
            return number
    raise Unfit
