"""The code of a group of calls, remembered for all groups of its shape: the core runs it."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fusewright._core import native
from fusewright.base.options import current
from fusewright.kernels.units import Unit
from fusewright.runtime.arguments import (
    ADDRESS,
    CONSTANT,
    NUMBER,
    VALUE,
    WordSource,
    span_of,
    table,
    word_table,
)
from fusewright.runtime.limits import thread_count

if TYPE_CHECKING:
    from fusewright.codegen.module import Word
    from fusewright.ir.loops.statements import Kernel as Loops
    from fusewright.kernels.shapes import Shape
    from fusewright.targets.executable import LoopExecutable

NDArray = np.ndarray[Any, Any]
VARIANTS = 6
"""Sets of dead arrays that are compiled for one shape: others run as the nearest of these."""
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
    shape: Shape,
    unit: Unit | None,
    code: LoopExecutable | None,
    memories: Sequence[NDArray],
    buffers: list[NDArray],
    dead: int,
) -> None:
    """Let the core run the next group of this shape."""
    if native is None or code is None or current().verify:
        return
    if code.signature.checks or code.signature.prints:
        return
    found = _Words(shape, unit, buffers, code)
    words = word_table(map(found.source, code.signature.words))
    gone = gone_arrays(shape, code, dead)
    nbytes = sum(array.nbytes for array in found.arrays.values())
    try:
        program = native.GroupProgram(
            current(), code, code.address, dead, gone, nbytes, len(shape.calls) > 1,
            thread_count(), code.team,
            table(_array(shape, number, gone) for number in range(len(shape.arrays))),
            table(_buffers(shape, memories, buffers)), words, table(_pairs(found)),
            table(_outputs(shape)), table([found.lazy]),
        )  # fmt: skip
    except (ValueError, OverflowError):  # too large for the core
        return
    shape.compiled.add(dead)
    shape.keep(program, len(shape.compiled) >= VARIANTS)


class _Words:
    """Where the words of a group's code come from: its buffers, the numbers of all calls in turn,
    and the operands that are numbers.
    """

    def __init__(
        self, shape: Shape, unit: Unit | None, buffers: list[NDArray], code: LoopExecutable
    ) -> None:
        self.unit, self.code = unit, code
        self.lazy: list[int] = []
        self.scalars: dict[tuple[int, int], tuple[int, int]] = {}
        for member, call in enumerate(shape.calls):
            for number in call.scalars:
                what, place = NUMBER, len(self.scalars)
                if number in call.lazy:
                    what, place = VALUE, len(self.lazy)
                    self.lazy.append(call.lazy[number])
                self.scalars[member, number] = what, place
        self.kernel: Loops
        if unit is None:
            (call,) = shape.calls
            self.kernel, self.own = call.found.kernel, call.buffers
        else:
            self.kernel, self.own = unit.kernel, {n: n for n in range(len(buffers))}
        self.arrays = {number: buffers[place] for number, place in self.own.items()}

    def source(self, word: Word) -> WordSource:
        if word.what == "pointer":
            return WordSource(ADDRESS, self.own[word.number])
        if word.what == "counts":
            return WordSource(CONSTANT, ctypes.addressof(self.code.counts))
        if word.what == "team":
            return WordSource(CONSTANT, 0)
        source = self.kernel.arguments[word.number]
        if source.what != "scalar":
            owner = self.arrays[source.slot]
            sizes = owner.shape if source.what == "extent" else owner.strides
            return WordSource(CONSTANT, int(sizes[source.dim]))
        scalar = (0, word.number) if self.unit is None else self.unit.joined.scalars[source.slot]
        return WordSource(*self.scalars[scalar], self.kernel.dtypes[word.number])


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


def _buffers(
    shape: Shape, memories: Sequence[NDArray], buffers: Sequence[NDArray]
) -> list[tuple[int, int, int]]:
    """The array, or the bytes of a result; where it begins in the array."""
    return [
        (-1, dtype.itemsize, 0)
        if place is None
        else (place.array, 0, buffer.ctypes.data - memories[place.array].ctypes.data)
        for place, dtype, buffer in zip(shape.buffers, shape.dtypes, buffers, strict=True)
    ]


def _pairs(found: _Words) -> list[tuple[int, ...]]:
    """The buffers that the code takes to be apart, and the bytes that each reaches."""
    return [
        (found.own[a], *span_of(found.arrays[a]), found.own[b], *span_of(found.arrays[b]))
        for a, b in sorted(found.code.kernel.disjoint)
    ]


def _outputs(shape: Shape) -> list[tuple[int]]:
    return [(number if kind == "buffer" else -1 - number,) for kind, number in shape.outputs]
