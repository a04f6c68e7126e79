"""A loop of a kernel as the analysis sees it: dims, accesses, effects, what it hands on.

What a variable holds is written out where it is computed once from loops, parameters and other such
variables; anything else a loop changes is an unknown value (`UNKNOWN`).  Loops and variables around
the nest are parameters of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from itertools import pairwise

from fusewright.analysis.unit import Access, Carried, Dim, Effect, Facts, Name, Unit
from fusewright.base.source import Span
from fusewright.base.values import dataclass
from fusewright.ir.dtypes import INT64, DType
from fusewright.ir.expr import Expr, const, index, is_small, load, op, param, postorder, rewrite
from fusewright.ir.loops.statements import (
    Block,
    Check,
    For,
    If,
    Kernel,
    Leave,
    Let,
    Print,
    Statement,
    Store,
    Unique,
    While,
    buffers_of,
    expressions,
    walk,
)
from fusewright.plan.loops.legality.distinct import distinct
from fusewright.plan.loops.legality.live_in import Locals, assigned, exposed, reads
from fusewright.plan.loops.legality.private import Homes

UNKNOWN = 1 << 20
"""Numbers of `load`s that stand for a value nothing is known about."""
LOOP, VARIABLE = -1, -2
"""The second half of a parameter's number where it stands for a loop or a variable outside."""
LARGE = 3 << 19
"""The same for expressions that are too large to look at."""
ENDLESS = 1 << 21
"""Numbers of dims that stand for `while` loops."""
MOST_PARTS = 256
"""Parts of an expression that is reasoned about."""
EARLY_END = "an early end"
ONE_TO_ONE = frozenset({"add", "subtract", "bitwise_and", "bitwise_or", "bitwise_xor", "multiply"})
EXTREMES = frozenset({"minimum", "maximum", "imin", "imax", "fmin", "fmax"})


@dataclass(frozen=True, slots=True)
class Roots:
    """The memory each buffer lies in, and the length its indices are padded to: two buffers that
    may share memory are one root with indices of different lengths, which the analysis takes as
    unrelated positions in it.
    """

    root: Mapping[int, int]
    length: Mapping[int, int]


def roots_of(kernel: Kernel) -> Roots:
    """Group the buffers that may share memory."""
    written = kernel.written
    root = {b.slot: b.slot for b in kernel.buffers}
    for a in kernel.given:
        for b in kernel.given:
            if a < b and (a in written or b in written) and not kernel.apart(a, b):
                old, new = root[b], root[a]
                root = {n: new if r == old else r for n, r in root.items()}
    length = {b.slot: len(b.extents) for b in kernel.buffers}
    for group in {r: sorted(n for n in root if root[n] == r) for r in root.values()}.values():
        for a, b in pairwise(group):
            length[b] = max(length[b], length[a] + 1)
    return Roots(root, length)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known around the loops: the kernel, its memory, the values of variables computed
    once, the buffers of the kernel's own that each iteration has for itself, and names.
    """

    kernel: Kernel
    roots: Roots
    values: Mapping[int, Expr]
    homes: Homes
    names: Mapping[int, str] = field(default_factory=dict)
    facts: Facts = field(default_factory=Facts)
    reassociate: bool = False
    checked: Locals = frozenset()

    def name(self, buffer: int) -> str:
        return self.names.get(buffer, f"b{buffer}")


def surroundings(
    kernel: Kernel,
    names: Mapping[int, str],
    parameters: Mapping[int, str],
    assumed: tuple[Expr, ...] = (),
    reassociate: bool = False,
    checked: Locals = frozenset(),
) -> Surroundings:
    """Gather what holds for the whole kernel."""
    counts: dict[int, int] = {}
    values: dict[int, Expr] = {}
    for statement in walk(kernel.body):
        if isinstance(statement, Let):
            counts[statement.local] = counts.get(statement.local, 0) + 1
    for statement in walk(kernel.body):
        if isinstance(statement, Let) and counts[statement.local] == 1:
            if kernel.locals[statement.local].mutable:
                continue
            value = written_out(statement.value, values)
            known = all(n.name not in ("load", "local", "index") for n in postorder([value]))
            if known and is_small(value, MOST_PARTS):
                values[statement.local] = value
    extents = tuple(
        (number, 0, (1 << 47) - 1)
        for number, source in enumerate(kernel.arguments)
        if source.what == "extent"
    )
    roots = roots_of(kernel)
    alone = {n for n in roots.root if list(roots.root.values()).count(roots.root[n]) == 1}
    stored = {s.buffer for s in walk(kernel.body) if isinstance(s, Store)}
    tables = {s.buffer for s in walk(kernel.body) if isinstance(s, Unique)} & alone - stored
    names_ = _symbols(kernel, parameters)
    facts = Facts(frozenset(tables), extents, names_, assumed=assumed)
    return Surroundings(kernel, roots, values, Homes(kernel), names, facts, reassociate, checked)


def _symbols(kernel: Kernel, parameters: Mapping[int, str]) -> tuple[tuple[Name, str], ...]:
    """What the user calls a parameter, the variable of a loop further out, or another variable."""
    loops = [s for s in walk(kernel.body) if isinstance(s, For)]
    symbols: dict[Name, str] = dict(parameters.items())
    symbols |= {(dim.index, LOOP): dim.name for loop in loops for dim in loop.dims if dim.name}
    symbols |= {(n, VARIABLE): one.name for n, one in enumerate(kernel.locals) if one.name}
    return tuple(symbols.items())


def written_out(expr: Expr, values: Mapping[int, Expr]) -> Expr:
    """The expression with variables replaced by what they hold."""

    def rule(node: Expr) -> Expr | None:
        return values.get(node.attr) if node.name == "local" else None

    return rewrite(expr, rule, {})


def unit_of(around: Surroundings, loop: For, live: Locals, label: str = "loop") -> Unit:
    """The nest as a unit, its loops numbered from 0 on, the outermost first, so that equal indices
    of two nests are equal; `live` are the variables read after it.
    """
    return _Reader(around, loop).unit(live, label)


class _Reader:
    """Collects a nest's accesses in program order."""

    def __init__(self, around: Surroundings, loop: For) -> None:
        self.around, self.loop = around, loop
        self.kernel = around.kernel
        self.accesses: list[Access] = []
        self.effects: list[Effect] = []
        self.values: dict[int, Expr] = dict(around.values)
        every = [dim.index for s in walk((loop,)) if isinstance(s, For) for dim in s.dims]
        self.numbers = {number: place for place, number in enumerate(every)}
        self.changing = assigned(loop.body)
        self.labels = {s.label for s in walk(loop.body) if isinstance(s, Block)}
        self.inner: list[Dim] = []
        self.guards: list[Expr] = []
        self.count = self.unknown = 0
        self.leaves: Span | None = None

    def unit(self, live: Locals, label: str) -> Unit:
        dims = tuple(self._dim(dim.index, dim.low, dim.high, dim.name) for dim in self.loop.dims)
        for dim in self.loop.dims:
            for bound in (dim.low, dim.high):
                self._reads(bound, self.loop.span, 0)
        self._block(self.loop.body)
        accesses = distinct(self.accesses, LARGE)
        return Unit(dims, accesses, tuple(self.effects), self._carried(live), (), label)

    # -- expressions ----------------------------------------------------------------------------

    def expr(self, root: Expr) -> Expr:
        """An expression over the nest's own loops and parameters."""

        def rule(node: Expr) -> Expr | None:
            if node.name == "index":
                own = self.numbers.get(node.attr)
                outer = param((node.attr, LOOP), node.dtype)
                return outer if own is None else index(own, node.dtype)
            if node.name != "local":
                return None
            known = self.values.get(node.attr)
            if known is not None:
                return known
            if node.attr in self.changing:
                return load(UNKNOWN + node.attr, (), node.dtype)
            return param((node.attr, VARIABLE), node.dtype)

        return rewrite(root, rule, {})

    def _dim(self, number: int, low: Expr, high: Expr, name: str) -> Dim:
        return Dim(self.numbers[number], self.expr(low), self.expr(high), name)

    def _reads(self, root: Expr, span: Span, depth: int | None = None) -> None:
        for node in postorder([root]):
            if node.name == "load":
                self._access(node.attr, node.args, "read", span, depth=depth)

    def _access(
        self, buffer: int, indices: tuple[Expr, ...], mode: str, span: Span,
        op_name: str = "", value: Expr | None = None, depth: int | None = None,
    ) -> None:  # fmt: skip
        roots, home = self.around.roots, self._home(buffer)
        places = tuple(map(self._plain, indices))
        padding = (const(0, INT64),) * (roots.length[buffer] - len(places))
        dtype = self.kernel.buffers[buffer].dtype
        self.accesses.append(
            Access(
                roots.root[buffer], mode, home + places + padding, self.count, tuple(self.guards),  # type: ignore[arg-type]
                tuple(self.inner), depth, op_name, _is_exact(op_name, dtype), False, value,
                (), 1, self.around.name(buffer), span, self.count,
            )
        )  # fmt: skip

    def _home(self, buffer: int) -> tuple[Expr, ...]:
        """The loops of which each iteration has a buffer of its own."""
        home = self.around.homes.loops(buffer)
        return tuple(index(self.numbers[i.attr]) for i in home if i.attr in self.numbers)

    # -- statements -----------------------------------------------------------------------------

    def _block(self, body: Iterable[Statement]) -> None:
        for statement in body:
            self.count += 1
            self._statement(statement)

    def _statement(self, statement: Statement) -> None:
        span = statement.span
        if isinstance(statement, Store):
            statement = as_update(statement)
        for root in expressions(statement):
            self._reads(root, span)
        if isinstance(statement, Let):
            self._let(statement)
        elif isinstance(statement, Store):
            mode = "update" if statement.combine else "write"
            value = None if statement.combine else self._plain(statement.value)
            self._access(statement.buffer, statement.indices, mode, span, statement.combine, value)
        elif isinstance(statement, Print):
            self._effect("print", span)
        elif isinstance(statement, Check):
            self._effect("trap", span)
        elif isinstance(statement, Leave):
            self._leave(statement)
        elif isinstance(statement, Block):
            self._block(statement.body)
        elif isinstance(statement, If):
            self._if(statement)
        elif isinstance(statement, For | While):
            self._loop(statement)

    def _effect(self, kind: str, span: Span) -> None:
        self.effects.append(
            Effect(kind, "", self.count, tuple(self.guards), tuple(self.inner), span, self.count)  # type: ignore[arg-type]
        )

    def _leave(self, statement: Leave) -> None:
        if statement.label not in self.labels:
            self.leaves = statement.span

    def _let(self, statement: Let) -> None:
        if not self.kernel.locals[statement.local].mutable:
            self.values[statement.local] = self._plain(statement.value)

    def _plain(self, root: Expr) -> Expr:
        """An expression, or where it is too large to reason about an unknown value."""
        found = self.expr(root)
        if is_small(found, MOST_PARTS):
            return found
        self.unknown += 1
        return load(LARGE + self.unknown, (), root.dtype)

    def _if(self, statement: If) -> None:
        condition = self._plain(statement.condition)
        for body, holds in (
            (statement.body, condition), (statement.orelse, op("logical_not", condition)),
        ):  # fmt: skip
            self.guards.append(holds)
            self._block(body)
            self.guards.pop()

    def _loop(self, statement: For | While) -> None:
        if isinstance(statement, For):
            dims = [self._dim(d.index, d.low, d.high, d.name) for d in statement.dims]
            bodies: tuple[tuple[Statement, ...], ...] = (statement.body,)
        else:
            self.count += 1
            high = load(UNKNOWN + ENDLESS, (), INT64)
            dims = [Dim(ENDLESS + self.count, const(0, INT64), high, "while")]
            bodies = (statement.head, statement.body)
        self.inner += dims
        for body in bodies:
            self._block(body)
        if isinstance(statement, While):
            self._reads(statement.condition, statement.span)
        del self.inner[len(self.inner) - len(dims) :]

    # -- variables ------------------------------------------------------------------------------

    def _carried(self, live: Locals) -> tuple[Carried, ...]:
        number = 0
        handed = self.changing & (exposed(self.loop.body) | live)
        kinds = reductions(self.loop, handed)
        spans = {
            s.local: s.span for s in reversed(list(walk(self.loop.body))) if isinstance(s, Let)
        }
        found = [
            self._variable(local, number, kinds[local], spans[local]) for local in sorted(handed)
        ]
        if self.leaves is not None:
            found.append(Carried(EARLY_END, number, span=self.leaves))
        return tuple(found)

    def _variable(self, local: int, number: int, kind: str, span: Span) -> Carried:
        name, dtype = self.kernel.locals[local].name, self.kernel.locals[local].dtype
        return Carried(name, number, kind, _is_exact(kind, dtype), span)


def as_update(store: Store) -> Store:
    """`b[i] = b[i] + x` as the update it is, where x does not read the array."""
    value = store.value
    if store.combine or value.name not in ONE_TO_ONE | EXTREMES or len(value.args) != 2:
        return store
    for own, other in (value.args, value.args[::-1]):
        here = own.name == "load" and own.attr == store.buffer and own.args == store.indices
        again = any(n.name == "load" and n.attr == store.buffer for n in postorder([other]))
        if here and not again and (own is value.args[0] or value.name != "subtract"):
            return replace(store, combine=value.name, value=other)
    return store


def reduction(loop: For, local: int) -> str:
    """The operation of a variable that a loop only updates: `v = v op x`; else nothing."""
    return reductions(loop, frozenset((local,)))[local]


def reductions(loop: For, locals_: Locals) -> dict[int, str]:
    """The same of several variables."""
    kinds: dict[int, set[str]] = {number: set() for number in locals_}
    for statement in walk(loop.body):
        if isinstance(statement, Let) and statement.local in kinds:
            kinds[statement.local].add(_update(statement))
        for number in reads(statement) & locals_:
            if not (isinstance(statement, Let) and statement.local == number):
                kinds[number].add("")
    return {number: found.pop() if len(found) == 1 else "" for number, found in kinds.items()}


def _update(let: Let) -> str:
    """The operation by which a statement updates its variable; else nothing."""
    value, local = let.value, let.local
    if value.name not in ONE_TO_ONE | EXTREMES:
        return ""
    own, other = value.args
    if value.name != "subtract" and _is(other, local):
        own, other = other, own
    if not _is(own, local) or _in(other, local):
        return ""
    return "add" if value.name == "subtract" else value.name


def _is(node: Expr, local: int) -> bool:
    return node.name == "local" and bool(node.attr == local)


def _in(root: Expr, local: int) -> bool:
    return any(_is(node, local) for node in postorder([root]))


def _is_exact(name: str, dtype: DType) -> bool:
    """Whether the order of updates cannot change a bit."""
    return bool(name) and (dtype.is_integer or dtype.name == "bool")


def buffers_in(loop: Statement) -> frozenset[int]:
    """The buffers a statement and its blocks touch."""
    return frozenset(buffer for inner in walk((loop,)) for buffer in buffers_of(inner))
