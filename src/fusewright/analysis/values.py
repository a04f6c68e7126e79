"""Numbers put into index expressions: what a witness's cell is called.

>>> from fusewright.ir.dtypes import INT64
>>> from fusewright.ir.expr import const, index, load, op
>>> value(op("multiply", index(0), const(3, INT64)), {index(0): 2})
6
>>> value(load(7, (index(0),), INT64), {index(0): 2}) is None
True
"""

from __future__ import annotations

from collections.abc import Mapping

from fusewright.ir.expr import Expr
from fusewright.ir.ops import MAP

_IN_MAP = {"imin": "minimum", "imax": "maximum", "shl": "left_shift", "shr": "right_shift"}


def value(expr: Expr, known: Mapping[Expr, int]) -> int | None:
    """The value in the arithmetic of the expression's type; None where something is unknown."""
    if expr in known:
        return known[expr]
    if expr.name == "const":
        return int(expr.attr)
    operands = [value(arg, known) for arg in expr.args]
    row = MAP.get(_IN_MAP.get(expr.name, expr.name))
    if expr.name in ("load", "index", "param") or row is None:
        return None
    numbers = [operand for operand in operands if operand is not None]
    if len(numbers) < len(operands):
        return None
    typed = [arg.dtype.numpy.type(number) for arg, number in zip(expr.args, numbers, strict=True)]
    found = row.meaning(*typed)
    return int(found.astype(expr.dtype.numpy))
