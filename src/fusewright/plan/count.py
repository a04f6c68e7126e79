"""Bytes a kernel moves, from its plan and the actual extents alone: the cost model's numbers.

A byte counts once for each kernel, however often it is loaded: what a kernel touched is in cache
when it is touched again. What a kernel stores and reads back is therefore written, not read.
`tests/costs` holds the numbers against an interpreter that runs the loop tree and marks every byte.
Where an index depends on data (`take`) the number is an upper bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

from fusewright.base.values import dataclass
from fusewright.ir import graph, linear
from fusewright.ir.expr import Expr, postorder
from fusewright.ir.graph import Node, contiguous_strides
from fusewright.ir.nest import Box, Nest, Program
from fusewright.plan.plan import Kernel

Size = Callable[[Expr], int]
Space = tuple[str, int]
"""What addresses are relative to: a memory, or a value that the slice computes."""

MOST_RUNS = 1 << 20
"""Runs of contiguous bytes that are listed one by one; beyond, overlapping accesses are counted as
one hull.
"""


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes between a kernel and memory."""

    read: int
    written: int


@dataclass(frozen=True, slots=True)
class Access:
    """The bytes one load or store touches: `first + sum(stride * i)` for each `i < count`, and
    `width` from there.
    """

    space: Space
    first: int
    steps: tuple[tuple[int, int], ...]
    width: int

    @property
    def runs(self) -> int:
        return prod(count for _, count in self.steps)

    @property
    def last(self) -> int:
        """One past the highest byte."""
        return self.first + sum(stride * (count - 1) for stride, count in self.steps) + self.width


def traffic(order: Sequence[Node], program: Program, kernel: Kernel, size: Size) -> Traffic:
    """What a kernel reads from memory and writes to it."""
    counter = _Counter(order, program, size)
    inside = {member.stage.slot for member in kernel.members}
    reads: list[Access] = []
    writes: list[Access] = []
    for member in kernel.members:
        for nest in member.stage.nests:
            loads = (e for e in postorder([nest.body]) if e.name == "load")
            reads += (counter.load(e, nest.box) for e in loads if e.attr not in inside)
            if member.place == "memory":
                writes.append(counter.store(member.stage.slot, nest))
    return Traffic(_bytes(reads), _bytes(writes))


class _Counter:
    """Turns loads and stores into accesses."""

    def __init__(self, order: Sequence[Node], program: Program, size: Size) -> None:
        self.order = order
        self.program = program
        self.size = size

    def load(self, load: Expr, box: Box) -> Access:
        return self._access(load.attr, load.args, box, load.dtype.itemsize)

    def store(self, slot: int, nest: Nest) -> Access:
        return self._access(slot, nest.store, nest.box, self.order[slot].dtype.itemsize)

    def _access(self, slot: int, indices: Sequence[Expr], box: Box, width: int) -> Access:
        node = self.order[slot]
        space, first, strides = self._layout(slot, len(indices), width)
        counts = [
            max(self.size(high) - self.size(low), 0)
            for low, high in zip(box.low, box.high, strict=True)
        ]
        steps: dict[int, int] = {}
        known = True
        for position, stride in zip(indices, strides, strict=True):
            for term, factor in linear.terms(position).items():
                split = _split(term)
                if split is None:
                    known = False
                elif split[0] is None:
                    first += stride * factor * self.size(split[1])
                else:
                    dim = split[0]
                    pace = stride * factor * self.size(split[1])
                    steps[dim] = steps.get(dim, 0) + pace
                    first += pace * self.size(box.low[dim])
        if not known:
            return self._bound(slot, space, counts, prod(node.shape), width)
        if 0 in counts:
            return Access(space, 0, ((0, 0),), width)
        return Access(
            space, *_normal(first, [(pace, counts[dim]) for dim, pace in steps.items()]), width
        )

    def _layout(self, slot: int, rank: int, width: int) -> tuple[Space, int, tuple[int, ...]]:
        """Where a value begins, and the byte stride of each index."""
        node = self.order[slot]
        strides = contiguous_strides(node.shape, node.dtype.itemsize)
        space: Space = ("value", slot)
        first = 0
        if node.kind == graph.LEAF:
            memory, offset, strides = node.value
            space, first = ("memory", id(memory)), offset
        whole = len(node.shape)
        if rank < whole:  # a collapsed iteration space: one index for all dims
            return space, first, (node.dtype.itemsize,) * min(rank, 1)
        return space, first, (*strides, *(width,) * (rank - whole))

    def _bound(
        self, slot: int, space: Space, counts: Sequence[int], elements: int, width: int
    ) -> Access:
        """An index that depends on data: at most every element, and one for each turn."""
        turns = min(prod(counts), elements)
        return Access((f"{space[0]} at data", slot), 0, ((width, turns),), width)


def _split(term: Expr) -> tuple[int | None, Expr] | None:
    """A term as loop dim and factor; None where it is neither a multiple of an index nor
    loop-invariant.
    """
    loops = [e for e in postorder([term]) if e.name in ("index", "load")]
    if not loops:
        return None, term
    if term.name == "index":
        return term.attr, _ONE
    if len(loops) == 1 and term.name == "multiply":
        for dim, factor in (term.args, term.args[::-1]):
            if dim.name == "index":
                return dim.attr, factor
    return None


_ONE = linear.plus(0, 1)


def _normal(
    first: int, steps: Sequence[tuple[int, int]]
) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Strides positive and falling, dims that stay in place left out."""
    kept = []
    for stride, count in steps:
        if stride < 0:
            first += stride * (count - 1)
        if stride and count > 1:
            kept.append((abs(stride), count))
    return first, tuple(sorted(kept, reverse=True))


def _bytes(accesses: Sequence[Access]) -> int:
    spaces: dict[Space, set[Access]] = {}
    for access in accesses:
        spaces.setdefault(access.space, set()).add(access)
    return sum(_covered([_merged(a) for a in group if a.runs]) for group in spaces.values())


def _merged(access: Access) -> Access:
    """Inner dims that touch without a gap become one run."""
    steps, width = list(access.steps), access.width
    while steps and steps[-1][0] <= width:
        stride, count = steps.pop()
        width += stride * (count - 1)
    return Access(access.space, access.first, tuple(steps), width)


def _covered(accesses: Sequence[Access]) -> int:
    """Bytes in the union."""
    distinct = set(accesses)
    if len(distinct) <= 1:
        return sum(a.runs * a.width for a in distinct)
    if sum(a.runs for a in distinct) > MOST_RUNS:
        hull = max(a.last for a in distinct) - min(a.first for a in distinct)
        return min(sum(a.runs * a.width for a in distinct), hull)
    starts = np.concatenate([_starts(a) for a in distinct])
    ends = np.concatenate([_starts(a) + a.width for a in distinct])
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], ends[order]
    seen = np.maximum.accumulate(ends)
    fresh = np.maximum(starts[1:], seen[:-1])
    return int(ends[0] - starts[0] + np.maximum(ends[1:] - fresh, 0).sum())


def _starts(access: Access) -> Any:
    total = np.full((1,), access.first, np.int64)
    for stride, count in access.steps:
        total = (total[:, None] + stride * np.arange(count, dtype=np.int64)).reshape(-1)
    return total


def unfused(node: Node) -> int:
    """Bytes the operation moves on its own: it reads its operands and writes its result; a view
    moves nothing.
    """
    if node.kind in (graph.LEAF, graph.SCALAR, graph.VIEW, graph.RESHAPE, graph.PART):
        return 0
    if node.kind == graph.ASSEMBLE:
        return sum(
            _nbytes(piece) + prod(piece.shape) * node.dtype.itemsize for piece in _pieces(node)
        )
    written = prod(node.shape) * node.dtype.itemsize
    if node.kind == graph.GATHER:
        source, *tables = node.args
        taken = min(prod(node.shape), prod(source.shape)) * source.dtype.itemsize
        return written + taken + sum(map(_nbytes, dict.fromkeys(tables)))
    return written + sum(map(_nbytes, dict.fromkeys(node.args)))


def _pieces(node: Node) -> Iterator[Node]:
    """What an assembled value is written from: the version before stays where it is."""
    for number, (piece, region) in enumerate(zip(node.args, node.attr, strict=True)):
        whole = piece.shape == node.shape and all(place == (0, 1) for place in region)
        if number or not whole:
            yield piece


def _nbytes(node: Node) -> int:
    """Distinct bytes of an operand: a broadcast dim repeats the same ones."""
    if node.kind == graph.SCALAR:
        return 0
    extents = list(node.shape)
    if node.kind == graph.LEAF:
        extents = [n if s else min(n, 1) for n, s in zip(extents, node.value[2], strict=True)]
    elif node.kind == graph.VIEW:
        named = {out for out, _, step in node.attr if step}
        extents = [n if dim in named else min(n, 1) for dim, n in enumerate(extents)]
    return prod(extents) * node.dtype.itemsize
