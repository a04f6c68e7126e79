"""Loops that hand on a value whose updates give the same bits in any order, on threads: in blocks,
each of which begins with what those before it have added up to.

    for i in [0, n):               for each block but the last, on threads:  t[b] = its x(i), joined
      s = s + x(i)           ->    for each block, in order:                 t[b], s = s, s + t[b]
      b[i] = s                     for each block, on threads:               r = t[b];  the loop on
                                                                             it with r;  t[b] = r

What else a loop does must not depend on its other iterations.  Places of an array that are numbered
by such a variable (`if x > 0: out[k] = x; k += 1`) are as many as it has values there: it grows
whenever one is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, replace

from fusewright.analysis.carried import order
from fusewright.analysis.unit import Facts, Unit
from fusewright.analysis.values import value
from fusewright.base.values import dataclass
from fusewright.ir import linear
from fusewright.ir.dtypes import INT64
from fusewright.ir.expr import Expr, const, index, load, local, op, postorder, rewrite, typed_op
from fusewright.ir.identity import of_update
from fusewright.ir.linear import at_least, at_most
from fusewright.ir.loops.statements import (
    Dim,
    For,
    If,
    Kernel,
    Let,
    Local,
    Statement,
    Store,
    blocks,
    expressions,
    walk,
    with_blocks,
)
from fusewright.ir.nest import Buffer
from fusewright.machine import record as machine
from fusewright.plan.loops.legality.live_in import Locals, assigned, exposed, read_from, reads
from fusewright.plan.loops.legality.loop_facts import UNKNOWN, Surroundings, reduction, unit_of
from fusewright.plan.loops.map.reductions import ON_THREADS, is_associative
from fusewright.plan.loops.map.work import iteration, picoseconds
from fusewright.plan.loops.normalise.rename import Body, Numbers, copied, renamed
from fusewright.plan.loops.plan import BLOCKS

NONE: Locals = frozenset()
AGAIN = 0.7
"""What adding up may cost, as a share of the loop: all but one of two threads' work is saved."""


@dataclass(slots=True)
class Scans:
    """Finds such loops at the top of a kernel; `proved` are loops over blocks, `names` their
    variables.
    """

    kernel: Kernel
    around: Surroundings
    numbers: Numbers
    proved: dict[int, tuple[str, ...]] = field(default_factory=dict)

    def planned(self) -> Kernel:
        """The kernel with its scans in blocks."""
        body: list[Statement] = []
        whole = self.kernel.body
        for statement, later in zip(whole, read_from(whole, NONE)[1:], strict=True):
            scan = self._scan(statement, later) if isinstance(statement, For) else None
            body += self._in_blocks(*scan) if scan is not None else [statement]
        return replace(self.kernel, body=tuple(body), locals=tuple(self.numbers.locals))

    # -- which loops ----------------------------------------------------------------------------

    def _scan(self, loop: For, live: Locals) -> tuple[For, Body, dict[int, str]] | None:
        """The loop, the part of its body that adds up, and the operations it adds up by."""
        plain = all(isinstance(s, Let | Store | If | For) for s in walk(loop.body))
        if not plain or len(loop.dims) > 1 or loop.declared or _read_memory(loop.dims[0]):
            return None
        kinds = _operations(self.kernel, loop, live)
        sums = _sums(loop, kinds, self.around) if kinds else None
        if sums is None or not (self._pays(loop, sums) and self._apart(loop, live, kinds)):
            return None
        return loop, sums, kinds

    def _pays(self, loop: For, sums: Body) -> bool:
        """Whether adding up first, in vectors, costs little beside the loop."""
        whole = value(iteration(loop, frozenset()), {})
        part = value(iteration(replace(loop, body=sums), frozenset({loop.dims[0].index})), {})
        return whole is not None and part is not None and part <= AGAIN * whole

    def _apart(self, loop: For, live: Locals, summed: Iterable[int]) -> bool:
        """Whether nothing else goes from one iteration to another."""
        unit = replace(unit_of(self.around, loop, live), carried=())
        facts = replace(self.around.facts, witnesses=False)
        rising = {n for n in summed if _starts_at(self.kernel, loop, n) and _rises(loop, n)}
        found = order(*_numbered(unit, facts, rising))
        return 0 in found.parallel

    # -- how they run ---------------------------------------------------------------------------

    def _in_blocks(self, loop: For, sums: Body, kinds: dict[int, str]) -> Iterator[Statement]:
        span, (dim,) = loop.span, loop.dims
        block = _Blocks.of(loop, self.numbers)
        yield Let(block.variable, block.length, span)
        tables = {number: self._table(number) for number in kinds}
        yield self._added_up(loop, sums, kinds, tables, block)
        yield from self._begun(loop, kinds, tables, block)
        inside = {number: self._fresh(number) for number in kinds}
        (part,) = renamed((replace(loop, dims=(block.part(dim),)),), {}, inside)
        here = (index(block.last),)
        begin = [Let(inside[n], self._cell(tables[n], here), span) for n in kinds]
        end = [Store(tables[n], here, self._value(inside[n]), span=span) for n in kinds]
        self.proved[block.last] = tuple(self.kernel.locals[n].name for n in kinds)
        every = Dim(block.last, const(0, INT64), block.count, dim.name)
        yield replace(loop, dims=(every,), body=(*begin, part, *end))
        for number in kinds:
            yield Let(number, self._cell(tables[number], (block.end,)), span)

    def _added_up(
        self, loop: For, sums: Body, kinds: dict[int, str], tables: dict[int, int], block: _Blocks
    ) -> For:
        """Each block but the last on its own."""
        own = {number: self._fresh(number) for number in kinds}
        (dim,) = loop.dims
        part = replace(loop, dims=(block.part(dim, block.first),), body=sums)
        inside = copied(renamed((part,), {}, own), self.numbers)
        start, end = [], []
        for number, kind in kinds.items():
            total = self._value(own[number])
            start.append(Let(own[number], const(of_update(kind, total.dtype), total.dtype)))
            end.append(Store(tables[number], (index(block.first),), total, span=loop.span))
        self.proved[block.first] = ()
        return replace(loop, dims=(block.all_but_last(block.first),), body=(*start, *inside, *end))

    def _begun(
        self, loop: For, kinds: dict[int, str], tables: dict[int, int], block: _Blocks
    ) -> Iterator[Statement]:
        """What each block begins with."""
        turn = self.numbers.index()
        body: list[Statement] = []
        for number, kind in kinds.items():
            so_far, place = self._value(number), (index(turn),)
            total = local(self.numbers.local(Local("_", so_far.dtype)), so_far.dtype)
            body += [
                Let(total.attr, self._cell(tables[number], place)),
                Store(tables[number], place, so_far),
                Let(number, op(kind, so_far, total)),
            ]
        yield replace(loop, dims=(block.all_but_last(turn),), body=tuple(body))
        for number in kinds:
            yield Store(tables[number], (block.end,), self._value(number), span=loop.span)

    def _value(self, number: int) -> Expr:
        return local(number, self.numbers.locals[number].dtype)

    def _fresh(self, like: int) -> int:
        old = self.kernel.locals[like]
        return self.numbers.local(Local(old.name, old.dtype, mutable=True))

    def _table(self, number: int) -> int:
        """An array of the kernel's own with a cell for each block."""
        slot = len(self.kernel.buffers)
        buffer = Buffer(slot, self.kernel.locals[number].dtype, (const(BLOCKS, INT64),))
        self.kernel = replace(
            self.kernel,
            buffers=(*self.kernel.buffers, buffer),
            scratch=self.kernel.scratch | {slot},
        )
        return slot

    def _cell(self, table: int, place: tuple[Expr, ...]) -> Expr:
        return load(table, place, self.kernel.buffers[table].dtype)


@dataclass(frozen=True, slots=True)
class _Blocks:
    """How a loop is cut: `count` blocks of as many iterations as the variable says."""

    variable: int
    length: Expr
    begin: Expr
    count: Expr
    first: int
    last: int
    name: str

    @staticmethod
    def of(loop: For, numbers: Numbers) -> _Blocks:
        (dim,) = loop.dims
        room = linear.minus(dim.high, dim.low)
        each = at_least(iteration(loop, frozenset()), const(1, INT64))
        worth = typed_op("floor_divide", INT64, picoseconds(machine.current().scanned_block), each)
        whole = typed_op("floor_divide", INT64, room, at_least(worth, const(1, INT64)))
        wanted = at_least(at_most(whole, const(BLOCKS, INT64)), const(1, INT64))
        length = at_least(_ceiling(room, wanted), const(1, INT64))
        variable = numbers.local(Local("block", INT64))
        count = _ceiling(room, local(variable, INT64))
        return _Blocks(variable, length, dim.low, count, numbers.index(), numbers.index(), dim.name)

    @property
    def end(self) -> Expr:
        """The last block; the first, where there is none."""
        return at_least(linear.minus(self.count, 1), const(0, INT64))

    def all_but_last(self, number: int) -> Dim:
        return Dim(number, const(0, INT64), linear.minus(self.count, 1), self.name)

    def part(self, dim: Dim, block: int | None = None) -> Dim:
        """The iterations of one block."""
        length = local(self.variable, INT64)
        number = index(self.last if block is None else block)
        low = linear.plus(self.begin, linear.times(number, length))
        return replace(dim, low=low, high=at_most(linear.plus(low, length), dim.high))


def _read_memory(dim: Dim) -> bool:
    return any(node.name == "load" for node in postorder([dim.low, dim.high]))


def _ceiling(a: Expr, b: Expr) -> Expr:
    return typed_op("floor_divide", INT64, linear.plus(a, linear.minus(b, 1)), b)


# -- what a loop adds up ---------------------------------------------------------------------------


def _operations(kernel: Kernel, loop: For, live: Locals) -> dict[int, str]:
    """The operation that updates each variable the loop hands on; none if one is set otherwise, or
    if they are used in no other way.
    """
    found: dict[int, str] = {}
    for number in sorted(assigned(loop.body) & (exposed(loop.body) | live)):
        kinds = {_operation(s) for s in walk(loop.body) if isinstance(s, Let) and s.local == number}
        kind = kinds.pop()
        free = kind in ON_THREADS and is_associative(kind, kernel.locals[number].dtype)
        if kinds or not free:
            return {}
        found[number] = kind
    return {} if all(reduction(loop, number) for number in found) else found


def _operation(let: Let) -> str:
    """The operation of `v = v op x`; nothing for another statement."""
    name, args = let.value.name, let.value.args
    own = local(let.local, let.value.dtype)
    if len(args) != 2 or sum(n is own for n in args) != 1 or _uses(_operand(let), let.local):
        return ""
    if name == "subtract":
        return "add" if args[0] is own else ""
    return name


def _operand(let: Let) -> Expr:
    own = local(let.local, let.value.dtype)
    left, right = let.value.args
    return right if left is own else left


def _uses(root: Expr, number: int) -> bool:
    return any(node.name == "local" and node.attr == number for node in postorder([root]))


def _sums(loop: For, summed: dict[int, str], around: Surroundings) -> Body | None:
    """The statements that update the variables, with what those need; None where that includes
    the variables themselves, or what the iteration has stored before.
    """
    needed: set[int] = set(summed)
    while True:
        kept = _only(loop.body, needed)
        wanted = {n for s in walk(kept) for n in _inputs(s, summed)}
        if wanted & set(summed):
            return None
        wanted &= assigned(loop.body)
        if wanted <= needed:
            break
        needed |= wanted
    read = {n.attr for s in walk(kept) for n in postorder(expressions(s)) if n.name == "load"}
    roots = {around.roots.root[number] for number in read}
    statements = list(walk(loop.body))
    last = max(k for k, s in enumerate(statements) if isinstance(s, Let) and s.local in summed)
    stored = {s.buffer for s in statements[:last] if isinstance(s, Store)}
    return None if roots & {around.roots.root[number] for number in stored} else kept


def _inputs(statement: Statement, summed: dict[int, str]) -> Locals:
    """The variables a statement reads, besides the one it updates."""
    if isinstance(statement, Let) and statement.local in summed:
        nodes = postorder([_operand(statement)])
        return frozenset(node.attr for node in nodes if node.name == "local")
    return reads(statement)


def _only(body: Body, needed: set[int]) -> Body:
    """The statements of a body that give these variables values, with the blocks around them."""
    found: list[Statement] = []
    for statement in body:
        inner = [_only(block, needed) for block in blocks(statement)]
        if any(inner) or (isinstance(statement, Let) and statement.local in needed):
            found.append(with_blocks(statement, inner))
    return tuple(found)


# -- variables that number places ------------------------------------------------------------------


def _starts_at(kernel: Kernel, loop: For, number: int) -> bool:
    """Whether the variable is certainly not negative when the loop begins."""
    before = kernel.body[: next(k for k, s in enumerate(kernel.body) if s is loop)]
    setting = [s for s in before if number in assigned((s,))]
    if not setting or not isinstance(setting[-1], Let):
        return False
    start = setting[-1].value
    return start.name == "const" and start.dtype is INT64 and start.attr >= 0


def _rises(loop: For, number: int) -> bool:
    """Whether the variable has another value wherever it is used in another iteration: it grows in
    the block of its uses, which are all before that or all after it.
    """
    updates = [s for s in walk(loop.body) if isinstance(s, Let) and s.local == number]
    step = _operand(updates[0])
    if len(updates) != 1 or updates[0].value.name != "add" or step.name != "const" or step.attr < 1:
        return False
    body = _holder(loop.body, updates[0])
    place = next(k for k, s in enumerate(body) if s is updates[0])
    before, after = (
        sum(number in reads(s) for s in walk(part)) for part in (body[:place], body[place + 1 :])
    )
    everywhere = sum(number in reads(s) for s in walk(loop.body))
    return not (before and after) and before + after + 1 == everywhere


def _holder(body: Body, let: Let) -> Body:
    """The block that a statement stands in."""
    if any(statement is let for statement in body):
        return body
    inner = (block for statement in body for block in blocks(statement))
    return next(_holder(b, let) for b in inner if any(s is let for s in walk(b)))


def _numbered(unit: Unit, facts: Facts, rising: set[int]) -> tuple[Unit, Facts]:
    """The unit in which such variables are tables without repeated values."""

    def rule(node: Expr) -> Expr | None:
        if node.name == "load" and node.attr - UNKNOWN in rising and not node.args:
            return load(node.attr, (index(0),), node.dtype)
        return None

    accesses = tuple(
        replace(access, indices=tuple(rewrite(place, rule, {}) for place in access.indices))
        for access in unit.accesses
    )
    unique = facts.unique | {UNKNOWN + number for number in rising}
    return replace(unit, accesses=accesses), replace(facts, unique=unique)
