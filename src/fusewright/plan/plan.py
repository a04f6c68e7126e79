"""A plan: which stages became one kernel, in what order, and where each intermediate lives.

A kernel runs *units* in parallel.  In form `rows` a unit is one index of the `shared` leading dims,
and every phase computes the rest of the dims for it.  In form `tiles` (one dim) a unit is a tile of
`TILE` elements.  A stage whose readers want it at other offsets of dim 0 runs `lag` units ahead,
and starts `low` units before and ends `high` units behind the range its thread owns; the last
`ring` rows of it are kept.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from fusewright.base.values import dataclass
from fusewright.ir.dtypes import DType
from fusewright.ir.expr import Expr
from fusewright.ir.nest import Alias, Library, Stage

TILE = 8192
"""Elements of a tile and of a block of a reduction: 64 KiB of float64 stay in L2 and feed the
vector units for 1-2 us."""

LANE_BYTES = 128
"""Bytes of accumulators a reduction along the last dim keeps, whatever the machine's vectors
are."""

Place = Literal["memory", "row"]
Form = Literal["rows", "tiles"]


@dataclass(frozen=True, slots=True)
class Member:
    """A stage in a kernel."""

    stage: Stage
    place: Place
    lag: int = 0
    low: int = 0
    high: int = 0
    ring: int = 1
    left: int = 0
    right: int = 0


@dataclass(frozen=True, slots=True)
class Kernel:
    """Stages that run as one.  `tiled` rows are computed a stretch of dim 1 at a time, so that what
    is kept of them stays near; a member starts `left` elements before its stretch and ends `right`
    behind it.
     Each phase is one loop (members of one phase share their loop).
    """

    form: Form
    shared: int
    extents: tuple[tuple[Expr, ...], ...]
    phases: tuple[tuple[Member, ...], ...]
    ordered: bool = False
    tiled: bool = False

    @property
    def members(self) -> tuple[Member, ...]:
        return tuple(member for phase in self.phases for member in phase)

    @property
    def streams(self) -> bool:
        """Whether rows are kept from one unit to the next."""
        return any(m.lag or m.low or m.high or m.ring > 1 for m in self.members)

    @property
    def sinks(self) -> tuple[Member, ...]:
        """Reductions over the units themselves; their blocks are combined when all are done."""
        return tuple(m for m in self.members if is_sink(m.stage))


class Decided(NamedTuple):
    """Why two neighbours share a kernel, or do not; `slots` are the nodes concerned."""

    fused: bool
    slots: tuple[int, int]
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps in order, and the decisions that led to them."""

    steps: tuple[Kernel | Library | Alias, ...]
    decisions: tuple[Decided, ...]


def is_sink(stage: Stage) -> bool:
    """Whether the stage reduces dim 0, along which units run."""
    return stage.form == "fold" and 0 in stage.axes


def lanes_of(dtype: DType) -> int:
    """How many accumulators a reduction along the last dim keeps: a constant of the dtype, not of
    the machine.
    """
    return LANE_BYTES // max(dtype.itemsize, 4)


def counts_tiles(kernel: Kernel) -> bool:
    """Whether the units of a kernel in form `tiles` are tiles; a single loop over elements
    needs none.
    """
    if kernel.form != "tiles":
        return False
    return len(kernel.phases) > 1 or any(m.stage.form != "map" for m in kernel.members)
