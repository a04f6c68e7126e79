"""What the analysis answers: for a pair of nests, for one nest, and the evidence for both."""

from __future__ import annotations

from typing import Literal

from fusewright.analysis.unit import Access, Dim
from fusewright.base.values import dataclass
from fusewright.ir.expr import Expr

Level = Literal["disjoint", "same", "dims", "shift", "overlap"]
LEVELS: tuple[Level, ...] = ("disjoint", "same", "dims", "shift", "overlap")
"""From the strictest proof to the one that allows most; a level includes those before it."""
Hull = tuple[int | None, int | None]
"""Least and greatest distance; None where it grows with a parameter."""


@dataclass(frozen=True, slots=True)
class Witness:
    """One case of a conflict: parameters, the iteration of the earlier access and of the later;
    `certain` unless an unknown value (a load, say) decides whether it happens.
    """

    params: tuple[tuple[Expr, int], ...]
    source: tuple[tuple[Dim, int], ...]
    sink: tuple[tuple[Dim, int], ...]
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Condition:
    """For which parameters something is illegal; `holds` is None where only the text can say it
    (`n mod 2 = 0` and the like).
    """

    text: str
    holds: Expr | None


@dataclass(frozen=True, slots=True)
class Blocker:
    """Two accesses that keep two nests from sharing all their dims."""

    kind: str
    array: str
    source: Access
    sink: Access
    distance: tuple[Hull, ...]
    witness: Witness | None
    illegal: Condition | None
    proved: bool = True


@dataclass(frozen=True, slots=True)
class Verdict:
    """How two nests, the first before the second, may be fused.

    `level` is the strictest level at which they fuse, None if at none.  `matched` pairs their dims
    (by number, outer first); `fused` are those on which every conflict has distance 0: fused on
    them, the loop is as parallel as its parts.  `distance` has an entry for each matched pair.
    `in_order`: fused on the matched dims and run in order, the result is right.  `shift`: right
    once the second nest runs that many iterations later in each matched dim (None: that dim cannot
    be shared), again in order.  `overlap`: tiles of the second nest can recompute this many of the
    first one's iterations at either end.  `pinned`: a nest's own order forbids moving the matched
    dims outermost.  `unique`: tables whose uniqueness would fuse more.
    """

    level: Level | None
    matched: tuple[tuple[int, int], ...]
    fused: tuple[tuple[int, int], ...]
    complete: bool
    distance: tuple[Hull, ...] = ()
    in_order: bool = True
    shift: tuple[int | None, ...] | None = None
    overlap: tuple[Hull, ...] | None = None
    same_bounds: bool = True
    blockers: tuple[Blocker, ...] = ()
    unique: tuple[str, ...] = ()
    tier: Literal["fast", "exact"] = "fast"
    pinned: bool = False

    @property
    def independent(self) -> bool:
        """Whether the nests may also trade places."""
        return self.level == "disjoint"

    @property
    def parallel(self) -> bool:
        """Whether every interleaving that runs A(i) before B(i) gives the same result."""
        return self.level in ("disjoint", "same") or (self.level == "dims" and self.complete)

    def allowed(self, level: Level) -> bool:
        """Whether they fuse under this setting of the knob."""
        if self.level is None:
            return False
        return LEVELS.index(self.level) <= LEVELS.index(level)


@dataclass(frozen=True, slots=True)
class Carry:
    """A dim that carries a value from one iteration to a later one."""

    dim: int
    kind: str
    array: str
    source: Access
    sink: Access
    distance: Hull
    witness: Witness | None
    illegal: Condition | None = None
    proved: bool = True


@dataclass(frozen=True, slots=True)
class Reduction:
    """Updates by one operation that collide along `dims` and touch nothing else of the array;
    `exact`: any order gives the same bits.
    """

    array: str
    op: str
    dims: tuple[int, ...]
    exact: bool
    updates: tuple[Access, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """What one nest needs of its order.

    `parallel`: dims that carry nothing once the dims further out are fixed.  `separable`: dims in
    which no two iterations that differ meet at all; they may move outermost.  Reductions' dims are
    in `parallel` only if nothing else is carried and `exact`ness does not matter to the caller:
    they are listed in `reduced` instead.
    """

    parallel: tuple[int, ...]
    separable: tuple[int, ...]
    reduced: tuple[int, ...]
    carries: tuple[Carry, ...] = ()
    reductions: tuple[Reduction, ...] = ()
