"""A call with lazy arrays like an earlier one that was deferred: what it binds is known.

What an earlier call found out is kept under the settings and the arguments' types, shapes and
identities; only whole arrays whose memory nobody outside sees, and Python's numbers, count as like.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fusewright.base.options import Options
from fusewright.frontends.arrays import Array, trace
from fusewright.frontends.arrays.core import Handle
from fusewright.ir.graph import LEAF
from fusewright.kernels.binding import Binding
from fusewright.kernels.deferred import Kind

if TYPE_CHECKING:
    from fusewright.kernels.kernel_data import KernelData

MOST = 256
"""Kinds of calls remembered for a kernel; all are forgotten when there are more."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """One kind of call: which arguments are its arrays and its numbers (parameter, argument), and
    the numbers that have to be what they were (argument, value).
    """

    options: Options
    kind: Kind
    arrays: tuple[int, ...]
    numbers: tuple[tuple[int, int], ...]
    fixed: tuple[tuple[int, int], ...]

    def holds(self, args: Sequence[Any], options: Options) -> bool:
        """Whether settings, captured values and fixed numbers are those it was made for."""
        return (
            options is self.options
            and all(capture.holds() for capture in self.kind.found.translated.captures)
            and all(args[place] == value for place, value in self.fixed)
        )

    def handles(self, args: Sequence[Any]) -> list[Handle]:
        return [args[place] for place in self.arrays]

    def values(self, args: Sequence[Any]) -> dict[int, Any]:
        return {param: args[place] for param, place in self.numbers}


def key_of(args: Sequence[Any], options: Options) -> Any:
    """What a repeated call is found by; None for arguments that take the long way.

    Settings count by identity: `Repeated` keeps its own, so that no others can have that number.
    """
    if trace.is_lazy():
        return None
    key: list[Any] = [id(options)]
    seen: dict[int, int] = {}
    for place, value in enumerate(args):
        kind = type(value)
        if kind is Array:
            node = value._node
            if node.kind == LEAF and node.value[0].external:
                return None
            key += (node.dtype, node.shape, value._flags, seen.setdefault(id(value), place))
        elif kind is float or (kind is int and -(1 << 63) <= value < 1 << 63):
            key.append(kind)
        else:
            return None
    return tuple(key)


def learn(
    kernel: KernelData,
    kind: Kind,
    bound: Binding,
    arguments: Mapping[str, Any],
    options: Options,
) -> None:
    """Remember a call that has just been deferred, if such calls can be told by their arguments."""
    translated = kind.found.translated
    args = list(arguments.values())
    paths = [path for path in translated.paths if path is not None] + list(translated.scalars)
    if not kernel.is_simple or kind.found.attributes or any(len(path) > 1 for path in paths):
        return
    key = None if any(place.links for place in bound.places.values()) else key_of(args, options)
    if key is None:
        return
    places = {name: place for place, name in enumerate(arguments)}
    numbers = tuple(
        (number, places[str(translated.scalars[source.slot][0])])
        for number, source in enumerate(translated.kernel.arguments)
        if source.what == "scalar"
    )
    steering = kind.found.steering
    fixed = tuple((place, args[place]) for number, place in numbers if number in steering)
    arrays = tuple(
        next(place for place, value in enumerate(args) if value is array) for array in bound.arrays
    )
    if len(kernel.repeated) >= MOST:
        kernel.repeated.clear()
    kernel.repeated[key] = Repeated(options, kind, arrays, numbers, fixed)
