"""Two adjacent nests: may they run as one, on which dims, with which shift, and if not, why.

For every two accesses that conflict, D is the set of pairs of iterations (x of the first nest, y
of the second) that meet in one cell.  Fusing on dims S keeps their order if D lies in x_S = y_S
(then any schedule of S is right), or in x_S <= y_S in lexicographic order (then running in order
is right); a shift s makes the second of x_S <= y_S + s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fusewright.analysis.affine import fixed
from fusewright.analysis.conflicts import Conflict, between, same_value, within
from fusewright.analysis.exact import NotProved, Solution, Solver
from fusewright.analysis.fast import Pair, Related, related
from fusewright.analysis.guards import illegal_when
from fusewright.analysis.matching import Chain, chain, outermost, same_bounds, subsets
from fusewright.analysis.ranges import known_ranges
from fusewright.analysis.reorder import keeps_order
from fusewright.analysis.unique import needed
from fusewright.analysis.unit import NOTHING, Access, Facts, Unit
from fusewright.analysis.verdict import Blocker, Hull, Level, Verdict

ZERO: Hull = (0, 0)
UNBOUNDED: Hull = (None, None)


def compare(a: Unit, b: Unit, facts: Facts = NOTHING) -> Verdict:
    """How `a` and `b`, adjacent and in this order, may be fused.

    >>> from fusewright.analysis.unit import Access, Dim
    >>> from fusewright.ir.dtypes import INT64
    >>> from fusewright.ir.expr import const, index, op, param
    >>> loop = (Dim(0, const(0, INT64), param(0, INT64), "i"),)
    >>> ahead = op("add", index(0), const(2, INT64))
    >>> first = Unit(loop, (Access("a", "write", (index(0),)),))
    >>> second = Unit(loop, (Access("a", "read", (ahead,)),))
    >>> verdict = compare(first, second)
    >>> verdict.level, verdict.distance, verdict.shift
    ('shift', ((-2, -2),), (2,))
    """
    verdict = _compare(a, b, facts)
    if verdict.parallel:
        return verdict

    def fused(more: frozenset[int]) -> int:
        known = replace(facts, unique=facts.unique | more, witnesses=False)
        return len(_compare(a, b, known).fused)

    return replace(verdict, unique=needed(fused, len(verdict.fused), facts, a, b))


def independent(a: Unit, b: Unit, facts: Facts = NOTHING) -> bool:
    """Whether `a` may be moved past `b`: nothing either does depends on the other."""
    return _compare(a, b, replace(facts, witnesses=False)).independent


def _compare(a: Unit, b: Unit, facts: Facts) -> Verdict:
    live = live_conflicts(a, b, facts)
    everywhere = _pairs(a, b)
    equal = everywhere
    for conflict, found in live:
        equal &= frozenset(p for p in everywhere if p in found.equal or _free(conflict, p))
    matched = chain(a, b, equal)
    if not live:
        return _disjoint(a, b, matched, facts)
    if _whole(a, b, matched, equal) and _movable(a, b, matched, facts):
        return _fast(a, b, matched, True)
    try:
        return _Exact(a, b, facts, live).verdict()
    except NotProved:
        return _unproved(a, b, matched, live)


def live_conflicts(a: Unit, b: Unit, facts: Facts) -> list[tuple[Conflict, Related]]:
    """The conflicts that the fast tier does not rule out, with what it proves of them."""
    known = known_ranges(facts)
    live: list[tuple[Conflict, Related]] = []
    for conflict in between(a, b, facts):
        found = related(conflict, known)
        if not (found.disjoint or _before_everything(conflict) or _covered(a, b, conflict)):
            live.append((conflict, found))
    return live


def _whole(a: Unit, b: Unit, matched: Chain, equal: frozenset[Pair]) -> bool:
    """Whether all matched dims are equal, and there are some where there are loops."""
    return all(pair in equal for pair in matched) and bool(matched or not (a.dims or b.dims))


def _pairs(a: Unit, b: Unit) -> frozenset[Pair]:
    return frozenset((x.number, y.number) for x in a.dims for y in b.dims)


def _before_everything(conflict: Conflict) -> bool:
    """What the first nest reads on entry precedes all of the second."""
    return not conflict.source_scope.dims and conflict.source.depth == 0


def _free(conflict: Conflict, pair: Pair) -> bool:
    """The earlier access happens on entry to the loop in question, before both bodies."""
    return pair[0] not in _own(conflict, source=True)


def _own(conflict: Conflict, source: bool) -> frozenset[int]:
    scope = conflict.source_scope if source else conflict.sink_scope
    return frozenset(dim.number for dim in scope.dims[: scope.unit_dims])


def _covered(a: Unit, b: Unit, conflict: Conflict) -> bool:
    """Whether a read only ever sees one value that its own iteration has stored before.

    All of A's writes to the array store the same value, at least one of them, without a condition,
    to the very cell; B does not write the array; and A has every iteration that B has.
    """
    read = conflict.sink
    if read.mode != "read" or conflict.kind != "RAW" or not all(map(fixed, read.indices)):
        return False
    writes = [w for w in a.accesses if w.root == read.root and w.mode != "read"]
    if any(w.root == read.root and w.mode != "read" for w in b.accesses) or not writes:
        return False
    if not all(same_value(w, writes[0]) and _one_cell(w, read) for w in writes):
        return False
    ranges = len(a.dims) == len(b.dims) and all(map(same_bounds, a.dims, b.dims))
    sure = any(not (w.guards or w.inner or w.depth is not None) for w in writes)
    return ranges and sure and not a.guards


def _one_cell(write: Access, read: Access) -> bool:
    return write.mode == "write" and write.indices == read.indices


def _movable(a: Unit, b: Unit, matched: Chain, facts: Facts) -> bool:
    def ordered(unit: Unit, numbers: tuple[int, ...]) -> bool:
        return keeps_order(unit, numbers, facts)

    return outermost(a, tuple(p for p, _ in matched), ordered) and outermost(
        b, tuple(q for _, q in matched), ordered
    )


def _bounds_agree(a: Unit, b: Unit, matched: Chain) -> bool:
    left, right = ({dim.number: dim for dim in unit.dims} for unit in (a, b))
    return all(same_bounds(left[p], right[q]) for p, q in matched)


def _fast(a: Unit, b: Unit, matched: Chain, dependent: bool) -> Verdict:
    whole = len(a.dims) == len(b.dims) == len(matched)
    level: Level = "disjoint" if not dependent else "same" if whole else "dims"
    hulls = (ZERO,) * len(matched)
    agree = _bounds_agree(a, b, matched)
    return Verdict(
        level, matched, matched, True, hulls, True, (0,) * len(matched), None, agree
    )  # fmt: skip


def _disjoint(a: Unit, b: Unit, matched: Chain, facts: Facts) -> Verdict:
    """Nothing in common: fused on the dims matched by bounds, or else on the outer ones."""
    if not _movable(a, b, matched, facts):
        matched = tuple((x.number, y.number) for x, y in zip(a.dims, b.dims, strict=False))
    return _fast(a, b, matched, False)


def _unproved(a: Unit, b: Unit, matched: Chain, live: list[tuple[Conflict, Related]]) -> Verdict:
    blockers = tuple(
        Blocker(c.kind, _array(c), c.source, c.sink, (), None, None, proved=False) for c, _ in live
    )
    agree = _bounds_agree(a, b, matched)
    return Verdict(
        None, matched, (), False, in_order=False, same_bounds=agree, blockers=blockers,
        tier="exact",
    )  # fmt: skip


def _array(conflict: Conflict) -> str:
    arrays = [a for a in (conflict.sink, conflict.source) if isinstance(a.root, int | str)]
    return (arrays or [conflict.source])[0].label


class _Exact:
    """One pair of nests on the exact tier."""

    def __init__(
        self, a: Unit, b: Unit, facts: Facts, live: Sequence[tuple[Conflict, Related]]
    ) -> None:
        self.a, self.b, self.facts = a, b, facts
        self.solver = Solver(facts)
        self.live = live
        self.reach: dict[tuple[int, Pair], Hull] = {}

    def verdict(self) -> Verdict:
        with self.solver.budget():
            found = [(self.solver.solve(conflict), known) for conflict, known in self.live]
            self.found = [(solution, known) for solution, known in found if solution.possible]
            equal = frozenset(
                pair
                for pair in _pairs(self.a, self.b)
                if all(self._hull(k, pair) == ZERO for k in range(len(self.found)))
            )
        self.matched = matched = chain(self.a, self.b, equal)
        fused = self._allowed(tuple(pair for pair in matched if pair in equal))
        if not self.found:
            return replace(_disjoint(self.a, self.b, matched, self.facts), tier="exact")
        if fused == matched and _whole(self.a, self.b, matched, equal):
            return replace(_fast(self.a, self.b, matched, True), tier="exact")
        shared = matched if self._moves(matched) else fused
        with self.solver.budget():
            hulls = self._hulls(matched)
        shiftable = tuple(
            pair for k, pair in enumerate(matched) if all(hull[k][0] is not None for hull in hulls)
        )
        shifted = self._allowed(tuple(pair for pair in shiftable if pair in shared))
        with self.solver.budget():
            return self._partial(matched, shared, fused, shifted)

    def _moves(self, pairs: Chain) -> bool:
        return _movable(self.a, self.b, pairs, self.facts)

    def _allowed(self, pairs: Chain) -> Chain:
        return next(part for part in subsets(pairs) if self._moves(part))

    def _hull(self, number: int, pair: Pair) -> Hull:
        solution, known = self.found[number]
        if _free(solution.conflict, pair) or pair in known.equal:
            return ZERO
        if pair[1] not in _own(solution.conflict, source=False):
            return UNBOUNDED
        if (number, pair) not in self.reach:
            self.reach[number, pair] = solution.hull(pair)
        return self.reach[number, pair]

    def _hulls(self, pairs: Chain) -> list[tuple[Hull, ...]]:
        return [tuple(self._hull(k, p) for p in pairs) for k in range(len(self.found))]

    def _partial(self, matched: Chain, shared: Chain, fused: Chain, shifted: Chain) -> Verdict:
        """`shared`: the dims that may be outermost in both; `shifted`: with a constant shift."""
        hulls = self._hulls(matched)
        blockers = tuple(
            self._blocker(solution, hull, matched)
            for (solution, _), hull in zip(self.found, hulls, strict=True)
            if not hull or any(part != ZERO for part in hull)
        )
        whole = tuple(_union([hull[k] for hull in hulls]) for k in range(len(matched)))
        shift = tuple(
            max(0, -low) if pair in shifted and low is not None else None
            for pair, (low, _) in zip(matched, whole, strict=True)
        )
        level: Level | None = "dims" if fused else "shift" if shifted else None
        in_order = shared == matched and all(map(self._in_order, range(len(hulls)), hulls))
        return Verdict(
            level, matched, fused, False, whole, in_order, shift if shifted else None,
            self._overlap(whole), _bounds_agree(self.a, self.b, matched), blockers, tier="exact",
            pinned=shared != matched,
        )  # fmt: skip

    def _in_order(self, number: int, hull: tuple[Hull, ...]) -> bool:
        if all(low is not None and low >= 0 for low, _ in hull):
            return True
        solution = self.found[number][0]
        own = _own(solution.conflict, source=False)
        if any(q not in own for _, q in self.matched):
            return False
        return not solution.backward(self._present(solution, self.matched)).possible

    def _present(self, solution: Solution, matched: Chain) -> Chain:
        return tuple(pair for pair in matched if not _free(solution.conflict, pair))

    def _blocker(self, solution: Solution, hull: tuple[Hull, ...], matched: Chain) -> Blocker:
        conflict, bad = solution.conflict, apart_on(solution, matched)
        witness = bad.witness() if self.facts.witnesses else None
        illegal = illegal_when([bad], self.solver, self.facts) if self.facts.witnesses else None
        return Blocker(
            conflict.kind, _array(conflict), conflict.source, conflict.sink, hull, witness, illegal
        )

    def _overlap(self, whole: tuple[Hull, ...]) -> tuple[Hull, ...] | None:
        """Tiles may recompute the first nest's iterations if that has no effect but its stores, the
        second nest only reads them, and the reach is bounded.
        """
        if any(low is None or high is None for low, high in whole):
            return None
        only_reads = all(
            solution.conflict.kind == "RAW" and solution.conflict.sink.mode == "read"
            for solution, _ in self.found
        )
        pure = not (self.a.effects or self.a.carried) and all(
            access.mode != "update" for access in self.a.accesses
        )
        if not (only_reads and pure) or (any(within(self.a, self.facts)) and self._carried()):
            return None
        return whole

    def _carried(self) -> bool:
        """Whether the first nest's own iterations depend on one another, or overwrite their
        input.
        """
        read = {access.root for access in self.a.accesses if access.mode == "read"}
        if any(w.root in read for w in self.a.accesses if w.mode != "read"):
            return True
        numbers = [dim.number for dim in self.a.dims]
        return any(
            not all((k, k) in related(conflict, self.solver.known).equal for k in numbers)
            for conflict in within(self.a, self.facts)
        )


def apart_on(solution: Solution, matched: Chain) -> Solution:
    """The part of a conflict that fusing on all these dims would reorder."""
    own = _own(solution.conflict, source=False)
    pairs = [p for p in matched if p[1] in own and not _free(solution.conflict, p)]
    return solution.differing(pairs) if len(pairs) == len(matched) else solution


def _union(hulls: list[Hull]) -> Hull:
    lows, highs = zip(*hulls, strict=True) if hulls else ((0,), (0,))
    low = None if None in lows else min(x for x in lows if x is not None)
    high = None if None in highs else max(x for x in highs if x is not None)
    return (low, high)
