"""One nest: which of its loops carry a value from one iteration to another, and which only reduce.

A loop carries a conflict if two of its iterations meet in a cell while the loops further out stand
still.  A loop without one may run in parallel; one with only updates by one operation reduces.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import field, replace

from fusewright.analysis.conflicts import Conflict, kind_of, within
from fusewright.analysis.exact import NotProved, Solution, Solver
from fusewright.analysis.fast import related
from fusewright.analysis.guards import illegal_when
from fusewright.analysis.ranges import known_ranges
from fusewright.analysis.unique import needed
from fusewright.analysis.unit import NOTHING, Access, Facts, Unit
from fusewright.analysis.verdict import Carry, Hull, Order, Reduction
from fusewright.base.values import dataclass


@dataclass(slots=True)
class _Found:
    """What has been collected: carries, colliding updates, and dims in which iterations meet."""

    carries: list[Carry] = field(default_factory=list)
    carried_roots: set[tuple[Hashable, int]] = field(default_factory=set)
    meeting: set[int] = field(default_factory=set)
    updates: defaultdict[tuple[Hashable, str], set[int]] = field(
        default_factory=lambda: defaultdict(set)
    )
    members: defaultdict[tuple[Hashable, str], list[Access]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def add(self, other: _Found) -> None:
        """Take over what another one has collected."""
        self.carries += other.carries
        self.carried_roots |= other.carried_roots
        self.meeting |= other.meeting
        for key, dims in other.updates.items():
            self.updates[key] |= dims
        for key, members in other.members.items():
            fresh = [m for m in members if not any(m is old for old in self.members[key])]
            self.members[key] += fresh


@dataclass(frozen=True, slots=True)
class _Open:
    """A conflict the fast tier leaves: the dims it may be carried by, those it may differ in."""

    conflict: Conflict
    common: tuple[int, ...]
    levels: tuple[int, ...]
    meeting: tuple[int, ...]


def order(unit: Unit, facts: Facts = NOTHING) -> Order:
    """What the nest needs of the order of its iterations.

    >>> from fusewright.analysis.unit import Access, Dim
    >>> from fusewright.ir.dtypes import INT64
    >>> from fusewright.ir.expr import const, index, param
    >>> rows, columns = (Dim(k, const(0, INT64), param(k, INT64)) for k in (0, 1))
    >>> sums = Unit((rows, columns), (Access("s", "update", (index(0),), op="add"),))
    >>> found = order(sums)
    >>> found.parallel, found.reduced, found.reductions[0].op
    ((0,), (1,), 'add')
    """
    known = known_ranges(facts)
    solver = Solver(facts)
    numbers = [dim.number for dim in unit.dims]
    rest = [_fast(conflict, numbers, known) for conflict in within(unit, facts)]
    rest = [part for part in rest if part.levels or part.meeting]
    found = _Found()
    if rest:
        try:
            with solver.budget():
                for part in rest:
                    _exact(solver, part, found)
        except NotProved:
            found = _one_by_one(solver, rest)
    return _summary(unit, found)


def tables_needed(unit: Unit, dim: int, facts: Facts) -> tuple[str, ...]:
    """Tables of indices; were each without repeated values, this dim would carry nothing."""

    def free(more: frozenset[int]) -> int:
        known = replace(facts, unique=facts.unique | more, witnesses=False)
        return all(carry.dim != dim for carry in order(unit, known).carries)

    return needed(free, 0, facts, unit)


def _one_by_one(solver: Solver, rest: list[_Open]) -> _Found:
    """Each conflict within its share of the budget, so that a hard one spoils no other."""
    found = _Found()
    for part in rest:
        mine = _Found()
        try:
            with solver.budget(len(rest)):
                _exact(solver, part, mine)
        except NotProved:
            mine = _Found()
            _unproved(part, mine)
        found.add(mine)
    return found


def _fast(conflict: Conflict, numbers: list[int], known: dict[object, tuple[int, int]]) -> _Open:
    """What is left after the fast tier."""
    sink = {dim.number for dim in conflict.sink_scope.dims}
    common = tuple(dim.number for dim in conflict.source_scope.dims if dim.number in sink)
    free = related(conflict, known)
    if free.disjoint:
        return _Open(conflict, common, (), ())
    levels = []
    for k, number in enumerate(common):
        if (number, number) in free.equal:
            continue
        given = related(conflict, known, [(outer, outer) for outer in common[:k]])
        if not given.disjoint and (number, number) not in given.equal:
            levels.append(number)
    meeting = tuple(number for number in numbers if (number, number) not in free.equal)
    return _Open(conflict, common, tuple(levels), meeting)


def _exact(solver: Solver, rest: _Open, found: _Found) -> None:
    conflict = rest.conflict
    solution = solver.solve(conflict)
    if not solution.possible:
        return
    for number in rest.meeting:
        if number not in rest.common or solution.where(f"x{number} != y{number}").possible:
            found.meeting.add(number)
    for number in rest.levels:
        outer = rest.common[: rest.common.index(number)]
        same = "".join(f"x{k} = y{k} and " for k in outer)
        forward = solution.where(f"{same}x{number} < y{number}")
        backward = solution.where(f"{same}x{number} > y{number}")
        if conflict.commutes:
            if forward.possible or backward.possible:
                _note_update(conflict, number, found)
            continue
        if forward.possible:
            _note(solver, forward, number, False, found)
        if conflict.source is not conflict.sink and backward.possible:
            _note(solver, backward, number, True, found)


def _note_update(conflict: Conflict, number: int, found: _Found) -> None:
    key = (conflict.source.root, conflict.source.op)
    found.updates[key].add(number)
    for access in (conflict.source, conflict.sink):
        if not any(access is member for member in found.members[key]):
            found.members[key].append(access)


def _note(solver: Solver, part: Solution, number: int, turned: bool, found: _Found) -> None:
    """A carried conflict; turned: the later access's iteration comes first."""
    conflict = part.conflict
    source, sink = conflict.source, conflict.sink
    hull = part.hull((number, number))
    witness = part.witness() if solver.facts.witnesses else None
    if turned:
        source, sink = sink, source
        hull = _negated(hull)
        witness = witness and replace(witness, source=witness.sink, sink=witness.source)
    illegal = illegal_when([part], solver, solver.facts) if solver.facts.witnesses else None
    array = sink if isinstance(sink.root, int | str) else source
    found.carries.append(
        Carry(number, kind_of(source, sink), array.label, source, sink, hull, witness, illegal)
    )
    found.carried_roots.add((source.root, number))


def _negated(hull: Hull) -> Hull:
    low, high = hull
    return (None if high is None else -high, None if low is None else -low)


def _unproved(rest: _Open, found: _Found) -> None:
    source, sink = rest.conflict.source, rest.conflict.sink
    found.meeting |= set(rest.meeting)
    for number in rest.levels:
        found.carries.append(
            Carry(
                number, rest.conflict.kind, sink.label, source, sink, (1, None), None, None, False
            )
        )
        found.carried_roots.add((source.root, number))


def _summary(unit: Unit, found: _Found) -> Order:
    carried = {carry.dim for carry in found.carries}
    reductions = tuple(
        Reduction(
            found.members[key][0].label, key[1], tuple(sorted(dims)),
            all(access.exact for access in found.members[key]), tuple(found.members[key]),
        )
        for key, dims in found.updates.items()
        if not any((key[0], number) in found.carried_roots for number in dims)
    )  # fmt: skip
    reduced = {number for dims in found.updates.values() for number in dims} - carried
    every = dict.fromkeys(dim.number for dim in unit.dims)
    every.update(dict.fromkeys(d.number for a in unit.accesses for d in a.inner))
    return Order(
        tuple(number for number in every if number not in carried | reduced),
        tuple(dim.number for dim in unit.dims if dim.number not in found.meeting),
        tuple(number for number in every if number in reduced),
        tuple(found.carries),
        reductions,
    )
