"""In which level of memory the values of a list stay while it runs.

A vector of `lanes` float64 columns is one register or one slot of the stack.  Loops over arrays of
operands, in place of a line for each statement, were slower at every size that was measured (3 to 4
ns a statement against 0.6 to 2.4 from (dd|dd) to (gg|gg)): there is nothing to choose.
"""

from __future__ import annotations

from fusewright.base.figures import FIRST
from fusewright.base.values import dataclass


@dataclass(frozen=True, slots=True)
class Tier:
    """`place` is `registers`, `L1` or `L2`; `slots` are the values beyond the registers at the
    peak, and `bytes` their size as vectors.
    """

    place: str
    slots: int
    bytes: int


def tier(peak: int, registers: int, lanes: int) -> Tier:
    """Where the values of a list with this peak stay."""
    slots = max(peak - registers, 0)
    size = slots * lanes * 8
    place = "registers" if not slots else "L1" if size <= FIRST else "L2"
    return Tier(place, slots, size)
