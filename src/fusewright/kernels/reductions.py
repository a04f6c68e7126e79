"""Variables that a loop only adds to: sums of integers, and their like, in any order the same.

for i in range(n):      n = n + sum(a > 0)
if a[i] > 0:
n = n + 1
"""

from __future__ import annotations

from collections import Counter

from fusewright.base.values import dataclass
from fusewright.ir.expr import Expr, postorder
from fusewright.ir.loops.statements import For, Let, expressions, walk

FOLDS = {"add": ("sum", 0), "minimum": ("min", None), "maximum": ("max", None)}
"""By operation the reduction, and what changes nothing (None: every iteration counts)."""


@dataclass(frozen=True, slots=True)
class Collected:
    """A variable's update in each iteration: `variable = op(variable, value)`."""

    op: str
    value: Expr


def collected(loop: For) -> dict[int, Collected]:
    """The integer variables that nothing in a loop uses but one such update."""
    inside = list(walk(loop.body))
    lets = [statement for statement in inside if isinstance(statement, Let)]
    given = Counter(statement.local for statement in lets)
    used: Counter[int] = Counter()
    for statement in inside:
        for root in expressions(statement):
            used.update(node.attr for node in postorder([root]) if node.name == "local")
    found = {}
    for statement in lets:
        update = _update(statement)
        if update is not None and given[statement.local] == used[statement.local] == 1:
            found[statement.local] = update
    return found


def _update(statement: Let) -> Collected | None:
    value = statement.value
    if value.name not in FOLDS or not value.dtype.is_integer:
        return None
    for own, other in (value.args, value.args[::-1]):
        if own.name == "local" and own.attr == statement.local:
            return Collected(value.name, other)
    return None
