"""The iteration spaces of a kernel's members: their boxes, stretches of them, who lies inside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fusewright.base.figures import LINE
from fusewright.ir import linear
from fusewright.ir.expr import Expr, index, op, postorder
from fusewright.ir.linear import at_least, at_most
from fusewright.ir.nest import Box, Nest, Stage, grouped
from fusewright.plan.plan import Kernel, Member, counts_tiles


def boxes(phase: Sequence[Member]) -> Iterator[tuple[list[Member], list[Nest]]]:
    """The loops of a phase: for each box its members and their nests (folds are asked for as a
    whole).
    """
    if any(m.stage.form != "map" for m in phase):
        yield list(phase), [m.stage.nests[0] for m in phase]
        return
    for number in range(len(grouped(phase[0].stage))):
        pairs = [(m, nest) for m in phase for nest in grouped(m.stage)[number][1]]
        yield [m for m, _ in pairs], [nest for _, nest in pairs]


def starts_aligned(phase: Sequence[Member]) -> bool:
    """Whether every vector stored lies within aligned memory of ours: units start at multiples of
    the grain.
    """
    zero = all(linear.constant(n.box.low[0]) == 0 for m in phase for n in m.stage.nests)
    own = all(m.stage.update < 0 and n.store == (index(0),) for m in phase for n in m.stage.nests)
    return zero and own


def written_once(kernel: Kernel) -> frozenset[int]:
    """The values a kernel writes to memory, each element at its own place, and never reads: those
    worth writing past the caches.
    """
    if kernel.tiled or counts_tiles(kernel):
        return frozenset()
    nests = [nest for m in kernel.members for nest in m.stage.nests]
    read = {e.attr for e in postorder(n.body for n in nests) if e.name == "load"}
    return frozenset(
        m.stage.slot
        for m in kernel.members
        if m.place == "memory" and m.stage.slot not in read and _is_own(m.stage)
    )


def _is_own(stage: Stage) -> bool:
    """Whether a map writes a new value, each element at its own index."""
    rank = len(stage.extents)
    here = tuple(index(dim) for dim in range(rank))
    return (
        stage.form == "map"
        and stage.update < 0
        and all(n.store[:rank] == here for n in stage.nests)
    )


def halo_of(member: Member) -> int:
    """Elements of a row buffer beside its stretch."""
    return margin_of(member, -member.left) + margin_of(member, member.right)


def margin_of(member: Member, count: int) -> int:
    """A halo of this many elements, in whole cache lines where they are next to each other."""
    if len(member.stage.extents) > 2:
        return count
    return -(-count // LINE) * LINE  # whole lines, and whole vectors, of every type


def stretched(member: Member, low: Expr, high: Expr) -> Member:
    """The member with its boxes cut to a stretch of dim 1 and the member's halo."""
    begin, end = linear.plus(low, member.left), linear.plus(high, member.right)
    nests = []
    for nest in member.stage.nests:
        box = nest.box
        lows = (box.low[0], at_least(box.low[1], begin), *box.low[2:])
        highs = (box.high[0], at_most(box.high[1], end), *box.high[2:])
        nests.append(replace(nest, box=Box(lows, highs)))
    return replace(member, stage=replace(member.stage, nests=tuple(nests)))


def inside(nest: Nest, stage: Stage, shared: Sequence[Expr]) -> Expr | None:
    """Whether the shared index lies in the nest's box; None where it always does."""
    total: Expr | None = None
    for dim, variable in enumerate(shared):
        for needed, condition in (
            (
                linear.constant(nest.box.low[dim]) != 0,
                op("less_equal", nest.box.low[dim], variable),
            ),
            (
                linear.distance(nest.box.high[dim], stage.extents[dim]) != 0,
                op("less", variable, nest.box.high[dim]),
            ),
        ):
            if needed:
                total = condition if total is None else op("bitwise_and", total, condition)
    return total
