"""Two forms of a kernel, where loops may fuse for some parameters only: which of them runs is
tested when it is called.

Each pair of loops says when it could be one; the kernel has one test for all it can satisfy at
once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from functools import reduce

from fusewright.analysis.legal import are_possible, legal_when, worth
from fusewright.analysis.ranges import FAR
from fusewright.analysis.unit import Facts
from fusewright.analysis.verdict import Condition
from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, op, postorder
from fusewright.ir.loops.statements import Kernel
from fusewright.plan.loops.fuse.nests import Item

MOST_PAIRS = 4
"""Pairs of loops asked for their condition: each question takes milliseconds."""


@dataclass(slots=True)
class Conditions:
    """When pairs of loops, by their lines, may be one, and when that is worth a test."""

    found: dict[tuple[Span, Span], Condition] = field(default_factory=dict)
    worth: dict[tuple[Span, Span], tuple[Expr, ...]] = field(default_factory=dict)

    def ask(self, a: Item, b: Item, facts: Facts) -> None:
        """Two loops meet in different iterations: does a parameter decide that?"""
        key = (a.last, b.loop.span)
        if facts.assumed or a.part or b.part or len(self.found) >= MOST_PAIRS:
            return
        if key not in self.found and a.unit.dims:
            condition = legal_when(a.unit, b.unit, facts)
            if condition is not None:
                self.found[key] = condition
                self.worth[key] = (worth(a.unit), worth(b.unit))

    def joined(self, keys: Iterable[tuple[Span, Span]], facts: Facts) -> Condition | None:
        """One test for as many of these pairs as can be fused at once."""
        chosen: dict[str, Condition] = {}
        together: list[Expr] = []
        for key in keys:
            condition = self.found[key]
            if condition.holds is None:
                continue
            more = [*together, condition.holds, *self.worth[key]]
            if condition.text in chosen or are_possible(more, facts):
                chosen[condition.text] = condition
                together = more
        return _all_of(list(chosen.values()))


def _all_of(chosen: list[Condition]) -> Condition | None:
    tests = [c.holds for c in chosen if c.holds is not None]
    if not tests:
        return None
    texts = [f"({c.text})" if len(chosen) > 1 and " or " in c.text else c.text for c in chosen]
    return Condition(" and ".join(texts), reduce(_both, tests))


def test_of(guard: Condition, kernel: Kernel) -> Expr:
    """The test as it runs: the analysis took numbers for indices, which larger ones are not."""
    assert guard.holds is not None
    near = [
        op(relation, node, const(end, INT64))
        for node in postorder([guard.holds])
        if node.name == "param" and kernel.arguments[node.attr].what == "scalar"
        and node.dtype is INT64
        for relation, end in (("greater", -FAR), ("less", FAR))
    ]  # fmt: skip
    return reduce(_both, near, guard.holds)


def _both(a: Expr, b: Expr) -> Expr:
    return op("logical_and", a, b)
