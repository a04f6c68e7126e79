"""The code of a group of calls, remembered for all groups of its shape: for Python a bound kernel,
for the native core a program.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright._core import native
from fusewright.base.options import current
from fusewright.ir.dtypes import FLOAT64, INT64
from fusewright.kernels.units import Unit
from fusewright.runtime.arguments import span_of
from fusewright.targets.executable import Given

if TYPE_CHECKING:
    from fusewright.codegen.module import Word
    from fusewright.ir.loops.statements import Kernel as Loops
    from fusewright.kernels.shapes import Shape
    from fusewright.targets.executable import BoundKernel, LoopExecutable

NDArray = np.ndarray[Any, Any]
MOST = 16
"""Settings and sets of dead arrays under which one shape's code is remembered."""
VARIANTS = 6
"""Sets of dead arrays that are compiled for one shape: others run as the nearest of these."""
CONSTANT, POINTER, NUMBER, LAZY_NUMBER = range(4)
WRITTEN, OVERWRITTEN, GONE, TWICE = 1, 2, 4, 8


def dead_buffers(shape: Shape, dead: int) -> frozenset[int]:
    """The buffers that are dead arrays."""
    return frozenset(
        number
        for number, place in enumerate(shape.buffers)
        if place is not None and dead >> place.array & 1
    )


def gone_arrays(shape: Shape, code: LoopExecutable, dead: int) -> int:
    """The arrays (bits) that code keeps out of memory."""
    gone = 0
    if dead:
        for number in dead_buffers(shape, dead) & code.plan.gone:
            place = shape.buffers[number]
            assert place is not None
            gone |= 1 << place.array
    return gone


def equal_extents(shape: Shape, buffers: Sequence[NDArray]) -> Mapping[tuple[int, int], int]:
    """For each extent of a buffer (its number, dim) the first buffer dim that is as long, as a
    number: loops over equal extents are loops over one.
    """
    first: dict[int, int] = {}
    found = {}
    for number, place in enumerate(shape.buffers):
        if place is not None:
            for dim, extent in enumerate(buffers[number].shape):
                found[number, dim] = first.setdefault(extent, number << 8 | dim)
    return found


def remember(
    shape: Shape, unit: Unit | None, code: LoopExecutable | None, buffers: list[NDArray], dead: int
) -> None:
    """Let the next group of this shape run at once."""
    options = current()
    if code is None or options.verify:
        return
    found = _Words(shape, unit, buffers, code)
    bound = code.bind(found.arrays, found.word_of)
    if bound is None:
        return
    if len(shape.bound) >= MOST:
        shape.bound.clear()
    shape.bound[id(options), dead] = (options, bound)
    program = None if native is None else _program(shape, found, bound, dead)
    if program is not None:
        shape.keep(program, len({key[1] for key in shape.bound}) >= VARIANTS)


class _Words:
    """What the words of a group's code are: the buffers and then all scalars in turn."""

    def __init__(
        self, shape: Shape, unit: Unit | None, buffers: list[NDArray], code: LoopExecutable
    ) -> None:
        self.buffers, self.unit, self.code = buffers, unit, code
        self.places: dict[tuple[int, int], int] = {}
        for member, call in enumerate(shape.calls):
            for number in call.scalars:
                self.places[member, number] = len(buffers) + len(self.places)
        self.kernel: Loops
        if unit is None:
            (call,) = shape.calls
            self.kernel, self.own = call.found.kernel, call.buffers
        else:
            self.kernel, self.own = unit.kernel, {n: n for n in range(len(buffers))}
        self.arrays = {number: buffers[place] for number, place in self.own.items()}

    def word_of(self, word: Word) -> Given | int | None:
        if word.what == "pointer":
            return Given(self.own[word.number])
        source = self.kernel.arguments[word.number]
        if source.what != "scalar":
            owner = self.arrays[source.slot]
            return int((owner.shape if source.what == "extent" else owner.strides)[source.dim])
        if self.kernel.dtypes[word.number] not in (INT64, FLOAT64):
            return None
        scalar = (0, word.number) if self.unit is None else self.unit.joined.scalars[source.slot]
        return Given(self.places[scalar])


def _program(shape: Shape, found: _Words, bound: BoundKernel, dead: int) -> Any:
    """The same for the native core; None where that cannot run it."""
    if any(place is not None and place.links for place in shape.buffers):
        return None
    gone = gone_arrays(shape, found.code, dead)
    numbers: list[tuple[int, int, int]] = []  # as in `_Words.places`
    for member, call in enumerate(shape.calls):
        for place, number in enumerate(call.scalars):
            lazy = call.lazy.get(number)
            numbers.append((NUMBER, member, place) if lazy is None else (LAZY_NUMBER, lazy, 0))
    words = [(CONSTANT, int(word), 0) for word in bound.words[1:]]
    for position, number in bound.moving:
        count = len(found.buffers)
        is_buffer = number < count
        words[position - 1] = (POINTER, number, 0) if is_buffer else numbers[number - count]
    try:
        return native.GroupProgram(
            current(), bound, bound.executable.address, dead, gone, bound.releases,
            len(shape.calls) > 1, bound.threads, bound.team - 1 if bound.team else -1,
            _table(_array(shape, number, gone) for number in range(len(shape.arrays))),
            _table(_buffers(shape)), _table(words), _table(_pairs(found)), _table(_outputs(shape)),
        )  # fmt: skip
    except (ValueError, OverflowError):  # too large for the core
        return None


def _table(rows: Any) -> bytes:
    return array("q", [number for row in rows for number in row]).tobytes()


def _array(shape: Shape, number: int, gone: int) -> tuple[int, ...]:
    source = shape.arrays[number]
    same = [other.operand for other in shape.arrays].count(source.operand)
    flags = WRITTEN * (number in shape.latest) | OVERWRITTEN * source.overwritten
    flags |= GONE * (gone >> number & 1) | TWICE * (source.operand >= 0 and same > 1)
    bits = 0
    if source.operand < 0 and not source.overwritten:
        if source.dtype.itemsize > 8:
            raise ValueError("a number of more than 8 bytes")
        exact = np.asarray(source.value, source.dtype.numpy).tobytes()
        bits = int.from_bytes(exact.ljust(8, b"\0"), "little", signed=True)
    dtype = native.dtype_number(source.dtype)
    nbytes = int(np.prod(source.shape, dtype=np.int64)) * source.dtype.itemsize
    return source.operand, flags, dtype, nbytes, bits


def _buffers(shape: Shape) -> list[tuple[int, int]]:
    rows = zip(shape.buffers, shape.dtypes, strict=True)
    return [
        (-1 if place is None else place.array, dtype.itemsize if place is None else 0)
        for place, dtype in rows
    ]


def _pairs(found: _Words) -> list[tuple[int, ...]]:
    """The buffers that the code takes to be apart, and the bytes that each reaches."""
    return [
        (found.own[a], *span_of(found.arrays[a]), found.own[b], *span_of(found.arrays[b]))
        for a, b in sorted(found.code.kernel.disjoint)
    ]


def _outputs(shape: Shape) -> list[tuple[int]]:
    return [(number if kind == "buffer" else -1 - number,) for kind, number in shape.outputs]
