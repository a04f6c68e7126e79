"""Boxes of a few columns: lanes run along the dim before the last.

An assignment to `image[:, :, 2]`, or to a component of particles `x[:, 0]`, writes one element of
each row; a vector along the row would be one lane.  Rows are taken a block at a time, and in each
block the columns one after the other:

    for i, j:  x[i, j, 2] = a[i, j]     ->     for i, for blocks [b, e) of j:
                                                 for k in [2, 3):
                                                   for j in [b, e) in lanes of 8: x[i, j, k] = ...

Each row meets its boxes in the order of the boxes, as before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fusewright.codegen.boxes import boxes
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, index, op, postorder
from fusewright.ir.loops.statements import Store
from fusewright.ir.nest import Box, Nest
from fusewright.ir.tree.nodes import MappedLoop, Node, PairedStore, Together
from fusewright.ir.tree.units import BEGIN, END, HIGH, LOW, ROWS, TURN, UNIT, IndexLet
from fusewright.plan.plan import TILE, Kernel
from fusewright.plan.units import least, most

NARROW = 4
"""Columns of a box, at most, that are written one after the other."""
MOST_ROWS = 256
"""Rows of a block: many vectors, of rows of which a tile's elements are near."""
GATHERED = 4
"""Bytes of an element, at least, that vectors collect from and scatter to distant places."""
ZERO, ONE = const(0, INT64), const(1, INT64)


def runs_by_columns(kernel: Kernel) -> bool:
    """Whether a kernel's units are rows of which some boxes are a few columns, and nothing but the
    boxes' own order binds one row's work.
    """
    if kernel.form != "rows" or kernel.shared == 0 or len(kernel.phases) != 1:
        return False
    if kernel.tiled or kernel.streams or kernel.ordered or len(kernel.extents) != 1:
        return False
    (phase,) = kernel.phases
    if any(m.stage.form != "map" or m.place != "memory" for m in phase):
        return False
    if len(phase[0].stage.extents) != kernel.shared + 1:
        return False
    narrow = [nest for _, nests in boxes(phase) for nest in nests if widest(nest.box) <= NARROW]
    return bool(narrow) and all(_collects_well(nest, kernel.shared - 1) for nest in narrow)


def widest(box: Box) -> float:
    """Elements of a box's last dim, at most; infinity where no literal bounds them."""
    gaps = [
        linear.distance(high, low)
        for high in _operands(box.high[-1], "imin")
        for low in _operands(box.low[-1], "imax")
    ]
    return min((gap for gap in gaps if gap is not None), default=float("inf"))


def over_row_blocks(kernel: Kernel, body: Sequence[Node]) -> tuple[Node, ...]:
    """The loops around a body that works on the rows [BEGIN, END) of the dim before the last."""
    *before, size = kernel.extents[0]
    columns = kernel.phases[0][0].stage.extents[-1]
    known = linear.constant(columns)
    rows = (
        most(
            least(op("tdiv", const(TILE, INT64), most(columns, ONE)), const(MOST_ROWS, INT64)), ONE
        )
        if known is None
        else const(max(min(TILE // max(known, 1), MOST_ROWS), 1), INT64)
    )
    low, high = LOW, HIGH
    if before:
        start = op("multiply", UNIT, size)
        low = most(op("subtract", LOW, start), ZERO)
        high = least(op("subtract", HIGH, start), size)
    place = op("multiply", TURN, ROWS)
    block = (
        IndexLet(BEGIN.attr, most(low, place)),
        IndexLet(END.attr, least(high, op("add", place, ROWS))),
        *body,
    )
    loop = MappedLoop(TURN.attr, op("tdiv", low, ROWS), _blocks(high, ROWS), block)
    count = IndexLet(ROWS.attr, rows)
    if not before:
        return (count, loop)
    size = most(size, ONE)
    every = (*places_of(UNIT, before), loop)
    return (count, MappedLoop(UNIT.attr, op("tdiv", LOW, size), _blocks(HIGH, size), every))


def _blocks(total: Expr, size: Expr) -> Expr:
    return op("tdiv", op("add", total, op("subtract", size, ONE)), size)


def places_of(unit: Expr, extents: Sequence[Expr]) -> list[Node]:
    """The indices of leading dims of these extents at a unit."""
    found, rest = list[IndexLet](), unit
    for dim in range(len(extents) - 1, 0, -1):
        found.append(IndexLet(dim, op("trem", rest, extents[dim])))
        rest = op("tdiv", rest, extents[dim])
    return [IndexLet(0, rest), *reversed(found)]


def together(stores: tuple[Store | PairedStore, ...]) -> Node:
    """One step of a loop in lanes: all values, then all stores."""
    first = stores[0]
    return first if len(stores) == 1 and isinstance(first, Store) else Together(stores)


def _operands(root: Expr, name: str) -> Iterator[Expr]:
    """What a minimum or maximum is taken of."""
    if root.name != name:
        yield root
        return
    for arg in root.args:
        yield from _operands(arg, name)


def _collects_well(nest: Nest, dim: int) -> bool:
    """Whether elements a row apart can be collected and scattered by vectors: they are large
    enough, or next to each other along `dim`.
    """
    loads = [node for node in postorder([nest.body]) if node.name == "load"]
    return nest.body.dtype.itemsize >= GATHERED and all(
        node.dtype.itemsize >= GATHERED or node.args[-1:] == (index(dim),) for node in loads
    )
