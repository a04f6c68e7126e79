"""Graphs of recurrence relations: every value is a leaf or, by any one of several relations, a
linear combination of others (an AND-OR graph).

Vertices are numbered so that every relation of a vertex reads smaller numbers only: the graph has
no cycle whatever is chosen, and its order is a topological order of all choices at once.  All
relations of one vertex have the same mathematical value; they differ in cost and in rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from fusewright.base.errors import InternalError
from fusewright.base.values import dataclass


class Weighted(NamedTuple):
    """The term `factor * scalars * vertex`: `scalars` are numbers of scalars, in rising order, one
    as often as it is multiplied; without a vertex the term is a constant.
    """

    factor: float
    scalars: tuple[int, ...]
    vertex: int | None


Relation = tuple[Weighted, ...]
"""A sum of terms; the empty one is zero."""


@dataclass(frozen=True, slots=True)
class Vertex:
    """One value: the leaf numbered `leaf`, or any of the relations.

    `summed`: it has one relation, of one vertex with factor 1, whose value is added up along the
    axis of accumulation.  `family` and `index` are the user's names.
    """

    family: str
    index: tuple[Any, ...]
    leaf: int | None = None
    relations: tuple[Relation, ...] = ()
    summed: bool = False

    def __str__(self) -> str:
        return f"{self.family}[{', '.join(map(_spelled, self.index))}]"


def _spelled(component: Any) -> str:
    """`(2, 0, 1)` as `201`: how exponents are written in this field."""
    digits = isinstance(component, tuple) and all(c in range(10) for c in component)
    return "".join(map(str, component)) if digits else str(component)


@dataclass(frozen=True, slots=True)
class AndOrGraph:
    """Vertices in topological order; `targets` may name one twice; `axis` is what is summed over,
    empty where nothing is.  `mapped` are the families whose relations are linear maps by numbers.
    """

    scalars: tuple[str, ...]
    leaves: tuple[str, ...]
    vertices: tuple[Vertex, ...]
    targets: tuple[int, ...]
    axis: str = ""
    mapped: frozenset[str] = frozenset()


def check_graph(graph: AndOrGraph) -> None:
    """Refuse a graph whose vertices read what is not there, or are nothing."""
    for number, vertex in enumerate(graph.vertices):
        for problem in _problems(graph, number, vertex):
            raise InternalError(f"a graph of recurrences is not well formed: {vertex} {problem}")
    if any(not 0 <= target < len(graph.vertices) for target in graph.targets):
        raise InternalError("a graph of recurrences has a target that is no vertex")


def _problems(graph: AndOrGraph, number: int, vertex: Vertex) -> Iterator[str]:
    if (vertex.leaf is None) == (not vertex.relations):
        yield "is neither a leaf nor a combination, or both"
    if vertex.leaf is not None and not 0 <= vertex.leaf < len(graph.leaves):
        yield "is a leaf without a name"
    if vertex.summed and (not graph.axis or not _alone(vertex)):
        yield "is summed, but not as one value along the graph's axis"
    for term in (term for relation in vertex.relations for term in relation):
        if term.vertex is not None and not 0 <= term.vertex < number:
            yield f"reads vertex {term.vertex}"
        if any(not 0 <= scalar < len(graph.scalars) for scalar in term.scalars):
            yield "is multiplied by what is no scalar"
        if list(term.scalars) != sorted(term.scalars):
            yield "has scalars out of order"


def _alone(vertex: Vertex) -> bool:
    terms = [term for relation in vertex.relations for term in relation]
    return len(terms) == 1 and terms[0][:2] == (1.0, ()) and terms[0].vertex is not None
