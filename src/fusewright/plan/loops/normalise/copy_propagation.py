"""Copies of what loops hand on are the variable itself, so that what updates it can be recognised.

A function that is inlined gets its arguments as variables of its own, and gives back another one:

    for i:  x = s;  r = x + a[i];  s = r        ->        for i:  s = s + a[i]

Two variables of which one is copied to the other become one unless both are needed at some time
with values that may differ (Chaitin's coalescing, on structured statements).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field, replace

from fusewright.base.values import dataclass
from fusewright.ir.expr import Expr, local, postorder
from fusewright.ir.loops.statements import (
    Block,
    For,
    If,
    Kernel,
    Leave,
    Let,
    Statement,
    Store,
    While,
    blocks,
    expressions,
    walk,
    with_blocks,
)
from fusewright.plan.loops.legality.live_in import Locals, assigned, exposed, reads
from fusewright.plan.loops.normalise.rename import Body, rewritten

NAMELESS = frozenset({"_", "the result"})
"""What variables are called that the user has not written."""


def coalesced(kernel: Kernel) -> Kernel:
    """The kernel without such copies."""
    copies = [pair for pair in _copies(kernel) if _alike(kernel, *pair)]
    carried = {
        number
        for loop in walk(kernel.body)
        if isinstance(loop, For | While)
        for number in assigned((loop,)) & exposed((loop,))
    }
    if not carried or not copies:
        return kernel
    classes = _Classes(_interference(kernel), _kept(kernel))
    for a, b in _about(carried, copies):
        classes.join(a, b)
    return _merged(kernel, classes)


def _copies(kernel: Kernel) -> Iterator[tuple[int, int]]:
    for statement in walk(kernel.body):
        if isinstance(statement, Let) and statement.value.name == "local":
            yield statement.local, statement.value.attr


def _alike(kernel: Kernel, a: int, b: int) -> bool:
    return a != b and kernel.locals[a].dtype is kernel.locals[b].dtype


def _about(carried: set[int], copies: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The copies of carried variables, of their copies, and so on."""
    reached, left = set(carried), list(copies)
    while found := [pair for pair in left if reached.intersection(pair)]:
        yield from found
        reached.update(*found)
        left = [pair for pair in left if pair not in found]


def _kept(kernel: Kernel) -> Locals:
    """Variables of one value that say where something lies: what is known of them would be lost."""
    copied = {a for a, _ in _copies(kernel)}
    places = {
        node.attr
        for statement in walk(kernel.body)
        for root in _places(statement)
        for node in postorder([root])
        if node.name == "local"
    }
    return frozenset(n for n in places - copied if not kernel.locals[n].mutable)


def _places(statement: Statement) -> Iterable[Expr]:
    """The indices and bounds of a statement."""
    if isinstance(statement, Store):
        yield from statement.indices
    if isinstance(statement, For):
        yield from expressions(statement)
    for node in postorder(expressions(statement)):
        if node.name == "load":
            yield from node.args


# -- which variables are needed at one time --------------------------------------------------------

Pairs = dict[int, set[int]]


def _interference(kernel: Kernel) -> Pairs:
    found = _Needed()
    found.before(kernel.body, frozenset())
    return found.apart


@dataclass(slots=True)
class _Needed:
    """Walks backwards; `exits` says what is needed after a block, by its label."""

    apart: Pairs = field(default_factory=dict)
    exits: dict[int, Locals] = field(default_factory=dict)

    def before(self, body: Body, after: Locals) -> Locals:
        """The variables whose values are needed before a body."""
        for statement in reversed(body):
            after = self._statement(statement, after)
        return after

    def _statement(self, s: Statement, after: Locals) -> Locals:
        if isinstance(s, Let):
            source = {s.value.attr} if s.value.name == "local" else set()
            for other in after - source - {s.local}:
                self.apart.setdefault(s.local, set()).add(other)
                self.apart.setdefault(other, set()).add(s.local)
            return after - {s.local} | reads(s)
        if isinstance(s, If):
            return self.before(s.body, after) | self.before(s.orelse, after) | reads(s)
        if isinstance(s, For):
            return self._again((), s.body, after) | reads(s)
        if isinstance(s, While):
            return self._again(s.head, s.body, after | reads(s))
        if isinstance(s, Block):
            self.exits[s.label] = after
            return self.before(s.body, after)
        if isinstance(s, Leave):
            return self.exits[s.label]
        return after | reads(s)

    def _again(self, head: Body, body: Body, tested: Locals) -> Locals:
        """Before a loop: its head, then `tested` is needed, then its body, any number of times."""
        needed = self.before(head, tested)
        while (more := self.before(head, tested | self.before(body, needed))) != needed:
            needed = more
        return needed


@dataclass(slots=True)
class _Classes:
    """Variables that have become one, by the one that stands for all."""

    apart: Pairs
    kept: Locals
    members: dict[int, set[int]] = field(default_factory=dict)

    def of(self, number: int) -> set[int]:
        return self.members.setdefault(number, {number})

    def join(self, a: int, b: int) -> None:
        """Make two variables one, where they are never needed at one time."""
        left, right = self.of(a), self.of(b)
        if left is right or (left | right) & self.kept:
            return
        if any(self.apart.get(n, set()) & right for n in left):
            return
        left |= right
        for number in right:
            self.members[number] = left


def _merged(kernel: Kernel, classes: _Classes) -> Kernel:
    chosen = {n: _name(kernel, members) for n, members in classes.members.items()}
    renamed = {n: one for n, one in chosen.items() if n != one}

    def rule(node: Expr) -> Expr | None:
        known = node.name == "local" and node.attr in renamed
        return local(renamed[node.attr], node.dtype) if known else None

    body = _without_copies(rewritten(kernel.body, rule), renamed)
    written = [s.local for s in walk(body) if isinstance(s, Let)]
    locals_ = tuple(
        replace(one, mutable=one.mutable or written.count(n) > 1) if n in renamed.values() else one
        for n, one in enumerate(kernel.locals)
    )
    return replace(kernel, body=body, locals=locals_)


def _name(kernel: Kernel, members: set[int]) -> int:
    """The variable that stands for all: the first the user has a name for."""
    return min(members, key=lambda n: (kernel.locals[n].name in NAMELESS, n))


def _without_copies(body: Body, renamed: dict[int, int]) -> Body:
    found: list[Statement] = []
    for statement in body:
        if isinstance(statement, Let):
            number = renamed.get(statement.local, statement.local)
            if statement.value is local(number, statement.value.dtype):
                continue
            statement = replace(statement, local=number)
        inner = [_without_copies(block, renamed) for block in blocks(statement)]
        found.append(with_blocks(statement, inner))
    return tuple(found)
