"""For which parameters two nests may run as one loop, as a test that code can make at each call.

    for i in [0, n): a[i] = ...
    for i in [0, n): b[i] = a[i + k]        right as one loop where k = 0 or k >= n

The answer is the complement of the parameters for which two different iterations meet.  A part of
it will do: pieces that need divisions, too many tests, or loops of few iterations are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from fusewright.analysis.conflicts import Conflict
from fusewright.analysis.exact import NotProved, Solution, Solver, parameter_set
from fusewright.analysis.fast import difference
from fusewright.analysis.formula import Formula, Shared
from fusewright.analysis.guards import condition_of
from fusewright.analysis.pairs import apart_on, live_conflicts
from fusewright.analysis.ranges import loop_ranges
from fusewright.analysis.unit import Dim, Facts, Scope, Unit
from fusewright.analysis.verdict import Condition
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, op, postorder

LONG = 64
"""Iterations of some loop without which fusing is not worth a second form of the code."""
MOST_TESTS = 8
"""Comparisons of a condition, at most."""
COMPLEX = "the condition is too complex"


def legal_when(a: Unit, b: Unit, facts: Facts) -> Condition | None:
    """When `a` and `b`, adjacent and with loops in pairs, meet only in one iteration of all loops.

    `holds` is None where that cannot be tested; the answer is None where it depends on nothing but
    how short the loops are.
    """
    if len(a.dims) != len(b.dims):
        return None
    pairs = tuple((x.number, y.number) for x, y in zip(a.dims, b.dims, strict=True))
    live = [c for c, found in live_conflicts(a, b, facts) if not found.equal.issuperset(pairs)]
    if not live or not all(map(_may_depend, live)):
        return None
    solver = Solver(facts)
    try:
        with solver.budget():
            bad = [apart_on(solver.solve(plain), pairs) for plain in map(_not_wrapped, live)]
            bad += [solver.solve(below) for conflict in live for below in _below(conflict)]
            return _legal([each for each in bad if each.possible], solver, (a, b), facts)
    except NotProved:
        return None


def are_possible(conditions: Sequence[Expr], facts: Facts) -> bool:
    """Whether parameters exist for which all the conditions hold."""
    solver = Solver(facts)
    try:
        with solver.budget():
            shared = Shared(solver.params)
            side = Formula(solver.known, "x", {}, shared)
            texts = [side.condition(each) for each in conditions]
            return not parameter_set(solver, texts, shared).is_empty()
    except NotProved:
        return False


def _may_depend(conflict: Conflict) -> bool:
    """Whether an index has a parameter in it, or is more than a sum: `a[i]` and `a[i + 1]` meet
    whatever the parameters are.
    """
    for row in conflict.rows:
        total = difference(row)
        if total is None or any(isinstance(key, Expr) and count for key, count in total.items()):
            return True
    return False


def _unwrapped(index: Expr) -> Expr | None:
    """`where(i < 0, i + n, i)` counts from the end where i is negative: the i; else None."""
    if index.name != "where" or index.args[0].name != "less":
        return None
    counted, zero = index.args[0].args
    plain = index.args[2]
    return plain if counted is plain and zero.name == "const" and not zero.attr else None


def _not_wrapped(conflict: Conflict) -> Conflict:
    """The conflict as it is where no index counts from the end."""
    rows = (
        replace(
            row,
            left=_unwrapped(row.left) or row.left,
            right=_unwrapped(row.right) or row.right,
        )
        for row in conflict.rows
    )
    return replace(conflict, rows=tuple(rows))


def _below(conflict: Conflict) -> Iterator[Conflict]:
    """The iterations whose indices do."""
    for row in conflict.rows:
        for side, access, around in (
            (row.left, conflict.source, conflict.source_scope),
            (row.right, conflict.sink, conflict.sink_scope),
        ):
            plain = _unwrapped(side)
            if plain is not None:
                negative = op("less", plain, const(0, plain.dtype))
                inside = replace(around, guards=(*around.guards, negative))
                yield replace(
                    conflict, source=access, sink=access, source_scope=inside,
                    sink_scope=Scope(()), rows=(),
                )  # fmt: skip


def worth(unit: Unit) -> Expr:
    """Whether the nest has loops of some length."""
    long = (_trips(dim, LONG) for dim in unit.dims)
    return reduce(lambda x, y: op("logical_or", x, y), long)


def _trips(dim: Dim, count: int) -> Expr:
    return op("greater_equal", linear.minus(dim.high, dim.low), const(count, INT64))


def _legal(
    bad: Sequence[Solution], solver: Solver, nests: tuple[Unit, Unit], facts: Facts
) -> Condition | None:
    shared = Shared(solver.params)
    dims = [dim for unit in nests for dim in unit.dims]
    side = Formula(solver.known, "x", loop_ranges(nests[0].dims, solver.known), shared)
    known = [*(side.condition(_trips(dim, 1)) for dim in dims)]
    known += map(side.condition, facts.assumed)
    context = parameter_set(solver, known, shared)
    legal = parameter_set(solver, [*known, *(side.condition(worth(u)) for u in nests)], shared)
    for part in bad:
        legal = legal.subtract(part.set.params())
    if legal.is_empty():
        return None
    useful, numbered = legal, {name: expr for expr, name in solver.params.items()}
    legal = reduce(lambda x, y: x.subtract(y.set.params()), bad, context)
    pieces = list(_simple(legal.coalesce(), context, useful, numbered))
    if not pieces:
        return Condition(COMPLEX, None)
    return condition_of(reduce(lambda x, y: x.union(y), pieces).coalesce(), numbered, facts)


def _simple(legal: Any, context: Any, useful: Any, numbered: dict[str, Expr]) -> Iterator[Any]:
    """Pieces of the set that are worth a test and easily tested, the simplest first."""
    hidden = [name for name, expr in numbered.items() if not _is_testable(expr)]
    pieces = []
    for piece in legal.get_basic_sets():
        if useful.intersect(piece.to_set()).is_empty():
            continue
        for part in piece.to_set().gist(context).get_basic_sets():
            whole = part.to_set()
            places = [whole.find_dim_by_name(_kind("param"), name) for name in hidden]
            uses = any(k >= 0 and part.involves_dims(_kind("param"), k, 1) for k in places)
            if not part.dim(_kind("div")) and not uses:
                pieces.append(part)
    left = MOST_TESTS
    for part in sorted(pieces, key=lambda each: int(each.n_constraint())):
        left -= part.n_constraint()
        if left >= 0:
            yield part.to_set()


def _kind(name: str) -> Any:
    import islpy

    return getattr(islpy.dim_type, name)


def _is_testable(expr: Expr) -> bool:
    """Whether a value is known when the kernel starts: the kernel's own parameters have plain
    numbers.
    """
    return all(
        node.name != "load" and not (node.name == "param" and not isinstance(node.attr, int))
        for node in postorder([expr])
    )
