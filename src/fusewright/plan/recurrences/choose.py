"""Which relation is used at each vertex: a few rules as starts, then a seeded local search on
(peak of live values, flops).

The search is bounded by the number of statements it looks at, not by time: the result depends on
the graph, the effort and the seed, and not on the machine.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from fusewright.base.values import dataclass
from fusewright.ir.recurrences.graph import AndOrGraph, Relation, Vertex
from fusewright.plan.recurrences import order as orders
from fusewright.plan.recurrences.close import Choice, IsLeaf, Selection, close
from fusewright.plan.recurrences.live import pressure
from fusewright.plan.recurrences.order import Order, depth_first, labels, ranked

ORDERS = 4
"""Orders that each candidate is tried in: two sequences of targets, forwards and backwards."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A choice with its closure and an order for it; `rule` and `ordering` say where they come
    from.
    """

    choice: Choice
    closure: Selection
    order: Order
    rule: str
    ordering: str
    peak: int
    flops: int

    @property
    def cost(self) -> tuple[int, int]:
        """What is made small: the peak first."""
        return self.peak, self.flops


def candidate(
    graph: AndOrGraph, targets: Sequence[int], is_leaf: IsLeaf, choice: Choice, rule: str
) -> Candidate:
    """A choice with the best of the depth-first orders."""
    closure = close(graph, choice, targets, is_leaf)
    operands = closure.operands()
    sequences = {
        "targets as given": tuple(dict.fromkeys(closure.targets)),
        "targets by index": sorted(set(closure.targets), key=lambda v: _key(graph.vertices[v])),
    }
    found = orders.starts(operands, sequences)
    peaks = {name: pressure(each, operands).peak for name, each in found.items()}
    name = min(peaks, key=peaks.__getitem__)
    return Candidate(choice, closure, found[name], rule, name, peaks[name], closure.flops())


def _key(vertex: Vertex) -> tuple[Any, ...]:
    """Sorts vertices by family and index, whatever the components are."""

    def key(component: Any) -> tuple[Any, ...]:
        if isinstance(component, tuple):
            return "tuple", tuple(map(key, component))
        return type(component).__name__, component

    return vertex.family, key(vertex.index)


def _components(index: tuple[object, ...]) -> list[tuple[int, int]]:
    """The integers of an index, each with the number of the component that it stands in."""
    found = []
    for place, component in enumerate(index):
        parts = component if isinstance(component, tuple) else (component,)
        found += [(place, part) for part in parts if isinstance(part, int)]
    return found


def lowered(vertex: Vertex, relation: Relation, vertices: Sequence[Vertex]) -> tuple[int, int]:
    """Which component of the index a relation lowers, and the exponent there; (0, 0) if none.

    It is the first integer that is smaller in the vertex that the first term reads.
    """
    first = next((term.vertex for term in relation if term.vertex is not None), None)
    if first is None:
        return 0, 0
    before, after = _components(vertex.index), _components(vertices[first].index)
    pairs = zip(before, after, strict=False)
    return next((found for found, other in pairs if other[1] < found[1]), (0, 0))


def _by_exponent(last_side: bool, last_tie: bool) -> Callable[[Sequence[tuple[int, int]]], int]:
    """The lowest exponent within the component that the first, or the last, relation lowers."""

    def chosen(found: Sequence[tuple[int, int]]) -> int:
        side = found[-1 if last_side else 0][0]
        places = [n for n, (component, _) in enumerate(found) if component == side]
        return min(places[::-1] if last_tie else places, key=lambda n: found[n][1])

    return chosen


_RULES: dict[str, Callable[[Sequence[tuple[int, int]]], int]] = {
    "lowest exponent, first side, last of equals": _by_exponent(False, True),
    "lowest exponent, first side": _by_exponent(False, False),
    "lowest exponent": lambda found: min(range(len(found)), key=lambda n: found[n][1]),
    "first alternative": lambda found: 0,
    "lowest exponent, last side, last of equals": _by_exponent(True, True),
    "lowest exponent, last side": _by_exponent(True, False),
    "last alternative": lambda found: len(found) - 1,
}
"""From (component, exponent) of each relation to the number of one; in the order of being tried."""


def rules(
    graph: AndOrGraph, targets: Sequence[int], is_leaf: IsLeaf
) -> Iterator[tuple[str, list[int]]]:
    """Choices with the names of the rules that make them, the most promising first."""
    found = [
        [lowered(vertex, relation, graph.vertices) for relation in vertex.relations]
        if len(vertex.relations) > 1
        else []
        for vertex in graph.vertices
    ]
    for name, rule in _RULES.items():
        yield name, [rule(each) if each else 0 for each in found]
    yield "fewest new values", fewest_new(graph, targets, is_leaf)


def fewest_new(graph: AndOrGraph, targets: Sequence[int], is_leaf: IsLeaf) -> list[int]:
    """From the targets down, at each vertex the relation that needs the fewest values that are not
    needed yet, then the one with the fewest terms.
    """
    choice = [0] * len(graph.vertices)
    needed = set(targets)
    for number in range(len(graph.vertices) - 1, -1, -1):
        if number not in needed or is_leaf(number):
            continue
        reads = [
            [term.vertex for term in relation if term.vertex is not None]
            for relation in graph.vertices[number].relations
        ]
        new = [(sum(v not in needed for v in each), len(each)) for each in reads]
        choice[number] = min(range(len(new)), key=new.__getitem__)
        needed.update(reads[choice[number]])
    return choice


def search(
    start: Candidate,
    targets: Sequence[int],
    is_leaf: IsLeaf,
    steps: int,
    seed: int,
    fixed: Collection[int] = (),
) -> Candidate:
    """Change a few choices, or the place of a target, while that lowers or keeps the cost; `steps`
    statements are looked at in all.  The relations of the vertices in `fixed` stay.
    """
    chance = random.Random(seed)
    best, graph = start, start.closure.graph
    rule = f"{start.rule}, then searched"
    sequence = _sequence(best)
    vertices = free(best, fixed)
    while vertices and (steps := steps - len(best.closure.terms) - 1) > 0:
        choice, moved = list(best.choice), list(sequence)
        for _ in range(chance.choice((1, 1, 2, 4, 8))):
            if chance.random() < 0.3:
                target = moved.pop(chance.randrange(len(moved)))
                moved.insert(chance.randrange(len(moved) + 1), target)
            else:
                vertex = chance.choice(vertices)
                choice[vertex] = chance.randrange(len(graph.vertices[vertex].relations))
        closure = close(graph, choice, targets, is_leaf)
        operands = closure.operands()
        order = depth_first(ranked(operands, labels(operands)), _present(moved, closure))
        peak = pressure(order, operands).peak
        flops = closure.flops()
        if (peak, flops) <= best.cost:
            best = Candidate(choice, closure, order, rule, "searched", peak, flops)
            sequence = moved
            vertices = free(best, fixed)
    return best if best.cost < start.cost else start


def _sequence(found: Candidate) -> list[int]:
    """The targets in the order in which they are computed."""
    targets = set(found.closure.targets)
    return [vertex for vertex in found.order if vertex in targets]


def _present(sequence: Sequence[int], closure: Selection) -> list[int]:
    """The targets of a closure, those of a sequence first: which of two equal vertices stands for
    both depends on the choice.
    """
    targets = dict.fromkeys(closure.targets)
    return [*(t for t in sequence if t in targets), *(t for t in targets if t not in {*sequence})]


def free(found: Candidate, fixed: Collection[int]) -> list[int]:
    """The statements whose vertices have several relations, but for those in `fixed`."""
    vertices = found.closure.graph.vertices
    several = (vertex for vertex in found.closure.terms if len(vertices[vertex].relations) > 1)
    return [vertex for vertex in several if vertex not in fixed]
