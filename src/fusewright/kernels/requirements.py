"""What a call must meet before anything runs: sizes that fit, and arrays that share no memory.

Array statements inside kernels ask for it (`frontends.kernels.parts`): there NumPy looks at the
sizes, and copies where memory is shared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fusewright.base.errors import KernelAliasError, ShapeError
from fusewright.frontends.kernels.inputs import Apart, Fit
from fusewright.ir.expr import postorder
from fusewright.kernels.binding import Binding
from fusewright.kernels.specialise import Specialised, computed

NDArray = np.ndarray[Any, Any]
Pairs = frozenset[tuple[int, int]]


def meet(found: Specialised, arrays: Sequence[NDArray], params: Sequence[Any]) -> None:
    """Refuse a call that runs at once."""
    translated = found.translated
    for fit in translated.fits:
        meet_fit(fit, dict(enumerate(params)))
    numbers = dict(zip(translated.kernel.given, arrays, strict=True))
    for pair in translated.apart:
        written, read = numbers[pair.written], numbers[pair.read]
        if not (pair.same and _is_same(written, read)) and np.shares_memory(written, read):
            raise _shared(found, pair)


def meet_recorded(found: Specialised, bound: Binding) -> bool:
    """Refuse a call that is to be recorded; False where only a call that runs can tell."""
    translated = found.translated
    for pair in translated.apart:
        written, read = bound.places[pair.written], bound.places[pair.read]
        if written.array == read.array and not (pair.same and written == read):
            return False
    if not translated.fits:
        return True
    if not is_of_shapes(found):
        return False
    extents: dict[int, int] = {}
    for number, source in enumerate(translated.kernel.arguments):
        if source.what == "extent":
            place = bound.places[source.slot]
            shape = place.links[-1].shape if place.links else bound.arrays[place.array]._shape
            extents[number] = shape[source.dim]
    for fit in translated.fits:
        meet_fit(fit, extents)
    return True


def is_settled(found: Specialised, disjoint: Pairs) -> bool:
    """Whether calls with arrays of the same shapes, apart as these, meet it too; but for sizes that
    depend on numbers.
    """
    pairs = ((pair.written, pair.read) for pair in found.translated.apart)
    return all((min(p), max(p)) in disjoint for p in pairs)


def is_of_shapes(found: Specialised) -> bool:
    """Whether sizes fit or not whatever the numbers are."""
    sources = found.kernel.arguments
    return all(
        sources[node.attr].what == "extent"
        for fit in found.translated.fits
        for node in postorder([fit.condition])
        if node.name == "param"
    )


def meet_fit(fit: Fit, params: Mapping[int, Any]) -> None:
    """Refuse sizes that do not fit, given the parameters of a call."""
    if not computed(fit.condition, params):
        sizes = [int(computed(value, params)) for value in fit.values]
        raise ShapeError(
            fit.message.format(*sizes),
            fit.span,
            why="nothing has run: sizes are compared when the kernel is called"
            + (", and only what is one element by its form is stretched" if 1 in sizes else ""),
            help="index the array of one element, as in b[0] or b[:1]" if 1 in sizes else "",
        )


def _is_same(a: NDArray, b: NDArray) -> bool:
    address = a.__array_interface__["data"] == b.__array_interface__["data"]
    return address and (a.dtype, a.shape, a.strides) == (b.dtype, b.shape, b.strides)


def _shared(found: Specialised, pair: Apart) -> KernelAliasError:
    translated = found.translated
    paths = dict(zip(translated.kernel.given, translated.paths, strict=True))
    names = [
        ".".join(map(str, paths[number] or ())).removeprefix("@")
        for number in (pair.written, pair.read)
    ]
    return KernelAliasError(
        f"`{names[0]}` is written where `{names[1]}` is read, and they share memory",
        pair.span,
        why="NumPy copies before it stores; a kernel has no memory for that.  Nothing has run",
        help=f"pass a copy: {names[1]}.copy()",
    )
