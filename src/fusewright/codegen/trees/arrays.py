"""A planned kernel of arrays as the tree of its loops: what runs in lanes and how many, what is
kept in scratch, which boxes are cut, what passes the caches, in which order is reduced.

    kernel rows shared 1            for i0 in [i100, i101):
      b2[i] = sum(b0[i, :])    ->     reduce lanes of 16 ... b2[i0] sum= b0[i0, i1]
      b3[i, j] = b0 / b2              for i1 in [0, p1) in lanes of 8:
                                        b3[i0, i1] = (b0[i0, i1] / b2[i0])

A call runs the units [LOW, HIGH): rows, tiles of `TILE` elements, or elements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fusewright.codegen.boxes import (
    boxes,
    halo_of,
    inside,
    margin_of,
    starts_aligned,
    stretched,
    written_once,
)
from fusewright.codegen.derived import Derived
from fusewright.codegen.runs import is_one_run, run_together
from fusewright.codegen.trees.columns import (
    NARROW,
    over_row_blocks,
    places_of,
    runs_by_columns,
    together,
    widest,
)
from fusewright.codegen.trees.parameters import declarations_of
from fusewright.codegen.trees.reductions import blocks_of, reduction
from fusewright.codegen.trees.widths import width_of
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, index, op
from fusewright.ir.loops.statements import Store
from fusewright.ir.nest import Nest, Program
from fusewright.ir.tree.nodes import (
    Anchor,
    Branch,
    LaneMapping,
    MappedLoop,
    Node,
    PairedStore,
    RepeatedStep,
    Section,
    Tree,
)
from fusewright.ir.tree.units import (
    BEGIN,
    BLOCK,
    END,
    HIGH,
    LOW,
    OWN_HIGH,
    OWN_LOW,
    STRETCH,
    TURN,
    UNIT,
    IndexLet,
    RowBuffer,
    Units,
    WindowStart,
)
from fusewright.plan.plan import TILE, Kernel, Member, counts_tiles
from fusewright.plan.units import least, most, units_of

ZERO = const(0, INT64)
ONE = const(1, INT64)
Bounds = tuple[Expr, Expr]
Nodes = tuple[Node, ...]
NodesOf = Callable[[Sequence[Member], Sequence[Nest]], Nodes]


def tree_of_arrays(
    program: Program, kernel: Kernel, vector_bytes: int, large: bool, derived: Derived
) -> Tree:
    """The tree of a planned kernel for machine vectors of this many bytes; `large` results are
    written past the caches.
    """
    return _ArrayBuild(program, kernel, vector_bytes, large, derived).tree()


class _ArrayBuild:
    """One kernel; `past` are the values it may write past the caches, `is_aligned` whether its only
    loop begins where a line of memory does.
    """

    def __init__(
        self,
        program: Program,
        kernel: Kernel,
        vector_bytes: int,
        large: bool,
        derived: Derived,
    ) -> None:
        self.program = program
        self.kernel = run_together(program, kernel)
        self.vector_bytes = vector_bytes
        self.large = large
        self.past = written_once(kernel) if large else frozenset()
        self.derived = derived
        self.is_aligned = False

    def tree(self) -> Tree:
        kernel = self.kernel
        body = self._body()
        declared, params, reads = declarations_of(self.program, kernel, self.derived)
        inside_ = {member.stage.slot for member in kernel.members}
        # A single loop may as well run on data in L1, where asking twice would cost time.
        fetches = self.large or kernel.form != "tiles" or counts_tiles(kernel)
        streamed = frozenset(reads - inside_) if fetches else frozenset()
        rooms = tuple(
            self._room(kernel, member)
            for member in sorted(kernel.members, key=lambda each: each.stage.slot)
            if member.place == "row"
        )
        partials = tuple(blocks_of(member.stage) for member in kernel.sinks)
        count = units_of(kernel)
        units = Units(count, params, rooms, partials, kernel.tiled, kernel.ordered)
        return Tree(declared, body, streamed, units=units)

    def _room(self, kernel: Kernel, member: Member) -> RowBuffer:
        slot = member.stage.slot
        if kernel.form == "tiles":
            return RowBuffer(slot, TILE + member.high - member.low, kernel.shared, tile=True)
        halo = halo_of(member) if kernel.tiled else -1
        return RowBuffer(slot, member.ring, kernel.shared, halo)

    # -- forms ----------------------------------------------------------------------------------

    def _body(self) -> Nodes:
        kernel = self.kernel
        if kernel.form == "tiles":
            return self._tiles()
        if kernel.shared == 0:
            return tuple(Section(self._row_phase(phase, 0, ZERO)) for phase in kernel.phases)
        if kernel.tiled:
            return self._stretches()
        if kernel.streams:
            return self._streamed_rows()
        if runs_by_columns(kernel):
            return self._columns()
        return self._block_runs() if is_one_run(kernel) else self._rows()

    def _longest(self, extents: Sequence[Expr]) -> Expr:
        total = extents[0]
        for extent in extents[1:]:
            gap = linear.distance(total, extent)
            if gap is None or gap < 0:
                total = extent if gap is not None else most(total, extent)
        return total

    def _tiles(self) -> Nodes:
        phases = self.kernel.phases
        if not counts_tiles(self.kernel):
            self.is_aligned = starts_aligned(phases[0])
            return self._range(phases[0], LOW, HIGH)
        extent = self._longest([group[0] for group in self.kernel.extents])
        start = op("multiply", UNIT, const(TILE, INT64))
        body: list[Node] = [
            IndexLet(BEGIN.attr, start),
            IndexLet(END.attr, least(op("add", start, const(TILE, INT64)), extent)),
        ]
        for phase in phases:
            body += self._tile_phase(phase)
        return (MappedLoop(UNIT.attr, LOW, HIGH, tuple(body)),)

    def _tile_phase(self, phase: Sequence[Member]) -> Nodes:
        member = phase[0]
        begin = op("add", BEGIN, const(member.low, INT64))
        end = op("add", END, const(member.high, INT64))
        begin = most(begin, ZERO) if member.low else begin
        end = least(end, member.stage.extents[0])
        windows = [
            WindowStart(each.stage.slot, linear.plus(BEGIN, each.low))
            for each in phase
            if each.place == "row"
        ]
        return (*windows, *self._range(phase, begin, end, UNIT))

    def _range(
        self, phase: Sequence[Member], low: Expr, high: Expr, unit: Expr | None = None
    ) -> Nodes:
        """One loop over the only dim, for each box."""
        stage, made = phase[0].stage, []
        for members, nests in boxes(phase):
            box = nests[0].box
            begin = low if linear.constant(box.low[0]) == 0 else most(low, box.low[0])
            is_whole = linear.distance(box.high[0], stage.extents[0]) == 0
            end = high if is_whole else least(high, box.high[0])
            made.append(Section(self._innermost(members, nests, 0, (begin, end), unit)))
        return tuple(made)

    def _rows(self) -> Nodes:
        shared = self.kernel.shared
        unit = index(0) if shared == 1 else UNIT
        body: list[Node] = places_of(unit, self.kernel.extents[0]) if shared > 1 else []
        for phase in self.kernel.phases:
            nodes = self._row_phase(phase, shared, unit)
            if len(self.kernel.extents) > 1:  # units for the longest; others end before
                there = op("less", index(0), phase[0].stage.extents[0])
                nodes = (Branch(there, nodes),)
            body += nodes
        return (MappedLoop(unit.attr, LOW, HIGH, tuple(body)),)

    def _columns(self) -> Nodes:
        """The thread's rows a block at a time, and boxes of few columns with the rows in lanes."""
        (phase,) = self.kernel.phases
        before = self.kernel.shared - 1
        return over_row_blocks(self.kernel, self._each_box(phase, before, self._column_box))

    def _column_box(self, phase: Sequence[Member], nests: Sequence[Nest]) -> Nodes:
        """One box of a block's rows."""
        box, extents = nests[0].box, phase[0].stage.extents
        last = len(extents) - 1
        is_whole = linear.distance(box.high[-2], extents[-2]) == 0
        rows = END if is_whole else least(END, box.high[-2])
        low = BEGIN if linear.constant(box.low[-2]) == 0 else most(BEGIN, box.low[-2])
        along = (box.low[-1], box.high[-1])
        if widest(box) > NARROW:
            inner = self._innermost(phase, nests, last, along)
            return (MappedLoop(last - 1, low, rows, inner),)
        bodies = self.derived.primitives([nest.body for nest in nests])
        lanes = LaneMapping(width_of(bodies, self.vector_bytes, self.large))
        step = together(self._stores(phase, nests))
        down = MappedLoop(last - 1, low, rows, (step,), lanes=lanes)
        return (MappedLoop(last, *along, (down,)),)

    def _block_runs(self) -> Nodes:
        """The thread's rows a block at a time: all of its elements are one loop."""
        (phase,) = self.kernel.phases
        (rows,) = self.kernel.extents[0]
        row = op("tdiv", phase[0].stage.extents[0], most(rows, ONE))
        more = op("subtract", op("add", HIGH, BLOCK), ONE)
        begin = op("multiply", UNIT, BLOCK)
        stop = least(op("add", begin, BLOCK), HIGH)
        bounds = op("multiply", begin, row), op("multiply", stop, row)
        nodes = self._reduction(phase, 0, UNIT, bounds)
        return (MappedLoop(UNIT.attr, op("tdiv", LOW, BLOCK), op("tdiv", more, BLOCK), nodes),)

    def _stretches(self) -> Nodes:
        """The thread's rows, a stretch of dim 1 after the other."""
        widest = self._longest([m.stage.extents[1] for m in self.kernel.members])
        more = op("subtract", op("add", widest, STRETCH), ONE)
        low = op("multiply", TURN, STRETCH)
        before = (
            IndexLet(BEGIN.attr, low),
            IndexLet(END.attr, least(op("add", BEGIN, STRETCH), widest)),
        )
        windows = [
            WindowStart(m.stage.slot, linear.plus(BEGIN, -margin_of(m, -m.left)))
            for m in self.kernel.members
            if m.place == "row"
        ]
        body = (*before, *windows, *self._streamed_rows((BEGIN, END)))
        return (MappedLoop(TURN.attr, ZERO, op("tdiv", more, STRETCH), body),)

    def _streamed_rows(self, stretch: Bounds | None = None) -> Nodes:
        """Rows in order; each phase works on the row its lag says, if its thread needs it."""
        members = self.kernel.members
        first = min(m.low - m.lag for m in members)
        last = max(m.high - m.lag for m in members)
        body: list[Node] = []
        for phase in self.kernel.phases:
            if stretch is not None:
                phase = tuple(stretched(m, *stretch) for m in phase)
            member, row = phase[0], index(0)
            begin = op("add", OWN_LOW, const(member.low, INT64))
            end = least(op("add", OWN_HIGH, const(member.high, INT64)), member.stage.extents[0])
            begin = most(begin, ZERO) if member.low else begin
            needed = op("bitwise_and", op("less_equal", begin, row), op("less", row, end))
            body.append(IndexLet(0, linear.plus(UNIT, member.lag)))
            body.append(Branch(needed, self._row_phase(phase, 1, row)))
        low, high = (linear.plus(OWN_LOW, first), linear.plus(OWN_HIGH, last))
        loop = MappedLoop(UNIT.attr, low, high, tuple(body))
        return (IndexLet(OWN_LOW.attr, LOW), IndexLet(OWN_HIGH.attr, HIGH), loop)

    # -- phases ---------------------------------------------------------------------------------

    def _row_phase(self, phase: Sequence[Member], shared: int, unit: Expr) -> Nodes:
        """All boxes of a phase for one index of the shared dims."""
        return self._each_box(phase, shared, lambda m, nests: self._box(m, nests, shared, unit))

    def _each_box(self, phase: Sequence[Member], shared: int, nodes_of: NodesOf) -> Nodes:
        """The boxes of a phase, each where the index of the leading dims lies in it."""
        stage, made = phase[0].stage, list[Node]()
        here = tuple(map(index, range(shared)))
        for members, nests in boxes(phase):
            nodes = nodes_of(members, nests)
            condition = inside(nests[0], stage, here)
            made += nodes if condition is None else (Branch(condition, nodes),)
        return tuple(made)

    def _box(
        self, phase: Sequence[Member], nests: Sequence[Nest], shared: int, unit: Expr
    ) -> Nodes:
        stage = phase[0].stage
        if len(stage.extents) == shared:
            stores = zip(phase, nests, strict=True)
            return tuple(Store(m.stage.slot, nest.store, nest.body) for m, nest in stores)
        if any(m.stage.form != "map" for m in phase):
            return self._reduction(phase, shared, unit)
        box, last = nests[0].box, len(nests[0].box.low) - 1
        nodes = self._innermost(phase, nests, last, (box.low[-1], box.high[-1]))
        for dim in range(last - 1, shared - 1, -1):
            nodes = (MappedLoop(dim, box.low[dim], box.high[dim], nodes),)
        return nodes

    def _reduction(
        self,
        phase: Sequence[Member],
        outer: int,
        unit: Expr | None,
        bounds: Bounds | None = None,
    ) -> Nodes:
        bodies = self.derived.primitives([n.body for m in phase for n in m.stage.nests])
        lanes = self._lanes(phase, width_of(bodies, self.vector_bytes, self.large))
        return reduction(phase, outer, unit, bounds, lanes, bodies)

    def _innermost(
        self,
        phase: Sequence[Member],
        nests: Sequence[Nest],
        last: int,
        bounds: Bounds,
        unit: Expr | None = None,
    ) -> Nodes:
        """The vector loop over the last dim."""
        if any(m.stage.form != "map" for m in phase):
            return self._reduction(phase, last, unit, bounds)
        stores = self._stores(phase, nests)
        bodies = tuple(nest.body for nest in nests)
        turns = self.derived.repeat(bodies, index(last))
        body: Node
        if turns is not None:
            width = turns.lanes(self.vector_bytes)
            body = RepeatedStep(stores, width)
            origin = ZERO if self.kernel.tiled else None
            lanes = LaneMapping(width * turns.vectors(self.vector_bytes), origin=origin)
            if self.is_aligned or origin is not None:
                lanes = self._past_caches(phase, lanes)
        else:
            lanes = self._lanes(
                phase, width_of(self.derived.primitives(bodies), self.vector_bytes, self.large)
            )
            body = together(stores)
        return (MappedLoop(last, *bounds, (body,), lanes=lanes),)

    # -- lanes and stores -----------------------------------------------------------------------

    def _lanes(self, phase: Sequence[Member], width: int) -> LaneMapping:
        lanes = LaneMapping(width, origin=self._origin(phase))
        is_known = self.is_aligned or lanes.origin is not None
        return self._past_caches(phase, lanes) if is_known else lanes

    def _past_caches(self, phase: Sequence[Member], lanes: LaneMapping) -> LaneMapping:
        slots = sorted({m.stage.slot for m in phase} & self.past)
        anchors = tuple(Anchor(slot, ()) for slot in slots)
        return LaneMapping(lanes.width, origin=lanes.origin, nontemporal=anchors)

    def _origin(self, phase: Sequence[Member]) -> Expr | None:
        """Where in memory the row begins that a phase writes, in elements; None if it does not
        matter.
        """
        if self.kernel.tiled:
            return ZERO
        if self.kernel.form == "tiles" or not self.past & {m.stage.slot for m in phase}:
            return None
        total, extents = ZERO, phase[0].stage.extents
        for dim, extent in enumerate(extents):
            total = linear.times(total, extent)
            if dim + 1 < len(extents):
                total = linear.plus(total, index(dim))
        return total

    def _stores(
        self, phase: Sequence[Member], nests: Sequence[Nest]
    ) -> tuple[Store | PairedStore, ...]:
        """The stores of a phase's nests; the two parts of a complex number together."""
        made: list[Store | PairedStore] = []
        number = 0
        while number < len(nests):
            slot, nest = phase[number].stage.slot, nests[number]
            store = Store(slot, nest.store, nest.body)
            number += 1
            if self.program.buffers[slot].dtype.is_complex:
                other = nests[number]
                made.append(PairedStore(store, Store(slot, other.store, other.body)))
                number += 1
            else:
                made.append(store)
        return tuple(made)
