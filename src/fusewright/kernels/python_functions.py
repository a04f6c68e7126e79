"""Expressions over the numbers of a call, as functions of Python's: what sizes and conditions of a
call need is computed anew in each call, and NumPy's operations on one number take 2 us each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from fusewright.ir.dtypes import BOOL, FLOAT64, INT64
from fusewright.ir.expr import Expr, postorder

MOST_TEXT = 2000
"""Characters of a function: a shared operand is written out for each of its uses."""
REFUSALS = (ArithmeticError, ValueError)
"""Of quotients by zero, and of what has no integer: NumPy's operations give a number there."""
_INTEGERS = {
    "add": "({} + {})", "subtract": "({} - {})", "multiply": "({} * {})",
    "floor_divide": "({} // {})", "remainder": "({} % {})", "minimum": "min({}, {})",
    "maximum": "max({}, {})", "imin": "min({}, {})", "imax": "max({}, {})", "negative": "(-{})",
    "absolute": "abs({})", "cast": "int({})",
    "where": "({1} if {0} else {2})",
}  # fmt: skip
_FLOATS = {
    "add": "({} + {})", "subtract": "({} - {})", "multiply": "({} * {})", "divide": "({} / {})",
    "negative": "(-{})", "absolute": "abs({})", "sqrt": "math.sqrt({})", "cast": "float({})",
    "floor": "float(math.floor({}))", "ceil": "float(math.ceil({}))",
    "trunc": "float(math.trunc({}))", "rint": "float(round({}))", "where": "({1} if {0} else {2})",
}  # fmt: skip
_TRUTHS = {
    "equal": "({} == {})", "not_equal": "({} != {})", "less": "({} < {})",
    "less_equal": "({} <= {})", "greater": "({} > {})", "greater_equal": "({} >= {})",
    "logical_and": "({} and {})", "logical_or": "({} or {})", "logical_not": "(not {})",
}  # fmt: skip
ROWS = {INT64: _INTEGERS, FLOAT64: _FLOATS, BOOL: _TRUTHS}
_NUMBERS = {INT64: "int({})", FLOAT64: "float({})", BOOL: "bool({})"}


def text_of(root: Expr, place: Callable[[int], str]) -> str | None:
    """The expression as Python's, if Python computes what NumPy does; `place` is where a parameter
    stands.  Integers do not wrap around: what int64 does not hold is no size.

    >>> from fusewright.ir.expr import cast, const, op, param
    >>> half = op("divide", cast(param(0, INT64), FLOAT64), const(2.0, FLOAT64))
    >>> text_of(cast(half, INT64), "args[{}]".format)
    'int((float(int(args[0])) / 2.0))'
    """
    found: dict[Expr, str] = {}
    for node in postorder([root]):
        kinds = {node.dtype, *(arg.dtype for arg in node.args)}
        if not kinds <= ROWS.keys():
            return None
        if node.name == "const":
            found[node] = repr(node.attr)
            if node.dtype is FLOAT64 and not math.isfinite(node.attr):
                return None
        elif node.name == "param":
            found[node] = _NUMBERS[node.dtype].format(place(node.attr))
        else:
            row = ROWS[node.dtype].get(node.name)
            if row is None:
                return None
            found[node] = row.format(*(found[arg] for arg in node.args))
        if len(found[node]) > MOST_TEXT:
            return None
    return found[root]


def function_of(text: str) -> Callable[[Any], Any]:
    """The function of `args` that a text of expressions says."""
    made: Callable[[Any], Any] = eval(f"lambda args: {text}", {"math": math})
    return made
