"""What an iteration stores and the next one reads is handed on in a variable.

    for i in [low, n): x[i] = x[i - 1] * a[i]
    ->
    if low < n: v = x[low - 1]; for i in [low, n): w = v * a[i]; x[i] = w; v = w

Through memory it would come some 5 cycles later.  Right where one statement, run in every
iteration, is all that writes the array in the loop.
"""

from __future__ import annotations

from dataclasses import field, replace

from fusewright.base.values import dataclass
from fusewright.ir import linear
from fusewright.ir.expr import Expr, index, load, local, op, postorder, rewrite
from fusewright.ir.loops.statements import (
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
from fusewright.plan.loops.legality.live_in import assigned
from fusewright.plan.loops.normalise.rename import Body, Numbers, rewritten
from fusewright.plan.loops.place.scalar_replacement import may_split, note


def carried(kernel: Kernel, numbers: Numbers, parallel: frozenset[int]) -> Kernel:
    """The kernel with such variables in loops over dims that are not `parallel`."""
    body = _Carry(kernel, numbers, parallel).block(kernel.body)
    return replace(kernel, body=body, locals=tuple(numbers.locals))


@dataclass(slots=True)
class _Carry:
    """`values` is what variables with one value stand for."""

    kernel: Kernel
    numbers: Numbers
    parallel: frozenset[int]
    values: dict[Expr, Expr] = field(default_factory=dict)

    def block(self, body: Body) -> Body:
        done: list[Statement] = []
        for statement in body:
            if isinstance(statement, Let) and not self.numbers.locals[statement.local].mutable:
                note(self.values, statement)
            fresh = with_blocks(statement, [self.block(b) for b in blocks(statement)])
            done.append(self._loop(fresh) if isinstance(fresh, For) else fresh)
        return tuple(done)

    def _loop(self, loop: For) -> Statement:
        """The loop, its last dim under a test where something is handed on along it."""
        last, inside = loop.dims[-1], list(walk(loop.body))
        plain = all(isinstance(s, Let | Store | If) for s in inside)
        if not plain or last.index in self.parallel or not may_split(loop, len(loop.dims) - 1):
            return loop
        before: list[Statement] = []
        body = loop.body
        for store in loop.body:
            if isinstance(store, Store) and self._is_only(inside, store):
                place = self._place_before(loop, store)
                reads = self._reads(loop.body, store.buffer, place) if place else ()
                if reads:
                    start, body = self._handed_on(loop, body, store, reads)
                    before.append(start)
        if not before:
            return loop
        inner = replace(loop, dims=(last,), body=body)
        test = If(op("less", last.low, last.high), (*before, inner), (), loop.span)
        return replace(loop, dims=loop.dims[:-1], body=(test,)) if len(loop.dims) > 1 else test

    def _place_before(self, loop: For, store: Store) -> tuple[Expr, ...]:
        """Where the iteration before has stored; nothing where that does not show."""
        own = index(loop.dims[-1].index)
        places = self._resolved(store.indices)
        moving = any(linear.terms(place).get(own) for place in places)
        changing = assigned(loop.body)
        known = not any(
            node.name == "load" or (node.name == "local" and node.attr in changing)
            for node in postorder(places)
        )
        return _shifted(places, own, linear.minus(own, 1)) if moving and known else ()

    def _resolved(self, indices: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple(linear.plus(rewrite(i, self.values.get, {}), 0) for i in indices)

    def _reads(self, body: Body, buffer: int, place: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """The loads of what the iteration before has stored, where one surely happens."""

        def found(statements: Body) -> tuple[Expr, ...]:
            return tuple(
                node
                for node in postorder([e for s in statements for e in expressions(s)])
                if node.name == "load" and node.attr == buffer
                and self._resolved(node.args) == place
            )  # fmt: skip

        sure = found(tuple(s for s in body if isinstance(s, Let | Store)))
        return found(tuple(walk(body))) if sure else ()

    def _is_only(self, inside: list[Statement], store: Store) -> bool:
        """Whether nothing else in the loop writes what the array has."""
        others = [s for s in inside if isinstance(s, Store) and s is not store]
        return not store.combine and all(
            s.buffer != store.buffer and self.kernel.apart(s.buffer, store.buffer) for s in others
        )

    def _handed_on(
        self, loop: For, body: Body, store: Store, reads: tuple[Expr, ...]
    ) -> tuple[Statement, Body]:
        """The variable's first value, and the body that has it."""
        last, dtype, span = loop.dims[-1], store.value.dtype, store.span
        first = _shifted(self._resolved(reads[0].args), index(last.index), last.low)
        handed = local(self.numbers.local(Local("_", dtype, mutable=True)), dtype)
        kept = local(self.numbers.local(Local("_", dtype)), dtype)
        fresh: list[Statement] = []
        for statement in rewritten(body, dict.fromkeys(reads, handed).get):
            if isinstance(statement, Store) and statement.buffer == store.buffer:
                fresh.append(Let(kept.attr, statement.value, span))
                statement = replace(statement, value=kept)
            fresh.append(statement)
        fresh.append(Let(handed.attr, kept, span))
        return Let(handed.attr, load(store.buffer, first, dtype), span), tuple(fresh)


def _shifted(places: tuple[Expr, ...], own: Expr, to: Expr) -> tuple[Expr, ...]:
    fresh = (rewrite(place, {own: to}.get, {}) for place in places)
    return tuple(linear.plus(place, 0) for place in fresh)
