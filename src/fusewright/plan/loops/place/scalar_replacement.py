"""An element that a loop in order changes again and again is a variable meanwhile.

    for j: t[i] = t[i] + a[i, j]    ->    v = t[i]; for j: v = v + a[i, j]; t[i] = v

In memory each iteration would wait for the store of the one before it: some 10 cycles instead of an
addition's 3.  Right where nothing else in the loop touches the element.  Where it is not sure that
the loop runs at all, the element may not exist, so the whole is under a test.

The last stage of a plan: what runs on threads and in vectors is decided by the statements as they
were, so that atomic updates stay that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace

from fusewright.base.values import dataclass
from fusewright.ir import linear
from fusewright.ir.expr import Expr, is_small, load, local, op, postorder, rewrite, typed_op
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
from fusewright.plan.loops.legality.live_in import assigned
from fusewright.plan.loops.legality.loop_facts import MOST_PARTS
from fusewright.plan.loops.normalise.rename import Body, Numbers, rewritten

Place = tuple[int, tuple[Expr, ...]]


def promoted(kernel: Kernel, numbers: Numbers, parallel: frozenset[int]) -> Kernel:
    """The kernel with such elements in variables; `parallel` are the dims on threads or in
    vectors.
    """
    body = _Promote(kernel, numbers, parallel).block(kernel.body)
    return replace(kernel, body=body, locals=tuple(numbers.locals))


def kept_in_loop(
    kernel: Kernel, numbers: Numbers, loop: For, around: Sequence[Dim], body: Body
) -> Body:
    """A loop with variables for such elements, read before and written after it, as far as the
    plain statements of `body` touch them in any case; `around` are the dims of the nest.
    """
    work = _Promote(kernel, numbers, frozenset(), {dim.index: dim for dim in around})
    touched = {place for place, _ in _accesses(_plain(body))}
    found = [place for place in work.candidates(loop) if place in touched]
    return tuple(work.kept(loop, found, True)) if found else (loop,)


def note(values: dict[Expr, Expr], let: Let) -> None:
    """What a variable with one value stands for, where that is an expression to reason about."""
    value = rewrite(let.value, values.get, {})
    if is_small(value, MOST_PARTS):
        values[local(let.local, let.value.dtype)] = value


@dataclass(slots=True)
class _Promote:
    """`bounds` are those of the loops around, `values` what variables with one value stand for."""

    kernel: Kernel
    numbers: Numbers
    parallel: frozenset[int]
    bounds: dict[int, Dim] = field(default_factory=dict)
    values: dict[Expr, Expr] = field(default_factory=dict)

    def block(self, body: Body) -> Body:
        done: list[Statement] = []
        for number, statement in enumerate(body):
            if isinstance(statement, For):
                beside = {place for s in (*body[:number], *body[number + 1 :]) for place in _own(s)}
                done += self._loop(statement, beside)
            else:
                self._note(statement)
                done.append(with_blocks(statement, [self.block(b) for b in blocks(statement)]))
        return tuple(done)

    def _note(self, statement: Statement) -> None:
        if isinstance(statement, Let) and not self.numbers.locals[statement.local].mutable:
            note(self.values, statement)

    def _loop(self, loop: For, beside: set[Place]) -> list[Statement]:
        """The loop from the dim on along which elements stay, with what it needs around it."""
        for dim in loop.dims:
            self.bounds[dim.index] = dim
        for inside in walk(loop.body):
            self._note(inside)
            if isinstance(inside, For):
                self.bounds.update((dim.index, dim) for dim in inside.dims)
        for depth in range(len(loop.dims)):
            dims = loop.dims[depth:]
            inner = replace(loop, dims=dims)
            found = self.candidates(inner)
            sure = not depth and set(found) <= beside
            tested = sure or _is_testable(dims, loop.body, found)
            if found and tested and may_split(loop, depth):
                fresh = self.kept(inner, found, sure)
                outer = replace(loop, dims=loop.dims[:depth], body=tuple(fresh))
                return [outer] if depth else fresh
        return [replace(loop, body=self.block(loop.body))]

    def candidates(self, loop: For) -> list[Place]:
        """The elements that may be kept while the loop runs."""
        own = {dim.index for dim in loop.dims}
        inside = list(walk(loop.body))
        if not all(isinstance(s, Let | Store | If | For) for s in inside):
            return []
        loops = [dim.index for s in inside if isinstance(s, For) for dim in s.dims]
        if self.parallel & (own | set(loops)):
            return []
        changing = assigned(loop.body)
        places = {(s.buffer, s.indices) for s in inside if isinstance(s, Store)}
        touched = list(_accesses(inside))
        return [
            place
            for place in sorted(places, key=repr)
            if _is_fixed(place, own | set(loops), changing)
            and any(what == place and reads for what, reads in touched)
            and all(what == place or self._apart(what, place) for what, _ in touched)
        ]

    def _apart(self, a: Place, b: Place) -> bool:
        """Whether two accesses certainly never meet."""
        if a[0] != b[0]:
            return self.kernel.apart(a[0], b[0])
        pairs = zip(a[1], b[1], strict=True)
        return any(self._is_before(x, y) or self._is_before(y, x) for x, y in pairs)

    def _is_before(self, a: Expr, b: Expr) -> bool:
        a, b = (rewrite(each, self.values.get, {}) for each in (a, b))
        most = self._most(linear.terms(linear.minus(a, b)), len(self.bounds))
        return most is not None and most < 0

    def _most(self, total: dict[Expr, int], left: int) -> int | None:
        """What a sum is at most, given the bounds of loops; None where that is not a literal."""
        inner = [t for t in total if t.name == "index" and t.attr in self.bounds]
        if not inner or not left:
            return linear.constant(linear.build(total))
        term = max(inner, key=lambda t: list(self.bounds).index(t.attr))
        count = total[term]
        dim = self.bounds[term.attr]
        rest = linear.build({t: c for t, c in total.items() if t is not term})
        ends = (
            [linear.minus(end, 1) for end in _choices(dim.high, "imin")]
            if count > 0
            else _choices(dim.low, "imax")
        )
        found = [
            self._most(linear.terms(linear.plus(rest, linear.times(end, count))), left - 1)
            for end in ends
        ]
        return min((each for each in found if each is not None), default=None)

    def kept(self, loop: For, places: Sequence[Place], sure: bool) -> list[Statement]:
        """The loop with variables for the elements, read before and written after it."""
        before: list[Statement] = []
        after: list[Statement] = []
        kept: dict[Place, Expr] = {}
        for place in places:
            dtype = self.kernel.buffers[place[0]].dtype
            number = self.numbers.local(Local("_", dtype, mutable=True))
            kept[place] = local(number, dtype)
            before.append(Let(number, load(*place, dtype), loop.span))
            after.append(Store(*place, kept[place], span=loop.span))
        body = self.block(_in_variables(loop.body, kept))
        statements = (*before, replace(loop, body=body), *after)
        if sure:
            return list(statements)
        tests = [op("less", dim.low, dim.high) for dim in loop.dims]
        condition = tests[0]
        for test in tests[1:]:
            condition = op("bitwise_and", condition, test)
        return [If(condition, statements, (), loop.span)]


def _in_variables(body: Body, kept: dict[Place, Expr]) -> Body:
    def rule(node: Expr) -> Expr | None:
        return kept.get((node.attr, node.args)) if node.name == "load" else None

    return tuple(_assigning(rewritten(body, rule), kept))


def _assigning(body: Body, kept: dict[Place, Expr]) -> Iterator[Statement]:
    for statement in body:
        variable = isinstance(statement, Store) and kept.get((statement.buffer, statement.indices))
        if isinstance(statement, Store) and variable:
            value = statement.value
            if statement.combine:
                value = typed_op(statement.combine, variable.dtype, variable, value)
            yield Let(variable.attr, value, statement.span)
        else:
            inner = [tuple(_assigning(block, kept)) for block in blocks(statement)]
            yield with_blocks(statement, inner)


def _own(statement: Statement) -> Iterator[Place]:
    """The element that a statement writes in any case."""
    if isinstance(statement, Store):
        yield statement.buffer, statement.indices


def _accesses(inside: Sequence[Statement]) -> Iterator[tuple[Place, bool]]:
    """Every access, and whether it reads."""
    for statement in inside:
        for node in postorder(expressions(statement)):
            if node.name == "load":
                yield (node.attr, node.args), True
        if isinstance(statement, Store):
            yield (statement.buffer, statement.indices), bool(statement.combine)


def _is_fixed(place: Place, loops: set[int], changing: frozenset[int]) -> bool:
    """Whether it is the same element in all iterations."""
    return not any(
        node.name == "load"
        or (node.name == "index" and node.attr in loops)
        or (node.name == "local" and node.attr in changing)
        for node in postorder(place[1])
    )


def may_split(loop: For, depth: int) -> bool:
    """Whether bounds are the same when they are computed inside the dims before them."""
    changing = assigned(loop.body)
    bounds = [bound for dim in loop.dims[depth:] for bound in (dim.low, dim.high)]
    return not depth or not any(
        node.name == "load" or (node.name == "local" and node.attr in changing)
        for node in postorder(bounds)
    )


def _is_testable(dims: Sequence[Dim], body: Body, places: Sequence[Place]) -> bool:
    """Whether a test before the loop can tell that each element is surely touched."""
    own = {dim.index for dim in dims}
    bounds = [bound for dim in dims for bound in (dim.low, dim.high)]
    touched = {place for place, _ in _accesses(_plain(body))}
    return set(places) <= touched and not any(
        node.name == "load" or (node.name == "index" and node.attr in own)
        for node in postorder(bounds)
    )


def _plain(body: Body) -> list[Statement]:
    """The statements that run whenever the body does."""
    return [s for s in body if isinstance(s, Let | Store)]


def _choices(bound: Expr, name: str) -> list[Expr]:
    """What a bound is the least or the greatest of."""
    if bound.name != name:
        return [bound]
    return [part for arg in bound.args for part in _choices(arg, name)]
