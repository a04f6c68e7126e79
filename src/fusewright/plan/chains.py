"""Chains of products: which run as one over blocks of rows, and how many rows a block has.

The layers of a region are its products by depth: those of one depth, and what is done to their
results before the next product.  Successive layers may run as one *segment*: the blocks of rows
pass through all of it, and what the layers exchange stays in the second-level cache.  A layer that
gains nothing that way is left alone: then each of its products runs by itself, and the rest with
everything else that is no product.

Every way to cut the layers is priced by the same three terms, each by a rate of the machine:

    multiplications + special functions and other arithmetic + bytes by level

(all added: gains measured so lie within a quarter of it); the weights' bytes are read once for each
block.  A segment is fused from a predicted gain of `GAIN` on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from fusewright.base.words import memory
from fusewright.ir import graph, ops
from fusewright.ir.graph import Node
from fusewright.ir.products import CHUNK, operations
from fusewright.machine.record import Machine
from fusewright.plan.row_blocks import WHOLE, Region, read_along, regions

GAIN = 1.10
"""The least predicted gain a segment is fused for: the model is right within so much."""
MOST_LAYERS = 8
"""Layers of a segment: more save nothing more, and the ways to cut grow with their square."""
UNIT = 24
"""Rows in a block are a multiple of this: whole register tiles (12 rows, or 6) of any machine."""
FEWEST_ROWS = UNIT
DEAR = 8
"""The cost of an operation (`ir.ops`) from which it counts as a special function."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Values of a region of one depth, by slot: its products, and the others in order."""

    products: tuple[int, ...]
    others: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Price:
    """Predicted nanoseconds of one thread by term, and the bytes that move: from and to memory,
    and between the second-level cache and the core.
    """

    multiply: float = 0.0
    functions: float = 0.0
    moving: float = 0.0
    far: float = 0.0
    near: float = 0.0

    @property
    def total(self) -> float:
        return self.multiply + self.functions + self.moving

    def plus(self, other: Price) -> Price:
        return Price(*(a + b for a, b in zip(_parts(self), _parts(other), strict=True)))


def _parts(price: Price) -> tuple[float, ...]:
    return price.multiply, price.functions, price.moving, price.far, price.near


@dataclass(frozen=True, slots=True)
class Segment:
    """Layers that run as one (`fused`), or one layer left alone.

    `outputs` are stored in memory, `kept` in the cache; `rows` are those of a block.  `fused_price`
    and `alone_price` are what the model says of the two ways; `why` is the reason for this one.
    """

    region: Region
    layers: tuple[Layer, ...]
    outputs: frozenset[int]
    kept: frozenset[int]
    rows: int
    fused: bool
    fused_price: Price
    alone_price: Price
    why: str

    @property
    def members(self) -> tuple[int, ...]:
        return tuple(slot for layer in self.layers for slot in (*layer.others, *layer.products))

    @property
    def products(self) -> tuple[int, ...]:
        return tuple(slot for layer in self.layers for slot in layer.products)


def segments(
    order: Sequence[Node], needed: frozenset[int], machine: Machine, fuse: bool, threads: int = 1
) -> list[Segment]:
    """All products of a program (operands first) in segments, those first that others wait for.
    `needed` are the slots of the values that must be in memory in the end.
    """
    found = [
        segment
        for region in regions(order)
        for segment in _Cutting(order, needed, region, machine, threads).best(fuse)
    ]
    return _sorted(order, found)


def _sorted(order: Sequence[Node], found: list[Segment]) -> list[Segment]:
    """Each segment behind those that it waits for, whatever lies between."""
    slots = {id(node): slot for slot, node in enumerate(order)}
    owner = {slot: k for k, segment in enumerate(found) for slot in segment.members}
    waits: list[frozenset[int]] = []
    for node in order:
        below: frozenset[int] = frozenset()
        for arg in node.args:
            number = slots[id(arg)]
            below |= waits[number] | ({owner[number]} if number in owner else set())
        waits.append(below)
    ranks: dict[int, int] = {}
    for slot in range(len(order)):  # operands first: a segment's rank is above all it waits for
        if slot in owner:
            mine = owner[slot]
            others = [ranks.get(k, 0) + 1 for k in waits[slot] if k != mine]
            ranks[mine] = max([ranks.get(mine, 0), *others])
    return [found[k] for k in sorted(range(len(found)), key=lambda k: ranks.get(k, 0))]


class _Cutting:
    """One region, and all ways to cut it."""

    def __init__(
        self,
        order: Sequence[Node],
        needed: frozenset[int],
        region: Region,
        machine: Machine,
        threads: int,
    ) -> None:
        self.order = order
        self.needed = needed
        self.region = region
        self.machine = machine
        self.threads = threads
        self.slots = {id(node): slot for slot, node in enumerate(order)}
        self.rows = prod(region.batch) * region.rows
        self.layers = self._layers()
        self.level = {s: k for k, one in enumerate(self.layers) for s in _members(one)}
        self.readers: dict[int, list[int]] = {slot: [] for slot in region.dims}
        for slot, node in enumerate(order):
            for arg in node.args:
                number = self.slots[id(arg)]
                if number in self.readers:
                    self.readers[number].append(slot)

    def _layers(self) -> list[Layer]:
        depths: dict[int, int] = {}
        for slot in sorted(self.region.dims):
            inside = [self.slots[id(a)] for a in self.order[slot].args]
            below = max((depths[s] for s in inside if s in depths), default=0)
            depths[slot] = below + (self.order[slot].kind == graph.PRODUCT)
        found = []
        for depth in range(max(depths.values()) + 1):
            members = [slot for slot, each in depths.items() if each == depth]
            products = tuple(s for s in members if self.order[s].kind == graph.PRODUCT)
            found.append(Layer(products, tuple(s for s in members if s not in products)))
        return found

    def best(self, fuse: bool) -> list[Segment]:
        """The cheapest way to cut, by the cheapest way for each number of first layers."""
        count = len(self.layers)
        alone = [self.alone(k) for k in range(1, count)]
        total, chosen = [0.0], [0]
        made: dict[tuple[int, int], Segment] = {}
        for end in range(1, count):
            ways = [(total[end - 1] + alone[end - 1].total, end - 1, False)]
            for start in range(end - 1, max(end - MOST_LAYERS, 0) - 1, -1) if fuse else ():
                segment = made[start, end] = self.segment(start, end, alone[start:end])
                if segment.fused:
                    ways.append((total[start] + GAIN * segment.fused_price.total, start, True))
            price, start, fused = min(ways)
            total.append(price)
            chosen.append(start if fused else -1)
        found = []
        end = count - 1
        while end > 0:
            start = chosen[end] if chosen[end] >= 0 else end - 1
            if chosen[end] >= 0:
                found.append(made[start, end])
            else:
                found.append(self.left_alone(end, alone[end - 1], made))
            end = start
        return found[::-1]

    def left_alone(self, end: int, alone: Price, made: dict[tuple[int, int], Segment]) -> Segment:
        """One layer by itself, with the reason of the segment of two layers, or of this one."""
        options = [made[k] for k in ((end - 2, end), (end - 1, end + 1), (end - 1, end)) if k in made]
        layer = self.layers[end]
        priced = max(
            (each for each in options if not each.fused),
            key=lambda each: each.alone_price.total / max(each.fused_price.total, 1.0),
            default=None,
        )
        why = priced.why if priced is not None else "not fused: nothing stands around it, or fuse=False"
        price = priced.fused_price if priced is not None else alone
        return Segment(
            self.region, (Layer(layer.products, ()),), frozenset(layer.products), frozenset(),
            self.region.rows, False, price, priced.alone_price if priced else alone, why,
        )  # fmt: skip

    # ---- what is stored

    def between(self, start: int, end: int) -> tuple[Layer, ...]:
        """The layers behind the first `start` products; the first ones bring what comes before."""
        return tuple(self.layers[start + 1 if start else 0 : end + 1])

    def places(self, layers: Sequence[Layer]) -> tuple[frozenset[int], frozenset[int]]:
        """Which members are stored in memory, and which in the cache."""
        members = {slot for layer in layers for slot in _members(layer)}
        outputs, kept = set(), set()
        for slot in members:
            if slot in self.needed or not members.issuperset(self.readers[slot]):
                outputs.add(self.viewed(slot))
        for slot in members:
            node = self.order[slot]
            if node.kind == graph.PRODUCT:
                kept.add(slot)
                kept.add(self.viewed(self.slots[id(node.args[0])]))
            else:
                for arg in map(self._slot, node.args):
                    if self.level.get(arg, -1) not in (-1, self.level[slot]):
                        kept.add(self.viewed(arg))
        return frozenset(outputs & members), frozenset((kept & members) - outputs)

    def _slot(self, node: Node) -> int:
        return self.slots[id(node)]

    def viewed(self, slot: int) -> int:
        """What a view that is a member shows."""
        while slot in self.region.dims and self.order[slot].kind == graph.VIEW:
            slot = self._slot(self.order[slot].args[0])
        return slot

    # ---- prices

    def segment(self, start: int, end: int, alone: Sequence[Price]) -> Segment:
        """Layers as one, with the best number of rows."""
        layers = self.between(start, end)
        outputs, kept = self.places(layers)
        together = Price()
        for each in alone:
            together = together.plus(each)
        priced = [(self.fused(layers, outputs, kept, rows), rows) for rows in self.blocks(kept)]
        price, rows = min(priced, key=lambda each: each[0].total)
        gain = together.total / max(price.total, 1e-9)
        is_empty = any(
            operations(self.order[slot]) == 0 for layer in layers for slot in layer.products
        )
        fused = gain >= GAIN and not is_empty
        why = self.reason(gain, fused, kept | outputs, rows)
        return Segment(self.region, layers, outputs, kept, rows, fused, price, together, why)

    def reason(self, gain: float, fused: bool, kept: frozenset[int], rows: int) -> str:
        """Why layers run as one, or do not, with the number."""
        if fused:
            return f"fused: {rows} rows at a time; predicted {gain:.2f}x"
        hidden = sum(self.bytes_of(slot) for slot in kept if slot not in self.needed)
        if hidden and hidden <= self.machine.third // 4:
            where = "the second-level cache" if hidden <= self.machine.second else "the caches"
            return (
                f"not fused: what its steps exchange ({memory(hidden)}) stays in {where} anyway; "
                f"predicted {gain:.2f}x"
            )
        return (
            "not fused: multiplying takes longer than moving what its steps exchange "
            f"({memory(hidden)}); predicted {gain:.2f}x"
        )

    def row_bytes(self, slot: int) -> int:
        node = self.order[slot]
        return prod(node.shape[self.region.dims[slot] + 1 :]) * node.dtype.itemsize

    def bytes_of(self, slot: int) -> int:
        node = self.order[slot]
        return prod(node.shape) * node.dtype.itemsize

    def blocks(self, kept: frozenset[int]) -> Iterator[int]:
        """Numbers of rows to try: what stays in three quarters of the second-level cache."""
        row = sum(map(self.row_bytes, kept)) + 4 * CHUNK
        most = max(self.machine.second * 3 // 4 // max(row, 1) // UNIT * UNIT, FEWEST_ROWS)
        share = -(-self.rows // (4 * self.threads)) if self.threads > 1 else self.rows
        most = max(min(most, -(-share // UNIT) * UNIT), FEWEST_ROWS)
        rows = most
        while True:
            yield rows
            if rows == FEWEST_ROWS or rows * 16 < most:
                return
            rows = max(rows // 2 // UNIT * UNIT, FEWEST_ROWS)

    def computing(self, layers: Sequence[Layer]) -> Price:
        """Arithmetic, which does not depend on how it is arranged."""
        multiply = functions = 0.0
        for slot in (slot for layer in layers for slot in layer.products):
            node = self.order[slot]
            multiply += operations(node) * node.dtype.itemsize / 8 / self.machine.multiply_add
        for slot in (slot for layer in layers for slot in layer.others):
            node = self.order[slot]
            cost = ops.MAP[node.op].cost if node.kind == graph.MAP else 1
            size = max(node.dtype.itemsize, 4) / 8
            numbers = prod(node.shape if node.kind == graph.MAP else node.args[0].shape) * size
            if cost >= DEAR:
                functions += numbers / self.machine.exp
            elif node.kind != graph.VIEW:
                functions += numbers * cost / self.machine.multiply_add
        return Price(multiply, functions)

    def rate(self, nbytes: int) -> float:
        """Bytes in a nanosecond of an array of this size that is written and then read."""
        if nbytes <= self.machine.second // 2:
            return self.machine.second_bandwidth
        if nbytes <= self.machine.third // 2:
            return self.machine.third_bandwidth
        return self.machine.memory_bandwidth

    def moved(self, nbytes: float, whole: int) -> Price:
        """So many bytes of an array of this size, read or written."""
        rate = self.rate(whole)
        is_far = whole > self.machine.third // 2
        return Price(0.0, 0.0, nbytes / rate, nbytes * is_far, nbytes * (not is_far))

    def weights(self, layers: Sequence[Layer]) -> int:
        found = {self._slot(self.order[s].args[1]) for each in layers for s in each.products}
        return sum(prod(self.order[s].shape[-2:]) * self.order[s].dtype.itemsize for s in found)

    def outside(self, layers: Sequence[Layer]) -> set[int]:
        """The values with rows that layers read and do not compute."""
        members = {slot for layer in layers for slot in _members(layer)}
        found = set()
        for slot in members:
            node = self.order[slot]
            places = read_along(node, self.region.dims[slot]) or ()
            for arg, place in zip(map(self._slot, node.args), places, strict=True):
                if arg not in members and place != WHOLE:
                    found.add(arg)
        return found

    def fused(
        self, layers: Sequence[Layer], outputs: frozenset[int], kept: frozenset[int], rows: int
    ) -> Price:
        """Layers as one."""
        price = self.computing(layers)
        for slot in self.outside(layers) | outputs:
            price = price.plus(self.moved(self.bytes_of(slot), self.bytes_of(slot)))
        near = 0.0
        for slot in kept | outputs:  # written, and read by the next step
            near += 2.0 * self.bytes_of(slot)
        for slot in (s for layer in layers for s in layer.products):  # packed
            near += 2.0 * self.bytes_of(self._slot(self.order[slot].args[0]))
        price = price.plus(self.moved(near, 0))
        blocks = prod(self.region.batch) * -(-self.region.rows // rows)
        weights = self.weights(layers)
        inside = weights + rows * sum(map(self.row_bytes, kept))
        return price.plus(self.moved(weights * blocks, inside))

    def alone(self, number: int) -> Price:
        """One layer whose products run by themselves, and the rest as one pass over memory."""
        layers = self.between(number - 1, number)
        price = self.computing(layers)
        outputs, kept = self.places(layers)
        for layer in layers:
            for slot in layer.products:
                left = self._slot(self.order[slot].args[0])
                for each in (left, slot):
                    price = price.plus(self.moved(self.bytes_of(each), self.bytes_of(each)))
                price = price.plus(self.moved(2.0 * self.bytes_of(left), 0))
        others = {s for layer in layers for s in layer.others}
        read = {s for s in self.outside(layers)} | {s for layer in layers for s in layer.products}
        if others:
            stored = (outputs | kept) & others
            used = {
                self._slot(arg) for s in others for arg in self.order[s].args
            } & read | stored
            for each in used:
                price = price.plus(self.moved(self.bytes_of(each), self.bytes_of(each)))
        weights, most = self.weights(layers), max(self.machine.second // 2 // (4 * CHUNK), UNIT)
        return price.plus(self.moved(weights * -(-self.rows // most), weights))


def _members(layer: Layer) -> tuple[int, ...]:
    return (*layer.others, *layer.products)
