"""`fw.recurrence`: from families of recurrence relations to a callable on NumPy arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fusewright.base import words
from fusewright.base.errors import ArgumentError, DTypeError, ShapeError, ValueRangeError
from fusewright.base.later import later
from fusewright.base.meant import did_you_mean
from fusewright.base.options import current, options
from fusewright.base.values import dataclass

if TYPE_CHECKING:
    from fusewright.frontends.recurrences import demand
    from fusewright.frontends.recurrences.families import AnyFamily
    from fusewright.ir.fused import Array
    from fusewright.ir.recurrences.graph import AndOrGraph
    from fusewright.plan.recurrences import plan as planner
    from fusewright.plan.recurrences import report as reports
    from fusewright.plan.recurrences.plan import RecurrencePlan
    from fusewright.plan.recurrences.report import RecurrenceReport
    from fusewright.targets import target
else:  # programs without recurrences load this module only
    demand = later("fusewright.frontends.recurrences.demand")
    planner = later("fusewright.plan.recurrences.plan")
    reports = later("fusewright.plan.recurrences.report")
    target = later("fusewright.targets.target")

Rows = Any
"""A row for each name, in order, or a mapping from names to rows."""
EFFORT = 50_000
"""Statements that planning looks at, if the caller does not say: about half a second."""
FEATURES: dict[int | str, Literal["auto", "avx2", "avx512"]] = {
    "auto": "auto", 4: "avx2", 8: "avx512"
}  # fmt: skip
"""By lanes: the setting of `fw.options(features=...)` that has them."""
REGISTERS = {4: 16, 8: 32}
"""Vector registers by float64 lanes: those of AVX2 and of AVX-512."""


def recurrence(
    targets: Iterable[tuple[Any, Any]],
    families: AnyFamily | Iterable[AnyFamily],
    scalars: Iterable[str] | Mapping[str, float | None] = (),
) -> RecurrenceGraph:
    """All that the targets need, as a graph that compiles to straight-line code.

    `targets` are pairs (family, index); one may stand there twice and is computed once.  `families`
    are all that take part.  `scalars` names what coefficients may be made of; as a mapping it gives
    a number to what is known already, and None to what comes with the call.  What is multiplied by
    0 disappears.

    Returns:
        A graph.  `graph.compile()` gives a function of the rows of the scalars and of the leaves,
            each a number or of shape (columns,), whose result has the shape (targets, columns) in
            float64; `graph.explain()` says what was chosen.

    Raises:
        FusewrightError: of a kind that is a `ValueError`, with the family and the index, for a
            cycle (FW301), a value without leaf and alternative (FW302), a coefficient that is no
            scalar (FW303), a map whose matrix does not fit (FW304), more than a million values
            (FW305).

    Examples:
        Chebyshev's polynomials, T_n = 2x T_(n-1) - T_(n-2):

        >>> import fusewright as fw
        >>> T = fw.Family(
        ...     "T", "n", lambda n: [[((2, "x"), "T", n - 1), (-1, "T", n - 2)]],
        ...     leaf=lambda n: 1.0 if n == 0 else "t1" if n == 1 else None,
        ... )
        >>> compiled = fw.recurrence([(T, 2), (T, 3)], T, scalars=["x"]).compile()
        >>> compiled({"x": [0.5, 2.0]}, {"t1": [0.5, 2.0]}).tolist()
        [[-0.5, 7.0], [-1.0, 26.0]]
    """
    return RecurrenceGraph(demand.demanded(targets, families, scalars))


@dataclass(frozen=True, slots=True)
class RecurrenceGraph:
    """Targets with all that they need; `scalars` and `leaves` name the rows of input, in order."""

    graph: AndOrGraph

    def __repr__(self) -> str:
        return f"<{_summary(self.graph)}>"

    @property
    def scalars(self) -> tuple[str, ...]:
        return self.graph.scalars

    @property
    def leaves(self) -> tuple[str, ...]:
        return self.graph.leaves

    def compile(
        self, lanes: int | str = "auto", effort: int = EFFORT, seed: int = 0
    ) -> CompiledRecurrence:
        """Choose relations and their order, and compile them.

        `lanes`: float64 columns in a vector, 4 or 8; "auto" takes the widest the processor has.
        `effort`: statements that the search may look at; more effort, fewer values live at once.
        Equal efforts and seeds give equal code and equal bits, whatever the machine and the lanes.

        Raises `ValueRangeError` for lanes that are none of these, and FW114 for those that the
        processor has not.
        """
        with _lanes(lanes):
            found = _planned(self.graph, effort, seed)
            code = target.target().compile(found.phases, current())
            return CompiledRecurrence(self.graph, found, code.run, (lanes, effort, seed))

    def explain(
        self, lanes: int | str = "auto", effort: int = EFFORT, seed: int = 0
    ) -> RecurrenceReport:
        """What `compile` with the same arguments chooses, without compiling."""
        with _lanes(lanes):
            return _report(self.graph, _planned(self.graph, effort, seed))


def _planned(graph: AndOrGraph, effort: int, seed: int) -> RecurrencePlan:
    if _whole("effort", effort) < 0:
        raise ValueRangeError(f"effort is {effort!r}", help="0 takes the first choice, unsearched")
    return planner.plan(graph, effort, _whole("seed", seed))


def _whole(name: str, value: int) -> int:
    """An argument that is an integer."""
    try:
        return operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name} is {value!r}, not an integer") from None


def _lanes(lanes: int | str) -> AbstractContextManager[Any]:
    """The settings under which vectors have so many lanes."""
    if not isinstance(lanes, int | str) or lanes not in FEATURES:
        allowed = ", ".join(map(repr, FEATURES))
        raise ValueRangeError(f"lanes is {lanes!r}", help=f"it can be one of {allowed}")
    if lanes == "auto" or current().target == "reference":
        return options()
    return options(features=FEATURES[lanes])


def _report(graph: AndOrGraph, found: RecurrencePlan) -> RecurrenceReport:
    name, lanes = current().target, max(REGISTERS)
    if name != "reference":
        here = target.target().features(current().features)
        lanes = max(here.vector_bytes // 8, min(REGISTERS))
    return reports.report(graph, found, REGISTERS[lanes], lanes, name)


@dataclass(frozen=True, slots=True)
class CompiledRecurrence:
    """Called with rows of input, it returns a row for each target."""

    graph: AndOrGraph
    plan: RecurrencePlan
    run: Callable[[Mapping[str, Any], Mapping[str, Any]], Array]
    how: tuple[int | str, int, int]
    """Lanes, effort and seed that it was compiled with."""

    def __repr__(self) -> str:
        return f"<{_summary(self.graph)}, compiled>"

    def __reduce__(self) -> Any:
        # Code belongs to a process: another one plans the same and finds it on disk.
        return _compiled, (self.graph, *self.how)

    def __call__(self, scalars: Rows = (), leaves: Rows = ()) -> Array:
        """The values of the targets: float64 of shape (targets, columns), or (targets,) where all
        rows are numbers.

        `scalars` and `leaves` have one row for each name, in the graph's order, or are mappings by
        name.  A row is a number or has the shape (columns,); what is summed over, too, has the
        shape (places, columns) or (places, 1) wherever it differs from place to place.

        Raises `ArgumentError` for rows that are missing or too many, `DTypeError` for what is no
        real number, `ShapeError` for rows that do not fit together.
        """
        given = _rows("scalars", self.graph.scalars, scalars)
        known = _rows("leaves", self.graph.leaves, leaves)
        columns = self._columns({**given, **known})
        count = len(self.graph.targets)
        if not count or 0 in columns:
            return np.empty((count, *columns))
        found = self.run(_wide(given, columns), _wide(known, columns))
        whole = np.broadcast_to(found.reshape(count, -1), (count, *(columns or (1,))))
        return np.ascontiguousarray(whole).reshape(count, *columns)

    def explain(self) -> RecurrenceReport:
        """What was chosen."""
        return _report(self.graph, self.plan)

    def _columns(self, rows: Mapping[str, Array]) -> tuple[int, ...]:
        """The shape of a row without the axis of the sum: rows broadcast, and have that axis only
        where they are read before the sum.
        """
        inner, outer = self.plan.phases.inner, self.plan.phases.outer
        once = rows.keys() & {*outer.scalars, *outer.leaves}
        for name, row in rows.items():
            if row.ndim > (1 if inner is None or name in once else 2):
                why = (
                    "a row has the columns only" if inner is None
                    else "it is read after the sum" if name in once
                    else f"a row has the axis of {self.graph.axis} and the columns"
                )  # fmt: skip
                raise ShapeError(f"the row `{name}` has the shape {row.shape}", why=why)
        if inner is not None and all(rows[n].ndim < 2 for n in (*inner.scalars, *inner.leaves)):
            raise ShapeError(
                f"no row has an axis of {self.graph.axis}",
                help="give what differs along it the shape (places, columns) or (places, 1)",
            )
        try:
            np.broadcast_shapes(*(row.shape for row in rows.values()))
            return np.broadcast_shapes(*(row.shape[-1:] for row in rows.values()))
        except ValueError:
            shapes = ", ".join(f"`{name}` {row.shape}" for name, row in rows.items() if row.ndim)
            raise ShapeError(f"rows do not fit together: {shapes}") from None


def _summary(graph: AndOrGraph) -> str:
    """What a graph is called where it is printed: it may have a million values."""
    targets, values = len(graph.targets), len(graph.vertices)
    return f"recurrence: {words.count(targets, 'target')}, {words.count(values, 'value')}"


def _compiled(graph: AndOrGraph, *how: Any) -> CompiledRecurrence:
    return RecurrenceGraph(graph).compile(*how)


def _wide(rows: Mapping[str, Array], columns: tuple[int, ...]) -> dict[str, Array]:
    """Rows that all have the columns, one if none has any."""
    width = columns or (1,)
    return {n: np.broadcast_to(row, (*row.shape[:-1], *width)) for n, row in rows.items()}


def _rows(kind: str, names: Sequence[str], given: Rows) -> dict[str, Array]:
    """A float64 array for each name."""
    if not isinstance(given, Mapping):
        if not isinstance(given, Sequence | np.ndarray):
            raise ArgumentError(
                f"the rows of {kind} are {given!r}", help="a row for each name, or a mapping"
            )
        if len(given) != len(names):
            raise ArgumentError(
                f"{len(given)} rows of {kind} are given for {len(names)}: {', '.join(names)}"
            )
        given = dict(zip(names, given, strict=True))
    for name in given:
        if name not in names:
            raise ArgumentError(
                f"`{name}` is none of the {kind}", help=did_you_mean(str(name), names)
            )
    missing = [name for name in names if name not in given]
    if missing:
        raise ArgumentError(f"no row is given for `{missing[0]}` of the {kind}")
    return {name: _real(name, given[name]) for name in names}


def _real(name: str, row: Any) -> Array:
    found = np.asarray(row)
    if found.dtype.kind not in "biuf":
        raise DTypeError(f"the row `{name}` has elements of type {found.dtype}, not real numbers")
    return found.astype(np.float64, copy=False)
