"""The exact tier: integer sets (isl) of all pairs of iterations that meet in one cell.

A conflict becomes one set `[params] -> { [x.., y..] : ... }`, the dims of the earlier access and
of the later one; every question is then whether a part of it is empty, or how far it reaches.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fusewright.analysis.conflicts import Conflict, Row
from fusewright.analysis.fast import Pair
from fusewright.analysis.formula import Formula, Shared
from fusewright.analysis.monotone import grows
from fusewright.analysis.ranges import known_ranges, loop_ranges
from fusewright.analysis.unit import Dim, Facts, Scope
from fusewright.analysis.verdict import Hull, Witness
from fusewright.ir.expr import Expr

if TYPE_CHECKING:
    import islpy


SMALL = 100
"""Parameters of an example are at most this far from 0, where that is possible."""


class NotProved(Exception):
    """The question needs more operations than it may have, or isl gave up: nothing is proved."""


_local = threading.local()


def _isl() -> Any:
    """The library, at its first use: it takes 70 ms to import, more than a first call of a kernel
    may cost, and most pairs are decided without it.
    """
    import islpy

    return islpy


def _context() -> Any:
    """A context of this thread's own: isl's are not to be shared."""
    if not hasattr(_local, "context"):
        _local.context = _isl().Context()
        _local.kept = {}
        texts = ("{ [x] : x >= 3 }", "{ [x] : x <= 2 }")
        _local.probes = [_isl().BasicSet.read_from_str(_local.context, text) for text in texts]
    return _local.context


KEPT = 1024
"""Sets remembered by their text: parsing is most of the work, and pairs of nests are alike."""


def _parsed(text: str) -> islpy.Set:
    context = _context()
    kept: dict[str, Any] = _local.kept
    if text not in kept:
        if len(kept) >= KEPT:
            kept.clear()
        kept[text] = _isl().Set.read_from_str(context, text)
    found: islpy.Set = kept[text]
    return found


def _exhausted() -> bool:
    """Whether the operations are used up.  A test for emptiness may then answer anything: isl's
    error value for booleans is not zero, and not every call of islpy looks at it.
    """
    isl = _isl()
    low, high = _local.probes
    try:
        low.intersect(high)
    except isl.Error:
        return True
    return False


def forget() -> None:
    """Drop what is remembered (to measure a first question)."""
    if hasattr(_local, "kept"):
        _local.kept.clear()


class Solver:
    """Answers questions about conflicts of one pair of nests, within one budget."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.known = known_ranges(facts)
        self.params: dict[Expr, str] = {}

    @contextmanager
    def budget(self, share: int = 1) -> Iterator[None]:
        """Operations inside the block count, up to the budget's `share`-th part; if they do not
        suffice, all that was found in the block is void and `NotProved` is raised.
        """
        isl, context = _isl(), _context()
        context.reset_operations()
        context.set_max_operations(max(self.facts.budget // share, 1))
        try:
            yield
            if _exhausted():
                raise NotProved
        except (isl.Error, TypeError) as error:
            # out of operations, isl reports whatever it was doing, even as a syntax error
            if isinstance(error, isl.Error) or _exhausted():
                raise NotProved from error
            raise
        finally:
            if _exhausted():
                forget()
            context.reset_operations()
            context.set_max_operations(0)

    def solve(self, conflict: Conflict) -> Solution:
        """The set of a conflict."""
        shared = Shared(self.params)
        text = self.text(conflict, shared)
        certain = shared.exact and not conflict.unknown
        return Solution(self, conflict, _parsed(text), certain)

    def text(self, conflict: Conflict, shared: Shared) -> str:
        """The same as text; it shows the whole question."""
        left = self._side("x", conflict.source_scope, shared)
        right = self._side("y", conflict.sink_scope, shared)
        parts = [*_domain(left, conflict.source_scope), *_domain(right, conflict.sink_scope)]
        parts += [self._row(row, left, right) for row in conflict.rows]
        parts += [left.condition(assumed) for assumed in self.facts.assumed]
        parts += [*shared.said, *self.ranges()]
        variables = ", ".join(_variables(conflict))
        exists = f"exists {', '.join(shared.fresh)} : " if shared.fresh else ""
        body = " and ".join(f"({part})" for part in parts) or "1 = 1"
        return f"[{', '.join(self.params.values())}] -> {{ [{variables}] : {exists}{body} }}"

    def ranges(self) -> Iterator[str]:
        """What is known of the parameters."""
        for expr, name in self.params.items():
            if expr.name == "param" and expr.attr in self.known:
                low, high = self.known[expr.attr]
                yield f"{low} <= {name} <= {high}"

    def _side(self, side: str, scope: Scope, shared: Shared) -> Formula:
        return Formula(self.known, side, loop_ranges(scope.dims, self.known), shared)

    def _row(self, row: Row, left: Formula, right: Formula) -> str:
        if row.left is row.right and row.left_width == row.right_width == 1:
            dims = {grows(row.left, side.loops, self.known) for side in (left, right)}
            number = dims.pop()
            if number is not None and not dims:
                return f"x{number} = y{number}"
        a, b = left.term(row.left), right.term(row.right)
        if row.left_width == row.right_width == 1:
            return f"({a}) = ({b})"
        return f"({a}) < ({b}) + {row.right_width} and ({b}) < ({a}) + {row.left_width}"


def parameter_set(solver: Solver, conditions: Sequence[str], shared: Shared) -> Any:
    """The parameters within their ranges for which the conditions hold."""
    parts = [*conditions, *shared.said, *solver.ranges()]
    exists = f"exists {', '.join(shared.fresh)} : " if shared.fresh else ""
    body = " and ".join(f"({part})" for part in parts) or "1 = 1"
    return _parsed(f"[{', '.join(solver.params.values())}] -> {{ [] : {exists}{body} }}").params()


def _domain(formula: Formula, scope: Scope) -> Iterator[str]:
    for dim in scope.dims:
        name = f"{formula.side}{dim.number}"
        for low in _flat(dim.low, ("imax", "maximum")):
            yield f"{name} >= {formula.term(low)}"
        for high in _flat(dim.high, ("imin", "minimum")):
            yield f"{name} < {formula.term(high)}"
    for guard in scope.guards:
        yield formula.condition(guard)


def _flat(expr: Expr, names: tuple[str, ...]) -> list[Expr]:
    """`min(a, b)` as an upper bound is two bounds."""
    if expr.name not in names:
        return [expr]
    return [part for arg in expr.args for part in _flat(arg, names)]


def _variables(conflict: Conflict) -> list[str]:
    return [f"x{dim.number}" for dim in conflict.source_scope.dims] + [
        f"y{dim.number}" for dim in conflict.sink_scope.dims
    ]


class Solution:
    """One conflict's set, and what can be asked of it."""

    def __init__(self, solver: Solver, conflict: Conflict, found: islpy.Set, certain: bool) -> None:
        self.solver = solver
        self.conflict = conflict
        self.set = found
        self.certain = certain
        self.position = {name: k for k, name in enumerate(_variables(conflict))}

    @property
    def possible(self) -> bool:
        return not self.set.is_empty()

    def where(self, condition: str) -> Solution:
        """The part in which a condition on `x0`, `y0`, ... holds."""
        text = f"{{ [{', '.join(self.position)}] : {condition} }}"
        part = self.set.intersect(_parsed(text))
        return Solution(self.solver, self.conflict, part, self.certain)

    def hull(self, pair: Pair) -> Hull:
        """The least and greatest `y - x` of a pair of dims, over all parameters; None: no bound."""
        isl = _isl()
        space = isl.LocalSpace.from_space(self.set.get_space())
        x, y = (
            isl.Aff.var_on_domain(space, isl.dim_type.set, self.position[name])
            for name in (f"x{pair[0]}", f"y{pair[1]}")
        )
        gap = y.sub(x)
        return (_number(self.set.min_val(gap)), _number(self.set.max_val(gap)))

    def differing(self, pairs: Sequence[Pair]) -> Solution:
        """Where at least one pair of dims is not equal."""
        return self.where(" or ".join(f"x{p} != y{q}" for p, q in pairs) or "1 = 0")

    def backward(self, pairs: Sequence[Pair]) -> Solution:
        """Where the later access's iteration comes first in the order of these dims."""
        return self.where(precedes([(f"y{q}", f"x{p}") for p, q in pairs]))

    def witness(self) -> Witness | None:
        """The lexicographically least member: the smallest parameters and iterations."""
        isl = _isl()
        count = self.set.dim(isl.dim_type.param)
        whole = self.set.move_dims(isl.dim_type.set, 0, isl.dim_type.param, 0, count)
        flat = _near_zero(whole, count)
        try:
            point = flat.lexmin().sample_point()
        except isl.Error as error:
            if "maximal number of operations" in str(error):
                raise
            point = flat.sample_point()  # no least member, or one isl cannot find
        if point.is_void():
            return None
        values = [
            point.get_coordinate_val(isl.dim_type.set, k).to_python()
            for k in range(count + len(self.position))
        ]
        names = list(self.solver.params)
        numbers = {f"p{k}": expr for k, expr in enumerate(names)}
        params = [str(flat.get_dim_name(isl.dim_type.set, k)) for k in range(count)]
        split = count + len(self.conflict.source_scope.dims)
        return Witness(
            tuple((numbers[name], value) for name, value in zip(params, values, strict=False)),
            _named(self.conflict.source_scope.dims, values[count:split]),
            _named(self.conflict.sink_scope.dims, values[split:]),
            self.certain,
        )


def _near_zero(flat: Any, count: int) -> Any:
    """Its members with small parameters, where there are some: an example should be one."""
    kind = _isl().dim_type.set
    for low in (0, -SMALL):
        near = flat
        for place in range(count):
            near = near.lower_bound_val(kind, place, _isl().Val(low))
            near = near.upper_bound_val(kind, place, _isl().Val(SMALL))
        if not near.is_empty():
            return near
    return flat


def _number(value: Any) -> int | None:
    """A whole number; None for infinity."""
    text = value.to_str()
    if text is None:
        raise NotProved
    return int(text) if text.lstrip("-").isdigit() else None


def _named(dims: tuple[Dim, ...], values: Sequence[int]) -> tuple[tuple[Dim, int], ...]:
    return tuple(zip(dims, values, strict=True))


def precedes(pairs: Sequence[tuple[str, str]]) -> str:
    """The condition that the first names come before the second in lexicographic order.

    >>> precedes([("a", "b"), ("c", "d")])
    '(a < b) or (a = b and c < d)'
    """
    cases = []
    for k, (first, second) in enumerate(pairs):
        same = "".join(f"{a} = {b} and " for a, b in pairs[:k])
        cases.append(f"({same}{first} < {second})")
    return " or ".join(cases) or "1 = 0"
