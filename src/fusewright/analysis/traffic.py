"""Bytes a kernel of arrays moves, read off its loop tree and the numbers of a call: the cost
model's.

A byte counts once for each kernel, however often it is loaded: what a kernel touched is in cache
when it is touched again. What a kernel stores and reads back is therefore written, not read.
`tests/costs` holds the numbers against the tree's interpreter, which marks every byte.
Where an index depends on data (`take`) the number is an upper bound.

Theorem: bounds of the tree's loops grow with the indices around them, and the parts they cut a dim
into lie end to end.  So a loop reaches, in all turns of the loops around it, what lies between its
least low and its greatest high bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from fusewright.analysis.ranges import Interval, interval
from fusewright.base.values import dataclass
from fusewright.ir import linear
from fusewright.ir.expr import Expr, postorder
from fusewright.ir.graph import contiguous_strides
from fusewright.ir.loops.statements import Store
from fusewright.ir.nest import Buffer
from fusewright.ir.tree.nodes import (
    Branch,
    MappedLoop,
    Node,
    OrderedReduction,
    Tree,
    blocks,
    expressions,
    stored,
)
from fusewright.ir.tree.units import BLOCK, HIGH, LOW, STRETCH, IndexLet

Space = tuple[str, int]
"""What addresses are relative to: a memory, a value that the slice computes, or a buffer that is
read at places nobody knows.
"""
Places = Callable[[int], tuple[Space, int]]
"""Where a buffer begins."""
Ranges = dict[int, Interval]

SOME = (64, 64)
"""A length of stretches: no byte depends on it."""
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


def traffic(tree: Tree, numbers: Sequence[Any], places: Places) -> Traffic:
    """What a kernel reads from memory and writes to it; `numbers` are its parameters."""
    counter = _Counter(tree, numbers, places)
    counter.call()
    return Traffic(_bytes(counter.reads), _bytes(counter.writes))


class _Counter:
    """Turns loads and stores into accesses; `ranges` is what each index can be."""

    def __init__(self, tree: Tree, numbers: Sequence[Any], places: Places) -> None:
        assert tree.units is not None, "kernels of loops are not called for parts of units"
        self.tree, self.units, self.places = tree, tree.units, places
        self.known = {
            number: (int(value), int(value))
            for number, value in enumerate(numbers)
            if isinstance(value, int | np.integer)
        }
        self.ranges: Ranges = {LOW.attr: (0, 0), BLOCK.attr: (1, 1), STRETCH.attr: SOME}
        self.inside = stored(tree.body)
        self.elsewhere = tree.declared.scratch | {each.buffer for each in self.units.partials}
        self.reads: list[Access] = []
        self.writes: list[Access] = []
        # The same sizes, strides and terms stand in many accesses.
        self.sizes: dict[Expr, int] = {}
        self.strides: dict[tuple[int, int], tuple[int, ...]] = {}
        self.splits: dict[Expr, tuple[int | None, Expr] | None] = {}

    def call(self) -> None:
        """A call for all units, and what is combined when it has run."""
        self.ranges[HIGH.attr] = self._of(self.units.count)
        self._block(self.tree.body, {})
        for each in self.units.partials:
            buffer = self.tree.declared.buffers[each.buffer]
            space, first = self.places(each.buffer)
            elements = prod(map(self._size, buffer.extents))
            step = (buffer.dtype.itemsize, elements)
            self.writes.append(Access(space, first, (step,), buffer.dtype.itemsize))

    def _of(self, expr: Expr) -> Interval:
        return interval(expr, self.ranges, self.known)

    def _size(self, expr: Expr) -> int:
        """A number that follows from parameters alone."""
        found = self.sizes.get(expr)
        if found is None:
            found = self.sizes[expr] = self._of(expr)[0]
        return found

    # -- nodes ----------------------------------------------------------------------------------

    @contextmanager
    def _where(self, ranges: Ranges) -> Iterator[bool]:
        """Inside, some indices are known better; whether there are any."""
        around = self.ranges
        self.ranges = {**around, **ranges}
        yield all(low <= high for low, high in ranges.values())
        self.ranges = around

    def _block(self, body: Sequence[Node], ranges: Ranges) -> None:
        with self._where(ranges) as runs:
            for node in body if runs else ():
                self._node(node)

    def _node(self, node: Node) -> None:
        if isinstance(node, OrderedReduction):
            self._reduction(node)
            return
        self._loads(expressions(node))
        if isinstance(node, IndexLet):
            self.ranges[node.index] = self._of(node.value)
        elif isinstance(node, Store):
            self._stores(node)
        elif isinstance(node, MappedLoop):
            self._block(node.body, {node.index: self._between(node.low, node.high)})
        else:
            narrowed = self._narrowed(node.condition) if isinstance(node, Branch) else {}
            for inner in blocks(node):
                self._block(inner, narrowed)

    def _between(self, low: Expr, high: Expr) -> Interval:
        return self._of(low)[0], self._of(high)[1] - 1

    def _narrowed(self, condition: Expr) -> Ranges:
        """What indices can be where a condition holds."""
        found: Ranges = {}
        left = [condition]
        while left:
            node = left.pop()
            if node.name == "bitwise_and":
                left += node.args
            elif node.name in ("less", "less_equal"):
                least, most = node.args
                gap = int(node.name == "less")
                if most.name == "index":
                    low, high = found.get(most.attr, self.ranges[most.attr])
                    found[most.attr] = max(low, self._of(least)[0] + gap), high
                elif least.name == "index":
                    low, high = found.get(least.attr, self.ranges[least.attr])
                    found[least.attr] = low, min(high, self._of(most)[1] - gap)
        return found

    def _reduction(self, node: OrderedReduction) -> None:
        """All elements are read, and each result is written once, also one of no elements."""
        bounds = [*zip(node.low[:-1], node.high[:-1], strict=True), node.ends]
        ranges = {d: self._between(*bounds[d]) for d in range(node.outer, len(bounds))}
        self._block(node.stores, ranges)
        with self._where(ranges) as runs:
            self._loads([fold.value for fold in node.folds if runs])
        done = () if node.order == "scan" else node.axes
        with self._where({d: (0, 0) if d in done else ranges[d] for d in ranges}) as runs:
            for fold in node.folds if runs else ():
                self._stores(fold)

    # -- accesses -------------------------------------------------------------------------------

    def _loads(self, roots: Sequence[Expr]) -> None:
        for node in postorder(roots):
            if node.name == "load" and node.attr not in self.inside:
                self.reads.append(self._access(node.attr, node.args, node.dtype.itemsize))

    def _stores(self, node: Store) -> None:
        if node.buffer not in self.elsewhere:
            width = node.value.dtype.itemsize
            self.writes.append(self._access(node.buffer, node.indices, width))

    def _access(self, number: int, indices: Sequence[Expr], width: int) -> Access:
        space, first = self.places(number)
        steps: dict[int, int] = {}
        for position, stride in zip(indices, self._strides(number, len(indices)), strict=True):
            for term, factor in linear.terms(position).items():
                if term not in self.splits:
                    self.splits[term] = _split(term)
                split = self.splits[term]
                if split is None:
                    return self._bound(number, width)
                dim, size = split
                pace = stride * factor * self._size(size)
                if dim is None:
                    first += pace
                else:
                    steps[dim] = steps.get(dim, 0) + pace
                    first += pace * self.ranges[dim][0]
        turns = ((pace, self._count(dim)) for dim, pace in steps.items())
        return Access(space, *_normal(first, list(turns)), width)

    def _count(self, dim: int) -> int:
        low, high = self.ranges[dim]
        return high - low + 1

    def _strides(self, number: int, rank: int) -> tuple[int, ...]:
        found = self.strides.get((number, rank))
        if found is None:
            buffer = self.tree.declared.buffers[number]
            found = self.strides[number, rank] = self._strides_of(buffer, rank)
        return found

    def _strides_of(self, buffer: Buffer, rank: int) -> tuple[int, ...]:
        """The byte stride of each index; those of all dims may be one, and a complex number has two
        parts.
        """
        size, parts = buffer.dtype.itemsize, int(buffer.dtype.is_complex)
        inner = (size // 2,) * parts
        if rank - parts < len(buffer.extents):  # one index for all dims
            return *(size,) * (rank - parts), *inner
        if buffer.strides is not None:
            return *map(self._size, buffer.strides), *inner
        return *contiguous_strides(tuple(map(self._size, buffer.extents)), size), *inner

    def _bound(self, number: int, width: int) -> Access:
        """An index that depends on data: at most every element, and one for each turn."""
        buffer = self.tree.declared.buffers[number]
        turns = prod(self._count(dim) for dim in self.ranges if dim < LOW.attr)
        elements = prod(map(self._size, buffer.extents))
        return Access(("at data", number), 0, ((width, min(turns, elements)),), width)


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
