"""What is left of a graph when one relation is chosen at each vertex: the demand closure of the
targets, with numbers folded.

    a = 2*b,  c = s*a + b,  d = 3     ->     c = 2*s*b + b   (and `d` a number in its readers)

A vertex that only scales another one by a number disappears into its readers' factors, one that is
a number becomes their constant, equal terms are added up, and of vertices with the same terms one
is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fusewright.base.values import dataclass
from fusewright.ir.recurrences.graph import AndOrGraph, Relation, Weighted

Choice = Sequence[int]
"""The number of a relation for each vertex."""
IsLeaf = Callable[[int], bool]
"""Whether a vertex is a row of input, or a sum that another list gives."""


@dataclass(frozen=True, slots=True)
class Selection:
    """`terms` are the statements by vertex, in rising, that is in topological, order.

    `leaves` are the vertices that are rows of input.  A target that only scales another vertex is
    a statement, but nothing reads it.
    """

    graph: AndOrGraph
    terms: dict[int, Relation]
    leaves: tuple[int, ...]
    targets: tuple[int, ...]

    def operands(self) -> dict[int, tuple[int, ...]]:
        """The vertices that each statement reads, each once."""
        return {
            vertex: tuple(dict.fromkeys(t.vertex for t in terms if t.vertex is not None))
            for vertex, terms in self.terms.items()
        }

    def flops(self) -> int:
        """Multiplications and additions in one column, as `ir/recurrences/straight.py` counts them
        (products of scalars left out: they are few).
        """
        count = 0
        for terms in self.terms.values():
            count += len(terms) - 1
            count += sum(map(_multiplications, terms))
        return count


def close(
    graph: AndOrGraph,
    choice: Choice,
    targets: Sequence[int],
    is_leaf: IsLeaf,
) -> Selection:
    """The closure of these vertices; `is_leaf` says where it ends."""
    chosen: dict[int, Relation] = {}
    stack = list(targets)
    leaves = set()
    while stack:
        vertex = stack.pop()
        if vertex in chosen or vertex in leaves:
            continue
        if is_leaf(vertex):
            leaves.add(vertex)
            continue
        terms = chosen[vertex] = graph.vertices[vertex].relations[choice[vertex]]
        stack.extend(term.vertex for term in terms if term.vertex is not None)
    return _folded(graph, chosen, leaves, targets)


def _folded(
    graph: AndOrGraph, chosen: dict[int, Relation], leaves: set[int], targets: Sequence[int]
) -> Selection:
    instead: dict[int, Relation] = {}
    """What readers see of a vertex that disappears: nothing, or one term without scalars."""
    same: dict[Relation, int] = {}
    terms: dict[int, Relation] = {}
    for vertex in sorted(chosen):
        folded = _sum(chosen[vertex], instead)
        if not folded or (len(folded) == 1 and not folded[0].scalars):
            instead[vertex] = folded
        elif folded in same:
            instead[vertex] = (Weighted(1.0, (), same[folded]),)
        else:
            same[folded] = vertex
            terms[vertex] = folded
    found = []
    for target in targets:
        seen = instead.get(target)
        if seen and seen[0].factor == 1.0 and seen[0].vertex is not None:
            target = seen[0].vertex
        elif seen is not None:
            terms[target] = seen or (Weighted(0.0, (), None),)
        found.append(target)
    return _needed(graph, dict(sorted(terms.items())), leaves, tuple(found))


def _needed(
    graph: AndOrGraph, terms: dict[int, Relation], leaves: set[int], targets: tuple[int, ...]
) -> Selection:
    """Without what only merged vertices read."""
    needed = set(targets)
    for vertex in reversed(terms):
        if vertex in needed:
            needed.update(t.vertex for t in terms[vertex] if t.vertex is not None)
    kept = {vertex: each for vertex, each in terms.items() if vertex in needed}
    return Selection(graph, kept, tuple(sorted(leaves & needed)), targets)


def _sum(relation: Relation, instead: dict[int, Relation]) -> Relation:
    """The terms with what disappears folded in; plain ones first, where they cost no operation."""
    sums: dict[tuple[tuple[int, ...], int | None], float] = {}
    for factor, scalars, vertex in relation:
        if vertex in instead:
            if not instead[vertex]:
                continue
            factor, vertex = factor * instead[vertex][0].factor, instead[vertex][0].vertex
        key = (scalars, vertex)
        sums[key] = sums[key] + factor if key in sums else factor
    found = [Weighted(factor, *key) for key, factor in sums.items() if factor != 0.0]
    found.sort(key=_costs_an_operation)
    return tuple(found)


def _multiplications(term: Weighted) -> int:
    """How many a term needs: by what it scales, and of the scale itself."""
    factor, scalars, vertex = term
    operands = len(scalars) + (vertex is not None)
    if len(scalars) > (vertex is None):
        return 1 + (factor != 1.0)
    return int(operands > 0 and abs(factor) != 1.0)


def _costs_an_operation(term: Weighted) -> bool:
    """Whether the term needs a multiplication where it stands first in a statement."""
    plain = term.factor == 1.0 and len(term.scalars) + (term.vertex is not None) == 1
    return bool(term.scalars or term.vertex is not None) and not plain
