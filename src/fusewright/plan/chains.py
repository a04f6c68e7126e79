"""Chains of products: which run as one over blocks of rows, and how many rows a block has.

The layers of a region are its products by depth: those of one depth, and what is done to their
results before the next product.  Successive layers may run as one *segment*: the blocks of rows
pass through all of it, and what the layers exchange stays in the second-level cache.  A layer that
gains nothing that way is left alone: then each of its products runs by itself, and the rest with
everything else that is no product.

Every way to cut the layers is priced (`plan.chain_prices`); a segment is fused from a predicted
gain of `chain_gain` on.
"""

from __future__ import annotations

from collections.abc import Sequence

from fusewright.base.values import dataclass
from fusewright.base.words import memory
from fusewright.ir import graph
from fusewright.ir.graph import Node
from fusewright.ir.products import operations
from fusewright.machine.record import Machine
from fusewright.plan.chain_prices import Layer, Price, Pricing
from fusewright.plan.row_blocks import Region, ordered, regions

MOST_LAYERS = 8
"""Layers of a segment: more save nothing more, and the ways to cut grow with their square."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Layers that run as one (`fused`), or one layer left alone.

    `outputs` are stored in memory, `kept` in the cache; `rows` are those of a block.  `together`
    and `apart` are what the model says of the two ways; `why` is the reason for this one.
    """

    region: Region
    layers: tuple[Layer, ...]
    outputs: frozenset[int]
    kept: frozenset[int]
    rows: int
    fused: bool
    together: Price
    apart: Price
    why: str

    @property
    def members(self) -> tuple[int, ...]:
        return tuple(slot for layer in self.layers for slot in layer.members)

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
        for segment in _Cutting(Pricing(order, region, machine, threads), needed).best(fuse)
    ]
    return _sorted(order, found)


def _sorted(order: Sequence[Node], found: list[Segment]) -> list[Segment]:
    """Each segment behind those that it waits for, whatever lies between."""
    slots = {id(node): slot for slot, node in enumerate(order)}
    args = [[slots[id(arg)] for arg in node.args] for node in order]
    numbers = ordered(args, [one.members for one in found])
    assert numbers is not None, "segments of regions that do not wait for each other"
    return [found[number] for number in numbers]


class _Cutting:
    """One region, and all ways to cut it."""

    def __init__(self, pricing: Pricing, needed: frozenset[int]) -> None:
        self.pricing = pricing
        self.order = pricing.order
        self.region = pricing.region
        self.needed = needed
        self.layers = self.by_depth()
        self.level = {slot: k for k, one in enumerate(self.layers) for slot in one.members}
        self.readers: dict[int, set[int]] = {slot: set() for slot in self.region.dims}
        for slot in range(len(self.order)):
            for arg in self.readers.keys() & pricing.operands(slot):
                self.readers[arg].add(slot)

    def by_depth(self) -> list[Layer]:
        """The layers; the first has no product."""
        depths: dict[int, int] = {}
        for slot in sorted(self.region.dims):
            inside = [depths[arg] for arg in self.pricing.operands(slot) if arg in depths]
            depths[slot] = max(inside, default=0) + self.is_product(slot)
        found = []
        for depth in range(max(depths.values()) + 1):
            members = [slot for slot, each in depths.items() if each == depth]
            products = tuple(filter(self.is_product, members))
            found.append(Layer(products, tuple(s for s in members if s not in products)))
        return found

    def is_product(self, slot: int) -> bool:
        return self.order[slot].kind == graph.PRODUCT

    def best(self, fuse: bool) -> list[Segment]:
        """The cheapest way to cut: for each number of first layers, by the cheapest for fewer."""
        count, machine = len(self.layers), self.pricing.machine
        single = [self.single(number) for number in range(1, count)]
        totals = [0.0]
        chosen: list[Segment] = []
        starts: list[int] = []
        declined: dict[int, Segment] = {}
        for end in range(1, count):
            alone = self.left(end, single[end - 1])
            ways = [(totals[end - 1] + alone.apart.total, end - 1, alone)]
            for start in range(end - 1, max(end - MOST_LAYERS, 0) - 1, -1) if fuse else ():
                segment = self.joined(start, end, single[start:end])
                if segment.fused:
                    ways.append(
                        (
                            totals[start] + machine.chain_gain * segment.together.total,
                            start,
                            segment,
                        )
                    )
                else:
                    _note(declined, segment, range(start + 1, end + 1))
            total, start, segment = min(ways, key=lambda way: way[:2])
            totals.append(total)
            starts.append(start)
            chosen.append(segment)
        found = []
        end = count - 1
        while end:
            found.append(self.explained(chosen[end - 1], declined.get(end)))
            end = starts[end - 1]
        return found[::-1]

    def explained(self, segment: Segment, declined: Segment | None) -> Segment:
        """With the reason of the best segment that it could have been a part of."""
        if segment.fused or declined is None:
            return segment
        return Segment(
            segment.region, segment.layers, segment.outputs, segment.kept, segment.rows, False,
            declined.together, declined.apart, declined.why,
        )  # fmt: skip

    def left(self, number: int, price: Price) -> Segment:
        """The products of one layer, each by itself."""
        products = self.layers[number].products
        return Segment(
            self.region, (Layer(products, ()),), frozenset(products), frozenset(),
            self.region.rows, False, price, price, "fusing is switched off",
        )  # fmt: skip

    # ---- what is stored

    def between(self, start: int, end: int) -> tuple[Layer, ...]:
        """The layers behind `start` products; the first of all brings what comes before it."""
        return tuple(self.layers[start + 1 if start else 0 : end + 1])

    def places(self, layers: Sequence[Layer]) -> tuple[frozenset[int], frozenset[int]]:
        """Which members are stored in memory, and which in the cache."""
        members = {slot for layer in layers for slot in layer.members}
        outputs, kept = set(), set()
        for slot in members:
            if slot in self.needed or not self.readers[slot] <= members:
                outputs.add(self.viewed(slot))
            operands = self.pricing.operands(slot)
            if self.is_product(slot):
                kept |= {slot, self.viewed(operands[0])}
            else:
                level = self.level[slot]
                kept |= {self.viewed(a) for a in operands if self.level.get(a, level) != level}
        return frozenset(outputs & members), frozenset((kept & members) - outputs)

    def viewed(self, slot: int) -> int:
        """What a view that is a member shows."""
        while slot in self.region.dims and self.order[slot].kind == graph.VIEW:
            slot = self.pricing.operands(slot)[0]
        return slot

    # ---- prices

    def single(self, number: int) -> Price:
        layers = self.between(number - 1, number)
        outputs, kept = self.places(layers)
        return self.pricing.alone(layers, outputs | kept)

    def joined(self, start: int, end: int, single: Sequence[Price]) -> Segment:
        """Layers as one, with the best number of rows."""
        layers = self.between(start, end)
        outputs, kept = self.places(layers)
        apart = Price()
        for each in single:
            apart = apart.plus(each)
        reading, rows = self.pricing.rows_of_blocks(layers, kept)
        price = self.pricing.fused(layers, outputs, kept).plus(reading)
        gain = apart.total / price.total
        products = [slot for layer in layers for slot in layer.products]
        is_fused = gain >= self.pricing.machine.chain_gain and all(
            operations(self.order[slot]) for slot in products
        )
        why = f"{rows} rows at a time; predicted {gain:.2f}x"
        if not is_fused:
            why = self.declined(gain, outputs | kept)
        return Segment(self.region, layers, outputs, kept, rows, is_fused, price, apart, why)

    def declined(self, gain: float, stored: frozenset[int]) -> str:
        """Why layers do not run as one, with the number."""
        hidden = sum(self.pricing.bytes_of(slot) for slot in stored if slot not in self.needed)
        machine = self.pricing.machine
        if not self.pricing.is_far(hidden):
            where = "second" if hidden <= machine.second // 2 else "last"
            reason = f"stays in the {where}-level cache anyway"
        else:
            reason = "takes little time beside the products themselves"
        return f"what its steps exchange ({memory(hidden)}) {reason}; predicted {gain:.2f}x"


def _note(declined: dict[int, Segment], segment: Segment, layers: range) -> None:
    """Remember the segment with the largest predicted gain that a layer could have been in."""
    for layer in layers:
        known = declined.get(layer)
        if known is None or _gain(known) < _gain(segment):
            declined[layer] = segment


def _gain(segment: Segment) -> float:
    return segment.apart.total / segment.together.total
