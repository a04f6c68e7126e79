"""What `fp.explain(mf)` prints."""

from __future__ import annotations

from typing import Any

from fusewright.base.values import dataclass
from fusewright.bridges.pyscf.mean_field import OurIntegrals, following_jk, record_of
from fusewright.bridges.pyscf.record import IN_CORE, JK, Evaluated


@dataclass(frozen=True, slots=True)
class IntegralExplanation:
    """Rows (item, count, seconds or None), whole steps first, then the dearest classes; `note` says
    why there are none.
    """

    rows: tuple[tuple[Evaluated, int, float | None], ...]
    note: str = ""

    def __str__(self) -> str:
        if not self.rows:
            return self.note
        cells = [("what", "count", "by", "seconds", "why not ours")]
        for item, count, seconds in self.rows:
            time = "" if seconds is None else f"{seconds:.4f}"
            cells.append((item.what, str(count), item.by, time, item.why))
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = (
            f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:<{widths[2]}}  "
            f"{row[3]:>{widths[3]}}  {row[4]}".rstrip()
            for row in cells
        )
        return "\n".join([*lines, *([self.note] if self.note else [])])


def explain(mf: Any) -> IntegralExplanation:
    """Which classes of integrals and which steps were whose, for this object and its copies."""
    if not isinstance(mf, OurIntegrals):
        return IntegralExplanation((), f"{type(mf).__name__} is PySCF's alone: call fp.apply")
    record = record_of(mf)
    rows = [(item, many, record.seconds.get(item)) for item, many in record.counts.items()]
    rows.sort(key=lambda row: (row[0].what not in (IN_CORE, JK), -(row[2] or 0.0), row[0].what))
    front = type(mf).get_jk
    if front is not OurIntegrals.get_jk and front is not following_jk(type(mf)):
        note = f"J and K come from {front.__qualname__}, which stands in front of ours"
    else:
        note = "" if rows else "nothing has been evaluated yet"
    return IntegralExplanation(tuple(rows), note)
