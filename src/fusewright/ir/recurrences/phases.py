"""A plan for a graph of recurrences: one list of statements, or two with a sum between them.

Where a graph accumulates along an axis, the first list runs at each place of the axis and its
results are summed, from 0.0 on in the order of the axis, each addition rounded; the sums are the
leaves of the second list whose names begin with `SUM`.  The lists share their scalars.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fusewright.base.values import dataclass
from fusewright.ir.fused import Array
from fusewright.ir.recurrences.interpret import run
from fusewright.ir.recurrences.straight import Straight

SUM = "sum:"
"""`sum:3` is the sum of the first list's result number 3."""


@dataclass(frozen=True, slots=True)
class Phases:
    """`inner` is None where nothing is accumulated; `axis` names what is summed over."""

    outer: Straight
    inner: Straight | None = None
    axis: str = ""


def run_phases(phases: Phases, scalars: Mapping[str, Any], leaves: Mapping[str, Any]) -> Array:
    """The results, one row each, from a row (or a number) by each name.

    What the first of two lists reads has the axis of accumulation in front: a row there has the
    shape (places, columns), or one that broadcasts to it.
    """
    known = dict(leaves)
    if phases.inner is not None:
        for number, row in enumerate(_run(phases.inner, scalars, known)):
            total = np.zeros(row.shape[1:])
            for place in row:
                total = total + place
            known[f"{SUM}{number}"] = total
    return _run(phases.outer, scalars, known)


def _run(straight: Straight, scalars: Mapping[str, Any], leaves: Mapping[str, Any]) -> Array:
    return run(
        straight, [scalars[n] for n in straight.scalars], [leaves[n] for n in straight.leaves]
    )
