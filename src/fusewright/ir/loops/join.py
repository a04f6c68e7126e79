"""Several kernels as one: their statements one after the other, over the buffers they share.

first:  b[i] = a[i] * p0        joined:  for i0 in [0, p0): b1[i0] = b0[i0] * p1
second: c[i] = b[i] + 1                  for i1 in [0, p0): b2[i1] = b1[i1] + 1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from fusewright.base.values import dataclass
from fusewright.ir.expr import Expr, index, load, local, param, rewrite
from fusewright.ir.loops.statements import (
    Block,
    Dim,
    Fence,
    For,
    If,
    Kernel,
    Leave,
    Let,
    Local,
    Statement,
    Store,
    Unique,
    While,
    walk,
)
from fusewright.ir.nest import Buffer, Source


@dataclass(frozen=True, slots=True)
class Member:
    """A kernel, and for each of its given buffers the number that the whole has for it."""

    kernel: Kernel
    buffers: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Joined:
    """The whole, and where its scalars come from: (number of the member, its parameter)."""

    kernel: Kernel
    scalars: tuple[tuple[int, int], ...]


NO_FACTS: Mapping[tuple[int, int], int] = {}


def join(
    members: Sequence[Member],
    given: int,
    dead: frozenset[int] = frozenset(),
    equal: Mapping[tuple[int, int], int] = NO_FACTS,
) -> Joined:
    """One kernel that does what these do in turn; it is given so many buffers, numbered from 0.

    Buffers that may share memory are different buffers, as within one kernel.  `dead` are those
    whose content nobody needs, before or after; extents (buffer, dim) of one number are `equal`.
    """
    same: dict[int, tuple[int, int]] = {}
    for place, number in equal.items():
        same.setdefault(number, place)
    whole = _Whole({}, given, {place: same[number] for place, number in equal.items()})
    for number, member in enumerate(members):
        whole.add(number, member)
    every = (whole.buffers[number] for number in sorted(whole.buffers))
    buffers = tuple(replace(b, dead=True) if b.slot in dead else b for b in every)
    kernel = Kernel(
        "+".join(dict.fromkeys(member.kernel.name for member in members)),
        buffers,
        frozenset(range(given, len(buffers))),
        tuple(whole.sources),
        tuple(whole.dtypes),
        tuple(whole.locals),
        tuple(whole.body),
    )
    return Joined(kernel, tuple(whole.scalars))


@dataclass(slots=True)
class _Whole:
    buffers: dict[int, Buffer]
    next_buffer: int
    equal: Mapping[tuple[int, int], tuple[int, int]]
    sources: list[Source] = field(default_factory=list)
    dtypes: list[Any] = field(default_factory=list)
    locals: list[Local] = field(default_factory=list)
    body: list[Statement] = field(default_factory=list)
    scalars: list[tuple[int, int]] = field(default_factory=list)
    indices: int = 0
    labels: int = 0
    known: dict[Source, int] = field(default_factory=dict)

    def add(self, number: int, member: Member) -> None:
        """Append a member's statements under numbers of their own."""
        kernel, buffers = member.kernel, dict(member.buffers)
        for own in sorted(kernel.scratch):
            buffers[own] = self.next_buffer
            self.next_buffer += 1
        parameters = [
            self._parameter(number, place, source, kernel.dtypes[place], buffers)
            for place, source in enumerate(kernel.arguments)
        ]
        change = _Renumbering(buffers, parameters, len(self.locals), self.indices, self.labels)
        for buffer in kernel.buffers:
            if buffers[buffer.slot] not in self.buffers:
                self.buffers[buffers[buffer.slot]] = change.buffer(buffer)
        self.locals += kernel.locals
        self.body += map(change.statement, kernel.body)
        inside = list(walk(kernel.body))
        dims = [d.index for s in inside if isinstance(s, For) for d in s.dims]
        self.indices += 1 + max(dims, default=-1)
        self.labels += 1 + max((s.label for s in inside if isinstance(s, Block)), default=-1)

    def _parameter(
        self, number: int, place: int, source: Source, dtype: Any, buffers: Mapping[int, int]
    ) -> int:
        if source.what == "scalar":
            moved = Source("scalar", len(self.scalars))
            self.scalars.append((number, place))
        else:
            slot, dim = buffers[source.slot], source.dim
            if source.what == "extent":
                slot, dim = self.equal.get((slot, dim), (slot, dim))
            moved = source._replace(slot=slot, dim=dim)
        if moved not in self.known:
            self.known[moved] = len(self.sources)
            self.sources.append(moved)
            self.dtypes.append(dtype)
        return self.known[moved]


class _Renumbering:
    def __init__(
        self,
        buffers: Mapping[int, int],
        parameters: Sequence[int],
        locals_: int,
        indices: int,
        labels: int,
    ) -> None:
        self.buffers, self.parameters = buffers, parameters
        self.first_local, self.first_index, self.first_label = locals_, indices, labels
        self.memo: dict[Expr, Expr] = {}

    def expr(self, root: Expr) -> Expr:
        return rewrite(root, self._leaf, self.memo)

    def _leaf(self, node: Expr) -> Expr | None:
        if node.name == "param":
            return param(self.parameters[node.attr], node.dtype)
        if node.name == "index":
            return index(node.attr + self.first_index, node.dtype)
        if node.name == "local":
            return local(node.attr + self.first_local, node.dtype)
        if node.name == "load":
            return load(self.buffers[node.attr], node.args, node.dtype)
        return None

    def buffer(self, buffer: Buffer) -> Buffer:
        extents = tuple(map(self.expr, buffer.extents))
        strides = None if buffer.strides is None else tuple(map(self.expr, buffer.strides))
        return replace(buffer, slot=self.buffers[buffer.slot], extents=extents, strides=strides)

    def block(self, body: tuple[Statement, ...]) -> tuple[Statement, ...]:
        return tuple(map(self.statement, body))

    def statement(self, statement: Statement) -> Statement:
        return _CHANGES[type(statement)](self, statement)

    def let(self, s: Let) -> Let:
        return replace(s, local=s.local + self.first_local, value=self.expr(s.value))

    def store(self, s: Store) -> Store:
        places = tuple(map(self.expr, s.indices))
        return replace(s, buffer=self.buffers[s.buffer], indices=places, value=self.expr(s.value))

    def dim(self, dim: Dim) -> Dim:
        moved = dim.index + self.first_index
        return replace(dim, index=moved, low=self.expr(dim.low), high=self.expr(dim.high))

    def for_(self, s: For) -> For:
        return replace(s, dims=tuple(map(self.dim, s.dims)), body=self.block(s.body))

    def while_(self, s: While) -> While:
        head, condition = self.block(s.head), self.expr(s.condition)
        return replace(s, head=head, condition=condition, body=self.block(s.body))

    def if_(self, s: If) -> If:
        body, orelse = self.block(s.body), self.block(s.orelse)
        return replace(s, condition=self.expr(s.condition), body=body, orelse=orelse)

    def labelled(self, s: Block) -> Block:
        return replace(s, label=s.label + self.first_label, body=self.block(s.body))

    def leave(self, s: Leave) -> Leave:
        return replace(s, label=s.label + self.first_label)


_CHANGES: dict[type, Callable[[_Renumbering, Any], Statement]] = {
    Let: _Renumbering.let,
    Store: _Renumbering.store,
    For: _Renumbering.for_,
    While: _Renumbering.while_,
    If: _Renumbering.if_,
    Block: _Renumbering.labelled,
    Leave: _Renumbering.leave,
    Fence: lambda _, s: s,
    Unique: lambda change, s: replace(s, buffer=change.buffers[s.buffer]),
}
