"""Index expressions that grow with their loop: equal values mean equal iterations, affine or not.

>>> from fusewright.ir.expr import index, op
>>> i = index(0)
>>> grows(op("multiply", i, i), {0: (0, 1000)}, {})
0
>>> grows(op("multiply", i, i), {0: (-1, 1000)}, {}) is None
True
"""

from __future__ import annotations

from fusewright.analysis.affine import fixed
from fusewright.analysis.ranges import Known, Loops, bounds_of, exact_interval
from fusewright.ir.expr import Expr


def grows(expr: Expr, loops: Loops, known: Known) -> int | None:
    """The one loop with which the value strictly increases, or None; nothing may wrap."""
    if expr.name == "index":
        return int(expr.attr)
    if expr.name not in ("add", "multiply") or not expr.dtype.is_integer:
        return None
    interval = exact_interval(expr, loops, known)
    low, high = bounds_of(expr.dtype)
    if interval is None or interval[0] < low or interval[1] > high:
        return None
    left, right = expr.args
    for operand, other in ((left, right), (right, left)):
        if fixed(other) and (expr.name == "add" or _positive(other)):
            return grows(operand, loops, known)
    both = grows(left, loops, known), grows(right, loops, known)
    # f, g strictly increasing and never negative: f g is strictly increasing, as f + g always is
    if both[0] is None or both[0] != both[1]:
        return None
    if expr.name == "multiply" and not all(_natural(arg, loops, known) for arg in expr.args):
        return None
    return both[0]


def _natural(expr: Expr, loops: Loops, known: Known) -> bool:
    interval = exact_interval(expr, loops, known)
    return interval is not None and interval[0] >= 0


def _positive(expr: Expr) -> bool:
    return expr.name == "const" and int(expr.attr) > 0
