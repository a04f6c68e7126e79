"""Whether a list of statements is well formed: checked after planning, and on what tests make up.

A list is well formed iff every statement reads earlier values only, every coefficient depends on
scalars alone, every factor is finite and not zero (but for the lone constant 0), and every
statement is used.
"""

from __future__ import annotations

import math

from fusewright.base.errors import InternalError
from fusewright.ir.recurrences.phases import SUM, Phases
from fusewright.ir.recurrences.straight import Straight, Summand


def check_straight(straight: Straight) -> None:
    """Refuse a list that is not well formed, naming the statement."""
    names = (*straight.scalars, *straight.leaves)
    for name in names:
        _require(bool(name) and not any(c.isspace() for c in name), f"the name {name!r}")
    for kind in (straight.scalars, straight.leaves):
        _require(len(set(kind)) == len(kind), "a name stands twice among scalars or leaves")
    made = [place < len(straight.scalars) for place in range(straight.first)]
    """Whether each value depends on scalars alone."""
    used = set(straight.results)
    for place, statement in enumerate(straight.statements):
        where = f"t{place}"
        _require(bool(statement), f"{where} has no terms")
        for term in statement:
            _check_term(term, where, made, alone=len(statement) == 1)
        reads = straight.operands(place)
        used.update(reads)
        made.append(bool(reads) and all(made[read] for read in reads))
    for number in straight.results:
        _require(0 <= number < len(made), f"no value has the number {number}")
    for place in range(len(straight.statements)):
        _require(straight.first + place in used, f"t{place} is not used")


def check_phases(phases: Phases) -> None:
    """Refuse two lists that do not fit: the second reads sums of results of the first only."""
    sums = [name for name in phases.outer.leaves if name.startswith(SUM)]
    results = len(phases.inner.results) if phases.inner is not None else 0
    known = {f"{SUM}{number}" for number in range(results)}
    _require(set(sums) <= known, "a sum is read of what the first list does not give")
    _require((phases.inner is None) == (not phases.axis), "an axis without a sum, or a sum without")
    for straight in (phases.outer, phases.inner):
        if straight is not None:
            check_straight(straight)


def _check_term(term: Summand, where: str, made: list[bool], alone: bool) -> None:
    for number in term.operands:
        _require(0 <= number < len(made), f"{where} reads value {number}, which comes later")
    if term.coefficient is not None:
        _require(term.value is not None, f"{where} has a coefficient without a value")
        _require(made[term.coefficient], f"{where} multiplies by what depends on leaves")
    constant = alone and not term.operands
    _require(math.isfinite(term.factor), f"{where} has the factor {term.factor}")
    _require(term.factor != 0 or constant, f"{where} has a term that is zero")


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise InternalError(f"a list of statements is not well formed: {what}")
