"""What an iteration stores and reads again it keeps; dead arrays that nobody reads then disappear.

    b[i] = a[i] * 2          v = a[i] * 2
    c[i] = b[i] + 1    ->    b[i] = v          (nothing, where b is dead)
                             c[i] = v + 1

The variable has the array's dtype, so that the store's rounding stays.
"""

from __future__ import annotations

from dataclasses import replace

from fusewright.base import bounded
from fusewright.ir import linear
from fusewright.ir.expr import Expr, load, local, postorder, typed_op
from fusewright.ir.loops.statements import (
    For,
    If,
    Kernel,
    Let,
    Local,
    Statement,
    Store,
    While,
    blocks,
    expressions,
    walk,
    with_blocks,
)
from fusewright.plan.loops.legality.live_in import Locals, assigned
from fusewright.plan.loops.normalise.branches import is_fixed
from fusewright.plan.loops.normalise.rename import Body, Numbers, rewritten

MOST_KEPT = 64
"""Elements kept at a time: more than the registers, and each store looks at all of them."""
Known = dict[tuple[int, tuple[Expr, ...]], Expr]


def forwarded(kernel: Kernel, numbers: Numbers) -> Kernel:
    """The kernel with values kept in variables, without stores that nobody reads."""
    body = _Forward(kernel, numbers).block(kernel.body, {})
    body = without_dead(kernel, body)
    return replace(kernel, body=body, locals=tuple(numbers.locals))


class _Forward:
    def __init__(self, kernel: Kernel, numbers: Numbers) -> None:
        self.kernel = kernel
        self.numbers = numbers

    def block(self, body: Body, known: Known) -> Body:
        done: list[Statement] = []
        last = _last_reads(body)
        for number, statement in enumerate(body):
            if isinstance(statement, Store):
                place = (statement.buffer, statement.indices)
                is_read = max(last.get(place, -1), last.get(statement.buffer, -1)) > number
                done += self._store(self._read(statement, known), known, is_read)
            else:
                done += self._statement(statement, known, body[number + 1 :])
        return tuple(done)

    def _statement(self, statement: Statement, known: Known, rest: Body) -> list[Statement]:
        if isinstance(statement, Let):
            fresh_let = self._read(statement, known)
            self._forget_variables(known, frozenset((statement.local,)))
            return [fresh_let]
        first: list[Statement] = []
        kept: Known = {}
        if isinstance(statement, If) and self._may_keep(statement, rest):
            first, statement, kept = self._keep(statement, known)
        inner = blocks(statement)
        if isinstance(statement, For | While):
            self._forget(known, statement)
        if not isinstance(statement, While):  # its condition stands after its head
            statement = with_blocks(
                self._read(with_blocks(statement, [()] * len(inner)), known), inner
            )
        fresh = [self.block(block, dict(known)) for block in inner]
        self._forget(known, statement)
        known.update(kept)
        return [*first, with_blocks(statement, fresh)]

    def _may_keep(self, branch: If, rest: Body) -> bool:
        """Whether a branch ends with a store into an element that is surely read next."""
        last = branch.body[-1] if branch.body and not branch.orelse else None
        if not isinstance(last, Store) or last.combine or not is_fixed(branch, last):
            return False
        others = (s for s in walk(branch.body) if isinstance(s, Store) and s is not last)
        if any(not self._is_apart(last.buffer, other) for other in others):
            return False
        return self._surely_read((last.buffer, last.indices), rest)

    def _keep(self, branch: If, known: Known) -> tuple[list[Statement], If, Known]:
        """The element read before the branch; in vectors a load after it would wait for the store.

        if c: b[i] = x    ->    v = b[i]; if c: v = x; b[i] = v
        """
        last = branch.body[-1]
        assert isinstance(last, Store)
        place, dtype = (last.buffer, last.indices), last.value.dtype
        number = self.numbers.local(Local("_", dtype, mutable=True))
        value = local(number, dtype)
        start = known.get(place) or load(*place, dtype)
        chosen = (Let(number, last.value, last.span), replace(last, value=value))
        fresh = replace(branch, body=(*branch.body[:-1], *chosen))
        return [Let(number, start, last.span)], fresh, {place: value}

    def _is_apart(self, buffer: int, store: Store) -> bool:
        return buffer != store.buffer and self.kernel.apart(buffer, store.buffer)

    def _surely_read(self, place: tuple[int, tuple[Expr, ...]], rest: Body) -> bool:
        """Whether statements read an element before anything may change it or end them."""
        for statement in rest:
            if not all(isinstance(s, Let | Store | If) for s in walk((statement,))):
                return False
            if any(
                node.name == "load" and (node.attr, node.args) == place
                for node in postorder(expressions(statement))
            ):
                return True
            stores = (s for s in walk((statement,)) if isinstance(s, Store))
            changed = assigned((statement,))
            if not all(self._is_apart(place[0], store) for store in stores) or any(
                node.name == "local" and node.attr in changed for node in postorder(place[1])
            ):
                return False
        return False

    def _read(self, statement: Statement, known: Known) -> Statement:
        if not known:
            return statement

        def rule(node: Expr) -> Expr | None:
            return known.get((node.attr, node.args)) if node.name == "load" else None

        return rewritten((statement,), rule)[0]

    def _store(self, store: Statement, known: Known, is_read: bool) -> list[Statement]:
        assert isinstance(store, Store)
        place = (store.buffer, store.indices)
        before = known.get(place)
        if store.combine and before is not None:
            value = typed_op(store.combine, store.value.dtype, before, store.value)
            store = replace(store, combine="", value=value)
        self._overwritten(known, store)
        if store.combine or not is_read:
            known.pop(place, None)
            return [store]
        if store.value.name in ("const", "param"):
            known[place] = store.value
            return [store]
        dtype = self.kernel.buffers[store.buffer].dtype
        number = self.numbers.local(Local("_", dtype))
        known.pop(place, None)  # the newest comes last
        kept = local(number, dtype)
        bounded.keep(known, place, kept, MOST_KEPT)
        return [Let(number, store.value, store.span), replace(store, value=kept)]

    def _overwritten(self, known: Known, store: Store) -> None:
        """Forget what the store may change."""
        for buffer, indices in list(known):
            if buffer == store.buffer:
                apart = any(
                    linear.distance(x, y) not in (0, None)
                    for x, y in zip(indices, store.indices, strict=True)
                )
            else:
                apart = self.kernel.apart(buffer, store.buffer)
            if not apart:
                del known[buffer, indices]

    def _forget(self, known: Known, statement: Statement) -> None:
        """Forget what anything in a statement may change."""
        for inner in walk((statement,)):
            if isinstance(inner, Store):
                for buffer, indices in list(known):
                    if buffer == inner.buffer or not self.kernel.apart(buffer, inner.buffer):
                        del known[buffer, indices]
        self._forget_variables(known, assigned((statement,)))

    def _forget_variables(self, known: Known, changed: Locals) -> None:
        for place, value in list(known.items()):
            used = {n.attr for n in postorder([*place[1], value]) if n.name == "local"}
            if used & changed:
                del known[place]


def _last_reads(body: Body) -> dict[int | tuple[int, tuple[Expr, ...]], int]:
    """The last statement of a body that mentions a load of an element, or updates an array."""
    found: dict[int | tuple[int, tuple[Expr, ...]], int] = {}
    for number, statement in enumerate(body):
        for inner in walk((statement,)):
            if isinstance(inner, Store) and inner.combine:
                found[inner.buffer] = number
            for node in postorder(expressions(inner)):
                if node.name == "load":
                    found[node.attr, node.args] = number
    return found


def without_dead(kernel: Kernel, body: Body) -> Body:
    """Without stores into arrays that nobody reads, and without what only they needed."""
    silent = {b.slot for b in kernel.buffers if b.dead} | set(kernel.scratch)
    while True:
        loads = {
            node.attr
            for statement in walk(body)
            for node in postorder(expressions(statement))
            if node.name == "load"
        }
        used = {
            node.attr
            for statement in walk(body)
            for node in postorder(expressions(statement))
            if node.name == "local"
        }
        shorter = _without(body, silent - loads, used)
        if shorter == body:
            return body
        body = shorter


def _without(body: Body, silent: set[int], used: set[int]) -> Body:
    kept: list[Statement] = []
    for statement in body:
        if isinstance(statement, Store) and statement.buffer in silent:
            continue
        if isinstance(statement, Let) and statement.local not in used:
            continue
        inner = blocks(statement)
        if inner:
            fresh = [_without(block, silent, used) for block in inner]
            emptied = any(inner) and not any(fresh)
            if emptied and isinstance(statement, For | If):
                continue
            statement = with_blocks(statement, fresh)
        kept.append(statement)
    return tuple(kept)


def untouched(kernel: Kernel, body: Body) -> frozenset[int]:
    """The dead buffers that nothing in a body uses."""
    seen = {s.buffer for s in walk(body) if isinstance(s, Store)}
    seen |= {n.attr for s in walk(body) for n in postorder(expressions(s)) if n.name == "load"}
    return frozenset(b.slot for b in kernel.buffers if b.dead) - seen
