"""What targets demand: every value that any choice of alternatives may need, as an AND-OR graph.

Terms whose coefficient or whose value is identically zero disappear here, and with them what only
they need: a graph of four centres with some coefficients 0 is that of three centres.  A value is
zero if one of its alternatives has no terms left, since all of them have the same value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fusewright.base import collector
from fusewright.base.errors import RecurrenceEndError, RecurrenceError, RecurrenceMapError
from fusewright.base.meant import did_you_mean
from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.frontends.recurrences.coefficients import Coefficients, is_finite
from fusewright.frontends.recurrences.families import (
    FAMILIES,
    Accumulate,
    AnyFamily,
    Family,
    Index,
    LinearMap,
)
from fusewright.frontends.recurrences.refusals import Key, cycle, line_of, spelled, too_large
from fusewright.ir.recurrences.graph import AndOrGraph, Relation, Vertex, Weighted
from fusewright.ir.recurrences.phases import SUM

MOST_VALUES = 10**6
"""Values of one graph; more than a million statements are no straight-line code."""
COUNTED_FROM = 20_000
"""Values on the way to one target from which on its values are counted beforehand: counting is an
eighth of the work, so that what grows without end is refused in a second or two.
"""

Drafted = list[tuple[float, tuple[int, ...], Key]]
"""The terms of one alternative."""


def demanded(
    targets: Iterable[tuple[Any, Any]],
    families: AnyFamily | Iterable[AnyFamily],
    scalars: Iterable[str] | Mapping[str, float | None],
) -> AndOrGraph:
    """The graph of the targets, each a pair of a family and an index.

    A scalar to which `scalars` gives a number is that number.  Raises `RecurrenceError`, or one
    of its subclasses, for every input that makes no sense.
    """
    for what, given in (("targets", targets), ("families", families), ("scalars", scalars)):
        if not isinstance(given, Iterable) and not isinstance(given, FAMILIES):
            raise RecurrenceError(f"{what} are {given!r}, not a sequence")
    demand = _Demand(_by_name(families), Coefficients(scalars))
    with collector.paused():
        found = [demand.target(target) for target in targets]
    return demand.graph(tuple(found))


def _by_name(families: AnyFamily | Iterable[AnyFamily]) -> dict[str, AnyFamily]:
    found: dict[str, AnyFamily] = {}
    for family in (families,) if isinstance(families, FAMILIES) else families:
        if not isinstance(family, FAMILIES):
            raise RecurrenceError(
                f"{family!r} is no family", help="pass Family, LinearMap and Accumulate objects"
            )
        if found.setdefault(family.name, family) is not family:
            raise RecurrenceError(f"two families are named `{family.name}`")
    return found


@dataclass(slots=True)
class _Draft:
    """A value whose terms are known, and not yet all of their values."""

    key: Key
    family: AnyFamily
    alternatives: list[Drafted]
    pending: Iterator[Key]


class _Demand:
    def __init__(self, families: dict[str, AnyFamily], coefficients: Coefficients) -> None:
        self.families, self.coefficients = families, coefficients
        self.leaves: dict[str, int] = {}
        self.numbers: dict[Key, int] = {}
        self.vertices: list[Vertex] = []
        self.zeros: set[int] = set()
        self.above_sums: set[int] = set()
        self.axis = ""

    def graph(self, targets: tuple[int, ...]) -> AndOrGraph:
        mapped = frozenset(n for n, f in self.families.items() if isinstance(f, LinearMap))
        return AndOrGraph(
            tuple(self.coefficients.scalars),
            tuple(self.leaves),
            tuple(self.vertices),
            targets,
            self.axis,
            mapped,
        )

    def target(self, target: Any) -> int:
        """The number of a target, when all that it needs is there."""
        if not isinstance(target, tuple | list) or len(target) != 2:
            raise RecurrenceError(f"a target is (family, index), not {target!r}")
        key = self.key(target[0], target[1])
        if key not in self.numbers:
            self.close(key)
        return self.numbers[key]

    def close(self, target: Key) -> None:
        """Depth first: a vertex is numbered when all that its alternatives read are numbered."""
        path: dict[Key, _Draft] = {}
        self.open(target, path)
        while path:
            draft = next(reversed(path.values()))
            child = next((key for key in draft.pending if key not in self.numbers), None)
            if child is None:
                self.finish(draft)
                path.popitem()
            elif child in path:
                raise cycle([*list(path)[list(path).index(child) :], child], self.line(draft.key))
            else:
                self.open(child, path)
            if len(path) == COUNTED_FROM or len(self.numbers) + len(path) > MOST_VALUES:
                self.count(target, path)

    def count(self, target: Key, path: Iterable[Key]) -> None:
        """Refuse a target that needs too many values, without finishing them."""
        left, seen, stack = MOST_VALUES - len(self.numbers), {target}, [target]
        while stack:
            key = stack.pop()
            family = self.families[key[0]]
            is_wrong = isinstance(family, Family) and len(key[1]) != len(family.index)
            if is_wrong or (isinstance(family, Family) and family.leaf(*key[1]) is not None):
                continue  # what is wrong is told when it is opened
            for alternative in self.written(key, family):
                for _, _, child in self.terms(key, alternative):
                    if child not in seen and child not in self.numbers:
                        seen.add(child)
                        stack.append(child)
            if len(seen) > left:
                raise too_large(target, list(path), MOST_VALUES)

    def open(self, key: Key, path: dict[Key, _Draft]) -> None:
        """Put a value on the path; leaves are finished at once."""
        family, index = self.families[key[0]], key[1]
        if isinstance(family, Family):
            if len(index) != len(family.index):
                raise RecurrenceError(
                    f"`{spelled(key)}` has {_count(index)}, and `{family.name}` has "
                    f"{_count(family.index)}: {', '.join(family.index)}",
                    line_of(family.alternatives),
                )
            leaf = family.leaf(*index)
            if leaf is not None:
                self.add_leaf(key, leaf, family)
                return
        alternatives = [list(self.terms(key, a)) for a in self.written(key, family)]
        keys = (term[2] for alternative in alternatives for term in alternative)
        path[key] = _Draft(key, family, alternatives, keys)

    def add_leaf(self, key: Key, leaf: str | float, family: Family) -> None:
        if isinstance(leaf, str):
            if leaf in self.coefficients.scalars:
                raise RecurrenceError(
                    f"the leaf `{spelled(key)}` is named `{leaf}`, and so is a scalar",
                    line_of(family.leaf),
                    help="rows of input have different names",
                )
            if not leaf or any(c.isspace() for c in leaf) or leaf.startswith(SUM):
                raise RecurrenceError(
                    f"the leaf `{spelled(key)}` has the name {leaf!r}",
                    line_of(family.leaf),
                    why=f"a name has no spaces, and `{SUM}` is how sums are named",
                )
            number = self.leaves.setdefault(leaf, len(self.leaves))
            self.add(key, Vertex(key[0], key[1], leaf=number))
            return
        if not is_finite(leaf):
            raise RecurrenceError(
                f"the leaf `{spelled(key)}` is {leaf!r}: a leaf is a name or a finite number",
                line_of(family.leaf),
            )
        constant = (Weighted(float(leaf), (), None),) if leaf else ()
        self.add(key, Vertex(key[0], key[1], relations=(constant,)))

    def written(self, key: Key, family: AnyFamily) -> list[Any]:
        """The alternatives of a value as their family gives them."""
        if isinstance(family, LinearMap):
            return [_mapped(key, family)]
        if isinstance(family, Accumulate):
            if self.axis not in ("", family.over):
                raise RecurrenceError(
                    f"`{spelled(key)}` is summed over `{family.over}`, and others over "
                    f"`{self.axis}`",
                    help="one graph sums along one axis: make a graph for each",
                )
            self.axis = family.over
            return [[(1.0, family.of, key[1])]]
        given = family.alternatives(*key[1])
        found = list(given) if isinstance(given, Iterable) else []
        if not found:
            raise RecurrenceEndError(
                f"`{spelled(key)}` is no leaf and has no alternative",
                line_of(family.alternatives),
                why="every value must come down to leaves",
                help=f"let `leaf` of `{key[0]}` name it, or give it a relation",
            )
        return found

    def terms(self, key: Key, alternative: Any) -> Iterator[tuple[float, tuple[int, ...], Key]]:
        """The terms of one alternative whose coefficients are not zero."""
        if not isinstance(alternative, Iterable):
            raise self.no_term(key, alternative)
        relation = getattr(self.families[key[0]], "alternatives", None)
        for term in alternative:
            if not isinstance(term, tuple | list) or len(term) != 3:
                raise self.no_term(key, term)
            coefficient, family, index = term
            factor, scalars = self.coefficients.factor(coefficient, key, relation)
            if factor != 0.0:
                yield factor, scalars, self.key(family, index, key)

    def no_term(self, key: Key, term: Any) -> RecurrenceError:
        return RecurrenceError(
            f"`{spelled(key)}` has the term {term!r}",
            self.line(key),
            why="alternatives are lists of terms, and a term is (coefficient, family, index)",
        )

    def line(self, key: Key | None) -> Span | None:
        """That of the function which gives the value's terms; None for a target."""
        if key is None:
            return None
        return line_of(getattr(self.families.get(key[0]), "alternatives", None))

    def key(self, family: Any, index: Any, reader: Key | None = None) -> Key:
        """What a term of a reader, or a target, names."""
        name: Any = family if isinstance(family, str) else getattr(family, "name", None)
        known = self.families.get(name) if isinstance(name, str) else None
        if known is None or (known is not family and known.name != family):
            what = repr(family) if name is None else f"`{name}`"
            raise RecurrenceError(
                f"{_reader(reader)} names the family {what}, which is not among those given",
                self.line(reader),
                help=_meant(str(name), self.families),
            )
        index = index if isinstance(index, tuple) else (index,)
        if not _is_index(index):
            raise RecurrenceError(
                f"{_reader(reader)} reads `{name}` at {index!r}",
                self.line(reader),
                why="the components of an index are integers, strings and tuples of them",
            )
        return name, index

    def finish(self, draft: _Draft) -> None:
        """Number a value whose terms are all numbered."""
        relations = [self.relation(alternative) for alternative in draft.alternatives]
        summed = isinstance(draft.family, Accumulate)
        if not all(relations):
            relations = [()]
        reads = {term.vertex for relation in relations for term in relation}
        if summed and reads & self.above_sums:
            raise RecurrenceError(f"`{spelled(draft.key)}` is a sum of sums: one graph sums once")
        number = self.add(
            draft.key,
            Vertex(
                draft.key[0],
                draft.key[1],
                relations=tuple(dict.fromkeys(relations)),
                summed=summed and bool(reads),
            ),
        )
        if summed or reads & self.above_sums:
            self.above_sums.add(number)

    def relation(self, alternative: Drafted) -> Relation:
        terms = (Weighted(f, scalars, self.numbers[key]) for f, scalars, key in alternative)
        return tuple(term for term in terms if term.vertex not in self.zeros)

    def add(self, key: Key, vertex: Vertex) -> int:
        number = self.numbers[key] = len(self.vertices)
        self.vertices.append(vertex)
        if vertex.relations == ((),):
            self.zeros.add(number)
        return number


def _mapped(key: Key, family: LinearMap) -> list[tuple[float, Any, Index]]:
    """One row of a linear map."""
    index, axis, rows = key[1], family.axis, family.matrix.shape[0]
    if not -len(index) <= axis < len(index):
        raise RecurrenceMapError(
            f"`{spelled(key)}` has {_count(index)}, and its map is along axis {axis}"
        )
    axis %= len(index)
    row: Any = index[axis]
    if row not in range(rows):
        raise RecurrenceMapError(
            f"`{spelled(key)}` is row {row!r} of a matrix with {rows} rows",
            help="rows are numbered from 0",
        )
    before, after = index[:axis], index[axis + 1 :]
    return [
        (entry, family.of, (*before, column, *after))
        for entry, column in zip(family.matrix[row].tolist(), family.columns, strict=True)
    ]


def _meant(name: str, families: Mapping[str, AnyFamily]) -> str:
    if name in families:
        return "another one of this name is: name the same object in both places"
    return did_you_mean(name, families) or "add it to `families`"


def _reader(key: Key | None) -> str:
    return "a target" if key is None else f"`{spelled(key)}`"


def _count(parts: Sequence[Any]) -> str:
    return f"{len(parts)} component{'' if len(parts) == 1 else 's'}"


def _is_index(value: Any) -> bool:
    """Whether it is an integer, a string, or a tuple of such."""
    if isinstance(value, tuple):
        return all(type(each) is int or _is_index(each) for each in value)
    return isinstance(value, int | np.integer | str)
