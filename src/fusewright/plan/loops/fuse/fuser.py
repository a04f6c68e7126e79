"""Which loops of a block become one: first those over the same iterations, then, in strips, those
that share a loop only, or that meet a few iterations apart.
"""

from __future__ import annotations

from dataclasses import replace

from fusewright.analysis.pairs import independent
from fusewright.analysis.verdict import Verdict
from fusewright.base.values import dataclass
from fusewright.ir.loops.statements import (
    Fence,
    For,
    If,
    Statement,
    While,
    with_blocks,
)
from fusewright.plan.loops.fuse import profit
from fusewright.plan.loops.fuse.fusing import Fusing
from fusewright.plan.loops.fuse.merge import merged, same_bounds
from fusewright.plan.loops.fuse.nests import (
    Item,
    hoisted,
    item,
    made,
    may_swap,
    shared_variables,
)
from fusewright.plan.loops.fuse.strip_mining import formed
from fusewright.plan.loops.legality.live_in import Locals, exposed, read_from
from fusewright.plan.loops.legality.loop_facts import unit_of

BACK = 8
"""Statements a loop is moved past, at most, to meet the one it fuses with."""


@dataclass(frozen=True, slots=True)
class Split:
    """Loops of different bounds as one: what they have in common, and what each has alone.

    Every two of the `members` meet in the same iteration only, so whatever may fuse with all of
    them may fuse with the `core`, and what is left of it come after the other parts.
    """

    members: tuple[Item, ...]
    before: tuple[Item, ...]
    core: Item
    after: tuple[Item, ...]

    @property
    def parts(self) -> tuple[Item, ...]:
        return (*self.before, self.core, *self.after)


Piece = Item | Split | Statement


class Fuser(Fusing):
    """Fuses the loops of blocks, outer blocks first."""

    __slots__ = ()

    def body(self, body: tuple[Statement, ...], live: Locals) -> tuple[Statement, ...]:
        """The block with its loops fused, and those of its loops' bodies."""
        body = hoisted(self.ways, body)
        done: list[Piece] = []
        for statement, after in zip(body, read_from(body, live)[1:], strict=True):
            if isinstance(statement, For) and statement.dims[0].index in self.ways.tiles:
                done.append(statement)  # its tiles are as they should be
            elif isinstance(statement, For) and not self.ways.holds_tiles(statement):
                self._add(done, statement, after)
            else:
                done.append(self._inside(statement, after))
        pieces = [part for piece in done for part in _parts(piece)]
        striped = formed(self, pieces, live, self.body) if self.settings.fuse else None
        found: list[Statement] = []
        for piece in striped or pieces:
            if isinstance(piece, Item):
                inner = live | exposed(piece.loop.body)
                found.append(replace(piece.loop, body=self.body(piece.loop.body, inner)))
            else:
                found.append(piece)
        return tuple(found)

    def _inside(self, statement: Statement, live: Locals) -> Statement:
        """A statement that is no loop over a range, its blocks fused."""
        if isinstance(statement, If):
            first = self.body(statement.body, live)
            return replace(statement, body=first, orelse=self.body(statement.orelse, live))
        if isinstance(statement, While):
            around = live | exposed((statement,))
            head = self.body(statement.head, around)
            return replace(statement, head=head, body=self.body(statement.body, around))
        inner = getattr(statement, "body", None)
        return with_blocks(statement, [self.body(inner, live)]) if inner else statement

    # -- loops over the same iterations ---------------------------------------------------------

    def _add(self, done: list[Piece], loop: For, live: Locals) -> None:
        """Fuse a loop with an earlier one, or put it last."""
        is_part = loop.dims[0].index in self.numbers.parts
        fresh = replace(item(self.ways, loop, live), part=is_part)
        tries = self.settings.fuse and not fresh.may_end_all
        for back in range(1, min(len(done), BACK) + 1 if tries else 1):
            earlier = done[-back]
            members = _members(earlier)
            if any(member.may_end_all for member in members):
                break
            if members:
                fused = self._merge(earlier, fresh, live, adjacent=back == 1)
                if fused is not None:
                    done[len(done) - back] = fused
                    return
            if not self.may_pass(earlier, fresh):
                break
        done.append(fresh)

    def may_pass(self, earlier: Piece, fresh: Item) -> bool:
        """Whether a loop may be moved in front of what precedes it."""
        if isinstance(earlier, Fence):
            return False
        if not isinstance(earlier, Item | Split):
            return may_swap(self.ways, earlier, fresh.loop)
        return all(
            not shared_variables(self.ways, member.loop, fresh.loop, frozenset())
            and independent(member.unit, fresh.unit, self.facts)
            for member in _members(earlier)
        )

    def _merge(self, earlier: Piece, b: Item, live: Locals, adjacent: bool) -> Item | Split | None:
        """The two as one, in one or more parts; None where that is not right or does not pay."""
        members = _members(earlier)
        if len(members) >= profit.LOOPS:
            return None
        a = earlier.core if isinstance(earlier, Split) else members[0]
        if not all(self._fits(member, b, live, adjacent) for member in members):
            return None
        same = all(same_bounds(member.loop, b.loop) for member in members)
        why = profit.against_merging(a, b, same)
        asked = not why or self.pairs.reasons
        verdicts = [self.verdict(member, b) for member in members] if asked else []
        if not all(map(_whole, verdicts, members)):
            if not why and self.settings.level != "disjoint" and len(members) == 1:
                self.conditions.ask(a, b, self.facts)
            return None
        if not all(verdict.allowed(self.settings.level) for verdict in verdicts):
            why = f"the setting level={self.settings.level} does not allow it"
        if why:
            self.pairs.kept(a, b, why, adjacent)
            return None
        self.pairs.fused(a, b, verdicts[-1], "one loop")
        return self._as_one((*members, b), a, live)

    def _fits(self, a: Item, b: Item, live: Locals, adjacent: bool) -> bool:
        """Whether two loops have as many dims, bounds known before, and no variable in common."""
        if len(a.loop.dims) != len(b.loop.dims) or not (a.has_plain_bounds and b.has_plain_bounds):
            return False
        if a.part and b.part:
            return False
        variables = shared_variables(self.ways, a.loop, b.loop, live)
        if variables:
            name = self.ways.around.kernel.locals[min(variables)].name
            self.pairs.kept(a, b, f"`{name}` goes from one to the other", adjacent)
        return not variables

    def _as_one(self, members: tuple[Item, ...], before: Item, live: Locals) -> Item | Split:
        """The fused loops; `before` is the core they had without the last one."""
        last = members[-1]
        parts = merged([member.loop for member in members], self.numbers)
        core = replace(self._joined(before, last, parts.core, live), last=last.last)
        if not (parts.before or parts.after):
            return core
        around = [
            tuple(replace(self._part(part, live), part=True, last=last.last) for part in side)
            for side in (parts.before, parts.after)
        ]
        return Split(members, around[0], replace(core, part=True), around[1])

    def _joined(self, a: Item, b: Item, loop: For, live: Locals) -> Item:
        """The fused loop: it carries what its parts carry, since they meet at distance 0 only."""
        self.note_variables()
        unit = unit_of(self.ways.around, loop, live)
        if len(loop.dims) != len(a.loop.dims) or len(loop.dims) != len(b.loop.dims):
            return item(self.ways, loop, live)
        parallel = a.parallel & b.parallel
        numbers = tuple(loop.dims[place].index for place in sorted(parallel))
        places = {dim.index: place for place, dim in enumerate(loop.dims)}
        vector = places.get(self.ways.vector(loop, numbers), -1)
        return made(self.ways, loop, unit, (parallel, a.separable & b.separable), vector)

    def _part(self, part: For, live: Locals) -> Item:
        self.note_variables()
        return item(self.ways, part, live)


def _members(piece: Piece) -> tuple[Item, ...]:
    """The loops that went into a piece, as far as they are to be looked at one by one."""
    if isinstance(piece, Split):
        return piece.members
    return (piece,) if isinstance(piece, Item) else ()


def _parts(piece: Piece) -> tuple[Item | Statement, ...]:
    return piece.parts if isinstance(piece, Split) else (piece,)


def _whole(found: Verdict, a: Item) -> bool:
    """Whether all that the loops have in common is met in one iteration of both."""
    pairs = tuple((place, place) for place in range(len(a.loop.dims)))
    if found.level == "disjoint":
        return True
    return found.level == "same" and found.matched == pairs
