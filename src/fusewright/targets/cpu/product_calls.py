"""What products of matrices call, as data: kernels with their argument words, in which addresses
are places and offsets.

So the calls of a product, or of a chain of them, are found once for its shapes and layouts.  Python
runs them here, and the native core runs them by itself from then on (`_core/products.c`).
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import field
from math import prod
from typing import Any, NamedTuple

import numpy as np

from fusewright.base.values import dataclass
from fusewright.ir.dtypes import DType
from fusewright.ir.graph import LEAF, SCALAR, VIEW, Node, contiguous_strides, seen_through
from fusewright.runtime.arguments import word
from fusewright.runtime.buffers import allocate
from fusewright.targets.cpu.direct import viewed
from fusewright.targets.cpu.threads import launch

Array = np.ndarray[Any, Any]
SELF = -1
"""The place of a call's own words; rooms are those before it."""


class Address(NamedTuple):
    """Where a place begins, and so many bytes more.  Places are results, then operands; rooms are
    counted from the end.
    """

    place: int
    offset: int = 0

    def further(self, nbytes: int) -> Address:
        """So many bytes behind it."""
        return Address(self.place, self.offset + nbytes)


class WordTable(NamedTuple):
    """The address of other words, or of integers."""

    words: Sequence[Any] | Array


class ProgramNumber(NamedTuple):
    """A number of the program: the slot of its node, as which type, and which part of it."""

    slot: int
    dtype: DType
    part: int

    def word(self, value: Any) -> int:
        """The argument word."""
        if self.part >= 0:
            value = (complex(value).real, complex(value).imag)[self.part]
        return word(value, self.dtype)


@dataclass(frozen=True, slots=True)
class ProductCall:
    """A kernel on its units; `words` hold offsets where `addresses` (word, place) says so, and
    nothing where `numbers` (word, number) does.
    """

    code: int
    words: array[int]
    addresses: tuple[tuple[int, int], ...]
    numbers: tuple[tuple[int, ProgramNumber], ...]
    units: int
    grain: int
    scratch: int
    threads: int


@dataclass(slots=True)
class ProductCalls:
    """Calls in order; `rooms` are the bytes of memory that they need meanwhile."""

    rooms: list[int] = field(default_factory=list)
    calls: list[ProductCall] = field(default_factory=list)

    def room(self, nbytes: int) -> Address:
        """Memory that these calls alone use."""
        self.rooms.append(nbytes)
        return Address(SELF - len(self.rooms))

    def add(
        self, code: int, words: Sequence[Any], units: int, grain: int, scratch: int, threads: int
    ) -> None:
        """One more call."""
        made = array("q")
        addresses: list[tuple[int, int]] = []
        numbers: list[tuple[int, ProgramNumber]] = []
        waiting: list[tuple[int, Sequence[Any] | Array]] = [(-1, words)]
        while waiting:
            pointer, some = waiting.pop()
            if pointer >= 0:
                made[pointer] = 8 * len(made)
            if isinstance(some, np.ndarray):
                made.frombytes(some.tobytes())
                continue
            for each in some:
                if isinstance(each, Address):
                    addresses.append((len(made), each.place))
                    made.append(each.offset)
                elif isinstance(each, WordTable):
                    addresses.append((len(made), SELF))
                    waiting.append((len(made), each.words))
                    made.append(0)
                elif isinstance(each, ProgramNumber):
                    numbers.append((len(made), each))
                    made.append(0)
                else:
                    made.append(each)
        self.calls.append(
            ProductCall(
                code, made, tuple(addresses), tuple(numbers), units, grain, scratch, threads
            )
        )

    def run(self, places: Sequence[int], nodes: Mapping[int, Node] | None = None) -> None:
        """Call them on the addresses of results and operands; numbers are those of `nodes`."""
        rooms = [allocate(max(nbytes, 1)) for nbytes in self.rooms]
        bases = [*places, *(room.address for room in reversed(rooms)), 0]
        for call in self.calls:
            words = call.words[:]
            bases[SELF] = words.buffer_info()[0]
            for at, place in call.addresses:
                words[at] += bases[place]
            for at, number in call.numbers:
                assert nodes is not None, "these calls read numbers of a program"
                words[at] = number.word(nodes[number.slot].value)
            launch(call.code, bases[SELF], call.units, call.grain, call.scratch, call.threads)


@dataclass(slots=True)
class BoundCalls:
    """Calls whose places are values of a slice: results, by slot, with their bytes; then operands,
    views of what is in memory.
    """

    nodes: Mapping[int, Node]
    results: list[tuple[int, int]] = field(default_factory=list)
    operands: dict[int, int] = field(default_factory=dict)
    calls: ProductCalls = field(default_factory=ProductCalls)
    slots: dict[int, int] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    alive: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.slots = {id(node): slot for slot, node in self.nodes.items()}

    def result(self, slot: int) -> Address:
        """The place of a value that is computed: all of them are named before the first operand."""
        node = self.nodes[slot]
        self.results.append((slot, max(prod(node.shape) * node.dtype.itemsize, 1)))
        return Address(len(self.results) - 1)

    def operand(self, node: Node) -> tuple[Array, Address]:
        """A value of the slice as NumPy sees it, and where it begins."""
        whole, source = window_of(node), base_of(node)
        self.alive.append(whole)
        address = whole.ctypes.data
        slot = self.slots[id(node)]
        if slot not in self.operands:
            self.operands[slot] = len(self.operands)
            start = address
            if source.kind == LEAF:
                memory, offset, _ = source.value
                start = memory.address + offset
            self.starts.append(start)
        number = self.operands[slot]
        return whole, Address(len(self.results) + number, address - self.starts[number])

    def run(self) -> None:
        """Compute: the results become leaves."""
        made = [allocate(nbytes) for _, nbytes in self.results]
        self.calls.run([*(memory.address for memory in made), *self.starts], self.nodes)
        for (slot, _), memory in zip(self.results, made, strict=True):
            node = self.nodes[slot]
            node.become_leaf(memory, 0, contiguous_strides(node.shape, node.dtype.itemsize))


def base_of(node: Node) -> Node:
    """What a view looks into."""
    return seen_through(node)[1]


def window_of(node: Node) -> Array:
    """A value in memory, a number, or a view of one, as NumPy sees it."""
    if node.kind == SCALAR:
        return np.array(node.value, node.dtype.numpy)
    if node.kind == VIEW:
        source: Array = viewed(node, window_of(node.args[0]))
        return source
    memory, offset, strides = node.value
    return np.ndarray(node.shape, node.dtype.numpy, memory.owner, offset, strides)
