"""Which loops run on threads and which in vectors.

The outermost loop none of whose iterations depends on another is divided among threads; inside it
the loop along which most memory is contiguous runs in vectors, and the loops inside that one run
for all lanes together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fusewright.analysis.carried import order, tables_needed
from fusewright.analysis.conflicts import Scalar
from fusewright.analysis.explain import conflict_in_words, unique_in_words
from fusewright.analysis.unit import Unit
from fusewright.analysis.verdict import Carry, Order
from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.ir import linear
from fusewright.ir.expr import Expr, index, postorder
from fusewright.ir.loops.statements import (
    NOWHERE,
    Block,
    For,
    If,
    Let,
    Statement,
    Store,
    While,
    line_of,
    walk,
)
from fusewright.ir.nest import in_pairs
from fusewright.machine import record as machine
from fusewright.plan.loops.legality.live_in import Locals, exposed, read_from
from fusewright.plan.loops.legality.loop_facts import EARLY_END, Surroundings, buffers_in, unit_of
from fusewright.plan.loops.map.made import acts_outside, has_order, shared
from fusewright.plan.loops.map.reductions import ON_THREADS, Folds, folds, is_associative
from fusewright.plan.loops.map.work import SHORT, accesses, is_short, uniform
from fusewright.plan.loops.plan import IN_ORDER, OF_FLOATS, LoopReport

CONTIGUOUS = 1.0
"""What an access to neighbours in memory is worth in vectors; others are worth a share of it."""
WORTH = 0.25
"""A loop runs in vectors if its accesses are worth this on average."""
HOLDS_TILES = "the loops inside it run in tiles, on threads of their own"
"""What becomes of a loop around such."""
REPEATS = "each iteration decides whether there is another"
"""What becomes of a `while`."""


@dataclass(frozen=True, slots=True)
class Nest:
    """A loop and the dims of it that carry nothing but `folds`, with the answer they come from."""

    loop: For
    unit: Unit
    order: Order | None
    parallel: tuple[int, ...]
    folds: Folds
    is_folded: bool = False
    is_rounded: bool = False


NO_TILES: Mapping[int, LoopReport] = {}


class Parallelism:
    """Collects the loops that run in threads and vectors; `body` gives the statements to run.

    Loops over strips have been judged before: `proved` are independent, `ordered` are not.
    `tiles` are loops over blocks of rows that add up in register tiles, with what is said of them,
    `columns` the loops inside that run in vectors, `pieces` those that run in order.
    """

    def __init__(
        self,
        around: Surroundings,
        reasons: bool = False,
        tiles: Mapping[int, LoopReport] = NO_TILES,
    ) -> None:
        self.around = around
        self.reasons = reasons
        self.threads: set[int] = set()
        self.vectors: set[int] = set()
        self.reports: list[LoopReport] = []
        self.proved: set[int] = set()
        self.ordered: set[int] = set()
        self.scans: dict[int, tuple[str, ...]] = {}
        self.tiles = tiles
        self.columns: set[int] = set()
        self.pieces: set[int] = set()
        self.folds: dict[int, dict[int, str]] = {}
        self.copies: dict[int, dict[int, str]] = {}

    def body(
        self, body: Sequence[Statement], live: Locals, in_task: bool = False
    ) -> tuple[Statement, ...]:
        """Decide for all loops of a block; `live` is read after it."""
        done: list[Statement] = []
        for statement, after in zip(body, read_from(body, live)[1:], strict=True):
            done.append(self._statement(statement, after, in_task))
        return tuple(done)

    def _statement(self, statement: Statement, live: Locals, in_task: bool) -> Statement:
        if isinstance(statement, For):
            return self._loop(statement, live, in_task)
        if isinstance(statement, If):
            first = self.body(statement.body, live, in_task)
            return replace(statement, body=first, orelse=self.body(statement.orelse, live, in_task))
        if isinstance(statement, While):
            around = live | exposed((statement,))
            if self.reasons and not in_task:
                self.reports.append(LoopReport(statement.span, (), (), False, False, REPEATS))
            head = self.body(statement.head, around, in_task)
            return replace(statement, head=head, body=self.body(statement.body, around, in_task))
        if isinstance(statement, Block):
            return replace(statement, body=self.body(statement.body, live, in_task))
        return statement

    def _loop(self, loop: For, live: Locals, in_task: bool) -> For:
        if self.holds_tiles(loop):
            return self._around_tiles(loop, live, in_task)
        nest = self.nest(loop, live)
        dims = loop.dims
        first = dims[0].index
        free = set(nest.parallel)
        inner = For(dims[1:], loop.body, loop.span)
        given = {s.local for s in walk(loop.body) if isinstance(s, Let)}
        copied = {} if free or in_task else self._collected(nest)
        alone = first in free or copied
        if not alone and len(dims) > 1 and uniform(inner, set(), given):
            # The loops further in may still be parallel.
            self._report(replace(loop, dims=dims[:1]), nest, False, -1)
            fresh = self._loop(inner, live | exposed(loop.body), in_task)
            return replace(loop, dims=dims[:1], body=(fresh,))
        threads = (first in free or bool(copied)) and not in_task
        short = is_short(loop)
        threads = threads and self._fits_threads(nest) and not short and not acts_outside(loop)
        if threads:
            self.threads.add(first)
            self.copies[first] = copied
        chosen = self._chosen(loop, nest, short)
        inside = live | exposed(loop.body)
        if chosen >= 0:
            self.vectors.add(chosen)
        for number in {first, chosen} & (self.threads | self.vectors):
            self.folds[number] = dict(nest.folds)
        place = len(self.reports)
        self._report(loop, nest, threads, chosen)
        if chosen >= 0:
            return loop
        loop = replace(loop, body=self.body(loop.body, inside, in_task or threads))
        if first in self.tiles:
            self.reports[place:] = [replace(self.tiles[first], threads=in_task or threads)]
        elif first in self.proved | self.ordered:
            self.reports[place:] = shared(self.reports[place:], loop, self.proved | self.ordered)
        return loop

    def _around_tiles(self, loop: For, live: Locals, in_task: bool) -> For:
        numbers, names = (dim.index for dim in loop.dims), (dim.name for dim in loop.dims)
        line, why = line_of(loop), HOLDS_TILES
        self.reports.append(LoopReport(line, tuple(numbers), tuple(names), False, False, why))
        around = live | exposed(loop.body)
        return replace(loop, body=self.body(loop.body, around, in_task))

    def _chosen(self, loop: For, nest: Nest, short: bool) -> int:
        """The dim that runs in vectors, or -1."""
        first = loop.dims[0].index
        if first in self.columns:
            return first
        return -1 if short or first in self.tiles else self.vector(loop, nest.parallel)

    def holds_tiles(self, loop: For) -> bool:
        """Whether loops inside run in tiles, on threads of their own: it runs in order then, and
        is not looked at: that takes long, and would gain little.
        """
        return bool(self.tiles) and any(
            isinstance(s, For) and s.dims[0].index in self.tiles for s in walk(loop.body)
        )

    def nest(self, loop: For, live: Locals) -> Nest:
        """What the analysis says of a loop."""
        first = loop.dims[0].index
        if first in self.pieces or first in self.columns or first in self.tiles:
            return Nest(loop, Unit((), ()), None, () if first in self.pieces else (first,), {})
        unit = unit_of(self.around, loop, live)
        around = self.around
        updated = None
        if not loop.declared:
            updated = folds(around.kernel, loop, live, around.reassociate, around.checked)
        # looked at for what is said of it: `reassociate` would free its variables
        is_rounded = (
            updated is None
            and self.reasons
            and not loop.declared
            and (folds(around.kernel, loop, live, True, around.checked) is not None)
        )
        inside = updated or {}
        if first in self.proved | self.ordered:
            return Nest(loop, unit, None, (first,) if first in self.proved else (), inside)
        if updated is None and len(loop.dims) == 1 and not (loop.declared or self.reasons):
            return Nest(loop, unit, None, (), inside)
        facts = replace(self.around.facts, witnesses=False)
        if updated is not None:
            unit = replace(unit, carried=tuple(c for c in unit.carried if c.name == EARLY_END))
        found = order(unit, facts)
        indices = [dim.index for dim in loop.dims]
        if not loop.declared or has_order(loop):
            free = tuple(indices[n] for n in found.parallel if n < len(indices))
            return Nest(loop, unit, found, free, inside, updated is not None, is_rounded)
        collide = {number for r in found.reductions for number in r.dims}
        collide |= {c.dim for c in found.carries if c.source.mode == c.sink.mode == "update"}
        collide |= {c.number for c in unit.carried}
        free = tuple(n for place, n in enumerate(indices) if place not in collide)
        return Nest(loop, unit, found, free, {})

    def _fits_threads(self, nest: Nest) -> bool:
        """Whether threads can join what they have folded."""
        return all(kind in ON_THREADS for kind in nest.folds.values())

    def _collected(self, nest: Nest) -> dict[int, str]:
        """The arrays that keep the iterations apart only by updates in any order, all that do."""
        found, around = nest.order, self.around
        if found is None or nest.loop.declared or not nest.is_folded:
            return {}
        carrying = {root for c in found.carries for root in (c.source.root, c.sink.root)}
        updates = {a.root for a in nest.unit.accesses if a.mode == "update"}
        if any(c.dim == 0 for c in found.carries) or carrying & updates:
            return {}
        arrays: dict[int, str] = {}
        for each in found.reductions:
            root = each.updates[0].root
            members = [n for n, other in around.roots.root.items() if other == root]
            if len(members) != 1 or members[0] in around.kernel.scratch:
                return {}
            buffer = around.kernel.buffers[members[0]]
            kind = "add" if each.op == "subtract" else each.op
            fits = is_associative(kind, buffer.dtype) and kind in ON_THREADS
            if not fits or buffer.strides is not None:
                return {}
            arrays[members[0]] = kind
        return arrays

    # -- vectors --------------------------------------------------------------------------------

    def vector(self, loop: For, parallel: tuple[int, ...]) -> int:
        """The dim of the loop to run in vectors, or -1."""
        if not self._fits_lanes(loop):
            return -1
        best, number = max(
            ((self._worth(loop, dim.index), dim.index) for dim in loop.dims
             if dim.index in parallel),
            default=(0.0, -1),
            key=lambda item: item[0],
        )  # fmt: skip
        if number >= 0:  # of equals, the innermost
            equal = [d.index for d in loop.dims if d.index in parallel
                     and self._worth(loop, d.index) >= best]  # fmt: skip
            number = equal[-1]
        inner = self._inner_worth(loop)
        return number if best >= WORTH and best >= inner else -1

    def _inner_worth(self, loop: For) -> float:
        """What vectors along the loops further in would be worth."""
        loops = [s for s in loop.body if isinstance(s, For)]
        if not loops:
            return 0.0
        worths = []
        for inner in loops:
            nest = self.nest(inner, exposed(loop.body))
            own = [self._worth(inner, d.index) for d in inner.dims if d.index in nest.parallel]
            fitting = own if self._fits_lanes(inner) else []
            worths.append(max([*fitting, self._inner_worth(inner)]))
        return sum(worths) / len(worths)

    def _fits_lanes(self, loop: For) -> bool:
        """Whether the body can run for several iterations at once: branches become masks, loops
        have the same bounds for all.
        """
        scratch = self.around.kernel.scratch & buffers_in(loop)
        private = any(self.around.homes.loops(number) for number in scratch)
        own = {dim.index for dim in loop.dims}
        changing = {s.local for s in walk(loop.body) if isinstance(s, Let)}
        for statement in walk(loop.body):
            if not isinstance(statement, Let | Store | If | For):
                return False
            if isinstance(statement, For) and not uniform(statement, own, changing):
                return False
        return not private

    def _worth(self, loop: For, number: int) -> float:
        found = [self._access(buffer, indices, number) for buffer, indices in accesses(loop.body)]
        return sum(found) / len(found) if found else CONTIGUOUS

    def _access(self, buffer: int, indices: tuple[Expr, ...], number: int) -> float:
        own = index(number)
        moving = [k for k, place in enumerate(indices) if self._moves(place, number)]
        if not moving:
            return machine.current().same
        given = self.around.kernel.buffers[buffer]
        last = len(indices) - 1 - (in_pairs(given) and linear.constant(indices[-1]) is not None)
        if given.strides is not None or moving != [last]:
            return machine.current().scattered
        terms = dict(linear.terms(indices[last]))
        count = terms.pop(own, 0)
        rest = any(self._moves(term, number) for term in terms)
        return CONTIGUOUS if abs(count) == 1 and not rest else machine.current().scattered

    def _moves(self, place: Expr, number: int) -> bool:
        """Whether an index changes from one iteration of a dim to the next (as far as it shows)."""
        return any(
            node.name in ("load", "local") or (node.name == "index" and node.attr == number)
            for node in postorder([place])
            if not (node.name == "local" and node.attr in self.around.values)
        )

    # -- reports --------------------------------------------------------------------------------

    def _report(self, loop: For, nest: Nest, threads: bool, vector: int) -> None:
        why, because = "", NOWHERE
        if self.reasons and not threads and vector < 0:
            why, because = self._reason(loop, nest)
        self.reports.append(
            LoopReport(
                line_of(loop), tuple(d.index for d in loop.dims), tuple(d.name for d in loop.dims),
                threads, vector >= 0, why, because, self._folded(nest) if threads or vector >= 0
                else (), self.scans.get(loop.dims[0].index, ()), self._clears(loop),
            )
        )  # fmt: skip

    def _clears(self, loop: For) -> bool:
        """Whether it only fills arrays inside the kernel, in an array statement."""
        return not loop.dims[0].name and buffers_in(loop) <= self.around.kernel.scratch

    def _folded(self, nest: Nest) -> tuple[str, ...]:
        first = nest.loop.dims[0].index
        arrays = (self.around.name(number) for number in self.copies.get(first, ()))
        return (*(self.around.kernel.locals[number].name for number in nest.folds), *arrays)

    def _reason(self, loop: For, nest: Nest) -> tuple[str, Span]:
        numbers = set(range(len(loop.dims)))
        if nest.order is None:
            return "strips run in order: each needs what the one before has written", NOWHERE
        if {dim.index for dim in loop.dims} <= set(nest.parallel):
            return self._not_wide(loop), NOWHERE
        carries = [carry for carry in nest.order.carries if carry.dim in numbers]
        carries.sort(key=lambda carry: carry.array != EARLY_END)
        for carry in carries:
            return self._carried(loop, nest, carry)
        for found in nest.order.reductions:
            if set(found.dims) & numbers:
                line = found.updates[0].span or NOWHERE
                if not loop.dims[0].name:
                    return IN_ORDER, line
                why = f"it reduces `{found.array}`, element after element"
                return f"{why}: {OF_FLOATS}" if nest.is_rounded else why, line
        return "", NOWHERE

    def _not_wide(self, loop: For) -> str:
        """Why a loop inside a threaded one, parallel itself, does not run in vectors."""
        if is_short(loop):
            return f"it has {SHORT} iterations at most"
        if any(self.around.homes.loops(n) for n in self.around.kernel.scratch & buffers_in(loop)):
            return "each iteration has an array of its own"
        if any(isinstance(s, For | While) for s in walk(loop.body)):
            return "it contains loops"
        scattered = self._fits_lanes(loop)
        return "its elements lie far apart" if scattered else "an iteration may end early"

    def _carried(self, loop: For, nest: Nest, carry: Carry) -> tuple[str, Span]:
        """The conflict in words, with a case of it."""
        line = carry.sink.span or NOWHERE
        if isinstance(carry.source.root, Scalar):
            if carry.array == EARLY_END:
                return "it may be left early", line
            if not loop.dims[0].name:
                return IN_ORDER, line
            locals_ = self.around.kernel.locals
            if carry.array not in {locals_[n].name for n in exposed(loop.body)}:
                return f"`{carry.array}` is used after the loop", line
            return f"`{carry.array}` goes from one iteration to the next", line
        if len(carry.source.indices) != len(carry.sink.indices):
            return f"`{carry.source.label}` and `{carry.sink.label}` may share memory", line
        if not carry.proved and not loop.dims[0].name:
            return IN_ORDER, line
        full = order(nest.unit, self.around.facts)
        again = next((c for c in full.carries if c.dim == carry.dim), carry)
        facts, tables = self.around.facts, tables_needed(nest.unit, carry.dim, self.around.facts)
        return conflict_in_words(again, facts) + unique_in_words(tables), line
