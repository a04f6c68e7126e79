"""How a loop runs in vectors."""

from __future__ import annotations

from fusewright.base.values import dataclass
from fusewright.ir.expr import Expr


@dataclass(frozen=True, slots=True)
class Anchor:
    """An element of a buffer: the one that a store along a loop writes at index 0."""

    buffer: int
    indices: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class LaneMapping:
    """A loop runs in vectors of `width` iterations; the last vector is masked.

    With an `anchor`, and at least `least` iterations, whole vectors are where that element's
    address counts whole vectors, with a masked vector before them.  The stores of `nontemporal`
    then pass the caches, where they all lie so.  With an `origin` they are where `origin` plus the
    index is a multiple of the width, and that is known to be where lines of memory begin.
    """

    width: int
    anchor: Anchor | None = None
    least: int = 0
    nontemporal: tuple[Anchor, ...] = ()
    origin: Expr | None = None

    @property
    def past(self) -> frozenset[int]:
        """The buffers that may be written past the caches."""
        return frozenset(anchor.buffer for anchor in self.nontemporal)
