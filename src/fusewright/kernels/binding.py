"""What a call of a kernel binds its buffers to: the arrays that own the memory, and where in them
each buffer lies.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from fusewright.base.values import dataclass
from fusewright.frontends.arrays import Array, Scalar, core, sharing, trace
from fusewright.frontends.arrays.core import Handle
from fusewright.frontends.arrays.views import Link, Slice
from fusewright.frontends.kernels.values import ArrayKind
from fusewright.ir.graph import Node, scalar
from fusewright.ir.loops.statements import Kernel
from fusewright.kernels import specialise
from fusewright.kernels.arguments import plain_number
from fusewright.kernels.iteration import Part
from fusewright.kernels.specialise import Specialised

NDArray = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Place:
    """A buffer's array (its number among those of the call), and the views that lead to it."""

    array: int
    links: tuple[Link, ...]

    def within(self, memory: NDArray) -> NDArray:
        """The buffer as a NumPy array, in the array's memory."""
        if not self.links:
            return memory
        node = sharing.adopted(memory)
        for link in self.links:
            node = link.get(node)
        return sharing.window(node)

    def part(self, shape: tuple[int, ...]) -> Part | None:
        """The slice of the array it is; None where it is something else."""
        if not self.links:
            return Part(self.array, tuple((d, 0, 1) for d in range(len(shape))), shape)
        if len(self.links) == 1 and isinstance(self.links[0], Slice):
            return Part(self.array, self.links[0].places, self.links[0].shape)
        return None


@dataclass(slots=True)
class Binding:
    """The arrays of a call, each once, and for each given buffer that is no result its place."""

    arrays: list[Handle]
    places: dict[int, Place]

    @property
    def nodes(self) -> list[Node]:
        return [array._node for array in self.arrays]

    def written(self, kernel: Kernel) -> list[int]:
        """The arrays that a call writes to."""
        return sorted({self.places[n].array for n in kernel.written if n in self.places})

    def structure(self) -> Any:
        """All that a recipe depends on besides numbers."""
        shapes = tuple((array._shape, array._dtype) for array in self.arrays)
        return shapes, tuple(self.places.items())


def bind(found: Specialised, arguments: Mapping[str, Any]) -> Binding | None:
    """The binding of a call all of whose arrays are lazy; None for any other."""
    translated = found.translated
    roots: dict[int, int] = {}
    bound = Binding([], {})
    rows = zip(translated.kernel.given, translated.paths, translated.kinds, strict=True)
    for number, path, kind in rows:
        if path is None:
            continue
        handle = specialise.reach(path, arguments, translated.captured_objects)
        if type(handle) is np.ndarray and trace.is_lazy() and handle.dtype.isnative:
            handle = sharing.borrowed(handle)
        if not is_lazy(handle) or (handle._base is None and _repeats(kind)):
            return None
        links: list[Link] = []
        while handle._base is not None:
            links.insert(0, handle._link)
            handle = handle._base
        if type(handle) is not Array:
            return None
        if id(handle) not in roots:
            roots[id(handle)] = len(bound.arrays)
            bound.arrays.append(handle)
        bound.places[number] = Place(roots[id(handle)], tuple(links))
    return bound if bound.arrays else None


def _repeats(kind: ArrayKind | None) -> bool:
    """Whether elements share a place: the kernel is compiled for that."""
    return kind is not None and "0" in kind.layout


def is_visible(bound: Binding) -> bool:
    """Whether somebody outside sees the memory of an array: the call must be complete when it
    returns.  In a `lazy()` block nobody looks; but then no two arrays may share memory.
    """
    homes = [memory for array in bound.arrays if (memory := sharing.home(array)) is not None]
    if not trace.is_lazy():
        return bool(homes)
    if any(sharing.owes_others(array) for array in bound.arrays):
        sharing.settle()
    return any(sharing.overlap(a, b) for a, b in combinations(homes, 2))


def scalars(found: Specialised, arguments: Mapping[str, Any]) -> dict[int, Any]:
    """For each parameter that is a scalar argument its value: a number, or a lazy one."""
    translated = found.translated
    values: dict[int, Any] = {}
    for number, source in enumerate(translated.kernel.arguments):
        if source.what == "scalar":
            path = translated.scalars[source.slot]
            value = specialise.reach(path, arguments, translated.captured_objects)
            lazy = type(value) is Scalar
            values[number] = value if lazy else plain_number(value, str(path[-1]))
    return values


def number_nodes(found: Specialised, values: Mapping[int, Any]) -> dict[int, Node]:
    """The same as values that can be recorded."""
    dtypes = found.kernel.dtypes
    return {
        number: value._node if type(value) is Scalar else scalar(value, dtypes[number])
        for number, value in values.items()
    }


def known_integers(
    found: Specialised, bound: Binding, values: Mapping[int, Any]
) -> tuple[dict[int, int], bool]:
    """The parameters that are known integers; whether all that steer loops are among them."""
    translated = found.translated
    known: dict[int, int] = {}
    for number, source in enumerate(translated.kernel.arguments):
        if source.what == "scalar":
            value = values[number]
            if number in found.steering:
                if type(value) is not int:
                    return known, False
                known[number] = value
        elif source.what == "extent" and source.slot in bound.places:
            place = bound.places[source.slot]
            shape = place.links[-1].shape if place.links else bound.arrays[place.array]._shape
            known[number] = shape[source.dim]
    return known, True


def is_lazy(value: Any) -> bool:
    """Whether a value is an array, or part of one, that is recorded."""
    return type(value) in core.handle_classes and type(value) is not Scalar
