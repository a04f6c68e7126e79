"""How often a list's code stores a register on the stack: what the planner's rule predicts for all
that code generation keeps in registers.

Beside the statements' values these are scalars and leaves from their first use on (LLVM does not
read them anew from where they came, but stores them on the stack), and products of a number and a
scalar, which are computed once.
"""

from __future__ import annotations

from fusewright.ir.recurrences.straight import Straight, Summand
from fusewright.plan.recurrences.live import spills


def predicted_stores(straight: Straight, registers: int) -> int:
    """Stores to the stack with this many registers."""
    values = _Registers(straight)
    return len(spills(list(values.reads), values.reads, registers).stores)


class _Registers:
    """`reads` has what each value is made from, in the order of the code."""

    def __init__(self, straight: Straight) -> None:
        self.reads: dict[int, tuple[int, ...]] = {}
        self.products: dict[tuple[float, int], int] = {}
        self.first = straight.first
        self.next = straight.first + len(straight.statements)
        for place, statement in enumerate(straight.statements):
            found = [read for term in statement for read in self.term(term)]
            self.reads[straight.first + place] = tuple(dict.fromkeys(found))

    def term(self, term: Summand) -> list[int]:
        reads = list(term.operands)
        for number in reads:
            if number < self.first:
                self.reads.setdefault(number, ())
        if term.coefficient is not None and term.factor != 1.0:
            reads[0] = self.product(term.factor, term.coefficient)
        return reads

    def product(self, factor: float, scalar: int) -> int:
        key = (factor, scalar)
        if key not in self.products:
            self.products[key] = self.next
            self.reads[self.next] = (scalar,)
            self.next += 1
        return self.products[key]
