"""How many values are live at once, and which of them move between registers and the stack.

A value is live from the statement that computes it to the last one that reads it, a leaf, which is
in memory before, from the first statement that reads it to the last.  A statement's result may take
the place of an operand that it is the last to read: live at a statement are the values there are
when it begins, with its operands, or those when it ends, with its result, whichever are more.  A
result of the graph is stored when it is computed, and then live only as long as a later statement
reads it.  Scalars and their products are not counted: they are read from memory where they are
used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush

from fusewright.base.values import dataclass

Operands = Mapping[int, tuple[int, ...]]
"""What each statement reads, each value once; what is no key is a leaf."""


@dataclass(frozen=True, slots=True)
class Pressure:
    """The most values live at a statement, and their mean over the statements."""

    peak: int
    mean: float


def pressure(order: Sequence[int], operands: Operands) -> Pressure:
    """The pressure of statements in this order."""
    uses = _uses(order, operands)
    waiting = {value for value in uses if value not in operands}
    live = peak = total = 0
    for statement in order:
        reads = operands[statement]
        for value in reads:
            if value in waiting:
                waiting.discard(value)
                live += 1
        before = live
        for value in reads:
            uses[value] -= 1
            if not uses[value]:
                live -= 1
        kept = statement in uses
        live += kept
        now = max(before, live if kept else live + 1)
        total += now
        if now > peak:
            peak = now
    return Pressure(peak, total / max(len(order), 1))


def _uses(order: Sequence[int], operands: Operands) -> dict[int, int]:
    """By how many statements each value is read; what is not read is no key."""
    uses: dict[int, int] = {}
    for statement in order:
        for value in operands[statement]:
            uses[value] = uses.get(value, 0) + 1
    return uses


@dataclass(frozen=True, slots=True)
class Spills:
    """What moves with a given number of registers.

    `stores` and `loads` are pairs (place in the order, value): the value is stored, or loaded
    again, at that statement.  Leaves are in memory and never stored.
    """

    stores: tuple[tuple[int, int], ...]
    loads: tuple[tuple[int, int], ...]


def spills(order: Sequence[int], operands: Operands, registers: int) -> Spills:
    """Which values are spilled where: of those in registers, the one whose next use is furthest.

    This rule of Belady's has the fewest loads (IBM Systems Journal 5, 78 (1966)).  With fewer
    registers than a statement has operands, the statement takes them one after the other.
    """
    return _Spiller(order, operands, max(registers, 2)).run()


class _Spiller:
    def __init__(self, order: Sequence[int], operands: Operands, registers: int) -> None:
        self.order, self.operands, self.registers = order, operands, registers
        self.uses: dict[int, list[int]] = {}
        for place, statement in enumerate(order):
            for value in operands[statement]:
                self.uses.setdefault(value, []).append(place)
        for places in self.uses.values():
            places.reverse()  # the next use is the last item
        self.inside: set[int] = set()
        self.heap: list[tuple[int, int]] = []
        """Pairs (-next use, value); one whose use has passed is stale."""
        self.stored: set[int] = set()
        self.stores: list[tuple[int, int]] = []
        self.loads: list[tuple[int, int]] = []

    def run(self) -> Spills:
        for place, statement in enumerate(self.order):
            for value in self.operands[statement]:
                if value not in self.inside:
                    self.loads.append((place, value))
                    self.enter(value, place)
            for value in self.operands[statement]:
                self.uses[value].pop()
                if not self.uses[value]:
                    self.inside.discard(value)
                elif value in self.inside:
                    heappush(self.heap, (-self.uses[value][-1], value))
            if statement in self.uses:
                self.enter(statement, place)
        return Spills(tuple(self.stores), tuple(self.loads))

    def enter(self, value: int, place: int) -> None:
        """Give a value a register, that of another if none is free."""
        while len(self.inside) >= self.registers:
            use, other = heappop(self.heap)
            if other not in self.inside or self.uses[other][-1] != -use:
                continue
            self.inside.discard(other)
            if other in self.operands and other not in self.stored:
                self.stored.add(other)
                self.stores.append((place, other))
        self.inside.add(value)
        heappush(self.heap, (-self.uses[value][-1], value))


def lower_bound(operands: Operands) -> int:
    """No order has a lower peak: all operands of a statement are live when it begins."""
    return max((max(len(reads), 1) for reads in operands.values()), default=0)
