"""Loops that share a dim, or meet a few iterations apart, run strip by strip of it: what one has
written the next one finds in the cache.

    for d, b: A(d, b)         for each strip of b:
    for e, b: B(e, b)   ->      for d, b in strip: A(d, b)
                                for e, b in strip: B(e, b)

Four forms.  *dims*: all that two loops have in common is met in the same iteration of the shared
dim; strips may run in any order.  *overlap*: the second loop reads what lies up to some iterations
away; the first one computes that much beyond the strip's ends, twice in all.  *shift*: the second
loop stays that many iterations behind, and strips run in order.  *shift in blocks*: the same on
threads (see `blocks`).

Theorem (shift): if every pair of iterations x of A and y of B that meet has x <= y + s, then A on
[t, t+S) before B on [t-s, t+S-s), strip after strip, runs every x before every y it meets.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING

from fusewright.analysis.reorder import keeps_order
from fusewright.analysis.verdict import LEVELS, Hull, Verdict
from fusewright.base.values import dataclass
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, index, typed_op
from fusewright.ir.linear import at_least, at_most
from fusewright.ir.loops.statements import Dim, For
from fusewright.machine import record as machine
from fusewright.plan.loops.fuse import profit
from fusewright.plan.loops.fuse.blocks import Cut, blocked, each, may_block
from fusewright.plan.loops.fuse.fusing import Form, Fusing, Inner, Strip
from fusewright.plan.loops.fuse.nests import Item, item, shared_variables
from fusewright.plan.loops.legality.live_in import Locals, exposed, read_from
from fusewright.plan.loops.map.work import picoseconds
from fusewright.plan.loops.plan import FAR, Settings

if TYPE_CHECKING:
    from fusewright.ir.loops.statements import Statement

SHARES = 16
"""Strips, at least, where that many have `LEAST` iterations: threads share them."""
LEAST = 64
"""Iterations of a strip in vectors, or with some computed twice, at least: below, what is computed
beside them shows.
"""


@dataclass(slots=True)
class Group:
    """Loops that will run in strips, the place of the shared dim in each, and how far apart two of
    them meet (no entry: they never do).
    """

    members: list[Item]
    places: list[int]
    hulls: dict[tuple[int, int], Hull]
    form: Form = "dims"


def formed(
    fuser: Fusing, pieces: list[Item | Statement], live: Locals, inner: Inner
) -> list[Item | Statement]:
    """The pieces with neighbouring loops in strips where that is right and pays."""
    found: list[Item | Statement] = []
    group: Group | None = None
    plain = [piece.loop if isinstance(piece, Item) else piece for piece in pieces]
    for piece, (here, after) in zip(pieces, pairwise(read_from(plain, live)), strict=True):
        if isinstance(piece, Item):
            if group is not None and _joined(fuser, group, piece, after):
                continue
            _close(fuser, group, found, here, inner)
            group = Group([piece], [-1], {})
        else:
            _close(fuser, group, found, here, inner)
            group = None
            found.append(piece)
    _close(fuser, group, found, live, inner)
    return found


def _close(
    fuser: Fusing,
    group: Group | None,
    found: list[Item | Statement],
    live: Locals,
    inner: Inner,
) -> None:
    if group is None:
        return
    if len(group.members) == 1:
        found.append(group.members[0])
    else:
        found += _built(fuser, group, live, inner)


# -- joining ------------------------------------------------------------------------------------


def _joined(fuser: Fusing, group: Group, fresh: Item, live: Locals) -> bool:
    """Take the loop into the group, as it is or with its inner loops inside its body."""
    if _join(fuser, group, fresh, live):
        return True
    if len(fresh.loop.dims) > 1 and _join(fuser, group, _unfolded(fuser, fresh, live), live):
        return True
    first = group.members[0]
    if len(group.members) > 1 or len(first.loop.dims) == 1:
        return False
    other = Group([_unfolded(fuser, first, live)], [-1], {})
    if not _join(fuser, other, fresh, live):
        return False
    group.members, group.places = other.members, other.places
    group.hulls, group.form = other.hulls, other.form
    return True


def _unfolded(fuser: Fusing, nest: Item, live: Locals) -> Item:
    """The outer loop alone, the others in its body."""
    loop = nest.loop
    inner = replace(loop, dims=loop.dims[1:])
    outer = replace(loop, dims=loop.dims[:1], body=(inner,))
    return replace(item(fuser.ways, outer, live), part=nest.part, last=nest.last)


def _join(fuser: Fusing, group: Group, fresh: Item, live: Locals) -> bool:
    last = group.members[-1]
    if last.part or fresh.part or not (last.has_plain_bounds and fresh.has_plain_bounds):
        return False
    if last.may_end_all or fresh.may_end_all:
        return False
    for member in group.members:
        if shared_variables(fuser.ways, member.loop, fresh.loop, live):
            return False
    why = profit.against_strips(fuser.ways.around.kernel, group.members, fresh)
    if why:
        fuser.pairs.kept(last, fresh, why)
        return False
    verdicts = [fuser.verdict(member, fresh) for member in group.members]
    for places in _choices(group, verdicts, fresh):
        trial = _with(fuser, group, fresh, places, verdicts)
        if trial is not None:
            group.members, group.places = trial.members, trial.places
            group.hulls, group.form = trial.hulls, trial.form
            name = fresh.loop.dims[places[-1]].name
            fuser.pairs.fused(last, fresh, verdicts[-1], f"strips, {trial.form}", name)
            return True
    fuser.pairs.kept(last, fresh, "")
    return False


def _choices(group: Group, verdicts: list[Verdict], fresh: Item) -> list[tuple[int, ...]]:
    """The places of the dim to share, in each member and in the new loop; the best first."""
    first = range(len(group.members[0].loop.dims))
    if group.places[0] >= 0:
        before = [tuple(group.places)]
    else:
        before = [(place,) for place in sorted(first, key=_rank(group.members[0]))]
    found = []
    for places in before:
        partners = {
            q
            for verdict, number in zip(verdicts, places, strict=True)
            for p, q in verdict.matched
            if p == number and verdict.level != "disjoint"
        }
        if len(partners) == 1:
            found.append((*places, partners.pop()))
    return found


def _rank(item: Item) -> Callable[[int], tuple[bool, int]]:
    """The dim that runs in vectors first, where it is not the only one; then the outermost."""
    return lambda place: (place != item.vector, place)


def _with(
    fuser: Fusing, group: Group, fresh: Item, places: tuple[int, ...], verdicts: list[Verdict]
) -> Group | None:
    """The group with one more loop, if its strips are right."""
    members = [*group.members, fresh]
    hulls = dict(group.hulls)
    bounded = True
    for k, verdict in enumerate(verdicts):
        if verdict.level == "disjoint":
            continue
        pair = (places[k], places[-1])
        distance = dict(zip(verdict.matched, verdict.distance, strict=False)).get(pair)
        if distance is None:
            return None
        distance = (_near(distance[0]), _near(distance[1]))
        hulls[k, len(members) - 1] = distance
        bounded = bounded and None not in distance
    trial = Group(members, list(places), hulls)
    form = _form(fuser, trial, bounded and group.form != "shift")
    if form is None or not _outermost(fuser, trial, form):
        return None
    trial.form = form
    return trial


def _near(end: int | None) -> int | None:
    """A distance that a strip can bridge."""
    return end if end is not None and abs(end) <= FAR else None


def _form(fuser: Fusing, trial: Group, bounded: bool) -> Form | None:
    """How strips may run, under the settings."""
    free = _is_free(trial)
    allowed = LEVELS.index(fuser.settings.level)
    if all(hull == (0, 0) for hull in trial.hulls.values()):
        wanted: Form = "dims"
    elif bounded and free and allowed >= LEVELS.index("overlap") and _recomputable(fuser, trial):
        wanted = "overlap"
    else:
        wanted = "shift"
    if allowed < LEVELS.index(wanted):
        return None
    if wanted == "shift":
        if any(hull[0] is None for hull in trial.hulls.values()):
            return None
        if fuser.settings.threads and all(m.on_threads for m in trial.members):
            ends = all(None not in hull for hull in trial.hulls.values())
            return "shift in blocks" if ends and free and may_block(trial.members) else None
    if not free and fuser.settings.threads and any(m.on_threads for m in trial.members):
        return None  # strips in order would keep that loop from the threads
    return wanted


def _is_free(group: Group) -> bool:
    """Whether the strips are independent: as outermost loop, the shared dim of each member."""
    return all(p in m.separable for m, p in zip(group.members, group.places, strict=True))


def _recomputable(fuser: Fusing, trial: Group) -> bool:
    """Whether the members that go beyond the strips' ends may do so twice, and on two threads.

    They have no effect but their stores, do not read what they write, and nothing that comes later
    writes what they touch: so each time they store the same values.
    """
    kernel = fuser.ways.around.kernel
    trial.form = "overlap"
    for place, (member, reach) in enumerate(zip(trial.members, reaches(trial), strict=True)):
        if reach == (0, 0):
            continue
        later = {n for m in trial.members[place + 1 :] for n in m.written}
        meeting = ((member.written, member.read), (later, member.buffers))
        if (
            member.unit.effects
            or member.unit.carried
            or any(
                a == b or not kernel.apart(a, b)
                for left, right in meeting
                for a in left
                for b in right
            )
        ):
            return False
    return True


def _outermost(fuser: Fusing, trial: Group, form: Form) -> bool:
    """Whether the shared dim may become the outer loop of each member."""
    for member, place in zip(trial.members, trial.places, strict=True):
        if place and form != "dims":
            return False
        if place and not keeps_order(member.unit, (place,), fuser.facts):
            return False
    return True


# -- building -----------------------------------------------------------------------------------


def reaches(group: Group) -> list[tuple[int, int]]:
    """How far each member goes beyond a strip's ends (negative: it stays behind)."""
    count = len(group.members)
    if group.form in ("shift", "shift in blocks"):
        behind = [0] * count
        for (k, m), (low, _) in sorted(group.hulls.items(), key=lambda item: item[0][1]):
            assert low is not None
            behind[m] = max(behind[m], behind[k] - low)
        return [(-s, -s) for s in behind]
    left, right = [0] * count, [0] * count
    for (k, m), (low, high) in sorted(group.hulls.items(), key=lambda item: -item[0][1]):
        if group.form == "overlap":
            assert low is not None and high is not None
            left[k] = max(left[k], left[m] + max(0, high))
            right[k] = max(right[k], right[m] + max(0, -low))
    return [(-a, b) for a, b in zip(left, right, strict=True)]


def _built(fuser: Fusing, group: Group, live: Locals, fused: Inner) -> list[Statement]:
    """The loop over strips; with blocks, what runs before."""
    reach = reaches(group)
    dims = [m.loop.dims[p] for m, p in zip(group.members, group.places, strict=True)]
    begin = reduce(at_most, (linear.minus(d.low, a) for d, (a, _) in zip(dims, reach, strict=True)))
    end = reduce(at_least, (linear.minus(d.high, b) for d, (_, b) in zip(dims, reach, strict=True)))
    size = _size(fuser, group, linear.minus(end, begin))
    bodies = [fused(m.loop.body, live | exposed(m.loop.body)) for m in group.members]
    if group.form == "shift in blocks":
        first, last = (d.low for d in dims), (d.high for d in dims)
        behind = [-a for a, _ in reach]
        cut = Cut(reduce(at_most, first), reduce(at_least, last), size, behind)
        return blocked(fuser, group.members, group.hulls, cut, bodies)
    number = fuser.numbers.index()
    start = linear.plus(begin, linear.times(index(number), size))
    body = []
    for member, place, (a, b), inner in zip(
        group.members, group.places, reach, bodies, strict=True
    ):
        old = member.loop.dims[place]
        low = at_least(linear.plus(start, a), old.low)
        high = at_most(linear.plus(linear.plus(start, size), b), old.high)
        inside = replace(old, low=low, high=high)
        body.append(
            replace(
                member.loop,
                dims=(*member.loop.dims[:place], inside, *member.loop.dims[place + 1 :]),
                body=inner,
            )
        )
    room = linear.plus(linear.minus(end, begin), linear.minus(size, 1))
    count = typed_op("floor_divide", INT64, room, size)
    strip = Dim(number, const(0, INT64), count, dims[0].name)
    known = {dim.index: pair for dim, pair in zip(dims, reach, strict=True)}
    fuser.strips.append(Strip(number, start, size, known, group.form))
    if _is_free(group) and group.form != "shift":
        fuser.ways.proved.add(number)
    else:
        fuser.ways.ordered.add(number)
    return [For((strip,), tuple(body), group.members[0].loop.span)]


def _size(fuser: Fusing, group: Group, room: Expr) -> Expr:
    """Iterations in a strip: no more than a cache holds, and enough strips for the threads."""
    settings, kernel = fuser.settings, fuser.ways.around.kernel
    item, place = group.members[0], group.places[0]
    deep = any(len(m.loop.dims) > 1 for m in group.members)
    if not deep and not any(isinstance(s, For) for m in group.members for s in m.loop.body):
        return const(settings.elements, INT64)
    by_rows = deep and not place and place != item.vector
    most = _rows(group, settings) if by_rows else const(settings.columns, INT64)
    wide = any(p == m.vector for m, p in zip(group.members, group.places, strict=True))
    least = LEAST if wide or group.form == "overlap" else settings.rows[0]
    if group.form.startswith("shift") or not _is_free(group):
        return most
    if wide and any(kernel.buffers[n].dead for m in group.members for n in m.buffers):
        return most  # places in what is kept of a dead array are vectors: they divide nothing
    cost = each(group.members, group.places)
    worth = typed_op("floor_divide", INT64, picoseconds(machine.current().strip), cost)
    fewest = at_least(const(least, INT64), worth)
    return at_most(most, at_least(_ceiling(room, SHARES), fewest))


def _rows(group: Group, settings: Settings) -> Expr:
    """Whole rows that stay in a cache."""
    widths = [linear.minus(d.high, d.low) for d in group.members[0].loop.dims[1:]]
    row = reduce(linear.times, widths, const(8 * len(group.members), INT64))
    room, one = const(settings.row_bytes, INT64), const(1, INT64)
    rows = typed_op("floor_divide", INT64, room, at_least(row, one))
    least, most = (const(count, INT64) for count in settings.rows)
    return at_most(at_least(rows, least), most)


def _ceiling(a: Expr, count: int) -> Expr:
    return typed_op("floor_divide", INT64, linear.plus(a, count - 1), const(count, INT64))
