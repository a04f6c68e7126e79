"""Statements: assignments, branches, loops, and leaving them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from fusewright.base.errors import KernelPathError
from fusewright.base.source import Span
from fusewright.frontends.kernels import (
    apart,
    peeling,
    swaps,
    unassigned,
    vectors,
)
from fusewright.frontends.kernels.choices import test
from fusewright.frontends.kernels.context import Assignable, Maybe, Translation
from fusewright.frontends.kernels.joins import SlotTree
from fusewright.frontends.kernels.liveness import Names, assigned, jumps, leaves
from fusewright.frontends.kernels.seen import refuse_seen
from fusewright.frontends.kernels.values import (
    ArrayRef,
    Value,
    describe,
)
from fusewright.ir.expr import op
from fusewright.ir.loops.statements import If, Leave, Statement

Tail = frozenset[int]
NO_TAIL: Tail = frozenset()
DEEPEST = 24
"""Blocks inside one another, beyond which a jump is better."""


def sequence(t: Translation, body: Sequence[ast.stmt], after: Names, tail: Tail) -> None:
    """Statements one after the other.

    What follows an `if` whose branch always leaves goes into its other branch, so that `continue`
    and `return` rarely need a jump; not where that would be too deep.
    """
    live = t.frame.liveness.between(body, after, *t.jumps(after))
    for place, node in enumerate(body):
        is_last = place + 1 == len(body)
        parts = isinstance(node, ast.If) and (jumps(node.body) or jumps(node.orelse))
        if isinstance(node, ast.If) and parts and not is_last and t.depth < DEEPEST:
            rest = list(body[place + 1 :])
            first, second = list(node.body), list(node.orelse)
            if not leaves(first):
                first += rest
            elif not leaves(second):
                second += rest
            branch(t, node, first, second, after, tail)
            return
        separate = isinstance(node, ast.If) and not is_last and apart.is_apart(t, node)
        if isinstance(node, ast.If) and separate and t.depth < DEEPEST:
            ends = [
                [*p, *([] if leaves(p) else body[place + 1 :])] for p in (node.body, node.orelse)
            ]
            branch(t, node, ends[0], ends[1], after, tail, True)
            return
        exchanged = swaps.rewritten(t, node, body[place + 1 :], after)
        if exchanged is None:
            exchanged = peeling.rewritten(t, node, body[place + 1 :])
        if exchanged is not None:
            sequence(t, exchanged, after, tail)
            return
        t.frame.after = live[place + 1]
        t.statement(node, live[place + 1], tail if is_last else NO_TAIL)
        if isinstance(node, ast.Return | ast.Break | ast.Continue | ast.Raise):
            return


def if_(t: Translation, node: ast.If, after: Names, tail: Tail) -> None:
    """`if`."""
    branch(t, node, node.body, node.orelse, after, tail)


def branch(
    t: Translation,
    node: ast.If,
    body: Sequence[ast.stmt],
    orelse: Sequence[ast.stmt],
    after: Names,
    tail: Tail,
    separate: bool = False,
) -> None:
    """A condition with two blocks; where they are `separate`, each with types of its own."""
    condition = test(t, node.test)
    if condition.expr.name == "const":
        sequence(t, body if condition.expr.attr else orelse, after, tail)
        return
    kept = after | t.frame.liveness.always
    names = [n for n in assigned([*body, *orelse]) if n in kept or is_open(t, n)]
    slots = open_slots(t, names, node)
    env, sure = t.frame.env, [tree.assigned for tree in t.active]
    written: list[tuple[Statement, ...]] = []
    ends, instance = [], t.frame.instance
    for part, holds in ((body, condition.expr), (orelse, op("logical_not", condition.expr))):
        if separate:
            t.frame.instance = (*instance, *t.span(node)[1:3], len(written))
        t.frame.env = dict(env)
        for tree, before in zip(t.active, sure, strict=True):
            tree.assigned = before
        t.branches.append(holds)
        with t.block() as block:
            sequence(t, part, after, tail)
        t.branches.pop()
        written.append(tuple(block))
        if not leaves(part):
            ends.append([tree.assigned for tree in t.active])
    for place, tree in enumerate(t.active):
        tree.assigned = all(end[place] for end in ends) if ends else sure[place]
    t.frame.env, t.frame.instance = env, instance
    t.write(If(condition.expr, written[0], written[1], t.span(node)))
    close_slots(t, slots, t.span(node))


def is_open(t: Translation, name: str) -> bool:
    """Whether a join around keeps this name in a variable."""
    binding = t.frame.env.get(name)
    return isinstance(binding, SlotTree) and binding.is_active(t)


def open_slots(t: Translation, names: Sequence[str], node: ast.AST) -> dict[str, SlotTree]:
    """Give names that paths join at a variable each, holding their present value."""
    opened: dict[str, SlotTree] = {}
    span = t.span(node)
    for name in names:
        if is_open(t, name):
            continue
        present = t.frame.env.get(name)
        tree = unassigned.reopened(present)
        if tree is None:
            place = apart.place_of(t, node)
            tree = SlotTree(name, (*t.frame.instance, name, span), nesting=t.nesting, place=place)
            if present is None or isinstance(present, Maybe):
                unassigned.open_flag(t, t.frame, tree, span)
        if present is not None and not isinstance(present, Maybe):
            if isinstance(present, SlotTree):
                present = present.read(span)
            assert not isinstance(present, Assignable), "every one is a `SlotTree`"
            value = present
            _start(t, tree, value, span)
        opened[name] = tree
        t.frame.env[name] = tree
        t.active.append(tree)
    return opened


def _start(t: Translation, tree: SlotTree, value: Value, span: Span) -> None:
    """The value a joined name starts with; a local array that will be replaced gets a place of its
    own.
    """
    if isinstance(value, ArrayRef) and vectors.is_vector(value):
        refuse_seen(t, value.buffer, tree.name, None, span)
        write_array(t, tree, value, span)
    else:
        tree.write(t, value, span)


def write_array(t: Translation, tree: SlotTree, value: ArrayRef, span: Span) -> None:
    """Replace a local array where paths join: its elements are copied."""
    place = tree.form
    if place is None:
        tree.form = vectors.copy(t, value, span)
    elif (
        isinstance(place, ArrayRef)
        and vectors.is_vector(place)
        and vectors.shape_of(place) == vectors.shape_of(value)
        and place.dtype is value.dtype
    ):
        refuse_seen(t, place.buffer, tree.name, t.frame.after, span)
        vectors.copy(t, value, span, place)
    else:
        t.paths.meeting = tree.place
        raise KernelPathError(
            f"`{tree.name}` is {describe(value)} here and something else on another path",
            span,
            help="keep the shape and the element type",
        )
    tree.mark(t, span)


def close_slots(t: Translation, slots: dict[str, SlotTree], span: Span) -> None:
    """The join is over: later assignments need no variable, and what some path left without a value
    has none.
    """
    closed = set(map(id, slots.values()))
    t.active = [tree for tree in t.active if id(tree) not in closed]
    for name, tree in slots.items():
        t.frame.env[name] = tree if tree.assigned else Maybe(span, tree)


# -- the rest -----------------------------------------------------------------------------------


def expression_statement(t: Translation, node: ast.Expr, after: Names, tail: Tail) -> None:
    """A call for its effect, or a docstring."""
    if not isinstance(node.value, ast.Constant):
        t.discarded = node.value
        t.expression(node.value)


def pass_(t: Translation, node: ast.Pass, after: Names, tail: Tail) -> None:
    """`pass`."""


def break_(t: Translation, node: ast.Break, after: Names, tail: Tail) -> None:
    """`break`."""
    loop = t.frame.loops[-1]
    loop.breaks = True
    loop.sure.append([tree.assigned for tree in t.active])
    t.write(Leave(loop.break_label, t.span(node)))


def continue_(t: Translation, node: ast.Continue, after: Names, tail: Tail) -> None:
    """`continue`."""
    loop = t.frame.loops[-1]
    if loop.continue_label not in tail:
        loop.continues = True
        t.write(Leave(loop.continue_label, t.span(node)))
