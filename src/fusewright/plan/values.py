"""The value of any node at an index, as one scalar expression: how operators, views and pieces are
inlined.

`Values.at(node, index)` follows views by composing index maps and element-wise nodes by composing
ops, down to loads of stored values.  Where an index may fall into either of two pieces of an
assembled value, it raises `Split`: the caller cuts its box there and asks again, so that no piece
is chosen element by element.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

from fusewright.ir import graph, linear, ops
from fusewright.ir.dtypes import BFLOAT16, BOOL, BY_NAME, INT64, DType, component
from fusewright.ir.expr import COMPARISONS, Expr, cast, compared, const, load, op, param, typed_op
from fusewright.ir.graph import Node
from fusewright.ir.nest import Box, Buffer, Source
from fusewright.plan.extents import NOTHING, Extents, anchor

_TESTS = frozenset({"isnan", "isinf", "isfinite", "signbit", "logical_and", "logical_or",
                    "logical_xor", "logical_not"})  # fmt: skip
_OWN_DTYPE = frozenset({"cast", "positive", "real", "imag", "conjugate"})


Index = tuple[Expr, ...]
Request = tuple[Node, Index]
Answer = Generator[Request, Expr, Expr]
"""A value being built: it yields the operands it needs and returns the expression."""


@dataclass(frozen=True)
class Split(Exception):
    """The box must be cut in dim `dim` at `cut` (below, and from `cut` on)."""

    dim: int
    cut: Expr


class NotInlinable(Exception):
    """The node must be stored: its pieces cannot be told apart at this index."""

    def __init__(self, slot: int) -> None:
        self.slot = slot


class Arguments:
    """The run-time integers and scalars of a slice, numbered as they are first used."""

    def __init__(self, order: Sequence[Node]) -> None:
        self._extents = Extents(order)
        self._order = order
        self._numbers: dict[Source, int] = {}
        self._least = _least_extents(order, self._extents)
        self._least_values: dict[Expr, int] = {}

    def number(self, source: Source) -> int:
        return self._numbers.setdefault(source, len(self._numbers))

    def integer(self, source: Source) -> Expr:
        return param(self.number(source), INT64)

    def extent(self, slot: int, dim: int) -> Expr:
        root, offset = self._extents.find(slot, dim)
        value = const(0, INT64) if root == NOTHING else self.integer(Source("extent", *root))
        self._least_values[value] = self._least.get(root, 0)
        return linear.plus(value, offset)

    def extents(self, slot: int) -> tuple[Expr, ...]:
        return tuple(self.extent(slot, dim) for dim in range(len(self._order[slot].shape)))

    @property
    def sources(self) -> tuple[Source, ...]:
        return tuple(self._numbers)

    def is_ordered(self, low: Expr, high: Expr) -> bool:
        """Whether `low <= high` for every slice of this structure."""
        gap = linear.terms(linear.minus(high, low))
        total = 0
        for term, count in gap.items():
            if term.name == "const":
                total += count
            elif count > 0 and term in self._least_values:
                total += count * self._least_values[term]
            else:
                return False
        return total >= 0

    def at_most(self, a: Expr, b: Expr) -> Expr:
        """min(a, b) for positions."""
        if self.is_ordered(a, b):
            return a
        return b if self.is_ordered(b, a) else linear.at_most(a, b)

    def at_least(self, a: Expr, b: Expr) -> Expr:
        """max(a, b) for positions."""
        if self.is_ordered(a, b):
            return b
        return a if self.is_ordered(b, a) else linear.at_least(a, b)


def _least_extents(order: Sequence[Node], extents: Extents) -> dict[tuple[int, int], int]:
    """What the structure says of the extents of assembled values: how long those must be at least
    that they are a literal apart from.
    """
    least: dict[tuple[int, int], int] = {}
    for slot, node in enumerate(order):
        if node.kind != graph.ASSEMBLE:
            continue
        for dim, extent in enumerate(node.shape):
            if extent >= graph.WIDE:
                root, offset = extents.find(slot, dim)
                least[root] = max(least.get(root, 0), graph.WIDE - offset)
    return least


class Values:
    """Expressions for the nodes of one slice, given which of them are stored."""

    def __init__(
        self, order: Sequence[Node], stored: set[int], reusable: frozenset[int] = frozenset()
    ) -> None:
        self.order = order
        self.reusable = reusable
        self.stored = stored
        self.slots = {id(node): slot for slot, node in enumerate(order)}
        self.arguments = Arguments(order)
        self.buffers: dict[int, Buffer] = {}
        self._facts: Box = Box((), ())

    def at_box(self, node: Node, index: Index, box: Box) -> Expr:
        """The value at an index whose loop dims lie in the box; raises `Split` or `NotInlinable`.

        Operands are asked for by yielding, not by calling: a chain of operators may be longer than
        Python's stack, and a value used twice is built once.
        """
        self._facts = box
        memo: dict[Request, Expr] = {}
        stack: list[tuple[Request, Answer]] = [((node, index), self._answer(node, index))]
        value: Expr | None = None
        while stack:
            request, answer = stack[-1]
            try:
                wanted = next(answer) if value is None else answer.send(value)
            except StopIteration as done:
                value = memo[request] = done.value
                stack.pop()
                continue
            value = memo.get(wanted)
            if value is None:
                stack.append((wanted, self._answer(*wanted)))
        assert value is not None
        return value

    def _answer(self, node: Node, index: Index) -> Answer:
        slot = self.slots[id(node)]
        if slot in self.stored or node.kind == graph.LEAF:
            return self._load(slot, node, index)
        return _AT[node.kind](self, slot, node, index)

    def _load(self, slot: int, node: Node, index: Index) -> Answer:
        yield from ()
        index = index if node.kind == graph.LEAF else self._facts.beside(index)
        return load(slot, index, self._buffer(slot, node).dtype)

    @contextmanager
    def unstored(self, slot: int) -> Iterator[None]:
        """While the nests of `slot` are built, its own value is an expression, not a load."""
        self.stored.discard(slot)
        try:
            yield
        finally:
            self.stored.add(slot)

    def describe(self, slot: int) -> Buffer:
        """The buffer of a stored value."""
        return self._buffer(slot, self.order[slot])

    def _buffer(self, slot: int, node: Node) -> Buffer:
        found = self.buffers.get(slot)
        if found is None:
            found = self.buffers[slot] = self._describe(slot, node)
        return found

    def _describe(self, slot: int, node: Node) -> Buffer:
        extents = self.arguments.extents(slot)
        if node.kind != graph.LEAF or is_contiguous(node):
            return Buffer(slot, node.dtype, extents)
        strides = tuple(self._stride(slot, node, dim) for dim in range(len(node.shape)))
        return Buffer(slot, node.dtype, extents, strides)

    def _stride(self, slot: int, node: Node, dim: int) -> Expr:
        stride = node.value[2][dim]
        if is_literal_stride(stride, node.dtype):
            return const(stride, INT64)
        return self.arguments.integer(Source("stride", slot, dim))

    def _scalar(self, slot: int, node: Node, index: Index) -> Answer:
        yield from ()
        return param(self.arguments.number(Source("scalar", slot)), node.dtype)

    def _map(self, slot: int, node: Node, index: Index) -> Answer:
        dtypes = operand_dtypes(node)
        operands = []
        for arg, dtype in zip(node.args, dtypes, strict=True):
            value = yield arg, broadcast(arg, node, index)
            operands.append(cast(value, dtype))
        if node.op in ("cast", "positive"):
            return cast(operands[0], node.dtype)
        if node.op in COMPARISONS and not dtypes[0].is_complex:
            return compared(node.op, *operands)
        return typed_op(node.op, _loop_result(node, dtypes), *operands)

    def _view(self, slot: int, node: Node, index: Index) -> Answer:
        (source,) = node.args
        inner = []
        for dim, (out, start, step) in enumerate(node.attr):
            first = self.position(slot, 0, dim, start, source.shape[dim], node.args[0])
            if out < 0:
                inner.append(first)
            else:
                pace = self.step(slot, 0, dim, step)
                inner.append(linear.plus(first, linear.times(index[out], pace)))
        return (yield source, tuple(inner))

    def position(
        self, slot: int, piece: int, dim: int, start: int, extent: int, whole: Node
    ) -> Expr:
        """A recorded position as an expression: a literal, a literal from the end, or a run-time
        value.
        """
        end, literal = anchor(start, extent)
        if end == "low":
            return const(literal, INT64)
        if end == "high":
            return linear.minus(self.arguments.extent(self.slots[id(whole)], dim), literal)
        return self.arguments.integer(Source("start", slot, dim, piece))

    def step(self, slot: int, piece: int, dim: int, step: int) -> Expr:
        if abs(step) <= 2:
            return const(step, INT64)
        return self.arguments.integer(Source("step", slot, dim, piece))

    def _iota(self, slot: int, node: Node, index: Index) -> Answer:
        start = yield node.args[0], ()
        step = yield node.args[1], ()
        distance = op("multiply", cast(index[0], node.dtype), cast(step, node.dtype))
        return op("add", cast(start, node.dtype), distance)

    def _gather(self, slot: int, node: Node, index: Index) -> Answer:
        source, *tables = node.args
        position, dims = node.attr
        width = len(tables[0].shape)
        picked = index[position : position + width]
        rest = list(index[:position] + index[position + width :])
        inner = []
        for operand in dims:
            if operand < 0:
                inner.append(rest.pop(0))
            else:
                place = yield tables[operand - 1], picked
                inner.append(cast(place, INT64))
        return (yield source, tuple(inner))

    def _assemble(self, slot: int, node: Node, index: Index) -> Answer:
        for number in range(len(node.args) - 1, -1, -1):
            piece, region = node.args[number], node.attr[number]
            if any(step != 1 for _, step in region):
                raise NotInlinable(slot)
            # the pieces cover the value: what no later one holds lies in the first
            if number == 0 or self._inside(slot, number, node, index):
                starts = (
                    self.position(slot, number, dim, start, node.shape[dim], node)
                    for dim, (start, _) in enumerate(region)
                )
                inner = tuple(linear.minus(i, s) for i, s in zip(index, starts, strict=True))
                value = yield piece, inner
                return cast(value, node.dtype)
        raise NotInlinable(slot)

    def _inside(self, slot: int, number: int, node: Node, index: Index) -> bool:
        """Whether the index lies in the piece; raises `Split` where only a cut can tell."""
        piece = node.args[number]
        for dim, (start, _) in enumerate(node.attr[number]):
            count, extent = piece.shape[dim], node.shape[dim]
            first = self.position(slot, number, dim, start, extent, node)
            if start > 0 and not self._at_least(slot, index[dim], first):
                return False
            if start + count < extent:
                size = 1 if count == 1 else self.arguments.extent(self.slots[id(piece)], dim)
                if self._at_least(slot, index[dim], linear.plus(first, size)):
                    return False
        return True

    def _at_least(self, slot: int, index: Expr, bound: Expr) -> bool:
        """Whether `index >= bound` all over the box."""
        gap = linear.terms(linear.minus(index, bound))
        loops = [term for term in gap if term.name == "index"]
        if not loops:
            if self.arguments.is_ordered(bound, index):
                return True
            if self.arguments.is_ordered(linear.plus(index, 1), bound):
                return False
            raise NotInlinable(slot)
        if len(loops) > 1 or abs(gap[loops[0]]) != 1:
            raise NotInlinable(slot)
        sign = gap.pop(loops[0])
        rest = linear.build(gap)
        dim = loops[0].attr
        # i + rest >= 0 <=> i >= -rest;   -i + rest >= 0 <=> not i >= rest + 1
        cut = linear.times(rest, -1) if sign == 1 else linear.plus(rest, 1)
        return self._known(dim, cut) == (sign == 1)

    def _known(self, dim: int, cut: Expr) -> bool:
        """Whether `index(dim) >= cut` in the box, or `Split`."""
        for low in _alternatives(self._facts.low[dim], "imax"):
            if self.arguments.is_ordered(cut, low):
                return True
        for high in _alternatives(self._facts.high[dim], "imin"):
            if self.arguments.is_ordered(high, cut):
                return False
        raise Split(dim, cut)

    def _never(self, slot: int, node: Node, index: Index) -> Answer:
        yield from ()
        raise AssertionError(f"{node!r} in slot {slot} must be stored")


_AT = {
    graph.SCALAR: Values._scalar,
    graph.MAP: Values._map,
    graph.VIEW: Values._view,
    graph.IOTA: Values._iota,
    graph.GATHER: Values._gather,
    graph.ASSEMBLE: Values._assemble,
    graph.REDUCE: Values._never,
    graph.SCAN: Values._never,
    graph.RESHAPE: Values._never,
    **dict.fromkeys((graph.OPAQUE, graph.PART, graph.PRODUCT), Values._never),
}


def _alternatives(bound: Expr, name: str) -> list[Expr]:
    if bound.name == name:
        return [bound, *(leaf for arg in bound.args for leaf in _alternatives(arg, name))]
    return [bound]


def is_contiguous(node: Node) -> bool:
    """Whether a leaf is laid out in C order (an empty one is)."""
    strides: tuple[int, ...] = node.value[2]
    step = node.dtype.itemsize
    if 0 in node.shape:  # whatever its strides: the structure's key says no more (`runtime.trace`)
        return True
    for extent, stride in zip(reversed(node.shape), reversed(strides), strict=True):
        if stride != step:
            return False
        step *= extent
    return True


def is_literal_stride(stride: int, dtype: DType) -> bool:
    """Strides that are part of the structure: broadcast, unit, and reversed unit."""
    return stride in (0, dtype.itemsize, -dtype.itemsize)


def broadcast(arg: Node, node: Node, index: Index) -> tuple[Expr, ...]:
    """The operand's index at the result's index."""
    lead = len(node.shape) - len(arg.shape)
    return tuple(
        index[lead + dim] if extent == node.shape[lead + dim] else const(0, INT64)
        for dim, extent in enumerate(arg.shape)
    )


@lru_cache(maxsize=4096)
def _loop(name: str, operands: tuple[DType, ...]) -> tuple[DType, ...]:
    resolved = ops.loop_dtypes(name, tuple(dtype.numpy for dtype in operands))
    return tuple(BY_NAME[dtype.name] for dtype in resolved[:-1])


def operand_dtypes(node: Node) -> tuple[DType, ...]:
    """What each operand of a MAP is cast to before the op: NumPy's loop, or the result's dtype."""
    own = tuple(arg.dtype for arg in node.args)
    if node.op == "where":
        return (BOOL, node.dtype, node.dtype)
    if node.op in _OWN_DTYPE:
        return own
    if node.op == "complex":
        return (component(node.dtype),) * 2
    if node.op in ops.SPECIAL:
        return (node.dtype,) * len(own)
    return own if BFLOAT16 in own else _loop(node.op, own)  # NumPy lacks that


def _loop_result(node: Node, dtypes: tuple[DType, ...]) -> DType:
    return BOOL if node.op in COMPARISONS or node.op in _TESTS else node.dtype
