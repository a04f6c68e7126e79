"""What chains of products cost: time by term, bytes by level, on the machine at hand.

    multiplications + special functions and other arithmetic + bytes by level

each by a rate of the machine's record, all added: measured gains lie within a quarter of what that
says.  The weights are read once for each block of rows; a line that is written to memory is read
first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from fusewright.base.values import dataclass
from fusewright.ir import graph, ops
from fusewright.ir.dtypes import BFLOAT16
from fusewright.ir.graph import Node
from fusewright.ir.products import CHUNK, chunk_of, operations
from fusewright.machine.record import Machine
from fusewright.plan.row_blocks import WHOLE, Region, read_along

UNIT = 24
"""Rows in a block are a multiple of this: tiles of 12 rows, or of 6, are whole then."""
HALF_UNIT = 96
"""The same of bfloat16: tiles of 32 rows, too."""
DEAR = 8
"""The cost of an operation (`ir.ops`) from which it counts as a special function."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Values of a region of one depth, by slot: its products, and the others in order."""

    products: tuple[int, ...]
    others: tuple[int, ...]

    @property
    def members(self) -> tuple[int, ...]:
        return (*self.others, *self.products)


@dataclass(frozen=True, slots=True)
class Price:
    """Predicted nanoseconds of one thread by term, and the bytes that move: from and to memory,
    and between the caches and the core.
    """

    multiplying: float = 0.0
    functions: float = 0.0
    moving: float = 0.0
    far: float = 0.0
    near: float = 0.0

    @property
    def total(self) -> float:
        return self.multiplying + self.functions + self.moving

    def plus(self, other: Price) -> Price:
        return Price(
            self.multiplying + other.multiplying,
            self.functions + other.functions,
            self.moving + other.moving,
            self.far + other.far,
            self.near + other.near,
        )


class Pricing:
    """The values of one region, and what computing them costs."""

    def __init__(
        self, order: Sequence[Node], region: Region, machine: Machine, threads: int
    ) -> None:
        self.order = order
        self.region = region
        self.machine = machine
        self.threads = threads
        self.slots = {id(node): slot for slot, node in enumerate(order)}
        self.rows = prod(region.batch) * region.rows
        products = [order[slot] for slot in region.dims if order[slot].kind == graph.PRODUCT]
        halves = [
            min(k, chunk_of(BFLOAT16, node.dtype, k))
            for node in products
            if node.args[0].dtype is BFLOAT16
            for k in node.args[0].shape[-1:]
        ]
        self.unit = HALF_UNIT if halves else UNIT
        self.packed = 4 * max([CHUNK, *halves])
        """Bytes of a packed row, at most."""

    def operands(self, slot: int) -> list[int]:
        return [self.slots[id(arg)] for arg in self.order[slot].args]

    def bytes_of(self, slot: int) -> int:
        node = self.order[slot]
        return prod(node.shape) * node.dtype.itemsize

    def row_bytes(self, slot: int) -> int:
        node = self.order[slot]
        return prod(node.shape[self.region.dims[slot] + 1 :]) * node.dtype.itemsize

    def computing(self, layers: Sequence[Layer]) -> Price:
        """Arithmetic, which does not depend on how it is arranged."""
        multiplying = functions = 0.0
        for slot in (slot for layer in layers for slot in layer.members):
            node = self.order[slot]
            cost = ops.MAP[node.op].cost if node.kind == graph.MAP else 1
            size = max(node.dtype.itemsize, 4) / 8
            if node.kind == graph.PRODUCT:
                is_half = node.args[0].dtype is BFLOAT16
                rate = self.machine.half if is_half else self.machine.product / size
                multiplying += operations(node) / rate
            elif node.kind != graph.VIEW and cost:
                source = node if node.kind == graph.MAP else node.args[0]
                rate = self.machine.exp if cost >= DEAR else self.machine.multiply_add / cost
                functions += prod(source.shape) * size / rate
        return Price(multiplying, functions)

    def is_far(self, nbytes: int) -> bool:
        """Whether an array of this size has left the caches when it is read again."""
        return nbytes > self.machine.left_behind

    def rate(self, nbytes: int) -> float:
        """Bytes in a nanosecond of an array of this size that is written and read again."""
        if self.is_far(nbytes):
            return self.machine.memory_bandwidth
        if nbytes > self.machine.second // 2:
            return self.machine.third_bandwidth
        return self.machine.second_bandwidth

    def moved(self, nbytes: float, whole: int, writes: bool = False) -> Price:
        """So many bytes of an array of this size, read or written."""
        is_far = self.is_far(whole)
        total = nbytes * (2 if writes and is_far else 1)
        return Price(0.0, 0.0, total / self.rate(whole), total * is_far, total * (not is_far))

    def array(self, slot: int, writes: bool = False) -> Price:
        """A whole value, read or written."""
        return self.moved(self.bytes_of(slot), self.bytes_of(slot), writes)

    def weights(self, layers: Sequence[Layer]) -> int:
        """Bytes of the right operands of one item, each once."""
        found = {self.operands(slot)[1] for layer in layers for slot in layer.products}
        right = [self.order[slot] for slot in found]
        return sum(prod(node.shape[-2:]) * node.dtype.itemsize for node in right)

    def outside(self, layers: Sequence[Layer]) -> set[int]:
        """The values with rows that layers read and do not compute."""
        members = {slot for layer in layers for slot in layer.members}
        found = set()
        for slot in members:
            places = read_along(self.order[slot], self.region.dims[slot]) or ()
            for arg, place in zip(self.operands(slot), places, strict=True):
                if arg not in members and place != WHOLE:
                    found.add(arg)
        return found

    def blocks(self, row: int) -> Iterator[int]:
        """Numbers of rows to try where one keeps so many bytes: what stays in three quarters of the
        second-level cache, with packed rows, and gives each thread several blocks.
        """
        unit = self.unit
        most = self.machine.second * 3 // 4 // (row + self.packed) // unit * unit
        if self.threads > 1:
            most = min(most, self.rows // (4 * self.threads) // unit * unit)
        most = max(min(most, -(-self.region.rows // unit) * unit), unit)
        rows = most
        while True:
            yield rows
            if rows == unit or rows * 16 < most:
                return
            rows = max(rows // 2 // unit * unit, unit)

    def fused(
        self, layers: Sequence[Layer], outputs: frozenset[int], kept: frozenset[int]
    ) -> Price:
        """Layers as one, but for the weights: calling them takes `layer` each."""
        price = self.computing(layers).plus(Price(moving=self.machine.layer * len(layers)))
        for slot in self.outside(layers):
            price = price.plus(self.array(slot))
        for slot in outputs:
            price = price.plus(self.array(slot, writes=True))
        near = 2.0 * sum(map(self.bytes_of, kept | outputs))  # written, and read by the next step
        for layer in layers:  # packed
            near += 2.0 * sum(self.bytes_of(self.operands(slot)[0]) for slot in layer.products)
        return price.plus(self.moved(near, 0))

    def rows_of_blocks(self, layers: Sequence[Layer], kept: frozenset[int]) -> tuple[Price, int]:
        """The best number of rows in a block, and what reading the weights for each one costs."""
        row, weights = sum(map(self.row_bytes, kept)), self.weights(layers)
        tried = []
        for rows in self.blocks(row):
            blocks = prod(self.region.batch) * -(-self.region.rows // rows)
            tried.append((self.moved(weights * blocks, weights + rows * row), rows))
        return min(tried, key=lambda each: each[0].total)

    def alone(self, layers: Sequence[Layer], stored: frozenset[int]) -> Price:
        """One layer whose products run by themselves, and the rest as one pass over memory that
        stores some of it.
        """
        price = self.computing(layers)
        products = {slot for layer in layers for slot in layer.products}
        others = {slot for layer in layers for slot in layer.others}
        for slot in products:
            left = self.operands(slot)[0]
            price = price.plus(self.array(left)).plus(self.array(slot, writes=True))
            price = price.plus(self.moved(2.0 * self.bytes_of(left), 0))
        read = {arg for slot in others for arg in self.operands(slot)}
        for slot in read & (self.outside(layers) | products):
            price = price.plus(self.array(slot))
        for slot in stored & others:
            price = price.plus(self.array(slot, writes=True))
        weights = self.weights(layers)
        most = max(self.machine.second // 2 // self.packed, self.unit)
        return price.plus(self.moved(weights * -(-self.rows // most), weights))
