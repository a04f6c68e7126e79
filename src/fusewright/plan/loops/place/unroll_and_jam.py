"""Unroll and jam: nests that add up, several rows and two vectors of columns at a time.

    for i, k, j:                             for each block of rows, on threads:
      c[i, j] = c[i, j] + a[i, k] * b[k, j]    for each block of k:
                                                 for j in vectors:
                                         ->        for each tile of 2 rows:
                                                     v0 = c[i, j]; v1 = c[i + 1, j]
                                                     for k: v0 = v0 + a[i, k] * b[k, j]
                                                            v1 = v1 + a[i + 1, k] * b[k, j]
                                                     c[i, j] = v0; c[i + 1, j] = v1

What is added up stays in registers, and what does not depend on the row (`b[k, j]`) is read once
for all rows of a tile; for all tiles of a block it is packed: copied to where it lies side by side,
so that it stays in the first-level cache.

Theorem: if iterations that differ in a dim never meet (the dim is separable), any order of that
dim's iterations is right as long as, for each of them, the others keep theirs.  Rows and columns
are such dims; along what is added up every element sees the order it had.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from functools import reduce

from fusewright.base.figures import IN_FLIGHT
from fusewright.base.values import dataclass
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64, DType
from fusewright.ir.expr import Expr, const, index, load, local, op, postorder, typed_op
from fusewright.ir.linear import at_most
from fusewright.ir.loops.statements import (
    Dim,
    For,
    Kernel,
    Let,
    Local,
    Statement,
    Store,
    blocks,
    expressions,
    line_of,
    walk,
    with_blocks,
)
from fusewright.ir.nest import Buffer
from fusewright.plan.loops.legality.live_in import Locals, assigned, exposed, read_from
from fusewright.plan.loops.legality.loop_facts import Surroundings, buffers_in
from fusewright.plan.loops.map.parallel import Parallelism
from fusewright.plan.loops.normalise.perfect_nests import depends, flattened
from fusewright.plan.loops.normalise.rename import (
    Body,
    Numbers,
    reindexed,
    renamed,
    rewritten,
)
from fusewright.plan.loops.place.adding_nests import (
    groups,
    is_perfect,
    may_fit,
    pieces,
    share,
    shared,
    zipped,
)
from fusewright.plan.loops.place.scalar_replacement import kept_in_loop, may_split
from fusewright.plan.loops.plan import LoopReport, Settings

VECTORS = IN_FLIGHT // 4
"""Machine vectors of a row of a tile: with 8 rows they hide an addition's latency twice over."""
BESIDE = 2
"""Registers, as wide as a row, for what rows share and for a product before it is added."""
MOST_PACKED = 2
"""Arrays that are packed."""
MOST_PARTS = 512
"""Expressions of a tile's body: beyond, code grows and time is not saved."""
ZERO = const(0, INT64)


@dataclass(slots=True)
class UnrollAndJam:
    """Finds such nests and rewrites them.  `made` says for each loop over blocks what is reported
    of the nest; `ordered` are the loops over strips and pieces, `lanes` those over columns.
    """

    numbers: Numbers
    settings: Settings
    made: dict[int, LoopReport] = field(default_factory=dict)
    ordered: set[int] = field(default_factory=set)
    lanes: set[int] = field(default_factory=set)
    kernel: Kernel = field(init=False)
    ways: Parallelism = field(init=False)
    early: bool = field(init=False)

    def planned(self, kernel: Kernel, around: Surroundings, early: bool = False) -> Kernel:
        """The kernel with its nests in tiles.  `early`, before loops fuse: nests of whole loops,
        those that were several nests of one loop included; then those that are left.
        """
        self.kernel, self.ways, self.early = kernel, Parallelism(around), early
        body = self._block(kernel.body, frozenset())
        return replace(self.kernel, body=body, locals=tuple(self.numbers.locals))

    @property
    def _height(self) -> int:
        """Rows of a block: fewer where threads share the blocks."""
        return self.settings.block_rows[self.settings.threads]

    def _block(self, body: Body, live: Locals) -> Body:
        done: list[Statement] = []
        for statement, after in zip(body, read_from(body, live)[1:], strict=True):
            if isinstance(statement, For):
                done += self._loop(statement, after)
            else:
                around = after | exposed((statement,))
                inner = [self._block(block, around) for block in blocks(statement)]
                done.append(with_blocks(statement, inner))
        return tuple(done)

    def _loop(self, loop: For, live: Locals) -> Body:
        """The nest in tiles, from the dim on from which that is right."""
        inside = live | exposed(loop.body)
        if loop.dims[0].index in self.made:
            return (loop,)
        holds = any(isinstance(s, For) and s.dims[0].index in self.made for s in walk(loop.body))
        for depth in range(0 if holds else len(loop.dims)):
            inner = replace(loop, dims=loop.dims[depth:])
            if loop.declared or not may_split(loop, depth):
                continue
            after = inside if depth else live
            found = self._distributed(inner, after)
            if not found and (not self.early or is_perfect(inner)):
                found = self._tiled(inner, after)
            if found:
                return (replace(loop, dims=loop.dims[:depth], body=found),) if depth else found
        return (replace(loop, body=self._block(loop.body, inside)),)

    def _distributed(self, loop: For, live: Locals) -> Body:
        """A loop around several nests as several, where one of them then runs in tiles; or nothing.

        for i:                        for i, j: c[i, j] = 0
          for j: c[i, j] = 0    ->    for i, k, j: c[i, j] = c[i, j] + a[i, k] * b[k, j]
          for k, j: c[i, j] = ...
        """
        found = groups(loop.body)
        nests = [flattened(replace(loop, body=group)) for group in found]
        loops = sum(isinstance(group[0], For) for group in found)
        if len(found) < 2 or (loops < 2 and self.early):
            return ()
        if not any(map(may_fit, nests)) or share(found):
            return ()
        apart = self._apart(loop, live)
        if apart is None or len(apart) < len(loop.dims):
            return ()
        done: list[Statement] = []
        before = len(self.made)
        for nest in nests:
            # each has the outer loops for itself; variables are apart, and known to the analysis
            fresh = {dim.index: self.numbers.index() for dim in loop.dims}
            (own,) = renamed((nest,), fresh, {})
            assert isinstance(own, For)
            done += self._tiled(own, live) or (own,)
        return tuple(done) if len(self.made) > before else ()

    # -- which nests ----------------------------------------------------------------------------

    def _apart(self, loop: For, live: Locals) -> list[Dim] | None:
        """The dims of which iterations that differ never meet; None where there may be others."""
        around = self.ways.around
        own = self.kernel.scratch & buffers_in(loop)
        if any(around.homes.loops(number) for number in own):
            return None
        nest = self.ways.nest(loop, live)
        if nest.order is None or nest.unit.carried or nest.unit.effects or nest.folds:
            return None
        return [dim for place, dim in enumerate(loop.dims) if place in nest.order.separable]

    def _tiled(self, loop: For, live: Locals) -> Body:
        """One nest in tiles, or nothing."""
        apart = self._apart(loop, live) if may_fit(loop) else None
        if apart is None or len(apart) < 2:
            return ()
        columns = self.ways.vector(loop, tuple(dim.index for dim in apart))
        rows = [dim for dim in apart if dim.index != columns]
        if columns < 0 or not rows:
            return ()
        summed = tuple(dim for dim in loop.dims if dim not in apart)
        if self.early and not summed:
            return ()
        body = self._adding(loop, summed)
        row = max(rows, key=lambda dim: (len(shared(body, dim.index)), loop.dims.index(dim)))
        count = self._rows(body)
        if count < 2 or not shared(body, row.index):
            return ()
        column = next(dim for dim in apart if dim.index == columns)
        outer = tuple(dim for dim in rows if dim is not row)
        return (self._built(loop, body, (outer, row, column, summed), count),)

    def _adding(self, loop: For, summed: tuple[Dim, ...]) -> Body:
        """The body with the loop over what is added up inside, its elements in variables."""
        if summed:
            inner = replace(loop, dims=summed)
            return kept_in_loop(self.kernel, self.numbers, inner, loop.dims, loop.body)
        done: list[Statement] = []
        for statement in loop.body:
            if isinstance(statement, For):
                around = (*loop.dims, *statement.dims)
                done += kept_in_loop(self.kernel, self.numbers, statement, around, loop.body)
            else:
                done.append(statement)
        return tuple(done)

    def _rows(self, body: Body) -> int:
        """How many rows a tile has, a power of two: their sums stay in registers; 0: none."""
        sums, parts = 0, 1
        for statement in body:
            if isinstance(statement, For):
                mine = {n for n in assigned(statement.body) if self.numbers.locals[n].mutable}
                sums = max(sums, len(mine))
                nodes = (e for s in walk((statement,)) for e in expressions(s))
                parts += sum(1 for _ in postorder(nodes))
        if not sums:
            return 0
        room = self.settings.registers // VECTORS - BESIDE
        most = min(room // sums, MOST_PARTS // parts)
        return 1 << most.bit_length() - 1 if most > 1 else 0

    # -- building -------------------------------------------------------------------------------

    def _built(
        self,
        loop: For,
        body: Body,
        dims: tuple[tuple[Dim, ...], Dim, Dim, tuple[Dim, ...]],
        count: int,
    ) -> For:
        outer, row, column, summed = dims
        span, block, trips = loop.span, self.numbers.index(), linear.minus(row.high, row.low)
        first = linear.times(index(block), self._height)
        last = at_most(linear.plus(first, self._height), trips)
        deep, body = self._in_depth(body, summed)
        copies: Body = ()
        strip = None
        if len(summed) == 1:
            copies, strip, column, body = self._packed(loop, body, row, column)
        sizes, tiles = self._tiles(body, row, (first, last), count)
        inner: Statement = For((column,), tuple(tiles), span)
        self.lanes.add(column.index)
        if strip is not None:
            inner = For((strip,), (*copies, inner), span)
        if deep is not None:
            inner = For((deep,), (inner,), span)
            self.ordered.add(deep.index)
        ends = pieces(trips, self._height)
        every = (*outer, Dim(block, ZERO, ends, row.name, row.span))
        self.made[every[0].index] = LoopReport(
            line_of(loop), tuple(dim.index for dim in loop.dims),
            tuple(dim.name for dim in loop.dims), False, True, tile=count,
        )  # fmt: skip
        return For(every, (*sizes, inner), span)

    def _tiles(
        self, body: Body, row: Dim, ends: tuple[Expr, Expr], count: int
    ) -> tuple[list[Statement], list[Statement]]:
        """The rows of a block: as many whole tiles as there are, half ones, and single rows; and
        before them how many.
        """
        first, last = ends
        sizes: list[Statement] = []
        tiles: list[Statement] = []
        for size in (count, *([count // 2] if count > 2 else []), 1):
            high = linear.minus(last, first)
            if size > 1:
                whole = self._fresh("tiles")
                room = typed_op("floor_divide", INT64, high, const(size, INT64))
                sizes.append(Let(whole.attr, room, row.span))
                high = whole
            tile = self.numbers.index()
            start = linear.plus(linear.plus(row.low, first), linear.times(index(tile), size))
            rows = self._jammed(body, row.index, [linear.plus(start, r) for r in range(size)])
            tiles.append(For((Dim(tile, ZERO, high, row.name),), rows, row.span))
            first = linear.plus(first, linear.times(high, size))
        return sizes, tiles

    def _in_depth(self, body: Body, summed: tuple[Dim, ...]) -> tuple[Dim | None, Body]:
        """A loop over blocks of what is added up, and the body for one.  What has several dims is
        one block, or none where there is nothing to add up.
        """
        if not summed:
            return None, body
        block = self.numbers.index()
        if len(summed) > 1:
            tests = [op("less", dim.low, dim.high) for dim in summed]
            some = reduce(lambda a, b: op("bitwise_and", a, b), tests)
            count = op("where", some, const(1, INT64), ZERO)
            return Dim(block, ZERO, count, summed[0].name), body
        (dim,) = summed
        count = pieces(linear.minus(dim.high, dim.low), self.settings.block_depth)
        low = linear.plus(dim.low, linear.times(index(block), self.settings.block_depth))
        part = replace(
            dim, low=low, high=at_most(linear.plus(low, self.settings.block_depth), dim.high)
        )
        body = tuple(replace(s, dims=(part,)) if isinstance(s, For) else s for s in body)
        return Dim(block, ZERO, count, dim.name), body

    def _packed(
        self, loop: For, body: Body, row: Dim, column: Dim
    ) -> tuple[Body, Dim | None, Dim, Body]:
        """What all rows of a block read, side by side in an array of its own, for a strip of
        columns: the copies, a loop over strips, the columns of one, and the body that reads it.
        """
        adding = [s for s in body if isinstance(s, For)]
        (turn,) = adding[0].dims
        stored = {s.buffer for s in walk(loop.body) if isinstance(s, Store)}
        reads = [
            read for read in shared(adding, row.index)
            if depends(read.args, {column.index})
            and all(read.attr != b and self.kernel.apart(read.attr, b) for b in stored)
        ][:MOST_PACKED]  # fmt: skip
        if not reads:
            return (), None, column, body
        strip, span = self.numbers.index(), loop.span
        size = self.settings.strip_bytes // max(read.dtype.itemsize for read in reads)
        low = linear.plus(column.low, linear.times(index(strip), size))
        high = at_most(linear.plus(low, size), column.high)
        count = pieces(linear.minus(column.high, column.low), size)
        every = Dim(strip, ZERO, count, column.name)
        self.ordered.add(strip)
        here, there = self.numbers.index(), self.numbers.index()
        moved = {turn.index: index(here), column.index: index(there)}
        made: dict[Expr, Expr] = {}
        stores: list[Statement] = []
        for read in reads:
            panel = self._array(read.dtype, (self.settings.block_depth, size))
            begins = ((turn.index, turn.low), (column.index, low))
            place = tuple(linear.minus(index(number), begin) for number, begin in begins)
            made[read] = load(panel, place, read.dtype)
            stores += reindexed((Store(panel, place, read, span=span),), moved)
        columns = For((Dim(there, low, high, column.name),), tuple(stores), span)
        self.lanes.add(there)
        self.ordered.add(here)
        copies = For((replace(turn, index=here),), (columns,), span)
        body = rewritten(body, lambda node: made.get(node))
        return (copies,), every, replace(column, low=low, high=high), body

    def _array(self, dtype: DType, shape: tuple[int, int]) -> int:
        """An array of the kernel's own."""
        slot = len(self.kernel.buffers)
        buffer = Buffer(slot, dtype, tuple(const(extent, INT64) for extent in shape))
        self.kernel = replace(
            self.kernel,
            buffers=(*self.kernel.buffers, buffer),
            scratch=self.kernel.scratch | {slot},
        )
        return slot

    def _jammed(self, body: Body, row: int, places: Sequence[Expr]) -> Body:
        """The body for several rows, loop by loop, with loops of its own."""
        loops = {d.index: self.numbers.index() for s in walk(body) if isinstance(s, For)
                 for d in s.dims}  # fmt: skip
        body = renamed(body, loops, {})
        return zipped([self._row(body, row, place) for place in places])

    def _row(self, body: Body, row: int, place: Expr) -> Body:
        """The body for one row, with variables of its own."""
        mine = {n: self.numbers.local(self.numbers.locals[n]) for n in sorted(assigned(body))}
        return renamed(reindexed(body, {row: place}), {}, mine)

    def _fresh(self, name: str) -> Expr:
        return local(self.numbers.local(Local(name, INT64)), INT64)
