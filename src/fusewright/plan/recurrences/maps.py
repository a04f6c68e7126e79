"""Where linear maps go: before or after the relations that they commute with.

A family whose alternatives begin with linear maps (solid harmonics at the end, or on the ket
before the bra's relations) offers places for them.  A place is chosen for the whole family: values
mapped early and late have nothing in common, so a mixture computes both.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, product

from fusewright.base.values import dataclass
from fusewright.ir.recurrences.graph import AndOrGraph, Vertex
from fusewright.plan.recurrences.close import IsLeaf

_MOST = 8
"""Combinations of places that are tried."""


@dataclass(frozen=True, slots=True)
class Placement:
    """The relation of each vertex of the families that offer a place; `name` has the maps'."""

    name: str
    fixed: dict[int, int]


def placements(graph: AndOrGraph, targets: Sequence[int], is_leaf: IsLeaf) -> list[Placement]:
    """Every place there is for linear maps in what targets need; one without a name where none is
    offered.
    """
    offered: dict[str, dict[str, dict[int, int]]] = {}
    for number in sorted(_needed(graph, targets, is_leaf)):
        vertex = graph.vertices[number]
        maps = [_first_map(graph, vertex, n) for n in range(len(vertex.relations))]
        if len(maps) > 1 and all(maps):
            for n, name in enumerate(maps):
                offered.setdefault(vertex.family, {}).setdefault(name, {})[number] = n
    found = []
    for combination in islice(product(*(places.items() for places in offered.values())), _MOST):
        name = ", ".join(name for name, _ in combination)
        fixed = {vertex: n for _, each in combination for vertex, n in each.items()}
        found.append(Placement(name, fixed))
    return found


def _needed(graph: AndOrGraph, targets: Sequence[int], is_leaf: IsLeaf) -> set[int]:
    """What any choice may need."""
    found: set[int] = set()
    stack = list(targets)
    while stack:
        number = stack.pop()
        if number in found or is_leaf(number):
            continue
        found.add(number)
        for relation in graph.vertices[number].relations:
            stack.extend(term.vertex for term in relation if term.vertex is not None)
    return found


def _first_map(graph: AndOrGraph, vertex: Vertex, relation: int) -> str:
    """The linear map that a relation is a value of, or the empty name."""
    terms = vertex.relations[relation]
    if len(terms) != 1 or terms[0].vertex is None:
        return ""
    family = graph.vertices[terms[0].vertex].family
    return family if family in graph.mapped else ""
