"""What a list of statements means: by NumPy, with exactly the roundings that `straight.py` defines,
and by mpmath at any precision, where it is the mathematical value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fusewright.ir.fused import Array, fma
from fusewright.ir.recurrences.straight import Statement, Straight


def run(straight: Straight, scalars: Sequence[Any], leaves: Sequence[Any]) -> Array:
    """The results in float64, one row each.

    One row for each scalar and leaf; rows broadcast against one another (a number is a row).
    """
    rows = [np.asarray(row, np.float64) for row in (*scalars, *leaves)]
    shape = np.broadcast_shapes(*(row.shape for row in rows)) if rows else ()
    with np.errstate(all="ignore"):
        for statement in straight.statements:
            rows.append(_value(statement, rows))
    return np.array([np.broadcast_to(rows[number], shape) for number in straight.results]).reshape(
        (len(straight.results), *shape)
    )


def _value(statement: Statement, rows: list[Array]) -> Array:
    total: Array | None = None
    for term in statement:
        multiplier: Any = np.float64(term.factor)
        if term.coefficient is not None:
            multiplier = rows[term.coefficient]
            if term.factor != 1.0:
                multiplier = term.factor * multiplier
        value = np.float64(1.0) if term.value is None else rows[term.value]
        total = multiplier * value if total is None else fma(multiplier, value, total)
    assert total is not None  # `verify.py` refuses statements without terms
    return np.asarray(total)


def exact(
    straight: Straight, scalars: Sequence[Any], leaves: Sequence[Any], digits: int
) -> list[Any]:
    """The results as mpmath numbers, computed with this many decimal digits.

    One number for each scalar and leaf: an `mpf`, or what `mpmath.mpf` takes.
    """
    import mpmath  # only tests need it

    with mpmath.workdps(digits):
        values = [mpmath.mpf(each) for each in (*scalars, *leaves)]
        for statement in straight.statements:
            terms = (
                mpmath.fprod([mpmath.mpf(t.factor), *(values[read] for read in t.operands)])
                for t in statement
            )
            values.append(mpmath.fsum(terms))
        return [values[number] for number in straight.results]
