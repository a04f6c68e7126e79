"""Strips in order, on threads: the iterations are cut into blocks, and what meets across a block's
ends runs before all blocks.

    for i: A(i)          for each block's end e:  for i in [e - h, e + l): A(i)
    for i: B(i)    ->    for each block [c, d), on threads:
                           for each strip of it:  A on [t, t + S) without those;  B, s behind

Theorem: let every A(x) and B(y) that meet have low <= y - x <= high, h >= high and l >= -low.  Then
all A that a block's B meet outside the block are among those that run first, and the others meet B
of their own block only.  Each iteration runs once, and every A(x) before each B(y) it meets (in a
block: see `strip_mining`).  With more than two loops h and l add up from the last to the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce

from fusewright.analysis.verdict import Hull
from fusewright.base.values import dataclass
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, index, local, op, typed_op
from fusewright.ir.linear import at_least, at_most
from fusewright.ir.loops.statements import Dim, For, Let, Local, Statement
from fusewright.machine import record as machine
from fusewright.plan.loops.fuse.fusing import Fusing
from fusewright.plan.loops.fuse.nests import Item
from fusewright.plan.loops.map.work import iteration, picoseconds
from fusewright.plan.loops.normalise.rename import copied
from fusewright.plan.loops.plan import BLOCKS

STRIPS, FEW = 4, 8
"""Strips of a block, at least, unless there would be fewer blocks than this."""


def may_block(members: Sequence[Item]) -> bool:
    """Whether the loops do nothing whose order is seen besides what they store."""
    return not any(member.unit.effects or member.unit.carried for member in members)


@dataclass(frozen=True, slots=True)
class Cut:
    """How the loops are cut: strips of `size` from `begin` to `end`; `behind` says how far each
    loop stays behind the strip.
    """

    begin: Expr
    end: Expr
    size: Expr
    behind: Sequence[int]


def blocked(
    fuser: Fusing,
    members: Sequence[Item],
    hulls: dict[tuple[int, int], Hull],
    cut: Cut,
    bodies: Sequence[tuple[Statement, ...]],
) -> list[Statement]:
    """The loops at the blocks' ends, and the loop over blocks; `bodies` are the loops' own."""
    zones = _zones(len(members), hulls)
    widest = max(map(sum, zones)) + 1
    room = linear.minus(cut.end, cut.begin)
    least = at_most(linear.times(cut.size, STRIPS), _ceiling(room, const(FEW, INT64)))
    even = _ceiling(room, const(BLOCKS, INT64))
    variable = fuser.numbers.local(Local("block", INT64))
    cost = each(members, (0,) * len(members))
    worth = typed_op("floor_divide", INT64, picoseconds(machine.current().block), cost)
    chosen = reduce(at_least, (even, least, worth, const(widest, INT64)))
    length = local(variable, INT64)
    fuser.note_variables()
    count = _ceiling(room, length)
    first = [
        _at_ends(fuser, member, zone, cut.begin, length, count)
        for member, zone in zip(members, zones, strict=True)
        if zone != (0, 0)
    ]
    block = fuser.numbers.index()
    start = linear.plus(cut.begin, linear.times(index(block), length))
    inside = _in_order(fuser, members, zones, cut, (start, length), bodies)
    fuser.ways.proved.add(block)
    # One variable, or every bound would spell out how long a block is.
    name, span = members[0].loop.dims[0].name, members[0].loop.span
    return [
        Let(variable, chosen, span),
        *first,
        For((Dim(block, const(0, INT64), count, name),), (inside,), span),
    ]


def _in_order(
    fuser: Fusing,
    members: Sequence[Item],
    zones: Sequence[tuple[int, int]],
    cut: Cut,
    block: tuple[Expr, Expr],
    bodies: Sequence[tuple[Statement, ...]],
) -> For:
    """The strips of a block (its start and length), without what has run before."""
    strip = fuser.numbers.index()
    start, end = block[0], linear.plus(*block)
    here = linear.plus(start, linear.times(index(strip), cut.size))
    past = linear.plus(here, cut.size)
    inside = []
    for member, (before, after), s, body in zip(members, zones, cut.behind, bodies, strict=True):
        old = member.loop.dims[0]
        lows = (linear.minus(here, s), linear.plus(start, after), old.low)
        ends = (linear.minus(past, s), linear.minus(end, before), old.high)
        dim = replace(old, low=reduce(at_least, lows), high=reduce(at_most, ends))
        inside.append(replace(member.loop, dims=(dim, *member.loop.dims[1:]), body=body))
    turns = _ceiling(linear.plus(block[1], max(cut.behind)), cut.size)
    fuser.ways.ordered.add(strip)
    name = members[0].loop.dims[0].name
    return For((Dim(strip, const(0, INT64), turns, name),), tuple(inside), members[0].loop.span)


def each(members: Sequence[Item], places: Sequence[int]) -> Expr:
    """Picoseconds of one iteration of all loops along the dims at these places."""
    costs = []
    for member, place in zip(members, places, strict=True):
        dims = member.loop.dims
        along = replace(member.loop, dims=(dims[place], *dims[:place], *dims[place + 1 :]))
        costs.append(iteration(along, frozenset(dims[k].index for k in {member.vector} - {-1})))
    return at_least(reduce(partial(op, "add"), costs), const(1, INT64))


def _zones(count: int, hulls: dict[tuple[int, int], Hull]) -> list[tuple[int, int]]:
    """How far before and after a block's end each loop runs first."""
    before, after = [0] * count, [0] * count
    for (k, m), (low, high) in sorted(hulls.items(), key=lambda item: -item[0][1]):
        assert low is not None and high is not None
        before[k] = max(before[k], before[m] + max(0, high))
        after[k] = max(after[k], after[m] + max(0, -low))
    return list(zip(before, after, strict=True))


def _at_ends(
    fuser: Fusing, member: Item, zone: tuple[int, int], begin: Expr, length: Expr, count: Expr
) -> For:
    """One loop's iterations around the ends of all blocks."""
    number = fuser.numbers.index()
    end = linear.plus(begin, linear.times(index(number), length))
    old = member.loop.dims[0]
    low = at_least(linear.minus(end, zone[0]), old.low)
    high = at_most(linear.plus(end, zone[1]), old.high)
    inner = replace(member.loop, dims=(replace(old, low=low, high=high), *member.loop.dims[1:]))
    (fresh,) = copied((inner,), fuser.numbers)
    fuser.note_variables()
    fuser.ways.proved.add(number)
    ends = Dim(number, const(0, INT64), linear.plus(count, 1), old.name)
    return For((ends,), (fresh,), member.loop.span)


def _ceiling(a: Expr, b: Expr) -> Expr:
    return typed_op("floor_divide", INT64, linear.plus(a, linear.minus(b, 1)), b)
