"""For which parameters something is illegal: a set of isl as text and, where it can be, as an
expression that code can test before it runs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from fusewright.analysis.exact import Solution, Solver, _isl
from fusewright.analysis.unit import Facts
from fusewright.analysis.verdict import Condition
from fusewright.ir.dtypes import BOOL, INT64
from fusewright.ir.expr import Expr, cast, const, op

if TYPE_CHECKING:
    import islpy


def illegal_when(bad: Sequence[Solution], solver: Solver, facts: Facts) -> Condition:
    """The parameters for which at least one of the sets has a member."""
    shadow = reduce(lambda a, b: a.union(b), (part.set.params() for part in bad)).coalesce()
    return condition_of(shadow, {name: expr for expr, name in solver.params.items()}, facts)


def condition_of(shadow: islpy.Set, numbered: dict[str, Expr], facts: Facts) -> Condition:
    """A set of parameters, the variables' expressions by their names."""
    return Condition(_text(shadow, numbered, facts), _expression(shadow, numbered))


def _text(shadow: islpy.Set, numbered: dict[str, Expr], facts: Facts) -> str:
    text = str(shadow).partition("->")[2] or str(shadow)
    text = text.strip().strip("{}").strip().lstrip(":").strip()
    if not text:
        return "always"

    def named(found: re.Match[str]) -> str:
        times = f"{found[1]}*" if found[1] else ""
        return times + spelled(numbered[found[2]], facts)

    return re.sub(r"\b(\d*)(p\d+)\b", named, text)


def spelled(expr: Expr, facts: Facts) -> str:
    """A value no loop changes, in the user's names."""
    if expr.name == "param":
        return facts.name_of(expr.attr)
    if expr.name == "const":
        return str(expr.attr)
    inner = ", ".join(spelled(arg, facts) for arg in expr.args)
    return inner if expr.name == "cast" else f"{expr.name}({inner})"


def _expression(shadow: islpy.Set, numbered: dict[str, Expr]) -> Expr | None:
    cases = []
    for part in shadow.get_basic_sets():
        if part.dim(_isl().dim_type.div):
            return None
        tests = [_test(constraint, numbered) for constraint in part.get_constraints()]
        cases.append(_joined("logical_and", tests, True))
    return _joined("logical_or", cases, False)


def _joined(name: str, parts: list[Expr], empty: bool) -> Expr:
    return reduce(lambda a, b: op(name, a, b), parts) if parts else const(empty, BOOL)


def _test(constraint: Any, numbered: dict[str, Expr]) -> Expr:
    total = const(0, INT64)
    for name, value in constraint.get_coefficients_by_name().items():
        count = const(value.to_python(), INT64)
        term = count if name == 1 else op("multiply", cast(numbered[name], INT64), count)
        total = op("add", total, term)
    relation = "equal" if constraint.is_equality() else "greater_equal"
    return op(relation, total, const(0, INT64))
