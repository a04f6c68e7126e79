"""What the loop trees of arrays have beside loops: they are called for parts of their units, keep
rows in scratch, and reduce units in blocks.
"""

from __future__ import annotations

from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, index, op
from fusewright.ir.loops.statements import NOWHERE

NAMES = ("low", "high", "block", "stretch", "unit", "turn", "begin", "end", "first", "last", "rows")
LOW, HIGH, BLOCK, STRETCH, UNIT, TURN, BEGIN, END, OWN_LOW, OWN_HIGH, ROWS = (
    index(number) for number in range(100, 111)
)
"""What a call is given: the units [LOW, HIGH) it runs, the units in a block of reductions, and the
elements of dim 1 in a stretch.  Then the unit, the stretch, the places between which a tile or a
stretch lies, a call's units where rows are kept, and the rows in a block: what follows from those
is computed there, and not kept in registers around all stretches (two steps of the heat equation:
3 to 4 % of the time).
"""


@dataclass(frozen=True, slots=True)
class RowBuffer:
    """Room in a thread's scratch for what is kept of an array: the last `rows` of dim 0 (a power of
    two), without its first `dropped` dims; a `tile` of it, of `rows` elements; or a stretch of dim
    1, with a `halo` (none: -1).
    """

    number: int
    rows: int
    dropped: int
    halo: int = -1
    tile: bool = False


def block_of(unit: Expr) -> Expr:
    """The block a unit is in."""
    return op("tdiv", unit, BLOCK)


def opens_block(unit: Expr) -> Expr:
    """Whether a unit is the first of its block."""
    return op("equal", op("trem", unit, BLOCK), const(0, INT64))


def closes_block(unit: Expr) -> Expr:
    """Whether a unit is the last of its block, or of all the call has."""
    one = const(1, INT64)
    full = op("equal", op("add", op("trem", unit, BLOCK), one), BLOCK)
    return op("bitwise_or", full, op("equal", op("add", unit, one), HIGH))


@dataclass(frozen=True, slots=True)
class PartialResults:
    """Units are reduced in blocks; `size` numbers are kept of each, and combined by halving when
    all units are done, `width` at a time.  An element of `buffer` has the number of its block in
    front of its indices until then.  Where they `are_lanes`, sets of `width`, those are
    combined by halving then.
    """

    buffer: int
    by: str
    parts: int
    size: Expr
    width: int
    are_lanes: bool = False


@dataclass(frozen=True, slots=True)
class Units:
    """A tree that is called for parts of its `count` units, or once for all of them where they run
    `in_order`: the parameters it reads, in their order, what it keeps in scratch, and what it
    reduces over units.
    """

    count: Expr
    params: tuple[Expr, ...]
    rooms: tuple[RowBuffer, ...] = ()
    partials: tuple[PartialResults, ...] = ()
    is_stretched: bool = False
    in_order: bool = False


@dataclass(frozen=True, slots=True)
class IndexLet:
    """An index that follows from others, up to where it is given again."""

    index: int
    value: Expr
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class WindowStart:
    """The place in dim 0 of a tile, or in dim 1 of a stretch, that its row buffer begins with."""

    buffer: int
    place: Expr
    span: Span = NOWHERE
