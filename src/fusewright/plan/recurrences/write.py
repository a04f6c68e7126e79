"""A closure in a given order as the list of statements that code generators read.

Products of several scalars come first, each once: `s0*s1*s2` is made of `s0*s1`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fusewright.ir.recurrences.graph import Weighted
from fusewright.ir.recurrences.straight import Statement, Straight, Summand
from fusewright.plan.recurrences.close import Selection


def written(closure: Selection, order: Sequence[int], rows: Mapping[int, str]) -> Straight:
    """The list, with the scalars that it reads; `rows` names the row of input that each leaf is."""
    leaves = tuple(dict.fromkeys(rows[leaf] for leaf in closure.leaves))
    read = {scalar for terms in closure.terms.values() for term in terms for scalar in term.scalars}
    scalars = sorted(read)
    writer = _Writer(scalars, len(leaves))
    place = {name: n for n, name in enumerate(leaves, len(scalars))}
    writer.values = {leaf: place[rows[leaf]] for leaf in closure.leaves}
    for vertex in order:
        for term in closure.terms[vertex]:
            writer.product(_coefficient(term))
    for vertex in order:
        terms = tuple(writer.summand(term) for term in closure.terms[vertex])
        writer.values[vertex] = writer.add(terms)
    results = tuple(writer.values[target] for target in closure.targets)
    names = tuple(closure.graph.scalars[scalar] for scalar in scalars)
    return Straight(names, leaves, tuple(writer.statements), results)


def _coefficient(term: Weighted) -> tuple[int, ...]:
    """The scalars that multiply; a term without a vertex has the last of them as its value."""
    return term.scalars if term.vertex is not None else term.scalars[:-1]


class _Writer:
    def __init__(self, scalars: Sequence[int], leaves: int) -> None:
        self.first = len(scalars) + leaves
        self.scalars = {scalar: place for place, scalar in enumerate(scalars)}
        self.statements: list[Statement] = []
        self.products: dict[tuple[int, ...], int] = {}
        self.values: dict[int, int] = {}

    def add(self, statement: Statement) -> int:
        self.statements.append(statement)
        return self.first + len(self.statements) - 1

    def product(self, scalars: tuple[int, ...]) -> int | None:
        """The value that is the product of scalars; None for the product of none."""
        if len(scalars) < 2:
            return self.scalars[scalars[0]] if scalars else None
        if scalars not in self.products:
            term = Summand(1.0, self.product(scalars[:-1]), self.scalars[scalars[-1]])
            self.products[scalars] = self.add((term,))
        return self.products[scalars]

    def summand(self, term: Weighted) -> Summand:
        value = self.values[term.vertex] if term.vertex is not None else None
        if value is None and term.scalars:
            value = self.scalars[term.scalars[-1]]
        return Summand(term.factor, self.product(_coefficient(term)), value)
