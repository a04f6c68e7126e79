"""What the analysis is told about a loop nest: its domain, its accesses, its effects.

A front end or the planner fills these in; nothing here knows a statement or an array.  `index(k)`
in an expression is the loop dim with number `k`: a unit's own dims come first, loops further in
have numbers of their own, and two accesses with the same number stand in the same loop.

* An array made inside a loop is one array for each iteration: its accesses have the indices of the
  loops around it in front of their own.
* What a bound, a guard or an index loads is an access of its own (`depth` says under how many of
  the unit's dims it is evaluated); inside the expression the load is just an unknown value. The
  root of such an array is its number in `load`, or `Facts.unique` cannot see that it is written.
* Indices are within the array, as in a Python program that raises nothing; where that is not
  proved and must be noticed, the check is a `trap`.  `a[-1]` is `where(i < 0, i + n, i)`.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import field
from typing import Literal

from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.ir.expr import Expr

Mode = Literal["read", "write", "update"]
EffectKind = Literal["print", "rng", "trap", "opaque"]
Name = int | tuple[int, int]


@dataclass(frozen=True, slots=True)
class Dim:
    """`for index(number) in range(low, high)`: half-open, step 1; the bounds may use dims further
    out, parameters, and loads (then they are unknown).
    """

    number: int
    low: Expr
    high: Expr
    name: str = ""


@dataclass(frozen=True, slots=True)
class Access:
    """One place in the body that touches an array.

    `root` names the memory (equal roots may overlap, different ones never do); `indices` has one
    expression for each of its dims, and the last covers `width` cells.  An `update` combines with
    `op`, indivisibly; `exact` says that the order of updates cannot change a bit (integers, min,
    max), `observed` that the program uses the old value.  `value` is what a write stores, where
    that is known; `inner` are the loops around the access inside the unit, outermost first.
    """

    root: Hashable
    mode: Mode
    indices: tuple[Expr, ...]
    order: int = 0
    guards: tuple[Expr, ...] = ()
    inner: tuple[Dim, ...] = ()
    depth: int | None = None
    op: str = ""
    exact: bool = True
    observed: bool = False
    value: Expr | None = None
    extents: tuple[Expr, ...] = ()
    width: int = 1
    name: str = ""
    span: Span | None = None
    statement: int = 0

    @property
    def label(self) -> str:
        return self.name or str(self.root)


@dataclass(frozen=True, slots=True)
class Effect:
    """Something besides memory whose order a user sees: a line printed, a number drawn from a
    `stream`, a possible error, a call to code nobody can look into.
    """

    kind: EffectKind
    stream: str = ""
    order: int = 0
    guards: tuple[Expr, ...] = ()
    inner: tuple[Dim, ...] = ()
    span: Span | None = None
    statement: int = 0


@dataclass(frozen=True, slots=True)
class Carried:
    """A local scalar that keeps its value from one iteration of dim `number` to the next; with
    `op` set, by `name = name op value` alone.
    """

    name: str
    number: int
    op: str = ""
    exact: bool = False
    span: Span | None = None
    statement: int = 0


@dataclass(frozen=True, slots=True)
class Unit:
    """A loop nest: the dims that may be fused or run in parallel, outermost first, and everything
    its body does.
    """

    dims: tuple[Dim, ...]
    accesses: tuple[Access, ...]
    effects: tuple[Effect, ...] = ()
    carried: tuple[Carried, ...] = ()
    guards: tuple[Expr, ...] = ()
    label: str = "loop"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known beyond the loops' text (tier T3 and messages).

    `unique`: buffers (the number of their `load`) that hold no value twice.  `ranges`: parameters
    with their least and greatest value.  `assumed`: conditions on parameters under which the answer
    has to hold.  `names`: what the user calls a parameter.  `budget`: isl operations for one
    question; a question that needs more is answered "not proved".
    """

    unique: frozenset[int] = frozenset()
    ranges: tuple[tuple[Name, int, int], ...] = ()
    names: tuple[tuple[Name, str], ...] = ()
    budget: int = 50_000
    witnesses: bool = True
    assumed: tuple[Expr, ...] = ()

    def name_of(self, number: Name) -> str:
        """The user's name of a parameter."""
        return dict(self.names).get(number, f"p{number}")


NOTHING = Facts()


@dataclass(frozen=True, slots=True)
class Scope:
    """The loops around one access: what its `index` numbers mean."""

    dims: tuple[Dim, ...]
    guards: tuple[Expr, ...] = field(default=())
    unit_dims: int = 0


def scope(unit: Unit, access: Access) -> Scope:
    """The loops around an access, and under which conditions it happens."""
    depth = len(unit.dims) if access.depth is None else access.depth
    guards = unit.guards if depth == len(unit.dims) else ()
    return Scope(unit.dims[:depth] + access.inner, guards + access.guards, depth)
