"""Rows of a kernel that its stages compute ahead of those who read them, and keep."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from fusewright.ir import linear
from fusewright.ir.expr import index
from fusewright.ir.nest import Stage
from fusewright.plan.plan import Member
from fusewright.plan.reads import loads_of


def scheduled(members: list[Member], tiled: bool) -> list[Member]:
    """Lags, halos and rings, consumers first."""
    done: list[Member] = []
    for member in reversed(members):
        slot = member.stage.slot
        reads = [(r, d) for r in done for d in distances(r.stage, slot, 0)]
        lag = max((r.lag + d for r, d in reads), default=0)
        oldest = min((r.lag + d for r, d in reads), default=lag)
        one = replace(
            member,
            lag=lag,
            low=_least((r.low + d for r, d in reads), member),
            high=-_least((-r.high - d for r, d in reads), member),
            ring=_power_of_two(lag - oldest + 1),
        )
        if tiled:
            beside = [(r, d) for r in done for d in distances(r.stage, slot, 1)]
            one = replace(
                one,
                left=_least((r.left + d for r, d in beside), member),
                right=-_least((-r.right - d for r, d in beside), member),
            )
        done.append(one)
    return done[::-1]


def _least(bounds: Iterable[int], member: Member) -> int:
    """The farthest bound; a value that goes to memory is computed where it stands, too."""
    found = list(bounds)
    if member.place == "memory" or not found:
        found.append(0)
    return min(found)


def distances(stage: Stage, slot: int, dim: int) -> set[int]:
    """How far from its own index a stage reads a value along a dim."""
    found = {
        linear.distance(load.args[dim], index(dim)) for load in loads_of(stage) if load.attr == slot
    }
    return {distance for distance in found if distance is not None}


def _power_of_two(count: int) -> int:
    return 1 << (count - 1).bit_length()
