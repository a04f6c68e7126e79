"""Reductions and scans along the last dim, whose order is data (decision 0006), and what follows
from it for whoever writes or runs their loops.
"""

from __future__ import annotations

from typing import Literal

from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, index, op
from fusewright.ir.loops.statements import NOWHERE, Store
from fusewright.ir.tree.lanes import LaneMapping
from fusewright.ir.tree.units import BLOCK, block_of

FixedOrder = Literal["lanes", "scan"]
"""`lanes`: lane `i mod width` collects element `i` of the last dim, chunk by chunk (decision 0006).
`scan`: along the last dim, each result is combined from the one before it.
"""


@dataclass(frozen=True, slots=True)
class OrderedReduction:
    """`folds`, whose `combine` names a reduction, over `axes` of the dims from `outer` on, each in
    [low, high); `stores` are written on the way.  `bounds` cut the last dim.

    Units of a block are reduced into its partial results, where there is a `unit`.  Rows shorter
    than `short` are taken element by element.
    """

    order: FixedOrder
    folds: tuple[Store, ...]
    stores: tuple[Store, ...]
    extents: tuple[Expr, ...]
    low: tuple[Expr, ...]
    high: tuple[Expr, ...]
    axes: tuple[int, ...]
    outer: int
    lanes: LaneMapping
    chunk: int = 0
    short: int = 0
    unit: Expr | None = None
    bounds: tuple[Expr, Expr] | None = None
    span: Span = NOWHERE

    @property
    def last(self) -> int:
        """The dim that is collected."""
        return len(self.extents) - 1

    @property
    def ends(self) -> tuple[Expr, Expr]:
        """Where the last dim begins and ends."""
        return self.bounds or (self.low[-1], self.high[-1])

    @property
    def kept(self) -> tuple[int, ...]:
        """The dims around the last for which there are results."""
        return tuple(d for d in range(self.outer, self.last) if d not in self.axes)

    @property
    def run(self) -> tuple[int, ...]:
        """The reduced dims that are one dim with the last: those behind all that are kept."""
        first = max((dim + 1 for dim in self.kept), default=self.outer)
        return tuple(dim for dim in self.axes if first <= dim < self.last)

    @property
    def before(self) -> tuple[int, ...]:
        """The reduced dims around those of a run."""
        return tuple(d for d in self.axes if self.outer <= d < self.last and d not in self.run)

    @property
    def spans_units(self) -> bool:
        """Whether the rows of all units of a block are one run."""
        return self.unit is not None and not self.kept and self.bounds is None

    @property
    def block(self) -> Expr:
        """The block of its unit, where there is one; bounds are those of a block."""
        assert self.unit is not None
        return self.unit if self.bounds is not None else block_of(self.unit)

    @property
    def offset(self) -> Expr:
        """How many elements of the run come before a row."""
        total: Expr = const(0, INT64)
        if self.spans_units:
            assert self.unit is not None
            total = op("trem", self.unit, BLOCK)
        for dim in self.run:
            total = linear.plus(linear.times(total, self.extents[dim]), index(dim))
        return linear.times(total, self.extents[-1])
