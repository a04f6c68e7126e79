"""Loop nests: what a slice of the recorded program becomes before it is planned.

A `Stage` computes one stored value by one or more nests over disjoint or overwriting boxes;
everything cheap has been inlined into its bodies.  Loop dims are numbered: `index(k)` in a body is
the position in dim k of the stage's iteration space, which is the value's dims with the reduced
dims in their original places.
"""

from __future__ import annotations

from itertools import groupby
from typing import Literal, NamedTuple

from fusewright.base.values import dataclass
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64, DType
from fusewright.ir.expr import Expr, const, index

Form = Literal["map", "fold", "scan"]


class Source(NamedTuple):
    """Where a kernel argument comes from at run time: a field of the node in a slot of the slice.

    `what` is `pointer`, `extent` (`dim`), `stride` (`dim`, bytes), `scalar`, or `start`/`step`
    (`piece`, `dim`).
    """

    what: Literal["pointer", "extent", "stride", "scalar", "start", "step"]
    slot: int
    dim: int = 0
    piece: int = 0


@dataclass(frozen=True, slots=True)
class Buffer:
    """A stored value: a leaf of the slice or a stage's result, by slot.

    `extents` are int64 expressions.  `strides` holds, for a leaf that is not C-contiguous, one byte
    stride for each dim.  In a kernel of loops, `dead`: nothing reads what it held before, nobody
    what it holds afterwards; `large`: no cache could hold it.
    """

    slot: int
    dtype: DType
    extents: tuple[Expr, ...]
    strides: tuple[Expr, ...] | None = None
    dead: bool = False
    large: bool = False


def in_pairs(buffer: Buffer) -> bool:
    """Whether elements are the parts of complex numbers, side by side."""
    last = buffer.extents[-1] if buffer.extents else None
    return buffer.dtype.is_complex or (last is not None and linear.constant(last) == 2)


class Box(NamedTuple):
    """A half-open interval for each loop dim."""

    low: tuple[Expr, ...]
    high: tuple[Expr, ...]

    def beside(self, position: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """The same position, from the loop's own in dims of one iteration: in a loop over row 0
        alone, row 1 is `i + 1`.
        """
        return tuple(
            linear.plus(index(dim), const(gap, INT64)) if gap is not None else place
            for dim, place in enumerate(position)
            for gap in (self._gap(dim, place),)
        )

    def _gap(self, dim: int, place: Expr) -> int | None:
        if dim >= len(self.low) or linear.distance(self.high[dim], self.low[dim]) != 1:
            return None
        return linear.distance(place, self.low[dim])


@dataclass(frozen=True, slots=True)
class Nest:
    """`for i in box: value[store(i)] = body(i)`; `store` is one index expression for each dim of
    the value.
    """

    box: Box
    body: Expr
    store: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Stage:
    """The computation of one stored value.

    `extents` is the iteration space.  A fold reduces `axes` with `fold` (a name in `ops.REDUCE`); a
    scan runs along `axes[0]`. `update` is the slot whose memory the stage's value takes over and
    patches, or -1.
    """

    slot: int
    form: Form
    dtype: DType
    extents: tuple[Expr, ...]
    nests: tuple[Nest, ...]
    fold: str = ""
    axes: tuple[int, ...] = ()
    update: int = -1

    @property
    def kept(self) -> tuple[int, ...]:
        """The loop dims that are dims of the value."""
        if self.form != "fold":
            return tuple(range(len(self.extents)))
        return tuple(d for d in range(len(self.extents)) if d not in self.axes)


class Library(NamedTuple):
    """An opaque step: the library runs the node in `slot` on whole arrays; `reads` are the stored
    values it needs.
    """

    slot: int
    reads: tuple[int, ...]


class Alias(NamedTuple):
    """A value that is another one's memory under another shape (`RESHAPE`)."""

    slot: int
    source: int


Step = Stage | Library | Alias


def grouped(stage: Stage) -> list[tuple[Box, tuple[Nest, ...]]]:
    """A stage's nests by box: those of one box (a complex value's parts) share its loop."""
    groups = groupby(stage.nests, key=lambda nest: nest.box)
    return [(box, tuple(nests)) for box, nests in groups]


@dataclass(frozen=True, slots=True)
class Program:
    """A slice as nests: stored values, the steps that compute them in order, and where arguments
    come from.

    `arguments[k]` is the source of `param(k)`.  `outputs` are the slots whose values are asked for.
    """

    buffers: dict[int, Buffer]
    steps: tuple[Step, ...]
    arguments: tuple[Source, ...]
    outputs: frozenset[int]
